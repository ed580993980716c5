//! The selection of samples.

use perf_parse::event::Event;
use perf_parse::file::Reader;
use perf_parse::index::Chunk;
use perf_profile::Symbols;
use perf_session::{At, Mapping};

use crate::Failure;
use crate::args::only::OnlyArgs;
use crate::event_filter::EventFilter;
use crate::spans::Spans;

/// The filters of the command line. A sample must pass all of them.
#[derive(Debug)]
pub(crate) struct Filter<'a> {
    only: &'a OnlyArgs,
    /// Empty for all CPUs.
    cpus: Vec<(u32, u32)>,
    spans: Spans,
    /// `None` for all events.
    event: Option<EventFilter>,
}

impl<'a> Filter<'a> {
    pub(super) fn new(only: &'a OnlyArgs, reader: &Reader<'_>, spans: Spans) -> Result<Self, Failure> {
        let cpus = only.cpu.as_deref().map_or_else(|| Ok(Vec::new()), cpus)?;
        let event =
            only.event.as_deref().map(|name| EventFilter::new(reader, "--event", name)).transpose()?;
        Ok(Self { only, cpus, spans, event })
    }

    /// Returns whether a record of a CPU is selected; `None` for a record without one.
    pub(crate) fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        let has = |cpu: u32| self.cpus.iter().any(|&(first, last)| first <= cpu && cpu <= last);
        self.cpus.is_empty() || cpu.is_none_or(has)
    }

    /// Returns whether a part of the capture may have samples of the selected times.
    pub(super) fn may_be_in(&self, part: &Chunk<'_>) -> bool {
        // A sample without a time counts as one of time 0.
        self.spans.contain(0) || part.times().is_some_and(|times| self.spans.overlap(&times))
    }

    /// Returns whether a sample is of the selected times, CPUs and events. perf does not count the others.
    pub(super) fn counts(&self, at: &At<'_, '_>, event: &Event) -> bool {
        let sample = at.sample();
        self.spans.contain(sample.time().unwrap_or(0))
            && self.wants_cpu(sample.cpu())
            && self.event.as_ref().is_none_or(|only| only.wants(event))
    }

    /// Returns whether a sample is of the selected threads, files and functions.
    pub(super) fn wants(&self, at: &At<'_, '_>, names: &mut Symbols) -> bool {
        let only = self.only;
        let thread = at.thread();
        let has_comm = || only.comms.iter().any(|comm| comm.as_bytes() == thread.comm());
        (only.comms.is_empty() || has_comm())
            && (only.pid.is_empty() || only.pid.contains(&thread.pid()))
            && (only.tid.is_empty() || only.tid.contains(&thread.tid()))
            && (only.dsos.is_empty() || has_dso(at, &only.dsos, names))
            && (only.functions.is_empty() || has_function(at, &only.functions, names))
    }
}

/// Returns whether the address of a sample is in one of the files.
fn has_dso(at: &At<'_, '_>, dsos: &[String], names: &mut Symbols) -> bool {
    at.sample().ip().is_some() && names.own_frame(at).mapping.is_some_and(|it| is_named(it, dsos))
}

/// Returns whether the address of a sample is in one of the functions.
fn has_function(at: &At<'_, '_>, functions: &[String], names: &mut Symbols) -> bool {
    if at.sample().ip().is_none() {
        return false;
    }
    let own = names.own_frame(at);
    let function = names.functions(at, &own, false).last();
    function
        .and_then(|it| it.name.as_deref())
        .is_some_and(|name| functions.iter().any(|it| it.as_bytes() == name))
}

/// Returns whether a mapping is of one of the files, each given by its path or its file name.
fn is_named(mapping: &Mapping, names: &[String]) -> bool {
    let (name, path) = (mapping.dso().name(), mapping.dso().path());
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    names.iter().any(|it| [name, path, file].contains(&it.as_bytes()))
}

/// Parses numbers and ranges, such as `0,2-3`.
fn cpus(text: &str) -> Result<Vec<(u32, u32)>, Failure> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last).then_some((first, last))
    };
    let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
    ranges.ok_or_else(|| {
        Failure(format!("--cpu {text}: must be numbers and ranges of CPUs, for example 0,2-3"))
    })
}
