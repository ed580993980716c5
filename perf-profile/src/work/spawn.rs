//! Threads that the system may not have.

use core::num::NonZero;
use std::thread::{Builder, Scope, ScopedJoinHandle, available_parallelism};

/// Starts a thread. `None` if the system refuses: it has too many, or has none at all, as WebAssembly. The caller then does
/// the work itself.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}

/// Returns how many threads a caller permits: `threads`, or for 0 one for each processor.
pub(crate) fn permitted(threads: usize) -> NonZero<usize> {
    let of_machine = || available_parallelism().unwrap_or(NonZero::<usize>::MIN);
    NonZero::new(threads).unwrap_or_else(of_machine)
}
