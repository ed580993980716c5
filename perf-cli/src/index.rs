//! `perfdata index`: writes an index of a capture. Other verbs use the index that lies beside a capture.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use perf_abi::feature::Feature;
use perf_parse::file::{Account, EventRecords, RecordCheck};
use perf_parse::index::IndexError;
use perf_parse::{Index, Reader};

use crate::all_blocks::{AllBlocks, all_blocks};
use crate::args::IndexArgs;
use crate::escape::shown;
use crate::input::{self, Memory};
use crate::output::{Diagnostics, Holds, Outputs, say};
use crate::{Failure, Outcome};

pub(crate) fn run(args: &IndexArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    input::read(&args.file, |reader, memory| {
        if memory.inputs.is_empty() {
            let what = "is read as a stream, which an index cannot refer to; give the name of a file";
            return Err(Failure(format!("{}: {what}", shown(&*args.file))));
        }
        let path = args.output.clone().map_or_else(|| beside(&args.file), Ok)?;
        let (mut file, output) =
            Outputs::of(memory.inputs.iter().cloned()).claim("-o", &path)?.create(Holds::Index)?;
        let identity = memory.identity(&reader);

        let (index, account) = index(&reader, memory.size)?;
        let bytes = index.encode(&identity);
        Diagnostics::new().report_all(&account);
        file.write_all(&bytes).map_err(|error| Failure(format!("{}: {error}", shown(&path))))?;
        output.publish()?;
        let records: u64 = index.chunks().map(|chunk| chunk.records()).sum();
        let (chunks, bytes) = (index.chunks().count(), bytes.len());
        say!("perfdata: {}: records: {records}, chunks: {chunks}, bytes: {bytes}", shown(&path));
        Ok(if account.is_clean() { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Returns the index that lies beside a capture. Reports one that cannot be used; `None` without a usable one.
pub(crate) fn of(reader: &Reader<'_>, memory: Memory<'_>) -> Option<Index> {
    let path = beside(memory.path?).ok()?;
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        bytes => bytes.map_err(|error| error.to_string()),
    };
    let index = bytes
        .and_then(|bytes| Index::decode(&bytes, &memory.identity(reader)).map_err(|error| error.to_string()));
    let report = |why| say!("perfdata: {}: {why}; the whole capture is read instead", shown(&path));
    index.map_err(report).ok()
}

/// Returns the default path of the index of a capture.
fn beside(capture: &Path) -> Result<PathBuf, Failure> {
    let Some(name) = capture.file_name() else {
        let what = "has no name to which .idx could be added; give the index a name with -o";
        return Err(Failure(format!("{}: {what}", shown(capture))));
    };
    let mut name = name.to_owned();
    name.push(".idx");
    Ok(capture.with_file_name(name))
}

/// Makes the index of a capture of `size` bytes, on all processors. Returns the account of what could not be decoded.
fn index(reader: &Reader<'_>, size: u64) -> Result<(Index, Account), Failure> {
    let formats = reader.features().get(Feature::TRACING_DATA).map_or(&[][..], |section| section.bytes);
    let check = RecordCheck::new(formats);
    let AllBlocks { parts, mut account, last } = all_blocks(reader, size, |_, records, progress| {
        let index = index_of_block(records, &check, !formats.is_empty());
        progress.add(records.account().bytes);
        index
    });
    // The last block knows all features of a pipe.
    for (_, fault) in last.into_iter().flat_map(|mut last| last.check_features()) {
        account.note_once(fault);
    }
    let mut parts = parts.into_iter();
    let mut index = parts.next().unwrap_or_else(|| Ok(Index::default()))?;
    parts.try_for_each(|part| index.append(part?))?;
    Ok((index, account))
}

/// Indexes a block, and notes in its account what cannot be decoded. `has_formats` is whether the raw data of samples has to
/// be checked too.
fn index_of_block(
    records: &mut EventRecords<'_>,
    check: &RecordCheck<'_>,
    has_formats: bool,
) -> Result<Index, IndexError> {
    if !has_formats {
        return Index::from_batches(records, |record| check.record(record));
    }
    Index::from_records(core::iter::from_fn(|| {
        let next = records.next();
        if let Some(Ok(record)) = &next {
            check.record(record).unwrap_or_else(|error| records.account_mut().note(error));
        }
        next
    }))
}
