//! Collects the samples of a report.

use std::collections::BTreeMap;
use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::{EventRecord, FileError};
use perf_session::{BuildId, Dso, Frame, Mapping, SampleContext, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, Symbolizer};

use super::Report;
use super::facts::{KeyFacts, TraceText};
use super::memory_access;
use super::plan::ReportPlan;
use super::samples::{GroupKey, ReportSamples};
use crate::function_table::{FunctionTable, NamingOptions};
use crate::hot_files::load_hottest_first;
use crate::quality::Quality;
use crate::sample::SampleTotal;
use crate::stack_table::{NewStacks, PartFrame, PartStack, StackPart};
use crate::symbols::{own_frame, recorded_frame};
use crate::table::frames::NONE;
use crate::table::stacks::EMPTY;

/// Collects the samples of a [`Report`], equal ones counted together.
///
/// Takes the samples of a capture, in time order, with the state of a `perf-session` and the stacks of `perf-symbol`.
#[derive(Debug)]
pub struct ReportBuilder {
    plan: ReportPlan,
    samples: ReportSamples,
}

/// What the keys need of a sample, apart from its addresses: see [`ReportBuilder::describe`].
#[derive(Clone, Copy, Debug)]
pub struct DescribedSample(KeyFacts);

/// What is kept of a sample that is counted later: see [`ReportBuilder::keep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingReportSample(GroupKey);

/// The frames of a sample.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "a sample has no other frames")]
pub struct SampleFrames<'s, 'm> {
    /// The frame that the sample counts at: its own address, or where a thread waits.
    pub own: &'s StackFrame<'m>,
    /// The frame of `own`, with the mapping that [`Symbolizer::mapped`] finds in the kernel.
    pub mapped: Frame<'m>,
    /// The stack, and how it ends: what [`perf_symbol::StackFinder::push`] gave. `None` for a sample without one.
    pub stack: Option<(&'s [StackFrame<'m>], Option<StackEnd>)>,
    /// The number of innermost frames that are left out of the stack, such as those of the scheduler.
    pub inner: usize,
}

/// The frames of a sample in a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartFrames {
    /// The frame that the sample counts at.
    pub(super) frame: PartFrame,
    pub(super) stack: Option<PartStack>,
    /// The number of innermost frames that are left out of the stack.
    pub(super) inner: usize,
    /// Where the thread waits, if that is not the sample's own address: the address, and the number of bytes of its mapping.
    pub(super) waits: Option<(u64, u64)>,
}

impl ReportBuilder {
    /// Makes a report without samples.
    #[must_use]
    pub fn new(plan: ReportPlan) -> Self {
        Self { samples: ReportSamples::new(&plan), plan }
    }

    /// Returns what is collected.
    #[must_use]
    pub fn plan(&self) -> &ReportPlan {
        &self.plan
    }

    /// Returns whether a key is the text of tracepoints, which [`describe`](Self::describe) then needs.
    #[must_use]
    pub fn needs_trace(&self) -> bool {
        self.samples.facts.needs_trace()
    }

    /// Returns whether all that is needed of a sample is known without its stack, or in it, so that other threads can find the
    /// stacks in a [part](Self::part).
    pub(super) fn can_be_in_parts(&self) -> bool {
        !self.plan.branches && !self.plan.memory && !self.samples.facts.needs_data() && !self.needs_trace()
    }

    /// Has the symbols of files loaded by another thread while samples are taken: see
    /// [`ProfileBuilder::load_ahead`](crate::ProfileBuilder::load_ahead).
    pub fn load_ahead(&mut self, symbolizer: Option<&Symbolizer>, naming: NamingOptions) {
        self.samples.table.frames.load_ahead(symbolizer, naming.threads);
    }

    /// Makes the first part for threads that number stacks.
    pub(super) fn part(&self) -> StackPart {
        StackPart::new(self.plan.max_stack, self.plan.limits)
    }

    /// Takes over what is new in a part, and returns the number of the part: see
    /// [`StackTable::take_over`](crate::StackTable::take_over).
    pub(super) fn take_over(&mut self, new: NewStacks, session: &Session) -> u32 {
        self.samples.table.take_over(new, session, &self.plan.limits)
    }

    /// Notes what keys need of a record that is not a sample.
    pub fn other(&mut self, record: &EventRecord<'_>) {
        self.samples.facts.apply(record);
    }

    /// Returns what keys need of a sample, apart from its addresses; `None` if there is no room for a text. `trace` appends what
    /// is asked for of the sample's tracepoint, and is called if a [key needs it](Self::needs_trace); `None` if it has none.
    pub fn describe(
        &mut self,
        at: &SampleContext<'_, '_>,
        trace: Option<TraceText<'_>>,
    ) -> Option<DescribedSample> {
        self.samples.facts.of(at, trace, self.plan.limits.texts).map(DescribedSample)
    }

    /// Returns what a sample counts: `period`, but a memory access counts its weight, or 1.
    #[must_use]
    pub fn period(&self, at: &SampleContext<'_, '_>, period: u64) -> u64 {
        if !self.plan.memory {
            return period;
        }
        // The walk has the error of a sample that cannot be decoded.
        at.sample().tail().map_or(1, |tail| memory_access::period_of(&tail))
    }

    /// Keeps a sample, to be [counted](Self::count) later. `None` if it is beyond the limits. `symbolizer` finds the functions
    /// of generated code.
    pub fn keep(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Event,
        described: DescribedSample,
        frames: &SampleFrames<'_, '_>,
        mut symbolizer: Option<&mut Symbolizer>,
    ) -> Option<PendingReportSample> {
        let (facts, data) = self.data(at, described.0, symbolizer.as_deref_mut())?;
        let facts = self.samples.facts.number(facts, self.plan.limits.samples)?;
        let SampleFrames { own, mapped, stack, inner } = *frames;
        let (ip, size) = self.in_memory(&own.frame);
        let own = StackFrame { frame: mapped, ..*own };
        let frame = self.frame(at, &own, symbolizer.as_deref_mut())?;
        let stack = match stack {
            Some((stack, end)) if self.plan.needs_stacks() => {
                let (limits, max_stack) = (self.plan.limits, self.plan.max_stack);
                let number = self.samples.table.number(at, stack, end, symbolizer, max_stack, &limits)?;
                self.samples.table.stacks.outer(number, inner)
            }
            _ => EMPTY,
        };
        let event = event.index as u32;
        Some(PendingReportSample(GroupKey { event, facts, frame, from: NONE, stack, ip, mapped: size, data }))
    }

    /// Keeps a sample whose own address and stack are in a [part](Self::part). `None` if it is beyond the limits.
    pub(super) fn keep_in_part(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Event,
        described: DescribedSample,
    ) -> Option<PendingReportSample> {
        let facts = self.samples.facts.number(described.0, self.plan.limits.samples)?;
        let (ip, mapped) = self.in_memory(&own_frame(at));
        let event = event.index as u32;
        Some(PendingReportSample(GroupKey {
            event,
            facts,
            frame: NONE,
            from: NONE,
            stack: EMPTY,
            ip,
            mapped,
            data: NONE,
        }))
    }

    /// Completes a sample of [`keep_in_part`](Self::keep_in_part), after the part with that number was
    /// [taken over](Self::take_over). `None` if it is beyond the limits.
    pub(super) fn keep_of_part(
        &mut self,
        kept: PendingReportSample,
        part: u32,
        frames: PartFrames,
    ) -> Option<PendingReportSample> {
        let PartFrames { frame, stack, inner, waits } = frames;
        let table = &mut self.samples.table;
        let frame = table.frame_of_part(part, frame)?;
        let stack = match stack {
            Some(stack) => {
                let number = table.stack_of_part(part, stack, &self.plan.limits)?;
                table.stacks.outer(number, inner)
            }
            None => EMPTY,
        };
        let mut key = GroupKey { frame, stack, ..kept.0 };
        if let Some((ip, size)) = waits {
            key.ip = if self.plan.needs_address { ip } else { 0 };
            key.mapped = if self.plan.needs_mapping { size } else { 0 };
        }
        Some(PendingReportSample(key))
    }

    /// Counts a sample of an event; `kept` is `None` for a sample beyond the limits. `mode` is whose code it is.
    pub fn count(
        &mut self,
        event: &Arc<Event>,
        kept: Option<PendingReportSample>,
        period: u64,
        mode: CpuMode,
    ) {
        let key = kept.map(|PendingReportSample(key)| GroupKey { event: event.index as u32, ..key });
        self.samples.count(event, key, period, mode);
    }

    /// Counts a sample that is not selected, in the totals of its event alone. `period` is what
    /// [`period`](Self::period) returned.
    pub fn count_filtered(&mut self, event: &Arc<Event>, period: u64) {
        // perf counts the branches of such samples too; without a look at them, there is one.
        let period = if self.plan.branches { 1 } else { period };
        self.samples.of_event(event).all.add(SampleTotal { samples: 1, period });
    }

    /// Counts the branches of a sample, each with the period 1. `described` is `None` for a sample beyond the limits.
    ///
    /// # Errors
    ///
    /// If the branches cannot be decoded.
    ///
    /// perf: `iter_add_next_branch_entry`, `tools/perf/util/hist.c`.
    pub fn count_branches(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Arc<Event>,
        described: Option<DescribedSample>,
        mut symbolizer: Option<&mut Symbolizer>,
    ) -> Result<(), FileError> {
        let tail = at.sample().tail().map_err(|error| at.record().error(error))?;
        for branch in tail.branch_stack.iter().flat_map(|stack| stack.entries.iter()) {
            let place = |ip: u64| {
                let mapping = at.find_data(ip);
                Frame { ip, mode: mapping.map_or(CpuMode::CPUMODE_UNKNOWN, mode_of), mapping }
            };
            let mut keep = |this: &mut Self| {
                let facts = described?.0.with_branch(this.samples.facts.keys(), branch.flags);
                let facts = this.samples.facts.number(facts, this.plan.limits.samples)?;
                let (ip, mapped) = this.in_memory(&place(branch.to));
                let frame = this.frame(at, &recorded_frame(place(branch.to)), symbolizer.as_deref_mut())?;
                let from = this.frame(at, &recorded_frame(place(branch.from)), symbolizer.as_deref_mut())?;
                let event = event.index as u32;
                Some(GroupKey { event, facts, frame, from, stack: EMPTY, ip, mapped, data: NONE })
            };
            let key = keep(self);
            self.samples.count(event, key, 1, at.mode());
        }
        Ok(())
    }

    /// Finds the names and how call chains end, and returns the report. `session` is that of the walk, after the last record;
    /// `finder` is what found the stacks.
    #[must_use]
    pub fn finish(
        self,
        session: &Session,
        finder: &mut perf_symbol::StackFinder,
        symbolizer: Option<&Symbolizer>,
        naming: NamingOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Report {
        let Self { plan, mut samples } = self;
        samples.finish();
        load_files(&samples, session, symbolizer);
        let (named, ends) = samples.table.look_up(session, finder, symbolizer, naming, progress);
        let mut quality = quality(&samples, &ends, &named, &|dso| session.build_id(dso));
        quality.count_failed_unwinds(session.failed_unwinds());
        // Without a look, no file is known to lack names.
        let lookups = symbolizer.map(Symbolizer::lookups).unwrap_or_default();
        Report::new(plan, samples, named, quality, lookups)
    }

    /// Returns the address of a frame and the size of its mapping, if keys need them.
    fn in_memory(&self, frame: &Frame<'_>) -> (u64, u64) {
        let size = || frame.mapping.map_or(0, |it| it.range().end - it.range().start);
        let (needs_address, needs_size) = (self.plan.needs_address, self.plan.needs_mapping);
        (if needs_address { frame.ip } else { 0 }, if needs_size { size() } else { 0 })
    }

    /// Returns the number of a frame that no stack is kept for.
    fn frame(
        &mut self,
        at: &SampleContext<'_, '_>,
        frame: &StackFrame<'_>,
        symbolizer: Option<&mut Symbolizer>,
    ) -> Option<u32> {
        self.samples.table.frames.number(at, frame, symbolizer, self.plan.limits.frames)
    }

    /// Adds what is mapped at the data of a memory access, if a key needs it. Returns the number of its frame.
    ///
    /// perf: `ip__resolve_data`, `tools/perf/util/machine.c`.
    fn data(
        &mut self,
        at: &SampleContext<'_, '_>,
        facts: KeyFacts,
        symbolizer: Option<&mut Symbolizer>,
    ) -> Option<(KeyFacts, u32)> {
        if !self.samples.facts.needs_data() {
            return Some((facts, NONE));
        }
        let ip = memory_access::address_of(at);
        let mapping = at.find(at.mode(), ip);
        let data = self.frame(at, &recorded_frame(Frame { ip, mode: at.mode(), mapping }), symbolizer)?;
        let dso = self.samples.table.frames.location(data).map_or(NONE, |it| it.dso);
        Some((self.samples.facts.with_line(facts, at, mapping, dso), data))
    }
}

/// Returns whose code a mapping has.
fn mode_of(mapping: &Mapping) -> CpuMode {
    if mapping.dso().kind().is_kernel() { CpuMode::KERNEL } else { CpuMode::USER }
}

/// Loads the files of all frames, those with the most samples first, if they may have to be fetched.
fn load_files(samples: &ReportSamples, session: &Session, symbolizer: Option<&Symbolizer>) {
    load_hottest_first(&samples.table, stack_totals(samples), frame_totals(samples), session, symbolizer);
}

/// Returns the number of samples of stacks.
fn stack_totals(samples: &ReportSamples) -> impl Iterator<Item = (u32, u64)> {
    samples.groups.iter().map(|it| (it.key.stack, it.total.samples))
}

/// Returns the number of samples of frames of samples without a stack.
fn frame_totals(samples: &ReportSamples) -> impl Iterator<Item = (u32, u64)> {
    let without_stack = samples.groups.iter().filter(|it| it.key.stack == EMPTY);
    without_stack.flat_map(|it| [(it.key.frame, it.total.samples), (it.key.from, it.total.samples)])
}

/// Counts the stacks and frames of all samples.
fn quality(
    samples: &ReportSamples,
    ends: &BTreeMap<StackEnd, u64>,
    named: &FunctionTable,
    build_id: &dyn Fn(&Dso) -> Option<BuildId>,
) -> Quality {
    let ids: Vec<_> = samples.table.frames.dsos().iter().map(|dso| build_id(dso)).collect();
    let (stacks, frames) = (stack_totals(samples), frame_totals(samples));
    let mut quality = Quality::default();
    quality.count_ends(ends);
    quality.count_table(&samples.table, named, &ids, stacks, frames);
    quality
}
