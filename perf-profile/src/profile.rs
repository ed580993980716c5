//! The samples of a capture, with names: what all formats are written from.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::event::Event;
use perf_parse::file::Account;
use perf_session::{BuildId, Segment};
use perf_symbol::SymbolLookup;

use crate::function_table::FunctionTable;
use crate::origin::CaptureOrigin;
use crate::quality::Quality;
use crate::sample::{Sample, SampleTotal, TimeDetail};
use crate::sample_list::SampleList;
use crate::stack_table::StackTable;
use crate::table::frames::{FrameTable, NONE};
use crate::table::stacks::StackTree;

/// An event of a capture that has samples.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProfileEvent {
    /// The event.
    pub event: Arc<Event>,
    /// Its samples, those beyond the limits included.
    pub total: SampleTotal,
    /// The samples that are not in [`Profile::samples`], because they are beyond the [`Limits`](crate::Limits).
    pub beyond: SampleTotal,
}

/// A thread, as long as it had a name: an exec or a new name begins another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ProfileThread {
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

/// What a profile keeps of each sample, apart from event, thread and stack. Samples without differences are counted
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleDetail {
    /// The time.
    pub times: TimeDetail,
    /// The CPU.
    pub cpus: bool,
    /// The largest number of frames of a stack, from the innermost one on. The others are dropped. The default of 127 keeps all
    /// in captures of simpleperf: see [`Symbols::max_stack`](crate::Symbols::max_stack).
    pub max_stack: usize,
}

impl Default for SampleDetail {
    /// Neither time nor CPU, 127 frames.
    fn default() -> Self {
        Self { times: TimeDetail::Nothing, cpus: false, max_stack: 127 }
    }
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

/// The samples of a capture, with names.
#[derive(Debug)]
pub struct Profile {
    pub(crate) events: Vec<ProfileEvent>,
    pub(crate) threads: Vec<ProfileThread>,
    pub(crate) samples: SampleList,
    pub(crate) table: StackTable,
    pub(crate) named: FunctionTable,
    pub(crate) build_ids: Vec<Option<BuildId>>,
    pub(crate) lookups: Vec<SymbolLookup>,
    pub(crate) quality: Quality,
    pub(crate) span: Option<(u64, u64)>,
    pub(crate) origin: CaptureOrigin,
    pub(crate) texts: HashMap<u32, Vec<u8>>,
    pub(crate) off_cpu: Vec<OffCpu>,
    /// By DSO.
    pub(crate) segments: HashMap<u32, Vec<Segment>>,
    pub(crate) account: Account,
    pub(crate) omitted: u64,
}

impl Profile {
    /// Sets the origin, which is unknown otherwise.
    #[must_use]
    pub fn with_origin(mut self, origin: CaptureOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// Sets the account of the capture, and the number of samples without the user part of their call chain.
    pub(crate) fn with_account(self, account: Account, omitted: u64) -> Self {
        Self { account, omitted, ..self }
    }

    /// Returns the account of the capture's records, with what could not be decoded; that of a profile from a
    /// [`ProfileBuilder`](crate::ProfileBuilder) is empty.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain, because too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the machine and the clock of the capture.
    #[must_use]
    pub fn origin(&self) -> &CaptureOrigin {
        &self.origin
    }

    /// Returns the events that have samples, in the order of their first samples.
    #[must_use]
    pub fn events(&self) -> &[ProfileEvent] {
        &self.events
    }

    /// Returns the threads that have samples, in the order of their first samples.
    #[must_use]
    pub fn threads(&self) -> &[ProfileThread] {
        &self.threads
    }

    /// Returns the samples in the order in which they came, which is that of time; of samples that are counted together, the
    /// order of the first ones.
    #[must_use]
    pub fn samples(&self) -> impl ExactSizeIterator<Item = Sample> {
        self.samples.iter()
    }

    /// Returns a sample by its index in [`samples`](Self::samples), in constant time; `None` if there are not as many.
    #[must_use]
    pub fn sample(&self, index: u32) -> Option<Sample> {
        self.samples.get(index)
    }

    /// Returns how exact the times of samples are: a number of nanoseconds. It is 1, or with [`TimeDetail::Spans`] how long a
    /// span is, which is a power of two, or [`u64::MAX`] where the whole time is a span.
    #[must_use]
    pub fn resolution(&self) -> u64 {
        self.samples.span()
    }

    /// Drops the samples for which `keep` returns false. The totals of [`events`](Self::events) become those of the others
    /// and of what was beyond the limits. [`threads`](Self::threads), [`quality`](Self::quality) and [`span`](Self::span)
    /// stay those of all samples. Texts about samples are dropped. `keep` gets a profile without samples.
    pub fn retain(&mut self, keep: &mut dyn FnMut(&Self, &Sample) -> bool) {
        let mut samples = core::mem::replace(&mut self.samples, SampleList::new(TimeDetail::Nothing));
        samples.retain(&mut |sample| keep(self, sample));
        self.samples = samples;
        self.texts.clear();
        self.events.iter_mut().for_each(|event| event.total = event.beyond);
        for sample in self.samples.iter() {
            if let Some(event) = self.events.get_mut(sample.event as usize) {
                event.total.add(sample.total);
            }
        }
    }

    /// Returns what [`ProfileBuilder::describe`](crate::ProfileBuilder::describe) was given about a sample, by its index;
    /// `None` if nothing.
    #[must_use]
    pub fn text(&self, sample: u32) -> Option<&[u8]> {
        self.texts.get(&sample).map(|text| &**text)
    }

    /// Returns the times at which threads were on no CPU, in the order of their ends; empty without
    /// [`ProfileBuilder::switch`](crate::ProfileBuilder::switch).
    #[must_use]
    pub fn off_cpu(&self) -> &[OffCpu] {
        &self.off_cpu
    }

    /// Returns the addresses.
    #[must_use]
    pub fn frames(&self) -> &FrameTable {
        &self.table.frames
    }

    /// Returns the stacks.
    #[must_use]
    pub fn stacks(&self) -> &StackTree {
        &self.table.stacks
    }

    /// Returns the functions of the addresses.
    #[must_use]
    pub fn function_table(&self) -> &FunctionTable {
        &self.named
    }

    /// Returns the recorded build id of a DSO, by its index in [`FrameTable::dsos`]; `None` if none was recorded.
    #[must_use]
    pub fn build_id(&self, dso: u32) -> Option<BuildId> {
        if dso == NONE { None } else { self.build_ids.get(dso as usize).copied().flatten() }
    }

    /// Returns the address of a frame in the memory of its file, counted from the start of the file's first segment.
    /// `None` if the frame is in no file, or the file was not found.
    #[must_use]
    pub fn relative_address(&self, frame: u32) -> Option<u64> {
        let place = self.frames().location(frame)?;
        let segments = self.segments.get(&place.dso)?;
        let is_executable = self.frames().mapping(frame)?.is_executable();
        let address = perf_session::address_of(segments, place.offset, is_executable)?;
        Some(address.wrapping_sub(segments.first()?.address))
    }

    /// Returns the files that names were looked for in.
    #[must_use]
    pub fn lookups(&self) -> &[SymbolLookup] {
        &self.lookups
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
