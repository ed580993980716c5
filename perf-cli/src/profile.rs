//! The samples of captures with names, for the verbs that write them in other formats.

use alloc::sync::Arc;
use core::num::NonZero;
use std::path::PathBuf;

use perf_abi::record::{Misc, RecordType};
use perf_parse::event::Event;
use perf_parse::file::{EventRecords, Reader};
use perf_parse::{EventRecord, FileError};
use perf_profile::symbols::recorded_frame;
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::{
    Keep, Kept, Limits, NewStacks, Origin, Profile, ProfileBuilder, Symbols, Who, has_stacks,
};
use perf_session::{At, Session};
use perf_symbol::unwind::StackEnd;

use crate::args::only::OnlyArgs;
use crate::args::profile::{NamingArgs, ProfileArgs};
use crate::args::symbols::SymbolArgs;
use crate::escape::shown;
use crate::input::Memory;
use crate::off_cpu::{self, Back, OffCpu, SchedulerFrames};
use crate::output::{InputFile, say};
use crate::progress::NamingProgress;
use crate::samples::{self, Collect, Counted, Filter, Found, Samples, Stack, Visit, Visited, Wanted};
use crate::wakers::Wakers;
use crate::{Failure, Outcome, names};

/// What the captures of a command line have.
#[derive(Debug)]
pub(crate) struct Profiles {
    pub(crate) profiles: Vec<Profile>,
    /// The files that were read, which no output may be.
    pub(crate) inputs: Vec<InputFile>,
    pub(crate) outcome: Outcome,
}

/// Which samples of which captures, and how they get names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) paths: &'a [PathBuf],
    pub(crate) only: &'a OnlyArgs,
    pub(crate) symbols: &'a SymbolArgs,
    pub(crate) naming: &'a NamingArgs,
    /// Whether the times that threads were off the CPU are counted, as another event.
    pub(crate) off_cpu: bool,
    /// How many wakers of a thread follow its stack in that event.
    pub(crate) wakers: usize,
    /// Whether the texts of tracepoints and the switches of threads are kept.
    pub(crate) marks: bool,
}

impl<'a> From<&'a ProfileArgs> for Request<'a> {
    fn from(args: &'a ProfileArgs) -> Self {
        let ProfileArgs { files, naming, only, symbols, off_cpu, wakers, .. } = args;
        let wakers = wakers.map_or(0, NonZero::get);
        Self { paths: &files.0, only, symbols, naming, off_cpu: *off_cpu, wakers, marks: false }
    }
}

/// Reads captures, one after the other.
///
/// # Errors
///
/// Those of the first capture that cannot be read.
pub(crate) fn read(request: &Request<'_>, keep: Keep) -> Result<Profiles, Failure> {
    let mut all = Profiles { profiles: Vec::new(), inputs: Vec::new(), outcome: Outcome::Clean };
    let keep = Keep { max_stack: request.naming.max_stack, ..keep };
    for path in request.paths {
        let outcome = crate::input::read(path, |reader, memory| {
            all.inputs.extend_from_slice(memory.inputs);
            let (profile, outcome) = profile(&reader, memory, request, keep)?;
            let beyond: u64 = profile.events().iter().map(|event| event.beyond.samples).sum();
            if beyond > 0 {
                say!(
                    "perfdata: {}: samples left out, because they are beyond the limits: {beyond}",
                    shown(path)
                );
            }
            all.profiles.push(profile);
            Ok(outcome)
        })?;
        if outcome != Outcome::Clean {
            all.outcome = outcome;
        }
    }
    Ok(all)
}

/// Reads a capture.
///
/// # Errors
///
/// What is wrong with the request.
pub(crate) fn profile(
    reader: &Reader<'_>,
    memory: Memory<'_>,
    request: &Request<'_>,
    keep: Keep,
) -> Result<(Profile, Outcome), Failure> {
    let needs_all = request.off_cpu || request.wakers > 0;
    let naming = request.symbols.naming(request.naming.threads);
    let (wait, only) = off_cpu::selection(request.only, request.off_cpu);
    let samples = Samples::new(reader, memory, &only)?.all_if(needs_all).threads(naming.threads);
    let names = names::symbols(request.symbols, reader.features(), memory)?.with_max_stack(keep.max_stack);
    let off_cpu = if request.off_cpu { Some(OffCpu::new(reader, wait)?) } else { None };
    let wakers = if request.wakers > 0 { Some(Wakers::new(reader, request.wakers)?) } else { None };
    let mut builder = ProfileBuilder::new(keep, Limits::default());
    builder.load_ahead(names.symbolizer(), naming);
    let traces = request.marks.then(|| TracepointTexts::new(reader));
    let has_stacks = keep.max_stack > 0;
    let mut building =
        Building { builder, off_cpu, scheduler: SchedulerFrames::default(), wakers, has_stacks, traces };
    // What is counted for a waker, and for the time off the CPU, depends on other samples.
    let threads = samples.walkers(names.symbolizer().is_some());
    let mut walked = if threads.get() > 1 && !needs_all {
        let (part, traces) = (building.builder.part(), building.traces.clone());
        samples.walk_by_blocks(names, part, traces, &mut building, threads)?
    } else {
        let walked = samples.walk(names, &mut building)?;
        walked.ok_or_else(|| Failure("the walk ended early".into()))?
    };
    if let Some(off_cpu) = &building.off_cpu {
        off_cpu.report();
    }
    let mut progress = NamingProgress::new();
    let (finder, symbolizer) = walked.names.parts();
    let progress_at = &mut |done, all| progress.at(done, all);
    let profile =
        building.builder.finish(&walked.session, finder, symbolizer.as_deref(), naming, progress_at);
    drop(progress);
    let profile = profile.with_origin(Origin::of(walked.features()));
    Ok((profile, walked.finish("taken")))
}

/// What is kept of a sample; `None` if it is beyond the limits.
#[derive(Clone, Copy, Debug)]
struct Held {
    kept: Option<Kept>,
    /// The same without the scheduler's frames, if the sample is a switch of the thread.
    waits: Option<Kept>,
}

/// Takes the samples of a walk.
#[derive(Debug)]
struct Building<'a> {
    builder: ProfileBuilder,
    off_cpu: Option<OffCpu<'a, Option<Kept>>>,
    scheduler: SchedulerFrames,
    wakers: Option<Wakers<'a>>,
    has_stacks: bool,
    /// The texts of tracepoints, if marks are wanted.
    traces: Option<TracepointTexts<'a>>,
}

impl Building<'_> {
    fn keep(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
    ) -> Result<Held, FileError> {
        if !self.has_stacks {
            let kept = self.builder.keep(at, &[], Some(StackEnd::Truncated), names.symbolizer_mut());
            return Ok(Held { kept, waits: kept });
        }
        if !has_stacks(counted.event) {
            let own = recorded_frame(names.own_frame(at));
            let kept = self.builder.keep(at, &[own], None, names.symbolizer_mut());
            return Ok(Held { kept, waits: kept });
        }
        let (stack, end) = names.stack(at, counted.user)?;
        let kept = self.builder.keep(at, &stack, end, names.symbolizer_mut());
        let is_switch = self.off_cpu.as_ref().is_some_and(|off_cpu| off_cpu.is_switch(at));
        let of_scheduler = if is_switch { self.scheduler.count(at, &stack, names) } else { 0 };
        names.done(stack);
        Ok(Held { kept, waits: kept.map(|kept| self.builder.outer(kept, of_scheduler)) })
    }

    /// Keeps the text of a tracepoint.
    fn describe(&mut self, at: &At<'_, '_>, event: &Event, names: &mut Symbols) {
        let Some(traces) = &mut self.traces else { return };
        // A fault of the sample is one of its stack too, and noted there.
        let raw = at.sample().tail().ok().and_then(|tail| tail.raw);
        if let Some((index, raw)) = traces.of(event).zip(raw) {
            let mut text = Vec::new();
            traces.push(&mut text, index, raw, at, names);
            self.builder.describe(text);
        }
    }

    /// Keeps a switch of a thread.
    fn switch(&mut self, record: &EventRecord<'_>, session: &Session, filter: &Filter<'_>) {
        let is_switch = matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE);
        if self.traces.is_none() || !is_switch {
            return;
        }
        let Some(id) = record.sample_id().ok().flatten() else { return };
        if let Some((thread, time)) = id.tid().and_then(|tid| session.thread(tid)).zip(id.time())
            && filter.wants_cpu(id.cpu())
        {
            let has = |flag: Misc| record.misc().contains(flag);
            self.builder.switch(thread, time, has(Misc::SWITCH_OUT), has(Misc::SWITCH_OUT_PREEMPT));
        }
    }

    /// Counts the time that a thread was off the CPU.
    fn count_away(&mut self, back: Option<Back<Option<Kept>>>) {
        if let Some((off_cpu, Back { tid, wait, before, time, away })) = self.off_cpu.as_ref().zip(back) {
            let wakers = self.wakers.as_ref().map_or(&[][..], |it| it.since(tid, time - away));
            let kept = before.and_then(|before| self.builder.woken(before, wakers));
            self.builder.count(off_cpu.event(wait), kept, Some(time), away);
        }
    }

    /// Keeps a sample that wakes a thread up.
    fn waking(&mut self, at: &At<'_, '_>, kept: Option<Kept>) {
        if let Some((wakers, kept)) = self.wakers.as_mut().zip(kept) {
            wakers.waking(at, kept);
        }
    }
}

impl<'r> Collect<'r> for Building<'_> {
    type Taken = (Arc<Event>, Option<Who>, Option<u64>, u64);

    fn take(&mut self, at: &At<'_, '_>, counted: &Counted<'_>) -> Result<(Self::Taken, Wanted), FileError> {
        let stack = match () {
            () if !self.has_stacks => Stack::Empty,
            () if samples::has_stack(at, counted)? => Stack::Recorded,
            () => Stack::Own,
        };
        let Counted { event, period, .. } = *counted;
        let who = self.builder.who(at);
        let trace = self.traces.as_ref().and_then(|traces| traces.of(event));
        let stack = if who.is_some() { stack } else { Stack::None };
        let taken = (Arc::clone(event), who, at.sample().time(), period);
        Ok((taken, Wanted { frame: false, stack, trace }))
    }

    fn other(&mut self, record: &EventRecord<'r>, session: &Session, filter: &Filter<'_>) {
        self.switch(record, session, filter);
    }

    fn take_over(&mut self, new: NewStacks, session: &Session) -> u32 {
        self.builder.take_over(new, session)
    }

    fn count(&mut self, taken: Self::Taken, part: u32, found: Found) {
        let (event, who, time, period) = taken;
        let kept = who.zip(found.stack).and_then(|(who, stack)| self.builder.keep_of_part(who, part, stack));
        self.builder.count(&event, kept, time, period);
        if let Some(text) = found.text {
            self.builder.describe(text);
        }
    }
}

impl<'r> Visit<'r> for Building<'_> {
    fn before(&mut self, at: &At<'_, '_>, _record: &EventRecord<'r>) {
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.before(at));
        self.count_away(back);
    }

    fn sample(
        &mut self,
        at: &At<'_, '_>,
        counted: &Counted<'_>,
        names: &mut Symbols,
        _records: &EventRecords<'_>,
    ) -> Visited {
        let Held { kept, waits } = match self.keep(at, counted, names) {
            Ok(held) => held,
            Err(error) => return Ok(Err(error)),
        };
        self.builder.count(counted.event, kept, at.sample().time(), counted.period);
        self.describe(at, counted.event, names);
        self.waking(at, kept);
        if let Some(off_cpu) = &mut self.off_cpu {
            off_cpu.sample(at, waits);
        }
        Ok(Ok(()))
    }

    fn filtered(&mut self, at: &At<'_, '_>, counted: &Counted<'_>, names: &mut Symbols) -> Visited {
        // Any thread may wake one that is selected.
        if self.wakers.as_ref().is_some_and(|wakers| wakers.wakes(at)) {
            match self.keep(at, counted, names) {
                Ok(held) => self.waking(at, held.kept),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    fn other(
        &mut self,
        record: &EventRecord<'_>,
        session: &Session,
        filter: &Filter<'_>,
        _records: &EventRecords<'_>,
    ) -> Visited {
        self.switch(record, session, filter);
        let back = self.off_cpu.as_mut().and_then(|off_cpu| off_cpu.other(record));
        self.count_away(back);
        Ok(Ok(()))
    }
}
