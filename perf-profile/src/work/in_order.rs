//! Work on several threads, with results in the order of the input.

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use super::spawn;

/// The number of blocks for each helper: one to work on, and those to work on next while this thread works on one, too.
const PER_HELPER: usize = 3;

/// The maximum number of blocks for each thread. It bounds the memory if one block takes long.
const PER_THREAD: usize = 4;

/// A block that a helper works on. It is returned even if the work panics; the panic ends the program when all threads
/// have ended.
struct BlockJob<'s, B> {
    number: usize,
    block: Option<B>,
    done: &'s mpsc::Sender<(usize, B)>,
}

impl<B> Drop for BlockJob<'_, B> {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            // There is no receiver if the work ended early.
            let _ = self.done.send((self.number, block));
        }
    }
}

/// Fills blocks, works on them on several threads, and passes them to `deliver` in the order in which they were filled.
///
/// `fill` and `deliver` run on this thread. This thread also works on blocks while the helpers (at most `threads - 1`)
/// have enough, so no thread waits long for another. Up to `4 * threads` blocks are in memory. `fill` returns whether there is
/// more input, and `deliver` returns whether to continue. `deliver` may also finish, with this thread's worker, what the work
/// left undone. Each helper has a copy of `worker`, which is passed to `merge` at the end.
///
/// # Errors
///
/// The error of `deliver`, which ends the work.
pub fn in_order<B: Default + Send, W: Clone + Send, E>(
    threads: NonZero<usize>,
    worker: &mut W,
    mut fill: impl FnMut(&mut B) -> bool,
    work: impl Fn(&mut W, &mut B) + Sync,
    mut deliver: impl FnMut(&mut W, &mut B) -> Result<bool, E>,
    merge: impl Fn(&mut W, W),
) -> Result<(), E> {
    let threads = threads.get();
    let (jobs, queue) = mpsc::channel::<(usize, B)>();
    let (done, results) = mpsc::channel::<(usize, B)>();
    let queue = Mutex::new(queue);
    let (queue, work) = (&queue, &work);
    thread::scope(|scope| {
        // The blocks that were filled and not delivered yet. The first has number `first`. `None` while a helper has
        // the block.
        let mut pending: VecDeque<Option<B>> = VecDeque::new();
        let (mut first, mut with_helpers, mut has_input) = (0, 0, true);
        let (mut unused, mut helpers) = (Vec::new(), Vec::new());
        let mut most = threads - 1;
        let ended = loop {
            let is_full = pending.len() >= PER_THREAD * threads;
            // Waits only if there is nothing else to do.
            let wait = with_helpers > 0 && (is_full || !has_input) && matches!(pending.front(), Some(None));
            let result = if wait { results.recv().ok() } else { results.try_recv().ok() };
            if let Some((number, block)) = result {
                with_helpers -= 1;
                if let Some(slot) = pending.get_mut(number - first) {
                    *slot = Some(block);
                }
                continue;
            }
            if let Some(mut block) = pending.front_mut().and_then(Option::take) {
                pending.pop_front();
                first += 1;
                match deliver(worker, &mut block) {
                    Ok(true) => unused.push(block),
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
                continue;
            }
            if !has_input {
                break Ok(());
            }
            let mut block: B = unused.pop().unwrap_or_default();
            has_input = fill(&mut block);
            let is_all = !has_input && pending.is_empty();
            let starts = !is_all && helpers.len() < most && with_helpers >= helpers.len();
            if starts {
                let before = helpers.len();
                let (mut worker, done) = (worker.clone(), done.clone());
                let helper = spawn(scope, move || {
                    loop {
                        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok((number, block)) = job else { break worker };
                        let mut job = BlockJob { number, block: Some(block), done: &done };
                        if let Some(block) = &mut job.block {
                            work(&mut worker, block);
                        }
                    }
                });
                helpers.extend(helper);
                // The system has no more.
                most = if helpers.len() == before { before } else { most };
            }
            if is_all || with_helpers >= PER_HELPER * most {
                work(worker, &mut block);
                pending.push_back(Some(block));
                continue;
            }
            // The receiver lives as long as this function runs.
            let _ = jobs.send((first + pending.len(), block));
            pending.push_back(None);
            with_helpers += 1;
        };
        drop(jobs);
        for helper in helpers {
            match helper.join() {
                Ok(other) => merge(worker, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ended
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares numbers in blocks of one. Returns the results that were delivered, and the number of calls of the work.
    fn squares(threads: usize, count: u64, stop_at: u64) -> (Vec<u64>, u64) {
        let (mut next, mut delivered, mut worked) = (0, Vec::new(), 0_u64);
        let ended: Result<(), ()> = in_order(
            NonZero::new(threads).unwrap(),
            &mut worked,
            |block: &mut u64| {
                *block = next;
                next += 1;
                next < count
            },
            |worked, block| {
                // Even numbers take longer, so that odd ones overtake them.
                if *block % 2 == 0 {
                    thread::sleep(core::time::Duration::from_micros(200));
                }
                *worked += 1;
                *block *= *block;
            },
            |_, block| {
                delivered.push(*block);
                Ok(*block < stop_at)
            },
            |worked, other| *worked += other,
        );
        assert_eq!(ended, Ok(()));
        (delivered, worked)
    }

    #[test]
    fn results_come_in_order_at_any_number_of_threads() {
        for (threads, count) in [(1, 20), (2, 1), (2, 2), (2, 100), (3, 100), (8, 100), (8, 3)] {
            let (delivered, worked) = squares(threads, count, u64::MAX);
            assert!(
                delivered.iter().copied().eq((0..count).map(|number| number * number)),
                "{threads}, {count}"
            );
            assert_eq!(worked, count, "{threads}");
        }
    }

    #[test]
    fn nothing_is_delivered_after_the_end() {
        for threads in [1, 2, 5] {
            let (delivered, _) = squares(threads, 1000, 16);
            assert_eq!(delivered, [0, 1, 4, 9, 16], "{threads}");
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for threads in [1, 2, 5] {
            let deliver = |(): &mut (), block: &mut u64| if *block == 0 { Ok(true) } else { Err("no") };
            let mut next = 0;
            let fill = |block: &mut u64| {
                *block = next;
                next += 1;
                true
            };
            let threads = NonZero::new(threads).unwrap();
            assert_eq!(in_order(threads, &mut (), fill, |(), _| {}, deliver, |(), ()| {}), Err("no"));
        }
    }
}
