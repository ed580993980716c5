//! Threads that the system may not have.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts a thread. `None` if the system refuses: it has too many, or has none at all, as WebAssembly. The caller then does
/// the work itself.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).ok()
}
