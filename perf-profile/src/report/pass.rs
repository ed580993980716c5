//! The report of a capture's samples.

use core::num::NonZero;

use perf_abi::record::CpuMode;
use perf_parse::event::Event;
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};
use perf_symbol::StackFrame;

use super::Report;
use super::builder::{DescribedSample, PartFrames, PendingReportSample, ReportBuilder, SampleFrames};
use super::facts::TraceAsk;
use super::options::Options;
use super::plan::ReportPlan;
use crate::error::ProfileError;
use crate::function_table::NamingOptions;
use crate::observer::Observer;
use crate::off_cpu::{OffCpuTracker, SchedulerFrames, SwitchReader, ThreadSwitch, WaitEnd};
use crate::samples::noted_events::NotedEvents;
use crate::samples::pass::{CountedSample, PassWorker, RecordNotes, SamplePass, SampleStack, WalkContext};
use crate::samples::{Samples, has_stack};
use crate::stack_table::{NewStacks, PartFrame, PartStack, StackPart, has_copies, has_stacks};
use crate::symbols::{Symbols, own_frame, recorded_frame};
use crate::trace_field_name::TraceFieldName;
use crate::tracepoints::TracepointTexts;

impl Samples<'_> {
    /// Groups the samples by the keys of a report, and finds their names. What cannot be decoded is in [`Report::account`].
    ///
    /// # Errors
    ///
    /// Those of [`ReportPlan::new`] and of [`report_with`](Self::report_with).
    ///
    /// # Examples
    ///
    /// See [`report`](crate::report).
    pub fn report(
        self,
        symbols: &Symbols,
        options: &Options,
        observer: &mut dyn Observer,
    ) -> Result<Report, ProfileError> {
        let plan = ReportPlan::new(options, self.info())?;
        self.report_with(plan, symbols, observer)
    }

    /// Groups the samples by the keys of a report that is planned already.
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, [`ProfileError::Cancelled`], and if times off the CPU are wanted that the capture does
    /// not have.
    pub fn report_with(
        self,
        plan: ReportPlan,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<Report, ProfileError> {
        let (samples, kind) = if plan.off_cpu { self.with_off_cpu() } else { (self, None) };
        let samples = samples.resolved()?;
        let source = samples.source();
        let info = source.info();
        let naming = NamingOptions { inlines: plan.inlines, threads: samples.thread_count() };
        let symbols = symbols.clone().with_max_stack(plan.max_stack);
        let switches = if plan.off_cpu { Some(SwitchReader::new(info)?) } else { None };
        let mut builder = ReportBuilder::new(plan);
        builder.load_ahead(symbols.symbolizer(), naming);
        let mut worker = RowWorker {
            symbols: symbols.clone(),
            part: builder.part(),
            scheduler: SchedulerFrames::default(),
            needs_stacks: builder.plan().needs_stacks(),
        };
        let workers = if builder.can_be_in_parts() {
            samples.workers(symbols.symbolizer().is_some())
        } else {
            NonZero::<usize>::MIN
        };
        let walker = (workers.get() == 1).then(|| (symbols.clone(), SchedulerFrames::default()));
        let needs_stacks = worker.needs_stacks || symbols.folds_interpreters();
        let mut pass = RowPass {
            needs_stacks,
            trace_fields: builder.plan().layout.trace_fields.clone(),
            builder,
            texts: TracepointTexts::new(info),
            switches,
            off_cpu: OffCpuTracker::new(kind),
            walker,
            events: NotedEvents::default(),
            part: 0,
        };
        let walked = samples.walk(symbols, &mut pass, &mut worker, workers, observer)?;
        if pass.switches.is_some() {
            observer.off_cpu(&pass.off_cpu.summary());
        }
        if pass.texts.as_fields > 0 {
            observer.texts_as_fields(pass.texts.as_fields);
        }
        let symbols = pass.walker.as_mut().map_or(&mut worker.symbols, |(symbols, _)| symbols);
        let (finder, symbolizer) = symbols.parts();
        let progress = &mut |done, all| observer.names(done, all);
        let report = pass.builder.finish(walked.session(), finder, symbolizer.as_deref(), naming, progress);
        Ok(report.with_account(walked.account().clone(), walked.omitted()))
    }
}

/// What is known of a sample or another record.
#[derive(Debug)]
enum RowNote {
    Sample(RowSample),
    Switch(ThreadSwitch),
}

#[derive(Debug)]
struct RowSample {
    event: usize,
    period: u64,
    mode: CpuMode,
    /// `None` if there is no room for the sample.
    kept: Option<PendingReportSample>,
    has_stack: bool,
    /// With it, the sample is not counted, but the time until its thread is back.
    switch: Option<ThreadSwitch>,
    /// Whether its stack is that of the thread that waits, after the frames of the scheduler.
    is_switch: bool,
    /// What the worker found.
    frames: Option<PartFrames>,
}

/// Counts samples by the keys of a report.
#[derive(Debug)]
struct RowPass<'a> {
    builder: ReportBuilder,
    texts: TracepointTexts<'a>,
    /// The fields of tracepoints that are keys, once more than in the layout, which the builder has.
    trace_fields: Vec<TraceFieldName>,
    /// With it, only times off the CPU are counted.
    switches: Option<SwitchReader<'a>>,
    off_cpu: OffCpuTracker<Option<PendingReportSample>>,
    /// What finds stacks on the thread of the walk, if it has the only worker. The table then numbers them at once, and not
    /// after a part has.
    walker: Option<(Symbols, SchedulerFrames)>,
    /// Whether stacks are shown, or tell at which function of an interpreted program a sample is.
    needs_stacks: bool,
    events: NotedEvents,
    /// The number of the part of the worker that had the last notes.
    part: u32,
}

/// Finds and numbers the stacks of a report.
#[derive(Debug)]
struct RowWorker {
    symbols: Symbols,
    part: StackPart,
    scheduler: SchedulerFrames,
    needs_stacks: bool,
}

impl Clone for RowWorker {
    fn clone(&self) -> Self {
        let Self { symbols, part, needs_stacks, .. } = self;
        let scheduler = SchedulerFrames::default();
        Self { symbols: symbols.clone(), part: part.clone(), scheduler, needs_stacks: *needs_stacks }
    }
}

impl RowPass<'_> {
    fn is_switch(&self, at: &SampleContext<'_, '_>) -> bool {
        self.switches.as_ref().is_some_and(|switches| switches.is_switch(at))
    }

    /// Counts a time that a thread spent.
    fn count_wait(&mut self, end: WaitEnd<Option<PendingReportSample>>) {
        let WaitEnd { kind, before, away, .. } = end;
        if let Some(switches) = &self.switches {
            self.builder.count(switches.event(kind), before, away, CpuMode::CPUMODE_UNKNOWN);
        }
    }

    fn count_switch(&mut self, switch: &ThreadSwitch) {
        for end in self.off_cpu.apply(switch).into_iter().flatten() {
            self.count_wait(end);
        }
    }

    /// Takes a switch of a thread: at once if samples are counted on this thread, otherwise in order with them.
    fn take_switch(&mut self, switch: Option<ThreadSwitch>, notes: &mut RecordNotes<'_, RowNote>) {
        let Some(switch) = switch else { return };
        if self.walker.is_none() {
            notes.push(RowNote::Switch(switch));
        } else {
            self.count_switch(&switch);
        }
    }

    /// Notes a sample whose addresses a worker finds.
    fn note(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        notes: &mut RecordNotes<'_, RowNote>,
    ) -> Result<(), FileError> {
        let CountedSample { event, period, .. } = *counted;
        // The stack of a switch is that of the thread that waits.
        let is_switch = self.is_switch(at);
        // A chain without frames would lose where the sample is: the sample's own address counts alone.
        let has_stack = (self.needs_stacks || is_switch) && has_stack(at, counted)?;
        let described = self.builder.describe(at, None);
        let kept = described.and_then(|described| self.builder.keep_in_part(at, event, described));
        let has_stack = has_stack && kept.is_some();
        if has_stack && has_copies(event) {
            notes.unwind();
        }
        let switch = self.switches.as_mut().and_then(|switches| switches.selected_sample(at));
        let (event, mode) = (self.events.note(event), at.mode());
        notes.push(RowNote::Sample(RowSample {
            event,
            period,
            mode,
            kept,
            has_stack,
            switch,
            is_switch,
            frames: None,
        }));
        Ok(())
    }

    /// Takes a sample on the thread of the walk.
    fn take(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        symbols: &mut Symbols,
        scheduler: &mut SchedulerFrames,
    ) -> Result<(), FileError> {
        if self.builder.plan().branches {
            let described = self.describe(at, counted.event, symbols);
            return self.builder.count_branches(at, counted.event, described, symbols.symbolizer_mut());
        }
        let kept = self.keep(at, counted, symbols, scheduler)?;
        match &mut self.switches {
            Some(switches) => {
                let switch = switches.selected_sample(at);
                let ran = switch.and_then(|switch| self.off_cpu.sample(switch, kept));
                if let Some(ran) = ran {
                    self.count_wait(ran);
                }
            }
            None => {
                let period = self.builder.period(at, counted.period);
                self.builder.count(counted.event, kept, period, at.mode());
            }
        }
        Ok(())
    }

    /// Keeps a sample; `None` if there is no room for it.
    fn keep(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        symbols: &mut Symbols,
        scheduler: &mut SchedulerFrames,
    ) -> Result<Option<PendingReportSample>, FileError> {
        let is_switch = self.is_switch(at);
        let has_stack = (self.needs_stacks || is_switch) && has_stacks(counted.event);
        let stack = if has_stack { Some(symbols.stack(at, counted.deferred)?) } else { None };
        let frames = stack.as_ref().map_or(&[][..], |(frames, _)| frames);
        let inner = if is_switch { scheduler.count(at, frames, symbols) } else { 0 };
        let waits = if is_switch || symbols.is_leaf_folded() { frames.get(inner) } else { None };
        let own = waits.map_or_else(|| recorded_frame(own_frame(at)), StackFrame::clone);
        let described = self.describe(at, counted.event, symbols);
        let kept = described.and_then(|described| {
            let mapped = symbols.in_kernel(at, own.frame);
            let stack = stack.as_ref().map(|(frames, end)| (&frames[..], *end));
            let frames = SampleFrames { own: &own, mapped, stack, inner };
            self.builder.keep(at, counted.event, described, &frames, symbols.symbolizer_mut())
        });
        if let Some((stack, _)) = stack {
            symbols.done(stack);
        }
        Ok(kept)
    }

    /// Returns what keys need of a sample, with the text of its tracepoint.
    fn describe(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Event,
        symbols: &mut Symbols,
    ) -> Option<DescribedSample> {
        let Self { builder, texts, trace_fields, .. } = self;
        let format = if builder.needs_trace() { texts.of(event) } else { None };
        let mut push = |ask: TraceAsk, out: &mut Vec<u8>| {
            let Some(index) = format else { return };
            let raw = at.sample().tail().ok().and_then(|tail| tail.raw).unwrap_or_default();
            match ask {
                TraceAsk::Text => texts.push(out, index, raw, at, symbols),
                TraceAsk::Fields => texts.push_fields(out, index, raw, at, symbols, trace_fields),
            }
        };
        builder.describe(at, if format.is_some() { Some(&mut push) } else { None })
    }

    fn count_sample(&mut self, note: RowSample) {
        let RowSample { event, period, mode, kept, switch, frames, .. } = note;
        let kept = kept.zip(frames);
        let kept = kept.and_then(|(kept, frames)| self.builder.keep_of_part(kept, self.part, frames));
        if self.switches.is_some() {
            if let Some(ran) = switch.and_then(|switch| self.off_cpu.sample(switch, kept)) {
                self.count_wait(ran);
            }
        } else if let Some(event) = self.events.get(event) {
            self.builder.count(event, kept, period, mode);
        }
    }
}

impl<'r> SamplePass<'r> for RowPass<'_> {
    type Note = RowNote;
    type Worker = RowWorker;
    type Error = ProfileError;

    fn before(&mut self, at: &SampleContext<'_, '_>, notes: &mut RecordNotes<'_, RowNote>) {
        let switch = self.switches.as_ref().and_then(|switches| switches.any_sample(at));
        self.take_switch(switch, notes);
    }

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, RowNote>,
    ) -> Result<(), FileError> {
        let Some((mut symbols, mut scheduler)) = self.walker.take() else {
            return self.note(at, counted, notes);
        };
        let taken = self.take(at, counted, &mut symbols, &mut scheduler);
        self.walker = Some((symbols, scheduler));
        taken
    }

    fn unselected(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &mut RecordNotes<'_, RowNote>,
    ) -> Result<(), FileError> {
        if self.switches.is_none() {
            let period = self.builder.period(at, counted.period);
            self.builder.count_filtered(counted.event, period);
        }
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, RowNote>,
    ) -> Result<(), FileError> {
        self.builder.other(record);
        let switch = self.switches.as_ref().and_then(|switches| switches.record(record));
        self.take_switch(switch, notes);
        Ok(())
    }

    fn deliver(&mut self, new: NewStacks, session: &Session) -> Result<(), ProfileError> {
        self.part = self.builder.take_over(new, session);
        Ok(())
    }

    fn count(&mut self, note: RowNote) {
        match note {
            RowNote::Sample(note) => self.count_sample(note),
            RowNote::Switch(switch) => self.count_switch(&switch),
        }
    }
}

impl RowWorker {
    fn frame(&mut self, at: &SampleContext<'_, '_>, frame: &StackFrame<'_>) -> PartFrame {
        self.part.frame(at, frame, self.symbols.symbolizer_mut())
    }

    /// Finds the frames of a sample without a stack.
    fn own(&mut self, at: &SampleContext<'_, '_>) -> PartFrames {
        let own = recorded_frame(self.symbols.own_frame(at));
        PartFrames { frame: self.frame(at, &own), stack: None, inner: 0, waits: None }
    }

    /// Finds the frames of a sample with a stack.
    fn with_stack(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        is_switch: bool,
    ) -> Result<PartFrames, FileError> {
        let (frames, end) = stack.find(at, &mut self.symbols)?;
        let inner = if is_switch { self.scheduler.count(at, &frames, &mut self.symbols) } else { 0 };
        let is_other = is_switch || self.symbols.is_leaf_folded();
        let mut found = match frames.get(inner).filter(|_| is_other) {
            None => self.own(at),
            Some(waits) => {
                let mapped = StackFrame { frame: self.symbols.in_kernel(at, waits.frame), ..*waits };
                let in_memory = waits.frame.mapping.map(|it| it.range().end - it.range().start);
                let waits = Some((waits.frame.ip, in_memory.unwrap_or(0)));
                PartFrames { frame: self.frame(at, &mapped), stack: None, inner, waits }
            }
        };
        let number: Option<PartStack> =
            self.needs_stacks.then(|| self.part.stack(at, &frames, end, self.symbols.symbolizer_mut()));
        found.stack = number;
        self.symbols.done(frames);
        Ok(found)
    }
}

impl PassWorker for RowWorker {
    type Note = RowNote;
    type Output = NewStacks;

    fn symbols(&mut self) -> Option<&mut Symbols> {
        Some(&mut self.symbols)
    }

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        note: &mut RowNote,
    ) -> Result<(), FileError> {
        let RowNote::Sample(note) = note else { return Ok(()) };
        if note.kept.is_some() {
            note.frames = Some(match note.has_stack {
                true => self.with_stack(at, stack, note.is_switch)?,
                false => self.own(at),
            });
        }
        Ok(())
    }

    fn take_output(&mut self) -> NewStacks {
        self.part.take_new()
    }
}
