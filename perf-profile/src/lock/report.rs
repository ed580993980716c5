//! The sums of waits by caller, thread, process or lock.

use core::num::NonZero;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_parse::file::Account;
use perf_parse::{EventRecord, FileError};
use perf_session::{SampleContext, Session};

use super::group::{LockGroup, LockGroupKey};
use crate::error::ProfileError;
use crate::lock_waits::LockFunctions;
use crate::lock_waits::LockReader;
use crate::lock_waits::{LockCounts, LockTracker, LockWait};
use crate::lock_waits::{LockEvent, LockId};
use crate::observer::Observer;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::sched::{NO_STACK, StackTexts, WaitStacks};
use crate::symbols::Symbols;

/// What a [`LockReport`] has a row for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockGrouping {
    /// Each function that waits, and each type of lock or operation of a futex.
    #[default]
    Caller,
    /// Each thread.
    Thread,
    /// Each process.
    Process,
    /// Each lock.
    Lock,
    /// Each type of lock, and each operation of a futex.
    Kind,
}

/// What is selected, and what a row is.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LockOptions {
    /// What a row is.
    pub by: LockGrouping,
    /// Only waits for locks of the kernel, or only those for futexes (`true`); all without it.
    pub futexes: Option<bool>,
    /// Only locks of these types and futexes with these operations, such as `rwsem:W` and `lock_pi`; all if empty.
    pub kinds: Vec<String>,
    /// Only waits of threads of these processes; of all if empty.
    pub pids: Vec<i32>,
    /// Only waits of these threads; of all if empty.
    pub tids: Vec<i32>,
    /// Only waits that took at least so many nanoseconds.
    pub at_least: u64,
    /// The most frames of a stack, innermost first. With 0, there are no callers.
    pub max_stack: usize,
}

/// The waits for locks with the distributions of their times and their causes. Made by [`Samples::lock_waits`].
#[derive(Debug)]
pub struct LockReport {
    groups: Vec<(LockGroupKey, LockGroup)>,
    comms: HashMap<i32, Arc<[u8]>>,
    stacks: StackTexts,
    counts: LockCounts,
    dropped: u64,
    has_kernel_locks: bool,
    has_futexes: bool,
    account: Account,
    omitted: u64,
}

/// The most rows, and the most threads with names. Waits beyond are counted as dropped.
const GROUPS: usize = 1 << 17;

struct LockPass<'a> {
    options: LockOptions,
    reader: LockReader<'a>,
    tracker: LockTracker<u32>,
    stacks: WaitStacks,
    functions: LockFunctions,
    groups: HashMap<LockGroupKey, LockGroup>,
    comms: HashMap<i32, Arc<[u8]>>,
    dropped: u64,
}

impl Samples<'_> {
    /// Adds up the waits for locks of the kernel and for futexes. All samples are read: the options select waits.
    ///
    /// # Errors
    ///
    /// [`ProfileError::LocksNotRecorded`] if the capture has neither, and [`ProfileError::Cancelled`].
    pub fn lock_waits(
        self,
        options: &LockOptions,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<LockReport, ProfileError> {
        let source = self.source();
        let reader = LockReader::new(source.info())?;
        let mut pass = LockPass {
            options: options.clone(),
            reader,
            tracker: LockTracker::default(),
            stacks: WaitStacks::new(symbols.clone(), options.max_stack),
            functions: LockFunctions::new(true),
            groups: HashMap::new(),
            comms: HashMap::new(),
            dropped: 0,
        };
        let one = NonZero::<usize>::MIN;
        let walked = self.read_all().walk(symbols.clone(), &mut pass, &mut NoWorker, one, observer)?;
        let (account, omitted) = (walked.account().clone(), walked.omitted());
        Ok(pass.finish(account, omitted))
    }
}

impl<'r> SamplePass<'r> for LockPass<'_> {
    type Note = ();
    type Worker = NoWorker;
    type Error = ProfileError;

    const TAKES_GROUPS: bool = true;

    fn sample(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        let Some(sample) = self.reader.read(at) else { return Ok(()) };
        let is_futex = matches!(sample.event, LockEvent::FutexBegin { .. } | LockEvent::FutexEnd);
        if self.options.futexes.is_some_and(|wanted| wanted != is_futex) {
            return Ok(());
        }
        let stack = match sample.event {
            LockEvent::Begin { .. } | LockEvent::FutexBegin { .. } => {
                let functions = &mut self.functions;
                self.stacks
                    .number(at, counted, |stack, symbols| functions.count(at, stack, is_futex, symbols))?
            }
            LockEvent::End { .. } | LockEvent::FutexEnd => NO_STACK,
        };
        if let Some(wait) = self.tracker.sample(&sample, at.sample().cpu(), stack) {
            self.name(sample.tid, at.thread().comm());
            if wait.pid != wait.tid
                && let Some(main) = at.session().thread(wait.pid)
            {
                self.name(wait.pid, main.comm());
            }
            self.wait(&wait);
        }
        Ok(())
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        self.tracker.record(record);
        Ok(())
    }
}

impl LockPass<'_> {
    fn name(&mut self, tid: i32, comm: &[u8]) {
        if let Some(known) = self.comms.get_mut(&tid) {
            if **known != *comm {
                *known = comm.into();
            }
        } else if self.comms.len() < GROUPS * 8 {
            self.comms.insert(tid, comm.into());
        }
    }

    fn wait(&mut self, wait: &LockWait<u32>) {
        let options = &self.options;
        let is_selected = (options.pids.is_empty() || options.pids.contains(&wait.pid))
            && (options.tids.is_empty() || options.tids.contains(&wait.tid))
            && (options.kinds.is_empty() || options.kinds.iter().any(|kind| kind == wait.kind))
            && wait.end - wait.start >= options.at_least;
        if !is_selected {
            return;
        }
        let key = match options.by {
            LockGrouping::Caller => {
                let caller = Some(self.stacks.innermost(wait.kept));
                LockGroupKey { kind: Some(wait.kind), caller, ..LockGroupKey::default() }
            }
            LockGrouping::Thread => {
                LockGroupKey { pid: Some(wait.pid), tid: Some(wait.tid), ..LockGroupKey::default() }
            }
            LockGrouping::Process => LockGroupKey { pid: Some(wait.pid), ..LockGroupKey::default() },
            LockGrouping::Lock => {
                let pid = if let LockId::Futex { pid, .. } = wait.lock { Some(pid) } else { None };
                let (kind, lock) = (Some(wait.kind), Some(wait.lock));
                LockGroupKey { kind, lock, pid, ..LockGroupKey::default() }
            }
            LockGrouping::Kind => LockGroupKey { kind: Some(wait.kind), ..LockGroupKey::default() },
        };
        if self.groups.len() >= GROUPS && !self.groups.contains_key(&key) {
            self.dropped += 1;
            return;
        }
        self.groups.entry(key).or_default().wait(wait);
    }

    fn finish(self, account: Account, omitted: u64) -> LockReport {
        let Self { reader, tracker, stacks, groups, comms, dropped, .. } = self;
        let mut groups: Vec<_> = groups.into_iter().collect();
        for (key, _) in &mut groups {
            key.comm = key.tid.or(key.pid).and_then(|id| comms.get(&id).map(Arc::clone));
        }
        groups.sort_unstable_by(|(left_key, left), (right_key, right)| {
            let order = |group: &LockGroup| (group.waits.sum(), group.waits.count());
            order(right).cmp(&order(left)).then_with(|| left_key.cmp(right_key))
        });
        LockReport {
            groups,
            comms,
            stacks: stacks.into_texts(),
            counts: tracker.counts(),
            dropped,
            has_kernel_locks: reader.has_kernel_locks(),
            has_futexes: reader.has_futexes(),
            account,
            omitted,
        }
    }
}

impl LockReport {
    /// Returns the rows: those with the longest sum of waits come first.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&LockGroupKey, &LockGroup)> {
        self.groups.iter().map(|(key, group)| (key, group))
    }

    /// Returns the last name of a thread that waited; `swapper` for an idle CPU, empty if it is not known.
    #[must_use]
    pub fn comm(&self, tid: i32) -> &[u8] {
        match self.comms.get(&tid) {
            _ if tid == 0 => b"swapper",
            Some(comm) => comm,
            None => b"",
        }
    }

    /// Returns the functions of a stack, innermost first, without those that take the lock.
    pub fn stack(&self, number: u32) -> impl Iterator<Item = &[u8]> {
        self.stacks.functions(number)
    }

    /// Returns the numbers of waits that could not be followed.
    #[must_use]
    pub fn counts(&self) -> LockCounts {
        self.counts
    }

    /// Returns the number of waits that are in no row, because there are too many.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns whether the capture has waits for locks of the kernel.
    #[must_use]
    pub fn has_kernel_locks(&self) -> bool {
        self.has_kernel_locks
    }

    /// Returns whether the capture has waits for futexes.
    #[must_use]
    pub fn has_futexes(&self) -> bool {
        self.has_futexes
    }

    /// Returns what could not be decoded.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the number of samples without the user part of their call chain: too many waited for it.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }
}
