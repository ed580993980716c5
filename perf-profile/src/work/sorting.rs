//! Sorts lists on several threads.

use std::num::NonZero;
use std::thread;

use super::spawn;

/// The smallest number of entries that is worth a thread.
const PART: usize = 1 << 12;

/// Sorts a list by a key, on several threads. Entries with the same key are in any order.
pub fn sort_by_key<T: Send, K: Ord>(
    list: &mut [T],
    threads: NonZero<usize>,
    key: impl Fn(&T) -> K + Copy + Send,
) {
    let threads = threads.get().min(list.len() / PART);
    if threads <= 1 {
        return list.sort_unstable_by_key(key);
    }
    let part = list.len().div_ceil(threads);
    thread::scope(|scope| {
        let mut parts = list.chunks_mut(part);
        let first = parts.next();
        parts.for_each(|part| {
            // Without it, the part is sorted in the end.
            let _ = spawn(scope, move || part.sort_unstable_by_key(key));
        });
        first.into_iter().for_each(|part| part.sort_unstable_by_key(key));
    });
    // Finds the parts, which are in order, and merges them.
    list.sort_by_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order_on_any_number_of_threads() {
        for len in [0, 1, PART, 2 * PART, 5 * PART + 7] {
            let list: Vec<u32> = (0..len as u32).map(|it| it.wrapping_mul(2_654_435_761) >> 7).collect();
            let mut expected = list.clone();
            expected.sort_unstable_by_key(|it| !it);
            for threads in [1, 2, 3, 1000] {
                let mut list = list.clone();
                sort_by_key(&mut list, NonZero::new(threads).unwrap(), |it| !it);
                assert!(list == expected, "{len} {threads}");
            }
        }
    }
}
