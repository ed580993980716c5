//! The selection of samples.

use perf_session::{At, Mapping};

use super::time::Spans;
use crate::Failure;
use crate::args::script::OnlyArgs;

/// The filters of the command line. A sample must pass all of them.
#[derive(Debug)]
pub(super) struct Filter<'a> {
    only: &'a OnlyArgs,
    /// Empty for all CPUs.
    cpus: Vec<(u32, u32)>,
    spans: Spans,
}

impl<'a> Filter<'a> {
    pub(super) fn new(only: &'a OnlyArgs, spans: Spans) -> Result<Self, Failure> {
        let cpus = only.cpu.as_deref().map_or_else(|| Ok(Vec::new()), cpus)?;
        Ok(Self { only, cpus, spans })
    }

    /// Returns whether a record of a CPU is selected; `None` for a record without one.
    pub(super) fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        let has = |cpu: u32| self.cpus.iter().any(|&(first, last)| first <= cpu && cpu <= last);
        self.cpus.is_empty() || cpu.is_none_or(has)
    }

    pub(super) fn wants(&self, at: &At<'_, '_>) -> bool {
        let (only, sample) = (self.only, at.sample());
        if !self.spans.contain(sample.time().unwrap_or(0)) || !self.wants_cpu(sample.cpu()) {
            return false;
        }
        let thread = at.thread();
        let has_comm = || only.comms.iter().any(|comm| comm.as_bytes() == thread.comm());
        let has_dso =
            || sample.ip().and_then(|ip| at.find(at.mode(), ip)).is_some_and(|it| is_named(it, &only.dsos));
        (only.comms.is_empty() || has_comm())
            && (only.pid.is_empty() || only.pid.contains(&thread.pid()))
            && (only.tid.is_empty() || only.tid.contains(&thread.tid()))
            && (only.dsos.is_empty() || has_dso())
    }
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
