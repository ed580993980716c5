//! Collects the samples of a capture.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::event::Event;
use perf_parse::file::Account;
use perf_session::{DsoKind, SampleContext, Segment, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{StackFrame, SymbolLookup, Symbolizer};

use crate::function_table::NamingOptions;
use crate::hot_files::load_hottest_first;
use crate::limits::Limits;
use crate::origin::CaptureOrigin;
use crate::profile::{OffCpu, Profile, ProfileEvent, ProfileThread, SampleDetail};
use crate::quality::{Quality, times_of_frames};
use crate::sample::{Sample, SampleTotal};
use crate::sample_list::{Admission, SampleList};
use crate::stack_table::{NewStacks, PartStack, StackPart, StackTable};
use crate::table::frames::{FrameTable, NONE};
use crate::work::both::both;

/// The thread and the CPU of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleTask {
    thread: u32,
    cpu: Option<u32>,
}

/// What is kept of a sample that is counted later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingSample {
    task: SampleTask,
    stack: u32,
}

/// Number of bytes that a text counts in addition to its length.
const TEXT: usize = 64;

/// Collects the samples of a capture.
#[derive(Debug)]
pub struct ProfileBuilder {
    detail: SampleDetail,
    limits: Limits,
    events: Vec<ProfileEvent>,
    /// By the index of the event in the capture.
    event_numbers: BTreeMap<usize, u32>,
    threads: Vec<ProfileThread>,
    /// By the key of the thread: the row of its last name.
    thread_numbers: HashMap<u64, u32>,
    table: StackTable,
    samples: SampleList,
    span: Option<(u64, u64)>,
    /// What was said of samples, by their numbers.
    texts: HashMap<u32, Vec<u8>>,
    /// Number of bytes of further texts.
    room_for_texts: usize,
    /// Whether the last sample is the last one of `samples`.
    is_last_kept: bool,
    /// The last switch away from each thread, by the thread's key, and whether it was preempted.
    switches: HashMap<u64, (u64, bool)>,
    /// By the key of the thread, which may have its first sample later.
    off_cpu: Vec<(u64, OffCpu)>,
}

impl ProfileBuilder {
    /// Makes a profile without samples.
    #[must_use]
    pub fn new(detail: SampleDetail, limits: Limits) -> Self {
        Self {
            detail,
            limits,
            events: Vec::new(),
            event_numbers: BTreeMap::new(),
            threads: Vec::new(),
            thread_numbers: HashMap::new(),
            table: StackTable::default(),
            samples: SampleList::new(detail.times),
            span: None,
            texts: HashMap::new(),
            room_for_texts: limits.texts,
            is_last_kept: false,
            switches: HashMap::new(),
            off_cpu: Vec::new(),
        }
    }

    /// Has the symbols of files loaded by another thread while samples are taken. Both are those that
    /// [`finish`](Self::finish) gets, or a clone of that symbolizer. With one thread, or without a symbolizer, nothing is
    /// loaded ahead. The profile is the same.
    pub fn load_ahead(&mut self, symbolizer: Option<&Symbolizer>, naming: NamingOptions) {
        self.table.frames.load_ahead(symbolizer, naming.threads);
    }

    /// Takes a sample. `period` is what it counts. `stack` and `end` are what [`perf_symbol::StackFinder::push`] gave; of a sample
    /// without a stack, its own address. `symbolizer` finds the functions of generated code.
    #[allow(clippy::too_many_arguments, reason = "a sample, its stack, and what finds the rest")]
    pub fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        event: &Arc<Event>,
        period: u64,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        symbolizer: Option<&mut Symbolizer>,
    ) {
        let kept = self.keep(at, stack, end, symbolizer);
        self.count(event, kept, at.sample().time(), period);
    }

    /// Keeps thread, CPU and stack of a sample, to be [counted](Self::count) later. `None` if it is beyond the limits.
    pub fn keep(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        symbolizer: Option<&mut Symbolizer>,
    ) -> Option<PendingSample> {
        let task = self.task(at)?;
        let max_stack = self.detail.max_stack;
        let stack = self.table.number(at, stack, end, symbolizer, max_stack, &self.limits)?;
        Some(PendingSample { task, stack })
    }

    /// Keeps thread and CPU of a sample whose stack is in a [part](Self::part). `None` if it is beyond the limits.
    pub fn task(&mut self, at: &SampleContext<'_, '_>) -> Option<SampleTask> {
        let thread = self.thread(at.thread())?;
        Some(SampleTask { thread, cpu: at.sample().cpu().filter(|_| self.detail.cpus) })
    }

    /// Makes the first part for threads that number stacks.
    #[must_use]
    pub fn part(&self) -> StackPart {
        StackPart::new(self.detail.max_stack, self.limits)
    }

    /// Takes over what is new in a part, and returns the number of the part: see [`StackTable::take_over`].
    pub fn take_over(&mut self, new: NewStacks, session: &Session) -> u32 {
        self.table.take_over(new, session, &self.limits)
    }

    /// Keeps a sample as [`keep`](Self::keep) does, with its stack in the part with that number, which was
    /// [taken over](Self::take_over). With all samples kept in the order of time, and [`task`](Self::task) before the part has
    /// the stack, the profile is the same for any number of parts.
    pub fn keep_of_part(&mut self, task: SampleTask, part: u32, stack: PartStack) -> Option<PendingSample> {
        let stack = self.table.stack_of_part(part, stack, &self.limits)?;
        Some(PendingSample { task, stack })
    }

    /// Returns what is kept of a sample without so many innermost frames of its stack, such as those of the scheduler where a
    /// thread waits.
    #[must_use]
    pub fn outer(&self, kept: PendingSample, frames: usize) -> PendingSample {
        PendingSample { stack: self.table.stacks.outer(kept.stack, frames), ..kept }
    }

    /// Returns what is kept of a sample with wakers after its stack, the last one first: of each, the text `[woken by NAME]`
    /// as a frame, and the frames of its stack, innermost first. `None` if it is beyond the limits.
    pub fn woken(&mut self, kept: PendingSample, wakers: &[PendingSample]) -> Option<PendingSample> {
        let mut stack = kept.stack;
        for waker in wakers {
            let comm = self.threads.get(waker.task.thread as usize).map_or(&b""[..], |thread| &thread.comm);
            let text = [b"[woken by ", comm, b"]"].concat();
            let text = self.table.frames.text(&text, self.limits.frames)?;
            stack = self.table.stacks.called(stack, text, self.limits.stack_nodes)?;
            let frames: Vec<_> = self.table.stacks.frames(waker.stack).collect();
            for frame in frames {
                stack = self.table.stacks.called(stack, frame, self.limits.stack_nodes)?;
            }
        }
        Some(PendingSample { stack, ..kept })
    }

    /// Counts a sample of an event at a time. `None` is a sample beyond the limits.
    pub fn count(&mut self, event: &Arc<Event>, kept: Option<PendingSample>, time: Option<u64>, period: u64) {
        let total = SampleTotal { samples: 1, period };
        let number = self.event(event);
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        let added =
            kept.map_or(Admission::Beyond, |PendingSample { task: SampleTask { thread, cpu }, stack }| {
                let time = time.unwrap_or(0);
                let sample = Sample { event: number, thread, cpu, time, stack, total };
                self.samples.add(&sample, self.limits.samples)
            });
        self.is_last_kept = added == Admission::Last;
        if let Some(event) = self.events.get_mut(number as usize) {
            event.total.add(total);
            if added == Admission::Beyond {
                event.beyond.add(total);
            }
        }
    }

    /// Keeps a text about the last sample, such as the fields of a tracepoint. Does nothing if that sample is counted
    /// together with others or by [spans of time](crate::TimeDetail::Spans), or if there is no room for the text.
    pub fn describe(&mut self, text: Vec<u8>) {
        let room = self.room_for_texts.checked_sub(text.len().saturating_add(TEXT));
        if let Some(room) = room.filter(|_| self.is_last_kept) {
            self.room_for_texts = room;
            self.texts.insert((self.samples.len() - 1) as u32, text);
        }
    }

    /// Takes a switch away from a thread, or to it, in the order of time. Those of threads without samples are dropped, and
    /// those before the first and after the last sample.
    pub fn switch(&mut self, thread: &perf_session::Thread, time: u64, is_out: bool, is_preempted: bool) {
        let key = thread.key();
        if is_out {
            if self.switches.len() < self.limits.threads {
                self.switches.insert(key, (time, is_preempted));
            }
        } else if let Some((start, is_preempted)) = self.switches.remove(&key)
            && self.off_cpu.len() < self.limits.samples
        {
            let thread = self.thread_numbers.get(&key).copied().unwrap_or(NONE);
            self.off_cpu.push((key, OffCpu { thread, start, end: time.max(start), is_preempted }));
        }
    }

    fn event(&mut self, event: &Arc<Event>) -> u32 {
        let next = self.events.len() as u32;
        let number = *self.event_numbers.entry(event.index).or_insert(next);
        if number == next {
            let (total, beyond) = (SampleTotal::default(), SampleTotal::default());
            self.events.push(ProfileEvent { event: Arc::clone(event), total, beyond });
        }
        number
    }

    fn thread(&mut self, thread: &perf_session::Thread) -> Option<u32> {
        let before = self.thread_numbers.get(&thread.key()).copied();
        let is_same =
            |it: &&ProfileThread| *it.comm == *thread.comm() && it.process_key == thread.process_key();
        let known = before.filter(|&it| self.threads.get(it as usize).as_ref().is_some_and(is_same));
        if known.is_some() {
            return known;
        }
        if self.threads.len() >= self.limits.threads {
            return None;
        }
        let number = self.threads.len() as u32;
        self.threads.push(ProfileThread {
            pid: thread.pid(),
            tid: thread.tid(),
            comm: thread.comm().into(),
            key: thread.key(),
            process_key: thread.process_key(),
        });
        self.thread_numbers.insert(thread.key(), number);
        Some(number)
    }

    /// Finds the names and how call chains end, and returns the profile. `session` is that of the walk, after the last record;
    /// see [`FunctionTable::find`](crate::FunctionTable::find). `finder` is what found the stacks.
    #[must_use]
    pub fn finish(
        self,
        session: &Session,
        finder: &mut perf_symbol::StackFinder,
        symbolizer: Option<&Symbolizer>,
        naming: NamingOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Profile {
        let Self { events, threads, mut table, mut samples, span, texts, off_cpu, .. } = self;
        let mut rows: HashMap<u64, u32> = HashMap::new();
        threads.iter().zip(0..).for_each(|(thread, number)| {
            rows.entry(thread.key).or_insert(number);
        });
        let of_thread = |(key, off): (u64, OffCpu)| {
            span.filter(|&(first, last)| off.start <= last && first <= off.end)?;
            let thread = if off.thread == NONE { *rows.get(&key)? } else { off.thread };
            Some(OffCpu { thread, ..off })
        };
        let off_cpu = off_cpu.into_iter().filter_map(of_thread).collect();
        table.finish();
        samples.finish();
        let counts = || samples.iter().map(|sample| (sample.stack, sample.total.samples));
        load_hottest_first(&table, counts(), core::iter::empty(), session, symbolizer);
        let ((named, ends), times) = both(
            naming.threads,
            || table.look_up(session, finder, symbolizer, naming, progress),
            || times_of_frames(&table, counts(), core::iter::empty()),
        );
        let build_ids: Vec<_> = table.frames.dsos().iter().map(|dso| session.build_id(dso)).collect();
        let lookups = symbolizer.map(Symbolizer::lookups).unwrap_or_default();
        let mut quality = Quality::default();
        quality.count_ends(&ends);
        quality.count_failed_unwinds(session.failed_unwinds());
        quality.count_frames_of(&table, &named, &build_ids, &times);
        let origin = CaptureOrigin::default();
        let segments = segments_of(&table.frames, &lookups);
        Profile {
            events,
            threads,
            samples,
            table,
            named,
            build_ids,
            segments,
            lookups,
            quality,
            span,
            texts,
            off_cpu,
            origin,
            account: Account::default(),
            omitted: 0,
        }
    }
}

/// Returns the segments of the files that names were found in, by DSO.
fn segments_of(frames: &FrameTable, lookups: &[SymbolLookup]) -> HashMap<u32, Vec<Segment>> {
    let of_dso: HashMap<_, _> = lookups.iter().map(|it| (Arc::as_ptr(&it.dso), &it.segments)).collect();
    let files = frames.dsos().iter().zip(0..).filter(|(dso, _)| dso.kind() == DsoKind::File);
    files.filter_map(|(dso, number)| Some((number, (*of_dso.get(&Arc::as_ptr(dso))?).clone()))).collect()
}
