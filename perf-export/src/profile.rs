//! The samples of a capture, with names: what all formats are written from.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perf_parse::event::Event;
use perf_session::{At, BuildId, DsoKind, Segment, Session};
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Looked, StackFrame, Symbolizer};

use crate::frames::{Frames, NONE};
use crate::limits::Limits;
use crate::named::{Named, Naming};
use crate::origin::Origin;
use crate::quality::Quality;
use crate::stack_table::StackTable;
use crate::stacks::Stacks;

/// Number of samples, and what they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    /// Number of samples.
    pub samples: u64,
    /// The sum of the periods. It wraps around where a capture has impossible periods.
    pub period: u64,
}

impl Total {
    /// Adds another total.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        self.period = self.period.wrapping_add(other.period);
    }

    /// Subtracts another total, which must be part of this one.
    pub fn subtract(&mut self, other: Self) {
        self.samples -= other.samples;
        self.period = self.period.wrapping_sub(other.period);
    }
}

/// An event of a capture that has samples.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileEvent {
    /// The event.
    pub event: Arc<Event>,
    /// Its samples, those beyond the limits included.
    pub total: Total,
    /// The samples that are not in [`Profile::samples`], because they are beyond the [`Limits`].
    pub beyond: Total,
}

/// A thread, as long as it had a name: an exec or a new name begins another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Thread {
    /// The id of the process.
    pub pid: i32,
    /// The id of the thread.
    pub tid: i32,
    /// The name at that time.
    pub comm: Arc<[u8]>,
    /// Tells threads apart that have the same id at other times: see [`perf_session::Thread::key`].
    pub key: u64,
    /// Tells processes apart: see [`perf_session::Thread::process_key`].
    pub process_key: u64,
}

/// Samples that have everything in common that is kept of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// The index in [`Profile::events`].
    pub event: u32,
    /// The index in [`Profile::threads`].
    pub thread: u32,
    /// The CPU; `None` if it was not recorded or is [not kept](Keep::cpus).
    pub cpu: Option<u32>,
    /// Nanoseconds of the capture's clock; 0 if times were not recorded or are [not kept](Keep::times).
    pub time: u64,
    /// The number in [`Profile::stacks`].
    pub stack: u32,
    /// How the stack ends; of samples that are counted together, how the first one ends.
    pub end: StackEnd,
    /// How many samples these are, and their periods.
    pub total: Total,
}

/// What a profile keeps of each sample, apart from event, thread and stack. Samples without differences are counted
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The time. Each sample is then kept alone.
    pub times: bool,
    /// The CPU.
    pub cpus: bool,
    /// The largest number of frames of a stack, from the innermost one on. The others are dropped.
    pub max_stack: usize,
}

impl Default for Keep {
    /// Neither time nor CPU, 127 frames.
    fn default() -> Self {
        Self { times: false, cpus: false, max_stack: 127 }
    }
}

/// What tells samples apart that are counted together otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Same {
    event: u32,
    thread: u32,
    cpu: Option<u32>,
    stack: u32,
}

/// A time at which a thread was on no CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffCpu {
    /// The index in [`Profile::threads`].
    pub thread: u32,
    /// The time of the switch away from the thread, in nanoseconds of the capture's clock.
    pub start: u64,
    /// The time of the switch to the thread.
    pub end: u64,
    /// Whether the thread was preempted, so that it could have run on.
    pub is_preempted: bool,
}

/// What is kept of a sample that is counted later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    thread: u32,
    cpu: Option<u32>,
    stack: u32,
    end: StackEnd,
}

/// Number of bytes that a text counts in addition to its length.
const TEXT: usize = 64;

/// Collects the samples of a capture.
#[derive(Debug)]
pub struct ProfileBuilder {
    keep: Keep,
    limits: Limits,
    events: Vec<ProfileEvent>,
    /// By the index of the event in the capture.
    event_numbers: BTreeMap<usize, u32>,
    threads: Vec<Thread>,
    /// By the key of the thread: the row of its last name.
    thread_numbers: HashMap<u64, u32>,
    table: StackTable,
    samples: Vec<Sample>,
    sample_numbers: HashMap<Same, u32>,
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
    pub fn new(keep: Keep, limits: Limits) -> Self {
        Self {
            keep,
            limits,
            events: Vec::new(),
            event_numbers: BTreeMap::new(),
            threads: Vec::new(),
            thread_numbers: HashMap::new(),
            table: StackTable::default(),
            samples: Vec::new(),
            sample_numbers: HashMap::new(),
            span: None,
            texts: HashMap::new(),
            room_for_texts: limits.texts,
            is_last_kept: false,
            switches: HashMap::new(),
            off_cpu: Vec::new(),
        }
    }

    /// Takes a sample. `period` is what it counts. `stack` and `end` are what [`perf_symbol::Stacks::push`] gave; of a sample
    /// without a stack, its own address. `finder` finds the ends of call chains, `symbolizer` the functions of generated
    /// code.
    #[allow(clippy::too_many_arguments, reason = "a sample, its stack, and what finds the rest")]
    pub fn sample(
        &mut self,
        at: &At<'_, '_>,
        event: &Arc<Event>,
        period: u64,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::Stacks,
        symbolizer: Option<&mut Symbolizer>,
    ) {
        let kept = self.keep(at, stack, end, finder, symbolizer);
        self.count(event, kept, at.sample().time(), period);
    }

    /// Keeps thread, CPU and stack of a sample, to be [counted](Self::count) later. `None` if it is beyond the limits.
    pub fn keep(
        &mut self,
        at: &At<'_, '_>,
        stack: &[StackFrame<'_>],
        end: Option<StackEnd>,
        finder: &mut perf_symbol::Stacks,
        symbolizer: Option<&mut Symbolizer>,
    ) -> Option<Kept> {
        let thread = self.thread(at.thread())?;
        let max_stack = self.keep.max_stack;
        let (stack, end) = self.table.number(at, stack, end, finder, symbolizer, max_stack, &self.limits)?;
        let cpu = at.sample().cpu().filter(|_| self.keep.cpus);
        Some(Kept { thread, cpu, stack, end })
    }

    /// Counts a sample of an event at a time. `None` is a sample beyond the limits.
    pub fn count(&mut self, event: &Arc<Event>, kept: Option<Kept>, time: Option<u64>, period: u64) {
        let total = Total { samples: 1, period };
        let number = self.event(event);
        if let Some(time) = time {
            let (first, last) = self.span.unwrap_or((time, time));
            self.span = Some((first.min(time), last.max(time)));
        }
        let before = self.samples.len();
        let is_kept = kept.and_then(|kept| self.add(number, kept, time.unwrap_or(0), total)).is_some();
        self.is_last_kept = self.samples.len() > before;
        if let Some(event) = self.events.get_mut(number as usize) {
            event.total.add(total);
            if !is_kept {
                event.beyond.add(total);
            }
        }
    }

    /// Keeps a text about the last sample, such as the fields of a tracepoint. Does nothing if that sample is counted
    /// together with others, or if there is no room for the text.
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

    fn add(&mut self, event: u32, kept: Kept, time: u64, total: Total) -> Option<()> {
        let next = self.samples.len();
        let Kept { thread, cpu, stack, end } = kept;
        let same = Same { event, thread, cpu, stack };
        let times = self.keep.times;
        if !times
            && let Some(&number) = self.sample_numbers.get(&same)
            && let Some(sample) = self.samples.get_mut(number as usize)
        {
            sample.total.add(total);
            return Some(());
        }
        if next >= self.limits.samples {
            return None;
        }
        if !times {
            self.sample_numbers.insert(same, next as u32);
        }
        let time = if times { time } else { 0 };
        self.samples.push(Sample { event, thread, cpu, time, stack, end, total });
        Some(())
    }

    fn event(&mut self, event: &Arc<Event>) -> u32 {
        let next = self.events.len() as u32;
        let number = *self.event_numbers.entry(event.index).or_insert(next);
        if number == next {
            let (total, beyond) = (Total::default(), Total::default());
            self.events.push(ProfileEvent { event: Arc::clone(event), total, beyond });
        }
        number
    }

    fn thread(&mut self, thread: &perf_session::Thread) -> Option<u32> {
        let before = self.thread_numbers.get(&thread.key()).copied();
        let is_same = |it: &&Thread| *it.comm == *thread.comm() && it.process_key == thread.process_key();
        let known = before.filter(|&it| self.threads.get(it as usize).as_ref().is_some_and(is_same));
        if known.is_some() {
            return known;
        }
        if self.threads.len() >= self.limits.threads {
            return None;
        }
        let number = self.threads.len() as u32;
        self.threads.push(Thread {
            pid: thread.pid(),
            tid: thread.tid(),
            comm: thread.comm().into(),
            key: thread.key(),
            process_key: thread.process_key(),
        });
        self.thread_numbers.insert(thread.key(), number);
        Some(number)
    }

    /// Finds the names, and returns the profile. `session` is that of the walk, after the last record; see [`Named::find`].
    #[must_use]
    pub fn finish(
        self,
        session: &Session,
        symbolizer: Option<&Symbolizer>,
        naming: Naming,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Profile {
        let Self { events, threads, mut table, samples, span, texts, off_cpu, .. } = self;
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
        let named = Named::find(&table.frames, session, symbolizer, naming, progress);
        let build_ids: Vec<_> = table.frames.dsos().iter().map(|dso| session.build_id(dso)).collect();
        let looked = symbolizer.map(Symbolizer::looked).unwrap_or_default();
        let counts = samples.iter().map(|sample| (sample.stack, sample.total.samples));
        let mut quality = Quality::default();
        quality.count_table(&table, &named, &build_ids, counts, core::iter::empty());
        let origin = Origin::default();
        let segments = segments_of(&table.frames, &looked);
        Profile {
            events,
            threads,
            samples,
            table,
            named,
            build_ids,
            segments,
            looked,
            quality,
            span,
            texts,
            off_cpu,
            origin,
        }
    }
}

/// Returns the segments of the files that names were found in, by DSO.
fn segments_of(frames: &Frames, looked: &[Looked]) -> HashMap<u32, Vec<Segment>> {
    let of_dso: HashMap<_, _> = looked.iter().map(|it| (Arc::as_ptr(&it.dso), &it.segments)).collect();
    let files = frames.dsos().iter().zip(0..).filter(|(dso, _)| dso.kind() == DsoKind::File);
    files.filter_map(|(dso, number)| Some((number, (*of_dso.get(&Arc::as_ptr(dso))?).clone()))).collect()
}

/// The samples of a capture, with names.
#[derive(Debug)]
pub struct Profile {
    events: Vec<ProfileEvent>,
    threads: Vec<Thread>,
    samples: Vec<Sample>,
    table: StackTable,
    named: Named,
    build_ids: Vec<Option<BuildId>>,
    looked: Vec<Looked>,
    quality: Quality,
    span: Option<(u64, u64)>,
    origin: Origin,
    texts: HashMap<u32, Vec<u8>>,
    off_cpu: Vec<OffCpu>,
    /// By DSO.
    segments: HashMap<u32, Vec<Segment>>,
}

impl Profile {
    /// Sets the origin, which is unknown otherwise.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Returns the machine and the clock of the capture.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the events that have samples, in the order of their first samples.
    #[must_use]
    pub fn events(&self) -> &[ProfileEvent] {
        &self.events
    }

    /// Returns the threads that have samples, in the order of their first samples.
    #[must_use]
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Returns the samples, in the order of time.
    #[must_use]
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Returns what [`ProfileBuilder::describe`] was given about a sample, by its index; `None` if nothing.
    #[must_use]
    pub fn text(&self, sample: u32) -> Option<&[u8]> {
        self.texts.get(&sample).map(|text| &**text)
    }

    /// Returns the times at which threads were on no CPU, in the order of their ends; empty without
    /// [`ProfileBuilder::switch`].
    #[must_use]
    pub fn off_cpu(&self) -> &[OffCpu] {
        &self.off_cpu
    }

    /// Returns the addresses.
    #[must_use]
    pub fn frames(&self) -> &Frames {
        &self.table.frames
    }

    /// Returns the stacks.
    #[must_use]
    pub fn stacks(&self) -> &Stacks {
        &self.table.stacks
    }

    /// Returns the functions of the addresses.
    #[must_use]
    pub fn named(&self) -> &Named {
        &self.named
    }

    /// Returns the recorded build id of a DSO, by its index in [`Frames::dsos`]; `None` if none was recorded.
    #[must_use]
    pub fn build_id(&self, dso: u32) -> Option<BuildId> {
        if dso == NONE { None } else { self.build_ids.get(dso as usize).copied().flatten() }
    }

    /// Returns the address of a frame in the memory of its file, counted from the start of the file's first segment.
    /// `None` if the frame is in no file, or the file was not found.
    #[must_use]
    pub fn relative_address(&self, frame: u32) -> Option<u64> {
        let place = self.frames().place(frame)?;
        let segments = self.segments.get(&place.dso)?;
        let is_executable = self.frames().mapping(frame)?.is_executable();
        let address = perf_session::address_of(segments, place.offset, is_executable)?;
        Some(address.wrapping_sub(segments.first()?.address))
    }

    /// Returns the files that names were looked for in.
    #[must_use]
    pub fn looked(&self) -> &[Looked] {
        &self.looked
    }

    /// Returns how good the stacks and names are.
    #[must_use]
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Returns the times of the first and of the last sample; `None` if no sample has a time.
    #[must_use]
    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }
}
