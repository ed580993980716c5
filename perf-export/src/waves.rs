//! Work on the parts of a list on several threads, with results in the order of the list.

use std::io;
use std::num::NonZero;
use std::thread;

/// The most threads, and so results that are there at a time.
const THREADS: usize = 64;

/// Returns how many entries of a list several threads work on at a time, a part each.
pub(crate) fn wave(part: usize, threads: NonZero<usize>) -> usize {
    part.saturating_mul(threads.get().min(THREADS))
}

/// Calls `work` with each part of a list, on several threads, and `take` with each result, in their order.
///
/// # Errors
///
/// Those of `take`.
pub(crate) fn each_part<T: Sync, R: Send>(
    list: &[T],
    part: usize,
    threads: NonZero<usize>,
    work: impl Fn(&[T]) -> R + Sync,
    mut take: impl FnMut(R) -> io::Result<()>,
) -> io::Result<()> {
    let work = &work;
    for wave in list.chunks(wave(part, threads)) {
        let results: Vec<R> = thread::scope(|scope| {
            let mut parts = wave.chunks(part);
            let first = parts.next();
            let others: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
            let others = others.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            first.map(work).into_iter().chain(others).collect()
        });
        results.into_iter().try_for_each(&mut take)?;
    }
    Ok(())
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
