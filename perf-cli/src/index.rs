//! `perfdata index`: writes an index of a capture. Other verbs use the index that lies beside a capture.

use std::fs;
use std::io::{ErrorKind, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use perf_abi::feature::Feature;
use perf_parse::file::{Account, Blocks, EventRecords, RecordCheck};
use perf_parse::index::IndexError;
use perf_parse::{Index, Reader};

use crate::args::IndexArgs;
use crate::escape::shown;
use crate::input::{self, Memory};
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, FileContent, Outputs, say};
use crate::progress::Progress;

pub(crate) fn run(args: &IndexArgs) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    crate::output::remove_unfinished_on_signals();
    write(&args.file, args.output.as_deref())
}

/// Writes the index of a capture: to `output`, or beside the capture.
pub(crate) fn write(capture: &Path, output: Option<&Path>) -> Result<Outcome, Failure> {
    input::read(capture, |reader, memory| {
        if memory.inputs.is_empty() {
            let what = "is read as a stream, which an index cannot refer to; give the name of a file";
            return Err(Failure(format!("{}: {what}", shown(capture))));
        }
        if memory.archive.is_some() {
            let what = "is an archive, for whose capture no index is looked for; give the name of a capture";
            return Err(Failure(format!("{}: {what}", shown(capture))));
        }
        let path = output.map_or_else(|| beside(capture), |path| Ok(path.to_owned()))?;
        let (mut file, output) =
            Outputs::of(memory.inputs.iter().cloned()).claim("-o", &path)?.create(FileContent::Index)?;
        let identity = memory.identity(&reader);

        let (index, account) = index(&reader, memory.size)?;
        let bytes = index.encode(&identity);
        Diagnostics::in_words().report_all(&account);
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
    let path = beside(memory.path.filter(|_| !memory.is_made)?).ok()?;
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
pub(crate) fn beside(capture: &Path) -> Result<PathBuf, Failure> {
    let Some(name) = capture.file_name() else {
        let what = "has no name to which .idx could be added; give the index a name with -o";
        return Err(Failure(format!("{}: {what}", shown(capture))));
    };
    let mut name = name.to_owned();
    name.push(".idx");
    Ok(capture.with_file_name(name))
}

/// The number of bytes of a block, at most.
const BLOCK: u64 = 16 << 20;

/// The number of blocks for each thread, at least, so that all threads end at about the same time.
const PER_THREAD: usize = 4;

/// The index of a block, and the walk at its end.
struct Part<'r> {
    number: usize,
    index: Index,
    records: EventRecords<'r>,
}

/// Makes the index of a capture of `size` bytes, on all processors. Returns the account of what could not be decoded.
fn index(reader: &Reader<'_>, size: u64) -> Result<(Index, Account), Failure> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let count = usize::try_from(size / BLOCK).unwrap_or(usize::MAX).max(PER_THREAD * threads);
    let formats = reader.features().get(Feature::TRACING_DATA).map_or(&[][..], |section| section.bytes);
    let work = IndexWork {
        blocks: Mutex::new((0, reader.blocks(count))),
        check: RecordCheck::new(formats),
        has_formats: !formats.is_empty(),
        progress: Mutex::new((0, Progress::new(size, true))),
    };
    let mut parts = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(|| work.parts())).collect();
        let mut parts = work.parts()?;
        for helper in helpers {
            parts.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic))?);
        }
        Ok::<_, IndexError>(parts)
    })?;
    parts.sort_by_key(|part| part.number);
    if let Some(last) = parts.last_mut() {
        // The last block knows all features of a pipe.
        last.records.check_features();
    }
    let mut parts = parts.into_iter();
    let Some(Part { mut index, records, .. }) = parts.next() else {
        return Ok((Index::default(), reader.account().clone()));
    };
    let mut account = records.account().clone();
    for part in parts {
        index.append(part.index)?;
        account.add(part.records.account());
    }
    Ok((index, account))
}

/// The blocks that no thread has taken yet, and what all threads share.
struct IndexWork<'r> {
    /// The blocks, and the number of the next one.
    blocks: Mutex<(usize, Blocks<'r>)>,
    check: RecordCheck<'r>,
    /// Whether the raw data of samples has to be checked too.
    has_formats: bool,
    /// The number of bytes that are done.
    progress: Mutex<(u64, Progress)>,
}

impl<'r> IndexWork<'r> {
    /// Indexes blocks until none is left.
    fn parts(&self) -> Result<Vec<Part<'r>>, IndexError> {
        let mut parts = Vec::new();
        while let Some((number, mut records)) = self.next() {
            let index = self.index(&mut records)?;
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            progress.0 += records.account().bytes;
            let done = progress.0;
            progress.1.at(done);
            parts.push(Part { number, index, records });
        }
        Ok(parts)
    }

    /// Indexes a block, and notes in its account what cannot be decoded.
    fn index(&self, records: &mut EventRecords<'r>) -> Result<Index, IndexError> {
        if !self.has_formats {
            return Index::from_batches(records, |record| self.check.record(record));
        }
        Index::from_records(core::iter::from_fn(|| {
            let next = records.next();
            if let Some(Ok(record)) = &next {
                self.check.record(record).unwrap_or_else(|error| records.account_mut().note(error));
            }
            next
        }))
    }

    fn next(&self) -> Option<(usize, EventRecords<'r>)> {
        let mut blocks = self.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let records = blocks.1.next()?;
        blocks.0 += 1;
        Some((blocks.0, records))
    }
}
