//! `perfdata buildid-list` and `perfdata info --build-ids`: the build ids of a capture, as `perf buildid-list` prints them.

use core::num::NonZero;
use hashbrown::HashSet;
use std::path::Path;

use perf_abi::feature::Feature;
use perf_abi::record::CpuMode;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;
use perf_parse::record::UserRecord;
use perf_parse::{EventRecord, FileError, Record};
use perf_profile::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use perf_profile::{ProfileError, Samples, Symbols};
use perf_session::{BuildId, SampleContext, Session};
use perf_symbol::SymbolOptions;

use crate::escape::{print, push_name};
use crate::input::Memory;
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::Output;
use crate::selection;

/// A file with its build id, if that is known.
type Listed = (Vec<u8>, Option<BuildId>);

/// Prints the build ids of a capture. Those that it lists, if it does and not only files `with_hits` are wanted; otherwise those of
/// files that the address of a sample is in.
pub(crate) fn run(file: &Path, with_hits: bool) -> Result<Outcome, Failure> {
    crate::input::read(file, |reader, memory| list(&reader, memory, with_hits))
}

/// perf: `perf_session__list_build_ids`, `tools/perf/builtin-buildid-list.c`.
fn list(reader: &Reader<'_>, memory: Memory<'_>, with_hits: bool) -> Result<Outcome, Failure> {
    let mut listed = in_table(reader);
    let has_table = !listed.is_empty();
    let mut output = Output::new();
    if has_table && !with_hits {
        push(&mut output.buffer, &listed, |_| true);
        output.flush()?;
        return Ok(Outcome::Clean);
    }
    let mut pass = HitFiles::default();
    let symbols = Symbols::new(reader.features(), SymbolOptions::default()).without_names();
    let mut observer = StderrObserver::new(memory, false);
    let samples = Samples::of(reader);
    let walked = samples.walk(symbols, &mut pass, &mut NoWorker, NonZero::<usize>::MIN, &mut observer);
    let walked = walked.map_err(|HitError(failure)| failure)?;
    for more in [&pass.in_records, &pass.hit] {
        let known: HashSet<Vec<u8>> = listed.iter().map(|(name, _)| name.clone()).collect();
        listed.extend(more.iter().filter(|(name, _)| !known.contains(name)).cloned());
    }
    push(&mut output.buffer, &listed, |name| pass.names.contains(name));
    output.flush()?;
    Ok(observer.finish(walked.account(), walked.omitted(), "counted"))
}

/// Returns what the feature `BUILD_ID` lists.
fn in_table(reader: &Reader<'_>) -> Vec<Listed> {
    let section = reader.feature(Feature::BUILD_ID);
    let Some(Ok(FeatureData::BuildId(ids))) = section.map(|section| section.decode()) else {
        return Vec::new();
    };
    ids.iter().map(|it| (it.filename.to_vec(), Some(BuildId::new(it.build_id)))).collect()
}

/// The width of a build id of 20 bytes.
const ID: usize = 40;

/// Appends files, one a line.
fn push(out: &mut Vec<u8>, listed: &[Listed], is_wanted: impl Fn(&[u8]) -> bool) {
    for (name, id) in listed.iter().filter(|(name, _)| is_wanted(name)) {
        match id {
            Some(id) => print(out, format_args!("{id} ")),
            None => print(out, format_args!("{:ID$} ", "")),
        }
        push_name(out, name);
        out.push(b'\n');
    }
}

/// The files that the addresses of samples are in.
#[derive(Debug, Default)]
struct HitFiles {
    /// In the order of their first samples.
    hit: Vec<Listed>,
    names: HashSet<Vec<u8>>,
    /// Those of HEADER_BUILD_ID records, in their order.
    in_records: Vec<Listed>,
}

/// The failure of the walk.
struct HitError(Failure);

impl From<ProfileError> for HitError {
    fn from(error: ProfileError) -> Self {
        Self(selection::failure(error))
    }
}

impl<'r> SamplePass<'r> for HitFiles {
    type Note = ();
    type Worker = NoWorker;
    type Error = HitError;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        _: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let mapping = at.sample().ip().and_then(|ip| at.find(at.mode(), ip));
        let Some(dso) = mapping.map(|mapping| mapping.dso()) else { return Ok(()) };
        if self.names.contains(dso.path()) {
            return Ok(());
        }
        self.names.insert(dso.path().to_vec());
        let listed = (dso.path().to_vec(), at.session().build_id(dso));
        if at.mode() == CpuMode::KERNEL && dso.name() == b"[kernel.kallsyms]" {
            // perf makes its file before all others.
            self.hit.insert(0, listed);
        } else {
            self.hit.push(listed);
        }
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        if let Ok(Record::User(UserRecord::HeaderBuildId(it), _)) = record.decode() {
            self.in_records.push((it.filename.to_vec(), Some(BuildId::new(it.build_id))));
        }
        Ok(())
    }

    fn deliver(&mut self, (): (), _: &Session) -> Result<(), HitError> {
        Ok(())
    }
}
