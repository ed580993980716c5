//! Two things at the same time.

use std::num::NonZero;
use std::thread;

/// Does two things, at the same time if there are several threads.
pub fn both<A, B: Send>(
    threads: NonZero<usize>,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads.get() == 1 {
        return (one(), other());
    }
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        match other.join() {
            Ok(other) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done() {
        for threads in [1, 2] {
            assert_eq!(both(NonZero::new(threads).unwrap(), || 1, || "a"), (1, "a"));
        }
    }
}
