//! Work on several threads, whose results come in the order of what was read.

use alloc::collections::VecDeque;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

/// Batches for each helper: one to work on, and one for it to go on with.
const AHEAD: usize = 2;

/// Batches at most for each thread, so that they do not fill the memory where one takes long.
const HELD: usize = 3;

/// A batch that a helper works on. It goes back also if the work panics, which ends the program when all threads have.
struct Job<'s, B> {
    number: usize,
    batch: Option<B>,
    done: &'s mpsc::Sender<(usize, B)>,
}

impl<B> Drop for Job<'_, B> {
    fn drop(&mut self) {
        if let Some(batch) = self.batch.take() {
            // Nobody waits for it if the work was ended early.
            let _ = self.done.send((self.number, batch));
        }
    }
}

/// Fills batches, works on them, and gives them away in the order they were filled.
///
/// `fill` and `give` run on this thread. The work is done on it too while the helpers, which are `threads - 1` at
/// most, have enough: so they never wait for each other for long. `fill` tells whether there is more, `give` whether
/// to go on; it may finish, with this thread's worker, what the work left to do. Each helper has a copy of `worker`,
/// which is given to `join` in the end.
///
/// # Errors
///
/// That of `give`, which ends the work.
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
        // Those that were filled and not given, from the one of number `first` on; `None` while a helper has it.
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
            // The queue is there for as long as this function is.
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

    /// Squares numbers in batches of one; what was given, and how often the work was done.
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
                // Those of an even number take longer, so that the others overtake them.
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
