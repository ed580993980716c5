//! Work on the parts of a list on several threads, with results in the order of the list.

use std::io;
use std::num::NonZero;
use std::ops::Range;
use std::sync::mpsc;
use std::thread;

use super::spawn;

/// The most threads.
const THREADS: usize = 64;

/// Returns how many entries of a list several threads work on at a time, a part each.
pub fn wave(part: usize, threads: NonZero<usize>) -> usize {
    part.saturating_mul(threads.get().min(THREADS))
}

/// Calls `work` with each part of a list, on several threads, and `take` with each result, in their order.
///
/// At most two results for each thread are there at a time.
///
/// # Errors
///
/// Those of `take`.
pub fn each_part<T: Sync, R: Send>(
    list: &[T],
    part: usize,
    threads: NonZero<usize>,
    work: impl Fn(&[T]) -> R + Sync,
    take: impl FnMut(R) -> io::Result<()>,
) -> io::Result<()> {
    let work = |range| work(list.get(range).unwrap_or_default());
    each_range(list.len(), part, threads, work, take)
}

/// Does the same with the indices of the parts of a list.
///
/// # Errors
///
/// Those of `take`.
pub fn each_range<R: Send>(
    len: usize,
    part: usize,
    threads: NonZero<usize>,
    work: impl Fn(Range<usize>) -> R + Sync,
    mut take: impl FnMut(R) -> io::Result<()>,
) -> io::Result<()> {
    let parts = len.div_ceil(part);
    let threads = threads.get().min(THREADS).min(parts).max(1);
    let work_on = |number: usize| work(number * part..number.saturating_add(1).saturating_mul(part).min(len));
    let work_on = &work_on;
    thread::scope(|scope| {
        // Each thread has the parts with one remainder, so that it is known where the next result comes from.
        let others: Vec<_> = (1..threads)
            .map(|first| {
                let (sender, results) = mpsc::sync_channel(1);
                let thread = spawn(scope, move || {
                    // After an error of `take`, nobody wants the results.
                    (first..parts).step_by(threads).map(work_on).try_for_each(|result| sender.send(result))
                });
                thread.map(|_| results)
            })
            .collect();
        for number in 0..parts {
            let other = (number % threads).checked_sub(1).and_then(|other| others.get(other)?.as_ref());
            match other.map(mpsc::Receiver::recv) {
                // This thread's, or that of a thread that did not start.
                None => take(work_on(number))?,
                Some(Ok(result)) => take(result)?,
                // The thread panicked, which the scope passes on.
                Some(Err(_)) => break,
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_list() {
        let list: Vec<u32> = (0..1000).collect();
        for (part, threads) in [(1, 1), (7, 1), (7, 3), (100, 64), (7, usize::MAX), (2000, 2)] {
            let (threads, mut taken) = (NonZero::new(threads).unwrap(), Vec::new());
            let work = |part: &[u32]| part.iter().map(|it| it + 1).collect::<Vec<_>>();
            let take = |result: Vec<u32>| {
                taken.extend(result);
                Ok(())
            };
            each_part(&list, part, threads, work, take).unwrap();
            assert!(taken.into_iter().eq(1..=1000), "{part} {threads}");
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        let (threads, mut taken) = (NonZero::new(2).unwrap(), 0);
        let error = each_part(
            &[0; 10],
            1,
            threads,
            |_| (),
            |()| {
                taken += 1;
                if taken < 3 { Ok(()) } else { Err(io::ErrorKind::StorageFull.into()) }
            },
        );
        assert_eq!(error.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(taken, 3);
    }
}
