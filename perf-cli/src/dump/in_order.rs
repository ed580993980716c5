//! Work on several threads, with results in the order of the input.

use alloc::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// The number of batches for each helper: one to work on, and one to work on next.
const AHEAD: usize = 2;

/// The maximum number of batches for each thread. It bounds the memory if one batch takes long.
const HELD: usize = 3;

/// A batch that a helper works on. It is returned even if the work panics; the panic ends the program when all threads
/// have ended.
struct Job<'s, B> {
    number: usize,
    batch: Option<B>,
    done: &'s mpsc::Sender<(usize, B)>,
}

impl<B> Drop for Job<'_, B> {
    fn drop(&mut self) {
        if let Some(batch) = self.batch.take() {
            // There is no receiver if the work ended early.
            let _ = self.done.send((self.number, batch));
        }
    }
}

/// Fills batches, works on them, and passes them to `give` in the order in which they were filled.
///
/// `fill` and `give` run on this thread. This thread also works on batches while the helpers (at most `threads - 1`)
/// have enough. So no thread waits long for another. `fill` returns whether there is more input, and `give` returns
/// whether to continue. `give` may also finish, with this thread's worker, what the work left undone. Each helper has a
/// copy of `worker`, which is passed to `join` at the end.
///
/// # Errors
///
/// The error of `give`, which ends the work.
pub(super) fn in_order<B: Default + Send, W: Clone + Send, E>(
    threads: usize,
    worker: &mut W,
    mut fill: impl FnMut(&mut B) -> bool,
    work: impl Fn(&mut W, &mut B) + Sync,
    mut give: impl FnMut(&mut W, &mut B) -> Result<bool, E>,
    join: impl Fn(&mut W, W),
) -> Result<(), E> {
    let (jobs, queue) = mpsc::channel::<(usize, B)>();
    let (done, results) = mpsc::channel::<(usize, B)>();
    let queue = Mutex::new(queue);
    let (queue, work) = (&queue, &work);
    thread::scope(|scope| {
        // The batches that were filled and not given yet. The first has number `first`. `None` while a helper has the
        // batch.
        let mut held: VecDeque<Option<B>> = VecDeque::new();
        let (mut first, mut away, mut more) = (0, 0, true);
        let (mut spare, mut helpers) = (Vec::new(), Vec::new());
        let ended = loop {
            let is_full = held.len() >= HELD * threads;
            // Waits only if there is nothing else to do.
            let wait = away > 0 && (is_full || !more) && matches!(held.front(), Some(None));
            let result = if wait { results.recv().ok() } else { results.try_recv().ok() };
            if let Some((number, batch)) = result {
                away -= 1;
                if let Some(place) = held.get_mut(number - first) {
                    *place = Some(batch);
                }
                continue;
            }
            if let Some(mut batch) = held.front_mut().and_then(Option::take) {
                held.pop_front();
                first += 1;
                match give(worker, &mut batch) {
                    Ok(true) => spare.push(batch),
                    Ok(false) => break Ok(()),
                    Err(error) => break Err(error),
                }
                continue;
            }
            if !more {
                break Ok(());
            }
            let mut batch: B = spare.pop().unwrap_or_default();
            more = fill(&mut batch);
            let is_all = !more && held.is_empty();
            if is_all || away >= AHEAD * (threads - 1) {
                work(worker, &mut batch);
                held.push_back(Some(batch));
                continue;
            }
            if helpers.len() < threads - 1 && away >= helpers.len() {
                let (mut worker, done) = (worker.clone(), done.clone());
                helpers.push(scope.spawn(move || {
                    loop {
                        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
                        let Ok((number, batch)) = job else { break worker };
                        let mut job = Job { number, batch: Some(batch), done: &done };
                        if let Some(batch) = &mut job.batch {
                            work(&mut worker, batch);
                        }
                    }
                }));
            }
            // The receiver lives as long as this function runs.
            let _ = jobs.send((first + held.len(), batch));
            held.push_back(None);
            away += 1;
        };
        drop(jobs);
        for helper in helpers {
            match helper.join() {
                Ok(other) => join(worker, other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ended
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares numbers in batches of one. Returns the results that were given, and the number of calls of the work.
    fn squares(threads: usize, count: u64, stop_at: u64) -> (Vec<u64>, u64) {
        let (mut next, mut given, mut worked) = (0, Vec::new(), 0_u64);
        let ended: Result<(), ()> = in_order(
            threads,
            &mut worked,
            |batch: &mut u64| {
                *batch = next;
                next += 1;
                next < count
            },
            |worked, batch| {
                // Even numbers take longer, so that odd ones overtake them.
                if *batch % 2 == 0 {
                    thread::sleep(core::time::Duration::from_micros(200));
                }
                *worked += 1;
                *batch *= *batch;
            },
            |_, batch| {
                given.push(*batch);
                Ok(*batch < stop_at)
            },
            |worked, other| *worked += other,
        );
        assert_eq!(ended, Ok(()));
        (given, worked)
    }

    #[test]
    fn results_come_in_order_at_any_number_of_threads() {
        for (threads, count) in [(1, 20), (2, 1), (2, 2), (2, 100), (3, 100), (8, 100), (8, 3)] {
            let (given, worked) = squares(threads, count, u64::MAX);
            assert!(given.iter().copied().eq((0..count).map(|number| number * number)), "{threads}, {count}");
            assert_eq!(worked, count, "{threads}");
        }
    }

    #[test]
    fn nothing_is_given_behind_the_end() {
        for threads in [1, 2, 5] {
            let (given, _) = squares(threads, 1000, 16);
            assert_eq!(given, [0, 1, 4, 9, 16], "{threads}");
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for threads in [1, 2, 5] {
            let give = |(): &mut (), batch: &mut u64| if *batch == 0 { Ok(true) } else { Err("no") };
            let mut next = 0;
            let fill = |batch: &mut u64| {
                *batch = next;
                next += 1;
                true
            };
            assert_eq!(in_order(threads, &mut (), fill, |(), _| {}, give, |(), ()| {}), Err("no"));
        }
    }
}
