//! Two closures in parallel.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::spawn;

/// Runs two closures, in parallel if there are several threads.
pub fn both<A, B: Send>(
    threads: NonZero<usize>,
    one: impl FnOnce() -> A,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if threads.get() == 1 {
        return (one(), other());
    }
    // A thread that does not start leaves it there.
    let other = Mutex::new(Some(other));
    let run = || {
        let other = other.lock().unwrap_or_else(PoisonError::into_inner).take();
        other.map(|other| other())
    };
    thread::scope(|scope| {
        let thread = spawn(scope, run);
        let one = one();
        match thread.map(|thread| thread.join()) {
            Some(Ok(Some(other))) => (one, other),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None | Some(Ok(None)) => match run() {
                Some(other) => (one, other),
                None => unreachable!("no thread has taken it"),
            },
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
