//! A thread that finds the runs of a capture before the walk reaches them.

use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::{RUN_LIMIT, Rising, rising};
use crate::event::Events;
use crate::file::source::{ByteSource, Slice};
use crate::file::walk::types::RecordTypeSet;
use crate::record::RawRecord;

/// The number of bytes and of runs of a block, and of blocks that wait to be taken. One run may exceed the bytes.
const BYTES: usize = 1 << 20;
const RUNS: usize = 1 << 12;
const BLOCKS: usize = 16;

/// How long the thread waits for a walk that takes no runs. Then it ends, and the walk finds the rest alone.
const PATIENCE: Duration = Duration::from_secs(1);

/// A place in the data files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct FilePosition {
    data_file: usize,
    offset: u64,
}

/// A run, and where it begins.
#[derive(Debug)]
struct FoundRun {
    at: FilePosition,
    kind: RecordType,
    run: Rising,
}

/// The runs that a thread finds. Dropping it ends the thread.
#[derive(Debug)]
pub(in super::super) struct OrderThread {
    queue: Arc<RunQueue>,
    /// Runs that were taken from the queue and not reached yet.
    next: VecDeque<FoundRun>,
}

#[derive(Debug, Default)]
struct RunQueue {
    state: Mutex<QueueState>,
    has_changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    blocks: VecDeque<Vec<FoundRun>>,
    /// The last place whose run was not among the blocks: the thread goes on there if it is behind.
    reached: FilePosition,
    /// Whether nobody takes the blocks any more.
    has_ended: bool,
}

impl RunQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OrderThread {
    /// Starts a thread that finds the runs of data files, the first of which has the number `data_file`. If the system has
    /// no thread left, no run is found ahead.
    pub(in super::super) fn new<'scope, 'r: 'scope, O: Endian + 'scope>(
        scope: &'scope Scope<'scope, '_>,
        files: Vec<Slice<'r>>,
        data_file: usize,
        events: &'r Events,
    ) -> Self {
        let queue = Arc::new(RunQueue::default());
        let of_thread = Arc::clone(&queue);
        let find = move || find::<O>(&files, data_file, events, &of_thread, PATIENCE);
        let _ = std::thread::Builder::new().name("order-ahead".into()).spawn_scoped(scope, find);
        Self { queue, next: VecDeque::new() }
    }

    /// Takes the run at a place, if it was found. `kind` is the type of the record there.
    pub(super) fn run_at(&mut self, data_file: usize, offset: u64, kind: RecordType) -> Option<Rising> {
        let at = FilePosition { data_file, offset };
        let Self { queue, next } = self;
        if next.is_empty() {
            let mut state = queue.lock();
            next.extend(state.blocks.drain(..).flatten());
            if next.is_empty() {
                state.reached = at;
            }
            queue.has_changed.notify_one();
        }
        while next.front().is_some_and(|found| found.at < at) {
            next.pop_front();
        }
        next.front().filter(|found| found.at == at && found.kind == kind)?;
        next.pop_front().map(|found| found.run)
    }
}

impl Drop for OrderThread {
    fn drop(&mut self) {
        self.queue.lock().has_ended = true;
        self.queue.has_changed.notify_one();
    }
}

/// Finds the runs of data files until nobody takes them. Waits no longer than `patience` for room.
fn find<O: Endian>(files: &[Slice<'_>], first: usize, events: &Events, queue: &RunQueue, patience: Duration) {
    let mut at = FilePosition { data_file: first, offset: files.first().map_or(0, ByteSource::offset) };
    loop {
        let state = queue.lock();
        let is_full = |state: &mut QueueState| state.blocks.len() >= BLOCKS && !state.has_ended;
        let waited = queue.has_changed.wait_timeout_while(state, patience, is_full);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.has_ended || timeout.timed_out() {
            return;
        }
        at = at.max(state.reached);
        drop(state);
        let Some(file) = at.data_file.checked_sub(first).and_then(|number| files.get(number)) else { return };
        let (runs, end) = find_block::<O>(file, at, events);
        at = match end {
            Some(offset) => FilePosition { offset, ..at },
            None => {
                let next = at.data_file.saturating_add(1);
                let file = next.checked_sub(first).and_then(|number| files.get(number));
                FilePosition { data_file: next, offset: file.map_or(0, ByteSource::offset) }
            }
        };
        queue.lock().blocks.push_back(runs);
    }
}

/// Returns the runs of a block, and where it ends; `None` at the end of the data file, where its records cannot be found
/// without a walk, and where they are compressed.
fn find_block<O: Endian>(
    file: &Slice<'_>,
    at: FilePosition,
    events: &Events,
) -> (Vec<FoundRun>, Option<u64>) {
    let (mut runs, mut offset) = (Vec::new(), at.offset);
    let end = at.offset.saturating_add(BYTES as u64);
    while offset < end && runs.len() < RUNS {
        let Some(rest) = file.at(offset) else { return (runs, None) };
        let Some((raw, _)) = RawRecord::<O>::whole((), rest) else { return (runs, None) };
        let kind = raw.kind();
        if matches!(kind, RecordType::COMPRESSED | RecordType::COMPRESSED2) {
            return (runs, None);
        }
        // What is no run is one record, with the bytes that belong to it.
        let mut bytes = u64::from(raw.size()).saturating_add(raw.trailing_size().unwrap_or(0));
        if RawRecord::<O>::of_types(rest, RecordTypeSet::all().fast()).is_some() {
            let run = rising::<O>(rest.get(..RUN_LIMIT).unwrap_or(rest), events, kind, 0, usize::MAX);
            if run.records > 0 {
                bytes = run.bytes as u64;
                runs.push(FoundRun { at: FilePosition { offset, ..at }, kind, run });
            }
        }
        offset = offset.saturating_add(bytes);
    }
    (runs, Some(offset))
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use perf_abi::attr::Attr;
    use perf_abi::endian::LittleEndian;
    use perf_abi::sample_type::SampleType;

    use super::*;

    /// The event of samples of 16 bytes, which have nothing but their time.
    fn events() -> Events {
        [(Attr { sample_type: SampleType::TIME, ..Attr::default() }, vec![])].into_iter().collect()
    }

    fn record(kind: RecordType, payload: &[u8]) -> Vec<u8> {
        let size = (payload.len() as u16 + 8).to_le_bytes();
        [&kind.0.to_le_bytes()[..], &[0, 0], &size, payload].concat()
    }

    fn samples(times: &[u64]) -> Vec<u8> {
        times.iter().flat_map(|time| record(RecordType::SAMPLE, &time.to_le_bytes())).collect()
    }

    fn found(files: &[Slice<'_>], from: FilePosition) -> Vec<(usize, u64, usize, u64, u64)> {
        let queue = RunQueue::default();
        queue.lock().reached = from;
        find::<LittleEndian>(files, 3, &events(), &queue, Duration::ZERO);
        let of =
            |it: &FoundRun| (it.at.data_file, it.at.offset, it.run.records, it.run.time, it.run.last_time);
        let state = queue.lock();
        state.blocks.iter().flatten().map(of).collect()
    }

    #[test]
    fn runs_of_several_files() {
        // A round, a record with 8 bytes after it, and one that is cut.
        let one = [samples(&[5, 6, 2]), record(RecordType::FINISHED_ROUND, &[]), samples(&[0, 7])].concat();
        let aux = [8_u64.to_le_bytes(), [0; 8], [0; 8], [0; 8], [0; 8]].concat();
        let two = [record(RecordType::AUXTRACE, &aux), vec![0xff; 8], samples(&[9, 9]), vec![9; 12]].concat();
        let packed = [record(RecordType::COMPRESSED, &[0; 8]), samples(&[1])].concat();
        let files = [Slice::new(&one, 100), Slice::new(&packed, 0), Slice::new(&two, 0)];
        let last = (5, 56, 2, 9, 9);
        let all = [(3, 100, 2, 5, 6), (3, 132, 1, 2, 2), (3, 172, 1, 7, 7), last];
        assert_eq!(found(&files, FilePosition::default()), all);
        // Where the walk is, if the thread is behind.
        assert_eq!(found(&files, FilePosition { data_file: 3, offset: 132 }), all[1..]);
        assert_eq!(found(&files, FilePosition { data_file: 5, offset: 0 }), [last]);
        assert!(found(&files, FilePosition { data_file: 6, offset: 0 }).is_empty());
    }

    #[test]
    fn blocks_wait_to_be_taken() {
        // Each sample is a run.
        let times: Vec<u64> = (0..(RUNS * (BLOCKS + 2)) as u64).rev().map(|time| time + 1).collect();
        let bytes = samples(&times);
        let files = [Slice::new(&bytes, 0)];
        assert_eq!(found(&files, FilePosition::default()).len(), RUNS * BLOCKS);
    }

    #[test]
    fn runs_are_taken_where_they_begin() {
        let bytes = samples(&[5, 6, 2, 4, 1]);
        let (files, queue) = ([Slice::new(&bytes, 0)], Arc::new(RunQueue::default()));
        find::<LittleEndian>(&files, 0, &events(), &queue, Duration::ZERO);
        let mut ahead = OrderThread { queue: Arc::clone(&queue), next: VecDeque::new() };
        let mut records = |offset, kind| ahead.run_at(0, offset, kind).map(|run| run.records);
        assert_eq!(records(0, RecordType::SAMPLE), Some(2));
        // The run at 32 has two records. The second one does not begin a run.
        assert_eq!(records(48, RecordType::SAMPLE), None);
        assert_eq!(records(64, RecordType::COMM), None);
        assert_eq!(records(64, RecordType::SAMPLE), Some(1));
        assert_eq!(records(80, RecordType::SAMPLE), None);
        assert_eq!(queue.lock().reached, FilePosition { data_file: 0, offset: 80 });
        drop(ahead);
        assert!(queue.lock().has_ended);
        // Nobody takes anything.
        queue.lock().blocks.clear();
        find::<LittleEndian>(&files, 0, &events(), &queue, PATIENCE);
        assert!(queue.lock().blocks.is_empty());
    }
}
