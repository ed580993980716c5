//! The sums of waits for locks of the kernel, as `perf lock contention` has them.

use core::cmp::Reverse;
use core::num::NonZero;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_parse::file::Account;
use perf_parse::{EventRecord, FileError, Record};
use perf_session::{Frame, SampleContext, Session};
use perf_symbol::StackFrame;

use super::row::{ContentionFrame, ContentionRow, ContentionSort};
use crate::error::ProfileError;
use crate::lock_waits::LockFlags;
use crate::lock_waits::LockFunctions;
use crate::lock_waits::LockReader;
use crate::lock_waits::{LockEvent, LockSample};
use crate::observer::Observer;
use crate::samples::Samples;
use crate::samples::pass::{CountedSample, NoWorker, RecordNotes, SamplePass, WalkContext};
use crate::sched::{PerfTasks, PerfVersion};
use crate::symbols::Symbols;

/// What a row is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContentionKey {
    /// The stack without the functions that take locks.
    #[default]
    Caller,
    /// A thread.
    Thread,
    /// A lock.
    Lock,
}

/// What is selected, and what a row is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ContentionOptions {
    /// The version of perf whose rows are wanted.
    pub version: PerfVersion,
    /// What a row is.
    pub by: ContentionKey,
    /// The most frames of a stack that are used, innermost first.
    pub max_stack: usize,
    /// The number of innermost frames that are not used to tell callers from each other.
    pub stack_skip: usize,
    /// Only locks of these types; of all if empty.
    pub types: Vec<LockFlags>,
    /// Only locks at these addresses; all if this and `symbols` are empty.
    pub addresses: Vec<u64>,
    /// Only locks with these symbols of the kernel, likewise. Symbols that the kernel does not have are in
    /// [`Contention::unknown_symbols`]; if it has none of them, all locks are selected, as in perf.
    pub symbols: Vec<Vec<u8>>,
    /// Only waits with a function of the kernel among the frames that has one of these texts in its name; all if empty.
    pub functions: Vec<Vec<u8>>,
    /// Whether rows have the stack of their first wait. perf 7.2 has it only with `functions`, and 6.1 always.
    pub stacks: bool,
    /// The most rows, and the most waits that are followed at a time.
    pub limit: usize,
}

impl ContentionOptions {
    /// Returns the options that a version of perf has by default.
    #[must_use]
    pub fn of(version: PerfVersion) -> Self {
        Self {
            version,
            by: ContentionKey::Caller,
            max_stack: 8,
            stack_skip: if version == PerfVersion::V6_1 { 3 } else { 4 },
            types: Vec::new(),
            addresses: Vec::new(),
            symbols: Vec::new(),
            functions: Vec::new(),
            stacks: false,
            limit: LIMIT,
        }
    }
}

/// The most rows by default.
const LIMIT: usize = 1 << 20;

/// What does not fit together in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentionFaults {
    /// The number of rows with a wait that ended twice.
    pub acquired: u64,
    /// The number of waits that have not ended.
    pub unfinished: u64,
    /// The number of ends of waits whose begin is not in the capture.
    pub unmatched: u64,
    /// The number of waits that are in no row, because there are too many rows or threads.
    pub dropped: u64,
}

/// The sums of waits for locks of the kernel. Made by [`Samples::contention`].
///
/// A wait is counted in the row of its begin, and its time in the row of its end. They have different stacks, and may be different
/// rows of callers: see [`LockReport`](super::LockReport) for each wait as a whole.
///
/// perf: `report_lock_contention_begin_event` and `report_lock_contention_end_event`, `tools/perf/builtin-lock.c`.
#[derive(Debug)]
pub struct Contention {
    rows: Vec<ContentionRow>,
    tasks: PerfTasks,
    faults: ContentionFaults,
    unknown_symbols: Vec<Vec<u8>>,
    account: Account,
    omitted: u64,
}

/// A wait of a thread for a lock.
#[derive(Clone, Copy, Debug)]
enum WaitState {
    Contended { since: u64 },
    Acquired,
}

struct ContentionPass<'a> {
    options: ContentionOptions,
    reader: LockReader<'a>,
    symbols: Symbols,
    functions: LockFunctions,
    rows: Vec<ContentionRow>,
    by_key: HashMap<u64, usize>,
    /// By the thread and the address of the lock.
    states: HashMap<(i32, u64), WaitState>,
    tasks: PerfTasks,
    faults: ContentionFaults,
    /// The addresses that are selected, once the symbols were looked up.
    addresses: Option<Vec<u64>>,
    unknown_symbols: Vec<Vec<u8>>,
}

impl Samples<'_> {
    /// Adds up the waits for locks of the kernel, as `perf lock contention` does.
    ///
    /// # Errors
    ///
    /// [`ProfileError::LocksNotRecorded`] if the capture does not have `lock:contention_begin`, what is wrong with the selection, and
    /// [`ProfileError::Cancelled`].
    pub fn contention(
        self,
        options: &ContentionOptions,
        symbols: &Symbols,
        observer: &mut dyn Observer,
    ) -> Result<Contention, ProfileError> {
        let source = self.source();
        let reader = LockReader::new(source.info())?;
        if !reader.has_kernel_locks() {
            return Err(ProfileError::LocksNotRecorded);
        }
        let mut pass = ContentionPass {
            options: options.clone(),
            reader,
            symbols: symbols.clone(),
            functions: LockFunctions::new(options.version != PerfVersion::V6_1),
            rows: Vec::new(),
            by_key: HashMap::new(),
            states: HashMap::new(),
            tasks: PerfTasks::within(options.version, options.limit),
            faults: ContentionFaults::default(),
            addresses: None,
            unknown_symbols: Vec::new(),
        };
        let one = NonZero::<usize>::MIN;
        let walked = self.walk(symbols.clone(), &mut pass, &mut NoWorker, one, observer)?;
        let is_open = |state: &&WaitState| matches!(state, WaitState::Contended { .. });
        pass.faults.unfinished = pass.states.values().filter(is_open).count() as u64;
        let ContentionPass { mut rows, tasks, faults, unknown_symbols, .. } = pass;
        order(&mut rows);
        let (account, omitted) = (walked.account().clone(), walked.omitted());
        Ok(Contention { rows, tasks, faults, unknown_symbols, account, omitted })
    }
}

/// 2^64 divided by the square of the golden ratio, by which perf and Linux multiply keys of hash tables.
///
/// Linux: `GOLDEN_RATIO_64`, `include/linux/hash.h`.
const RATIO: u64 = 0x61c8_8646_80b5_83eb;

/// Orders rows as perf finds them in its hash table of 4096 lists, each with the last row first. Rows with the same value stay in this
/// order when they are sorted.
fn order(rows: &mut [ContentionRow]) {
    rows.reverse();
    rows.sort_by_key(|row| row.key.wrapping_mul(RATIO) >> (64 - 12));
}

impl<'r> SamplePass<'r> for ContentionPass<'_> {
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
        match sample.event {
            LockEvent::Begin { address, flags } => self.begin(at, counted, &sample, address, flags),
            LockEvent::End { address } => self.end(at, counted, &sample, address),
            LockEvent::FutexBegin { .. } | LockEvent::FutexEnd => Ok(()),
        }
    }

    fn other(
        &mut self,
        record: &EventRecord<'r>,
        _: &Session,
        _: &WalkContext<'_>,
        _: &mut RecordNotes<'_, ()>,
    ) -> Result<(), FileError> {
        // perf lock reads neither FORK nor EXIT.
        if let Ok(Record::Comm(it)) = record.decode()
            && let Some(id) = self.tasks.find(it.pid, it.tid)
        {
            self.tasks.name(id, it.comm.as_ref());
        }
        Ok(())
    }
}

impl ContentionPass<'_> {
    fn begin(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        sample: &LockSample,
        address: u64,
        flags: LockFlags,
    ) -> Result<(), FileError> {
        let key = self.key(at, counted, sample, address)?;
        let number = match self.by_key.get(&key) {
            Some(&number) => number,
            None if self.rows.len() >= self.options.limit => {
                self.faults.dropped += 1;
                return Ok(());
            }
            None => {
                let name = self.name(at, counted, address)?;
                let mut row = ContentionRow::new(key, name, flags);
                if self.options.stacks && self.options.functions.is_empty() {
                    row.stack = self.stack(at, counted)?;
                }
                self.rows.push(row);
                self.by_key.insert(key, self.rows.len() - 1);
                self.rows.len() - 1
            }
        };
        if !self.is_selected(at, address, flags) {
            return Ok(());
        }
        if !self.options.functions.is_empty() {
            let stack = self.stack(at, counted)?;
            let has = |frame: &ContentionFrame, part: &[u8]| {
                let name = frame.name.split(|&byte| byte == b'+').next().unwrap_or_default();
                part.is_empty() || name.windows(part.len()).any(|window| window == part)
            };
            let is_wanted = |frame: &ContentionFrame| {
                !frame.name.is_empty() && self.options.functions.iter().any(|part| has(frame, part))
            };
            if !stack.iter().any(is_wanted) {
                return Ok(());
            }
            if let Some(row) = self.rows.get_mut(number).filter(|row| row.stack.is_empty()) {
                row.stack = stack;
            }
        }
        let place = (sample.tid, address);
        // Waits for one lock may be nested: one that spins at first sleeps later.
        if let Some(WaitState::Contended { .. }) = self.states.get(&place) {
            return Ok(());
        }
        if self.states.len() >= self.options.limit && !self.states.contains_key(&place) {
            self.faults.dropped += 1;
            return Ok(());
        }
        self.states.insert(place, WaitState::Contended { since: sample.time });
        if let Some(row) = self.rows.get_mut(number) {
            row.contended += 1;
        }
        Ok(())
    }

    fn end(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        sample: &LockSample,
        address: u64,
    ) -> Result<(), FileError> {
        let place = (sample.tid, address);
        let Some(&state) = self.states.get(&place) else {
            self.faults.unmatched += 1;
            return Ok(());
        };
        let key = self.key(at, counted, sample, address)?;
        let Some(row) = self.by_key.get(&key).and_then(|&number| self.rows.get_mut(number)) else {
            return Ok(());
        };
        match state {
            WaitState::Contended { since } => {
                row.waits.add(sample.time.saturating_sub(since));
                self.states.insert(place, WaitState::Acquired);
            }
            WaitState::Acquired => {
                self.faults.acquired += u64::from(!row.is_broken);
                self.faults.unmatched += 1;
                row.is_broken = true;
                self.states.remove(&place);
            }
        }
        Ok(())
    }

    /// Returns whether a lock is selected by its type and its address.
    fn is_selected(&mut self, at: &SampleContext<'_, '_>, address: u64, flags: LockFlags) -> bool {
        let Self { options, symbols, unknown_symbols, addresses, .. } = self;
        let addresses = addresses.get_or_insert_with(|| {
            let mut all = options.addresses.clone();
            for name in &options.symbols {
                let symbolizer = symbols.symbolizer_mut();
                match symbolizer.and_then(|symbolizer| symbolizer.kernel_symbol(at.session(), name)) {
                    Some(range) => all.push(range.start),
                    None => unknown_symbols.push(name.clone()),
                }
            }
            all
        });
        (options.types.is_empty() || options.types.contains(&flags))
            && (addresses.is_empty() || addresses.contains(&address))
    }

    /// Returns the key of the row of a sample.
    fn key(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        sample: &LockSample,
        address: u64,
    ) -> Result<u64, FileError> {
        match self.options.by {
            ContentionKey::Lock => Ok(address),
            ContentionKey::Thread => Ok(u64::from(sample.tid.cast_unsigned())),
            ContentionKey::Caller => {
                let mut key = 0;
                self.callers(at, counted, |_, it, _| {
                    // Linux's hash of 64 bits has 32, however many are asked for.
                    key ^= it.frame.ip.wrapping_mul(RATIO) & u64::from(u32::MAX);
                    true
                })?;
                Ok(key)
            }
        }
    }

    /// Calls `each` with the frames that tell callers from each other and whether perf has their symbols, until it returns false.
    fn callers(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        mut each: impl FnMut(&mut Symbols, &StackFrame<'_>, bool) -> bool,
    ) -> Result<(), FileError> {
        if !crate::stack_table::has_stacks(counted.event) {
            return Ok(());
        }
        let (stack, _) = counted.stack(at, &mut self.symbols)?;
        let mut skipped = 0;
        'stack: for it in stack.iter().take(self.options.max_stack) {
            let is_user = it.frame.mode == CpuMode::USER;
            // perf 6.1 does not read the mappings of processes here. Later ones have a frame for each inlined function.
            let frames = match is_user {
                true if self.options.version != PerfVersion::V6_1 => {
                    self.symbols.functions(at, &it.frame, false).len().max(1)
                }
                _ => 1,
            };
            for _ in 0..frames {
                skipped += 1;
                if skipped <= self.options.stack_skip
                    || (!is_user && self.functions.contains(at, &mut self.symbols, it.frame.ip))
                {
                    continue;
                }
                let has_symbol = !is_user || self.options.version != PerfVersion::V6_1;
                if !each(&mut self.symbols, it, has_symbol) {
                    break 'stack;
                }
            }
        }
        self.symbols.done(stack);
        Ok(())
    }

    /// Returns the name of a new row.
    fn name(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
        address: u64,
    ) -> Result<Arc<[u8]>, FileError> {
        match self.options.by {
            ContentionKey::Thread => Ok(Arc::default()),
            ContentionKey::Lock => {
                let mode = CpuMode::KERNEL;
                let frame = Frame { ip: address, mode, mapping: at.find(mode, address) };
                let function = self.symbols.functions(at, &frame, false).last();
                Ok(function.and_then(|it| it.name.clone()).unwrap_or_default())
            }
            ContentionKey::Caller => {
                let mut caller = Vec::new();
                self.callers(at, counted, |symbols, it, has_symbol| {
                    if has_symbol {
                        caller = function_at(at, symbols, &it.frame);
                    }
                    caller.is_empty()
                })?;
                Ok(if caller.is_empty() { b"Unknown"[..].into() } else { caller.into() })
            }
        }
    }

    /// Returns the frames of a stack with the functions of the kernel.
    fn stack(
        &mut self,
        at: &SampleContext<'_, '_>,
        counted: &CountedSample<'_>,
    ) -> Result<Vec<ContentionFrame>, FileError> {
        if !crate::stack_table::has_stacks(counted.event) {
            return Ok(Vec::new());
        }
        let (stack, _) = counted.stack(at, &mut self.symbols)?;
        // perf's list ends at the first zero.
        let frames = stack.iter().take(self.options.max_stack).take_while(|it| it.frame.ip != 0).map(|it| {
            let is_kernel = it.frame.mode == CpuMode::KERNEL;
            let name = if is_kernel { function_at(at, &mut self.symbols, &it.frame) } else { Vec::new() };
            ContentionFrame { ip: it.frame.ip, name: name.into() }
        });
        let frames = frames.collect();
        self.symbols.done(stack);
        Ok(frames)
    }
}

/// Returns the function at an address with its offset, of which there is none at its start; empty if there is no function. perf looks
/// up return addresses as they are.
///
/// perf: `get_symbol_name_offset`, `tools/perf/builtin-lock.c`, which has room for 127 bytes.
fn function_at(at: &SampleContext<'_, '_>, symbols: &mut Symbols, frame: &Frame<'_>) -> Vec<u8> {
    let Some(function) = symbols.functions(at, frame, false).last() else { return Vec::new() };
    let mut text = function.name.as_deref().unwrap_or_default().to_vec();
    if let Some(offset) = function.offset.filter(|&offset| offset > 0 && !text.is_empty()) {
        text.extend_from_slice(format!("+{offset:#x}").as_bytes());
    }
    text.truncate(127);
    text
}

impl Contention {
    /// Returns all rows, sorted by a column, the largest value first. Some have no wait that ended.
    #[must_use]
    pub fn rows(&self, sort: ContentionSort) -> Vec<&ContentionRow> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|row| Reverse(row.value(sort)));
        rows
    }

    /// Returns the name of the thread of a row by threads: that of its last COMM record, or `:` and its id.
    #[must_use]
    pub fn comm(&mut self, tid: i32) -> Arc<[u8]> {
        let id = self.tasks.find(-1, tid);
        let task = id.and_then(|id| self.tasks.get(id));
        task.map_or_else(|| format!(":{tid}").into_bytes().into(), |task| Arc::clone(&task.comm))
    }

    /// Returns what does not fit together.
    #[must_use]
    pub fn faults(&self) -> &ContentionFaults {
        &self.faults
    }

    /// Returns the symbols of [`ContentionOptions::symbols`] that the kernel does not have. Empty if no lock was waited for.
    #[must_use]
    pub fn unknown_symbols(&self) -> &[Vec<u8>] {
        &self.unknown_symbols
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
