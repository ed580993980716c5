//! The blocks of a capture, each worked on by one of the threads.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

use perf_parse::Reader;
use perf_parse::file::{Account, Blocks, EventRecords};

use crate::progress::Progress;

/// The number of bytes of a block, at most.
const BLOCK: u64 = 16 << 20;

/// The number of blocks for each thread, at least, so that all threads end at about the same time.
const PER_THREAD: usize = 4;

/// What was made of the blocks of a capture.
#[derive(Debug)]
pub(crate) struct AllBlocks<'r, T> {
    /// By block.
    pub(crate) parts: Vec<T>,
    /// The account of all blocks.
    pub(crate) account: Account,
    /// The walk at the end of the last block, which knows all events and features; `None` if there is no block.
    pub(crate) last: Option<EventRecords<'r>>,
}

/// Works on the blocks of a capture of `size` bytes, on all processors. `work` gets the number of a block, a walk over it, which
/// it ends, and the progress, to which it adds the bytes that are done.
pub(crate) fn all_blocks<'r, T: Send>(
    reader: &'r Reader<'_>,
    size: u64,
    work: impl Fn(usize, &mut EventRecords<'r>, &SharedProgress) -> T + Sync,
) -> AllBlocks<'r, T> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let count = usize::try_from(size / BLOCK).unwrap_or(usize::MAX).max(PER_THREAD * threads);
    let progress = SharedProgress(Mutex::new((0, Progress::new(size, true))));
    let blocks = Mutex::new((0, reader.blocks(count)));
    let work_on_some = || {
        let mut done = Vec::new();
        while let Some((number, mut records)) = next(&blocks) {
            let part = work(number, &mut records, &progress);
            done.push((number, part, records));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let helpers: Vec<_> = (1..threads).map(|_| scope.spawn(work_on_some)).collect();
        let mut done = work_on_some();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|&(number, ..)| number);
    let mut all = AllBlocks { parts: Vec::new(), account: reader.account().clone(), last: None };
    for (number, part, records) in done {
        match number {
            // The first block has the account of opening.
            0 => all.account = records.account().clone(),
            _ => all.account.add(records.account()),
        }
        all.parts.push(part);
        all.last = Some(records);
    }
    all
}

/// Takes the next block and its number.
fn next<'r>(blocks: &Mutex<(usize, Blocks<'r>)>) -> Option<(usize, EventRecords<'r>)> {
    let mut blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
    let records = blocks.1.next()?;
    let number = blocks.0;
    blocks.0 += 1;
    Some((number, records))
}

/// The bytes that all threads have done, and how that is shown.
#[derive(Debug)]
pub(crate) struct SharedProgress(Mutex<(u64, Progress)>);

impl SharedProgress {
    /// Adds bytes that are done.
    pub(crate) fn add(&self, bytes: u64) {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        progress.0 += bytes;
        let done = progress.0;
        progress.1.at(done);
    }
}
