//! Collects the samples of a report during a walk.

use alloc::sync::Arc;

use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::file::EventRecords;
use perf_parse::{EventRecord, FileError};
use perf_profile::report::{DescribedSample, KeptSample, ReportBuilder, SampleFrames};
use perf_profile::symbols::{own_frame, recorded_frame};
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::{NewStacks, Symbols, has_stacks};
use perf_session::{At, Session};
use perf_symbol::StackFrame;

use crate::off_cpu::{Back, OffCpu, SchedulerFrames};
use crate::samples::{self, Collect, Counted, Filter, Found, Stack, Visit, Visited, Wanted};

/// Collects samples during a walk.
#[derive(Debug)]
pub(super) struct ReportCollector<'a> {
    pub(super) builder: ReportBuilder,
    pub(super) traces: TracepointTexts<'a>,
    /// With it, only times off the CPU are counted.
    pub(super) off_cpu: Option<OffCpu<'a, Option<KeptSample>>>,
    scheduler: SchedulerFrames,
}

/// A sample whose stack is not known yet.
#[derive(Debug)]
pub(super) struct PendingSample {
    event: Arc<Event>,
    period: u64,
    mode: CpuMode,
    /// `None` if there is no room for the sample.
    kept: Option<KeptSample>,
}

impl<'r> Collect<'r> for ReportCollector<'_> {
    type Taken = PendingSample;

    fn take(&mut self, at: &At<'_, '_>, counted: &Counted<'_>) -> Result<(PendingSample, Wanted), FileError> {
        let Counted { event, period, .. } = *counted;
        let has_stack = self.builder.plan().needs_stacks() && samples::has_stack(at, counted)?;
        let described = self.builder.describe(at, None);
        let kept = described.and_then(|described| self.builder.keep_in_part(at, event, described));
        let stack = if has_stack && kept.is_some() { Stack::Recorded } else { Stack::None };
        let wanted = Wanted { frame: kept.is_some(), stack, trace: None };
        Ok((PendingSample { event: Arc::clone(event), period, mode: at.mode(), kept }, wanted))
    }

    fn filtered(&mut self, counted: &Counted<'_>) {
        self.builder.count_filtered(counted.event, counted.period);
    }

    fn other(&mut self, record: &EventRecord<'r>, _session: &Session, _filter: &Filter<'_>) {
        self.builder.other(record);
    }

    fn take_over(&mut self, new: NewStacks, session: &Session) -> u32 {
        self.builder.take_over(new, session)
    }

    fn count(&mut self, taken: PendingSample, part: u32, found: Found) {
        let PendingSample { event, period, mode, kept } = taken;
        let kept = kept.zip(found.frame);
        let kept = kept.and_then(|(kept, frame)| self.builder.keep_of_part(kept, part, frame, found.stack));
        self.builder.count(&event, kept, period, mode);
    }
}

impl<'r> Visit<'r> for ReportCollector<'_> {
    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
        _records: &EventRecords<'_>,
    ) -> Visited {
        if self.builder.plan().branches {
            return Ok(self.branches(at, counted, names));
        }
        let kept = match self.keep(at, counted, names) {
            Ok(kept) => kept,
            Err(error) => return Ok(Err(error)),
        };
        match &mut self.off_cpu {
            Some(off_cpu) => off_cpu.sample(at, kept),
            None => {
                let period = self.builder.period(at, counted.period);
                self.builder.count(counted.event, kept, period, at.mode());
            }
        }
        Ok(Ok(()))
    }

    fn filtered(&mut self, at: &At<'_, '_>, counted: &Counted<'_>, _names: &mut Symbols) -> Visited {
        if self.off_cpu.is_none() {
            let period = self.builder.period(at, counted.period);
            self.builder.count_filtered(counted.event, period);
        }
        Ok(Ok(()))
    }

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        _session: &Session,
        _filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        self.builder.other(record);
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.other(record));
        self.count_off_cpu(back);
        Ok(Ok(()))
    }

    fn before(&mut self, at: &At<'_, '_>, _record: &EventRecord<'r>) {
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.before(at));
        self.count_off_cpu(back);
    }
}

impl<'a> ReportCollector<'a> {
    pub(super) fn new(
        builder: ReportBuilder,
        traces: TracepointTexts<'a>,
        off_cpu: Option<OffCpu<'a, Option<KeptSample>>>,
    ) -> Self {
        Self { builder, traces, off_cpu, scheduler: SchedulerFrames::default() }
    }

    fn count_off_cpu(&mut self, back: Option<Back<Option<KeptSample>>>) {
        if let Some((off_cpu, Back { wait, before, away, .. })) = self.off_cpu.as_ref().zip(back) {
            self.builder.count(off_cpu.event(wait), before, away, CpuMode::CPUMODE_UNKNOWN);
        }
    }

    /// Keeps a sample; `None` if there is no room for it.
    fn keep(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
    ) -> Result<Option<KeptSample>, FileError> {
        // The stack of a switch is that of the thread that waits.
        let is_switch = self.off_cpu.as_ref().is_some_and(|off_cpu| off_cpu.is_switch(at));
        // A chain without frames would lose where the sample is: the sample's own address counts alone.
        let has_stack = (self.builder.plan().needs_stacks() || is_switch) && has_stacks(counted.event);
        let stack = if has_stack { Some(names.stack(at, counted.user)?) } else { None };
        let frames = stack.as_ref().map_or(&[][..], |(frames, _)| frames);
        let inner = if is_switch { self.scheduler.count(at, frames, names) } else { 0 };
        let waits = if is_switch { frames.get(inner) } else { None };
        let own = waits.map_or_else(|| recorded_frame(own_frame(at)), StackFrame::clone);
        let described = self.describe(at, counted.event, names);
        let kept = described.and_then(|described| {
            let mapped = names.in_kernel(at, own.frame);
            let stack = stack.as_ref().map(|(frames, end)| (&frames[..], *end));
            let frames = SampleFrames { own: &own, mapped, stack, inner };
            self.builder.keep(at, counted.event, described, &frames, names.symbolizer_mut())
        });
        if let Some((stack, _)) = stack {
            names.done(stack);
        }
        Ok(kept)
    }

    /// Returns what keys need of a sample, with the text of its tracepoint.
    fn describe(&mut self, at: &At<'_, '_>, event: &Event, names: &mut Symbols) -> Option<DescribedSample> {
        let Self { builder, traces, .. } = self;
        let format = if builder.needs_trace() { traces.of(event) } else { None };
        let mut push = |out: &mut Vec<u8>| {
            if let Some(index) = format {
                let raw = at.sample().tail().ok().and_then(|tail| tail.raw).unwrap_or_default();
                traces.push(out, index, raw, at, names);
            }
        };
        builder.describe(at, if format.is_some() { Some(&mut push) } else { None })
    }

    /// Counts the branches of a sample.
    fn branches(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
    ) -> Result<(), FileError> {
        let described = self.describe(at, counted.event, names);
        self.builder.count_branches(at, counted.event, described, names.symbolizer_mut())
    }
}
