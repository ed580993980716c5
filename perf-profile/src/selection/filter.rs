//! The selection of samples, resolved in a capture.

use core::ops::RangeInclusive;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_abi::sample_type::SampleType;
use perf_parse::Sample;
use perf_parse::event::Event;
use perf_parse::file::EventRecords;
use perf_parse::index::Chunk;
use perf_session::{Mapping, SampleContext};

use super::Selection;
use super::cpus::CpuRanges;
use super::events::EventFilter;
use super::idle::is_idle_name;
use super::spans::SpanSet;
use crate::capture_info::CaptureInfo;
use crate::error::ProfileError;
use crate::event_name::event_name;
use crate::symbols::Symbols;
use crate::text::OneLine;

/// The selection of a capture's samples, resolved.
#[derive(Debug)]
pub(crate) struct SampleFilter {
    selection: Selection,
    spans: SpanSet,
    /// `None` for all events.
    event: Option<EventFilter>,
}

impl SampleFilter {
    /// Resolves a selection. `records` returns the records once more, apart from those of the walk; `None` if they are there
    /// only once.
    ///
    /// # Errors
    ///
    /// If the capture does not have what the selection needs.
    pub(crate) fn new<'r>(
        selection: Selection,
        info: CaptureInfo<'_>,
        records: impl FnOnce() -> Option<EventRecords<'r>>,
    ) -> Result<Self, ProfileError> {
        let spans = selection.time.resolve_in(info, records)?;
        let event = selection.event.as_deref().map(|name| EventFilter::new(info, name)).transpose()?;
        check_cpus(info.events(), &selection.cpus)?;
        Ok(Self { selection, spans, event })
    }

    /// Returns the times from the first selected one to the last; `None` for all.
    pub(crate) fn times(&self) -> Option<RangeInclusive<u64>> {
        self.spans.hull()
    }

    /// Returns whether a record of a CPU is selected; `None` for a record without one.
    pub(crate) fn wants_cpu(&self, cpu: Option<u32>) -> bool {
        cpu.is_none_or(|cpu| self.selection.cpus.contain(cpu))
    }

    /// Returns whether a part of the capture may have samples of the selected times.
    pub(crate) fn may_be_in(&self, part: &Chunk<'_>) -> bool {
        self.spans.may_be_in(part)
    }

    /// Returns the selected times.
    pub(crate) fn spans(&self) -> &SpanSet {
        &self.spans
    }

    /// Returns whether a sample is of the selected times, CPUs and events. perf does not count the others.
    pub(crate) fn counts(&self, at: &SampleContext<'_, '_>, event: &Event) -> bool {
        self.counts_sample(&at.sample(), event)
    }

    /// Returns whether a sample is of the selected times, CPUs, events, processes and threads, which need no session.
    pub(crate) fn selects(&self, sample: &Sample<'_>, event: &Event) -> bool {
        // As a session has them.
        let (pid, tid) = (sample.pid().unwrap_or(-1), sample.tid().unwrap_or(-1));
        self.counts_sample(sample, event) && self.wants_thread(pid, tid)
    }

    fn wants_thread(&self, pid: i32, tid: i32) -> bool {
        let Selection { pids, tids, .. } = &self.selection;
        (pids.is_empty() || pids.contains(&pid)) && (tids.is_empty() || tids.contains(&tid))
    }

    fn counts_sample(&self, sample: &Sample<'_>, event: &Event) -> bool {
        self.spans.contains(sample.time().unwrap_or(0))
            && self.wants_cpu(sample.cpu())
            && self.event.as_ref().is_none_or(|only| only.wants(event))
    }

    /// Returns whether a sample is of the selected threads, files and functions.
    pub(crate) fn wants(&self, at: &SampleContext<'_, '_>, symbols: &mut Symbols) -> bool {
        let only = &self.selection;
        let thread = at.thread();
        let has_comm = || only.comms.iter().any(|comm| comm == thread.comm());
        (only.comms.is_empty() || has_comm())
            && self.wants_thread(thread.pid(), thread.tid())
            && (only.dsos.is_empty() || has_dso(at, &only.dsos, symbols))
            && (only.symbols.is_empty() || has_function(at, &only.symbols, symbols))
            && !(only.no_idle && is_idle(at, symbols))
    }
}

/// Returns whether the address of a sample is in one of the files.
fn has_dso(at: &SampleContext<'_, '_>, dsos: &[Vec<u8>], symbols: &mut Symbols) -> bool {
    at.sample().ip().is_some() && symbols.own_frame(at).mapping.is_some_and(|it| is_named(it, dsos))
}

/// Returns whether the address of a sample is in one of the functions.
fn has_function(at: &SampleContext<'_, '_>, functions: &[Vec<u8>], symbols: &mut Symbols) -> bool {
    own_name(at, symbols).is_some_and(|name| functions.iter().any(|it| it == name))
}

/// Returns whether a sample is of a CPU without work.
fn is_idle(at: &SampleContext<'_, '_>, symbols: &mut Symbols) -> bool {
    at.mode() == CpuMode::KERNEL && own_name(at, symbols).is_some_and(is_idle_name)
}

/// Returns the name of the function that has the address of a sample, which is not an inlined one.
fn own_name<'s>(at: &SampleContext<'_, '_>, symbols: &'s mut Symbols) -> Option<&'s [u8]> {
    at.sample().ip()?;
    let own = symbols.own_frame(at);
    symbols.functions(at, &own, false).last()?.name.as_deref()
}

/// Returns whether a mapping is of one of the files, each given by its path or its file name.
fn is_named(mapping: &Mapping, names: &[Vec<u8>]) -> bool {
    let (name, path) = (mapping.dso().name(), mapping.dso().path());
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    names.iter().any(|it| [name, path, file].contains(&&**it))
}

/// Checks that the first event of each type has the CPU, if samples are selected by it.
///
/// perf: `perf_session__cpu_bitmap`, `tools/perf/util/session.c`.
fn check_cpus(list: &[Arc<Event>], cpus: &CpuRanges) -> Result<(), ProfileError> {
    if cpus.are_all() {
        return Ok(());
    }
    let is_first = |&(index, event): &(usize, &Arc<Event>)| {
        list.iter().take(index).all(|before| before.attr.kind != event.attr.kind)
    };
    let lacks_cpu = |(_, event): &(usize, &Arc<Event>)| !event.attr.sample_type.contains(SampleType::CPU);
    match list.iter().enumerate().filter(is_first).find(lacks_cpu) {
        None => Ok(()),
        Some((_, event)) => {
            let event = OneLine(&event_name(event)).to_string();
            Err(ProfileError::CpuNotRecorded { cpus: cpus.to_string(), event })
        }
    }
}
