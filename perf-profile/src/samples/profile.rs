//! The profile of a capture's samples.

use perf_abi::record::{Misc, RecordType};
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};
use perf_symbol::StackFrame;
use perf_symbol::unwind::StackEnd;

use super::Samples;
use super::inner_frames::{InnerFrames, LeftOut};
use super::noted_events::NotedEvents;
use super::pass::{CountedSample, PassWorker, RecordNotes, SamplePass, SampleStack, WalkContext};
use crate::builder::{PendingSample, ProfileBuilder, SampleTask};
use crate::error::ProfileError;
use crate::function_table::NamingOptions;
use crate::limits::Limits;
use crate::lock_waits::{LockCounter, LockNote};
use crate::observer::Observer;
use crate::off_cpu::{OffCpuTracker, SwitchReader, ThreadSwitch, WaitEnd, WaitKind};
use crate::origin::CaptureOrigin;
use crate::profile::{Profile, SampleDetail};
use crate::stack_table::{NewStacks, PartStack, StackPart, has_copies, has_stacks};
use crate::symbols::{Symbols, recorded_frame};
use crate::tracepoints::TracepointTexts;
use crate::wakers::{Wakers, Waking, WakingReader};

/// What a [profile](Samples::profile_with) has, apart from the samples that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileOptions {
    /// What is kept of each sample.
    pub detail: SampleDetail,
    /// Limits of what captures may make grow.
    pub limits: Limits,
    /// Whether inlined functions are kept: see [`NamingOptions::inlines`].
    pub inlines: bool,
    /// Whether the times that threads were off the CPU are counted, as samples of further events: see
    /// [`WaitKind`](crate::off_cpu::WaitKind). If the selected event is one of them, only its times are.
    pub off_cpu: bool,
    /// Whether waits for locks of the kernel and for futexes are counted, as samples of the events `lock-wait` and `futex-wait` whose
    /// periods are their nanoseconds, at the stack that waits. If the selected event is one of them, only its waits are.
    pub lock_waits: bool,
    /// The number of wakers of a thread that follow its stack in these events; 0 for none.
    pub wakers: usize,
    /// Whether the texts of tracepoints and the switches of threads are kept: see [`Profile::text`] and [`Profile::off_cpu`].
    pub marks: bool,
}

impl Default for ProfileOptions {
    /// Samples with stacks and names, neither times off the CPU nor marks.
    fn default() -> Self {
        let (detail, limits) = (SampleDetail::default(), Limits::default());
        Self { detail, limits, inlines: true, off_cpu: false, lock_waits: false, wakers: 0, marks: false }
    }
}

impl Samples<'_> {
    /// Counts the samples, and finds their names: see [`profile_with`](Self::profile_with).
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, and [`ProfileError::Cancelled`].
    pub fn profile(self, symbols: &Symbols, observer: &mut dyn Observer) -> Result<Profile, ProfileError> {
        self.profile_with(symbols, &ProfileOptions::default(), observer)
    }

    /// Counts the samples, and finds their names: those of each address once. What cannot be decoded is in
    /// [`Profile::account`].
    ///
    /// # Errors
    ///
    /// What is wrong with the selection, [`ProfileError::Cancelled`], and if the capture does not have what the options need.
    pub fn profile_with(
        self,
        symbols: &Symbols,
        options: &ProfileOptions,
        observer: &mut dyn Observer,
    ) -> Result<Profile, ProfileError> {
        let &ProfileOptions { detail, limits, inlines, off_cpu, lock_waits, wakers, marks } = options;
        let (mut samples, kind) = if off_cpu { self.with_off_cpu() } else { (self, None) };
        let only_futexes = if lock_waits { samples.take_lock_event() } else { None };
        samples.needs_all |= wakers > 0;
        let samples = samples.resolved()?;
        let naming = NamingOptions { inlines, threads: samples.threads };
        let source = samples.source();
        let info = source.info();
        let max_stack = Symbols::max_stack(info.features(), detail.max_stack);
        let detail = SampleDetail { max_stack, ..detail };
        let symbols = symbols.clone().with_max_stack(max_stack);
        let workers = samples.workers(symbols.symbolizer().is_some());
        let mut pass = ProfilePass {
            builder: ProfileBuilder::new(detail, limits),
            switches: if off_cpu { Some(SwitchReader::new(info)?) } else { None },
            off_cpu: OffCpuTracker::new(kind),
            wakings: if wakers > 0 { Some(WakingReader::new(info)?) } else { None },
            wakers: Wakers::new(wakers),
            locks: if lock_waits { Some(LockCounter::new(info, only_futexes)?) } else { None },
            has_stacks: detail.max_stack > 0,
            texts: marks.then(|| TracepointTexts::new(info)),
            walker: (workers.get() == 1).then(|| (symbols.clone(), InnerFrames::default())),
            events: NotedEvents::default(),
            part: 0,
        };
        pass.builder.load_ahead(symbols.symbolizer(), naming);
        let mut worker = ProfileWorker {
            symbols: symbols.clone(),
            part: pass.builder.part(),
            inner: InnerFrames::default(),
            texts: pass.texts.clone(),
        };
        let walked = samples.walk(symbols, &mut pass, &mut worker, workers, observer)?;
        if off_cpu {
            observer.off_cpu(&pass.off_cpu.summary());
        }
        let symbols = pass.walker.as_mut().map_or(&mut worker.symbols, |(symbols, _)| symbols);
        let (finder, symbolizer) = symbols.parts();
        let progress = &mut |done, all| observer.names(done, all);
        let profile = pass.builder.finish(walked.session(), finder, symbolizer.as_deref(), naming, progress);
        Ok(profile
            .with_origin(CaptureOrigin::of(walked.features()))
            .with_account(walked.account().clone(), walked.omitted()))
    }
}

/// The stack that is kept of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackNeed {
    /// None, as there is no room for the sample.
    Nothing,
    /// One without frames.
    Empty,
    /// The sample's own address.
    Own,
    /// The recorded one.
    Recorded,
}

/// What is known of a sample or another record.
#[derive(Debug)]
enum ProfileNote {
    Sample(SampleNote),
    Switch(ThreadSwitch),
}

#[derive(Debug)]
struct SampleNote {
    /// The index of the event, if the sample is counted: others wake a thread up.
    event: Option<usize>,
    task: Option<SampleTask>,
    time: Option<u64>,
    period: u64,
    need: StackNeed,
    /// The index of the format of its raw data.
    trace: Option<usize>,
    of_scheduler: Option<Box<SchedulerNote>>,
    of_lock: Option<Box<LockNote>>,
    /// What the worker found.
    stack: Option<PartStack>,
    text: Option<Vec<u8>>,
}

/// What a sample of a tracepoint of the scheduler says of threads.
#[derive(Debug)]
struct SchedulerNote {
    is_switch: bool,
    switch: Option<ThreadSwitch>,
    waking: Option<Waking>,
    /// The number of innermost frames that are the scheduler's, which the worker finds.
    frames: usize,
}

/// Counts the samples of a profile.
#[derive(Debug)]
struct ProfilePass<'a> {
    builder: ProfileBuilder,
    switches: Option<SwitchReader<'a>>,
    off_cpu: OffCpuTracker<Option<PendingSample>>,
    wakings: Option<WakingReader>,
    wakers: Wakers,
    /// The waits for locks, if they are wanted.
    locks: Option<LockCounter<'a>>,
    has_stacks: bool,
    /// The texts of tracepoints, if marks are wanted.
    texts: Option<TracepointTexts<'a>>,
    /// What finds stacks on the thread of the walk, if it has the only worker. The table then numbers them at once, and not
    /// after a part has.
    walker: Option<(Symbols, InnerFrames)>,
    events: NotedEvents,
    /// The number of the part of the worker that had the last notes.
    part: u32,
}

/// Finds and numbers the stacks of a profile.
#[derive(Debug)]
struct ProfileWorker<'a> {
    symbols: Symbols,
    part: StackPart,
    inner: InnerFrames,
    texts: Option<TracepointTexts<'a>>,
}

impl Clone for ProfileWorker<'_> {
    fn clone(&self) -> Self {
        Self {
            symbols: self.symbols.clone(),
            part: self.part.clone(),
            inner: InnerFrames::default(),
            texts: self.texts.clone(),
        }
    }
}

/// Returns whether a sample has a stack that was recorded, and not only its own address.
///
/// # Errors
///
/// A fault of the sample. Without one, its stack can be decoded.
pub fn has_stack(at: &SampleContext<'_, '_>, counted: &CountedSample<'_>) -> Result<bool, FileError> {
    if !has_stacks(counted.event) {
        return Ok(false);
    }
    at.sample().tail().map_err(|error| at.record().error(error))?;
    at.stack(counted.deferred)?;
    Ok(true)
}

impl LockNote {
    /// Returns the functions that are left out of the stack of the sample.
    fn left_out(&self) -> LeftOut {
        self.begins_futex().map_or(LeftOut::Nothing, LeftOut::Lock)
    }
}

impl ProfilePass<'_> {
    /// Returns what is known of a sample before its stack is.
    fn note(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        notes: &mut RecordNotes<'_, ProfileNote>,
    ) -> Result<SampleNote, FileError> {
        let need = match () {
            () if !self.has_stacks => StackNeed::Empty,
            () if has_stack(at, counted)? => StackNeed::Recorded,
            () => StackNeed::Own,
        };
        let task = self.builder.task(at);
        let need = if task.is_some() { need } else { StackNeed::Nothing };
        if need == StackNeed::Recorded && has_copies(counted.event) {
            notes.unwind();
        }
        Ok(SampleNote {
            event: None,
            task,
            time: at.sample().time(),
            period: counted.period,
            need,
            trace: None,
            of_scheduler: None,
            of_lock: None,
            stack: None,
            text: None,
        })
    }

    /// Returns what a selected sample says of threads; `None` if nobody asks.
    fn scheduler_note(&mut self, at: &SampleContext<'_, '_>) -> Option<SchedulerNote> {
        (self.switches.is_some() || self.wakings.is_some()).then(|| SchedulerNote {
            is_switch: self.is_switch(at),
            switch: self.switches.as_mut().and_then(|switches| switches.selected_sample(at)),
            waking: self.wakings.as_ref().and_then(|wakings| wakings.read(at)),
            frames: 0,
        })
    }

    /// Returns what a sample that is not selected, and wakes a thread up, says of threads.
    fn waking_note(&self, at: &SampleContext<'_, '_>) -> SchedulerNote {
        let waking = self.wakings.as_ref().and_then(|wakings| wakings.read(at));
        SchedulerNote { is_switch: false, switch: None, waking, frames: 0 }
    }

    fn is_switch(&self, at: &SampleContext<'_, '_>) -> bool {
        self.switches.as_ref().is_some_and(|switches| switches.is_switch(at))
    }

    /// Takes a switch of a thread: at once if samples are counted on this thread, otherwise in order with them.
    fn take_switch(&mut self, switch: Option<ThreadSwitch>, notes: &mut RecordNotes<'_, ProfileNote>) {
        let Some(switch) = switch else { return };
        if self.walker.is_none() {
            notes.push(ProfileNote::Switch(switch));
        } else {
            self.count_switch(&switch);
        }
    }

    /// Takes a selected sample on the thread of the walk.
    fn take(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        symbols: &mut Symbols,
        inner: &mut InnerFrames,
    ) -> Result<(), FileError> {
        let of_lock = self.locks.as_ref().and_then(|locks| locks.note(at));
        let left_out = match &of_lock {
            _ if self.is_switch(at) => LeftOut::Scheduler,
            Some(note) => note.left_out(),
            None => LeftOut::Nothing,
        };
        let (kept, frames) = self.keep(at, counted, left_out, symbols, inner)?;
        self.builder.count(counted.event, kept, at.sample().time(), counted.period);
        let format = self.texts.as_ref().and_then(|texts| texts.of(counted.event));
        let text = text(self.texts.as_mut(), format, at, symbols);
        let of_scheduler = self.scheduler_note(at).map(|note| SchedulerNote { frames, ..note });
        let of_lock = of_lock.map(|mut note| {
            note.frames = frames;
            note
        });
        self.finish_sample(kept, text, of_scheduler, of_lock);
        Ok(())
    }

    /// Keeps a sample; `None` if there is no room for it. Also returns the number of its innermost frames that are left out.
    fn keep(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        left_out: LeftOut,
        symbols: &mut Symbols,
        inner: &mut InnerFrames,
    ) -> Result<(Option<PendingSample>, usize), FileError> {
        if !self.has_stacks {
            let end = Some(StackEnd::Truncated);
            return Ok((self.builder.keep(at, &[], end, symbols.symbolizer_mut()), 0));
        }
        if !has_stacks(counted.event) {
            let own = recorded_frame(symbols.own_frame(at));
            return Ok((self.builder.keep(at, &[own], None, symbols.symbolizer_mut()), 0));
        }
        let (stack, end) = symbols.stack(at, counted.deferred)?;
        let kept = self.builder.keep(at, &stack, end, symbols.symbolizer_mut());
        let frames = inner.count(left_out, at, &stack, symbols);
        symbols.done(stack);
        Ok((kept, frames))
    }

    /// Keeps a switch of a thread.
    fn mark_switch(&mut self, record: &EventRecord<'_>, session: &Session, context: &WalkContext<'_>) {
        let is_switch = matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE);
        if self.texts.is_none() || !is_switch {
            return;
        }
        let Some(id) = record.sample_id().ok().flatten() else { return };
        if let Some((thread, time)) = id.tid().and_then(|tid| session.thread(tid)).zip(id.time())
            && context.wants_cpu(id.cpu())
        {
            let has = |flag: Misc| record.misc().contains(flag);
            self.builder.switch(thread, time, has(Misc::SWITCH_OUT), has(Misc::SWITCH_OUT_PREEMPT));
        }
    }

    /// Counts a time that a thread spent.
    fn count_wait(&mut self, end: WaitEnd<Option<PendingSample>>) {
        let WaitEnd { tid, kind, before, time, away } = end;
        let Some(switches) = &self.switches else { return };
        let wakers = match kind {
            WaitKind::Running => &[],
            // What woke the thread up is what it waited for, and what its time until it runs begins with.
            _ => self.wakers.since(tid, time - away),
        };
        let kept = before.and_then(|before| self.builder.woken(before, wakers));
        self.builder.count(switches.event(kind), kept, Some(time), away);
    }

    fn count_switch(&mut self, switch: &ThreadSwitch) {
        for end in self.off_cpu.apply(switch).into_iter().flatten() {
            self.count_wait(end);
        }
    }

    fn count_sample(&mut self, note: SampleNote) {
        let SampleNote { event, task, time, period, of_scheduler, of_lock, stack, text, .. } = note;
        let kept = task.zip(stack);
        let kept = kept.and_then(|(task, stack)| self.builder.keep_of_part(task, self.part, stack));
        if let Some(event) = event.and_then(|index| self.events.get(index)) {
            self.builder.count(event, kept, time, period);
        }
        self.finish_sample(kept, text, of_scheduler.map(|note| *note), of_lock.map(|note| *note));
    }

    /// Keeps what a sample says, after it was counted.
    fn finish_sample(
        &mut self,
        kept: Option<PendingSample>,
        text: Option<Vec<u8>>,
        of_scheduler: Option<SchedulerNote>,
        of_lock: Option<LockNote>,
    ) {
        if let Some(text) = text {
            self.builder.describe(text);
        }
        if let Some((locks, note)) = self.locks.as_mut().zip(of_lock) {
            let before = kept.map(|kept| self.builder.outer(kept, note.frames));
            if let Some(wait) = locks.sample(&note, before)
                && let Some(event) = locks.event(&wait)
            {
                self.builder.count(event, wait.kept, Some(wait.end), wait.end - wait.start);
            }
        }
        let Some(SchedulerNote { switch, waking, frames, .. }) = of_scheduler else { return };
        if let Some((waking, kept)) = waking.zip(kept) {
            self.wakers.apply(waking, kept);
        }
        if let Some(switch) = switch {
            let ran = self.off_cpu.sample(switch, kept.map(|kept| self.builder.outer(kept, frames)));
            if let Some(ran) = ran {
                self.count_wait(ran);
            }
        }
    }
}

impl<'r, 'a> SamplePass<'r> for ProfilePass<'a> {
    type Note = ProfileNote;
    type Worker = ProfileWorker<'a>;
    type Error = ProfileError;

    fn before(&mut self, at: &SampleContext<'_, '_>, notes: &mut RecordNotes<'_, ProfileNote>) {
        let switch = self.switches.as_ref().and_then(|switches| switches.any_sample(at));
        self.take_switch(switch, notes);
    }

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ProfileNote>,
    ) -> Result<(), FileError> {
        if let Some((mut symbols, mut inner)) = self.walker.take() {
            let taken = self.take(at, counted, &mut symbols, &mut inner);
            self.walker = Some((symbols, inner));
            return taken;
        }
        let mut note = self.note(at, counted, notes)?;
        note.event = Some(self.events.note(counted.event));
        note.trace = self.texts.as_ref().and_then(|texts| texts.of(counted.event));
        note.of_scheduler = self.scheduler_note(at).map(Box::new);
        note.of_lock = self.locks.as_ref().and_then(|locks| locks.note(at)).map(Box::new);
        notes.push(ProfileNote::Sample(note));
        Ok(())
    }

    fn unselected(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        notes: &mut RecordNotes<'_, ProfileNote>,
    ) -> Result<(), FileError> {
        // Any thread may wake one that is selected.
        if !self.wakings.as_ref().is_some_and(|wakings| wakings.is_waking(at)) {
            return Ok(());
        }
        if let Some((mut symbols, mut inner)) = self.walker.take() {
            let kept = self.keep(at, counted, LeftOut::Nothing, &mut symbols, &mut inner);
            self.walker = Some((symbols, inner));
            let note = self.waking_note(at);
            self.finish_sample(kept?.0, None, Some(note), None);
            return Ok(());
        }
        let mut note = self.note(at, counted, notes)?;
        note.of_scheduler = Some(Box::new(self.waking_note(at)));
        notes.push(ProfileNote::Sample(note));
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        session: &Session,
        context: &WalkContext<'_>,
        notes: &mut RecordNotes<'_, ProfileNote>,
    ) -> Result<(), FileError> {
        self.mark_switch(record, session, context);
        let switch = self.switches.as_ref().and_then(|switches| switches.record(record));
        self.take_switch(switch, notes);
        Ok(())
    }

    fn deliver(&mut self, new: NewStacks, session: &Session) -> Result<(), ProfileError> {
        self.part = self.builder.take_over(new, session);
        Ok(())
    }

    fn count(&mut self, note: ProfileNote) {
        match note {
            ProfileNote::Sample(note) => self.count_sample(note),
            ProfileNote::Switch(switch) => self.count_switch(&switch),
        }
    }
}

/// Returns the text of a sample's raw data with a format; `None` if there is no format or no raw data.
fn text(
    texts: Option<&mut TracepointTexts<'_>>,
    format: Option<usize>,
    at: &SampleContext<'_, '_>,
    symbols: &mut Symbols,
) -> Option<Vec<u8>> {
    let (texts, format) = texts.zip(format)?;
    let raw = at.sample().tail().ok()?.raw?;
    let mut text = Vec::new();
    texts.push(&mut text, format, raw, at, symbols);
    Some(text)
}

impl ProfileWorker<'_> {
    /// Numbers a stack.
    fn number(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
    ) -> PartStack {
        self.part.stack(at, stack, end, self.symbols.symbolizer_mut())
    }

    /// Finds and numbers the stack of a sample.
    fn stack(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        note: &mut SampleNote,
    ) -> Result<Option<PartStack>, FileError> {
        Ok(match note.need {
            StackNeed::Nothing => None,
            StackNeed::Empty => Some(self.number(at, &[], Some(StackEnd::Truncated))),
            StackNeed::Own => {
                let own = recorded_frame(self.symbols.own_frame(at));
                Some(self.number(at, &[own], None))
            }
            StackNeed::Recorded => {
                let (frames, end) = stack.find(at, &mut self.symbols)?;
                if let Some(note) = note.of_scheduler.as_mut().filter(|note| note.is_switch) {
                    note.frames = self.inner.count(LeftOut::Scheduler, at, &frames, &mut self.symbols);
                }
                if let Some(note) = &mut note.of_lock {
                    note.frames = self.inner.count(note.left_out(), at, &frames, &mut self.symbols);
                }
                let number = self.number(at, &frames, end);
                self.symbols.done(frames);
                Some(number)
            }
        })
    }
}

impl PassWorker for ProfileWorker<'_> {
    type Note = ProfileNote;
    type Output = NewStacks;

    fn symbols(&mut self) -> Option<&mut Symbols> {
        Some(&mut self.symbols)
    }

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &SampleStack<'_>,
        note: &mut ProfileNote,
    ) -> Result<(), FileError> {
        let ProfileNote::Sample(note) = note else { return Ok(()) };
        note.stack = self.stack(at, stack, note)?;
        note.text = text(self.texts.as_mut(), note.trace, at, &mut self.symbols);
        Ok(())
    }

    fn take_output(&mut self) -> NewStacks {
        self.part.take_new()
    }
}
