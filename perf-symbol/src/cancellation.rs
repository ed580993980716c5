//! Cancellation of long look-ups, and time limits.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use std::time::Duration;

/// A flag that ends the look-ups of a [`Symbolizer`](crate::Symbolizer) early: set by another thread, or by a condition such as
/// a time limit.
///
/// Reading symbol tables, decompressing, reading DWARF and batches of addresses check it every few thousand steps, which
/// takes less than 10 ms; a download, each time bytes come. The sort of a table is not interrupted. A
/// clone is the same flag. It stays set: the next request gets a new one, by
/// [`Symbolizer::set_cancellation`](crate::Symbolizer::set_cancellation).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use perf_symbol::{Cancellation, SymbolOptions, Symbolizer};
///
/// let mut symbolizer = Symbolizer::new(SymbolOptions::default());
/// let cancellation = Cancellation::after(Duration::from_secs(2));
/// symbolizer.set_cancellation(cancellation.clone());
/// // On Ctrl-C, from another thread:
/// cancellation.cancel();
/// assert!(symbolizer.functions_of(b"/bin/true", &[0x1234]).is_err());
/// ```
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Flag>);

#[derive(Default)]
struct Flag {
    is_set: AtomicBool,
    condition: Option<Box<Condition>>,
}

type Condition = dyn Fn() -> bool + Send + Sync;

impl Cancellation {
    /// Makes a flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a flag that is set as soon as a condition is true. Each thread that looks up checks it, often.
    #[must_use]
    pub fn when(condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(Flag { is_set: AtomicBool::new(false), condition: Some(Box::new(condition)) }))
    }

    /// Makes a flag that is set after a time.
    ///
    /// Not on `wasm32-unknown-unknown`, which has no clock: give [`when`](Self::when) the clock of the host.
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    #[must_use]
    pub fn after(time: Duration) -> Self {
        let start = std::time::Instant::now();
        Self::when(move || start.elapsed() >= time)
    }

    /// Sets the flag.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns whether the flag is set.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let Flag { is_set, condition } = &*self.0;
        if is_set.load(Ordering::Relaxed) {
            return true;
        }
        let is_true = condition.as_ref().is_some_and(|condition| condition());
        if is_true {
            self.cancel();
        }
        is_true
    }

    /// Returns whether the flag is set, for one of every few thousand steps of a loop. `step` is the number of the step.
    #[inline]
    pub(crate) fn is_cancelled_at(&self, step: usize) -> bool {
        const STEPS: usize = 1 << 12;
        step & (STEPS - 1) == 0 && self.is_cancelled()
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancellation").field(&self.0.is_set).finish()
    }
}

/// The error of a look-up that a [`Cancellation`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the look-up was cancelled, or its time has run out")
    }
}

impl std::error::Error for Cancelled {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one_flag() {
        let flag = Cancellation::new();
        let clone = flag.clone();
        assert!(!flag.is_cancelled() && !Cancellation::new().is_cancelled());
        clone.cancel();
        assert!(flag.is_cancelled() && flag.is_cancelled_at(1 << 20));
        assert!(!flag.is_cancelled_at(1), "not asked for at each step");
    }

    #[test]
    fn a_condition_that_was_true_is_not_asked_again() {
        let first = AtomicBool::new(true);
        let flag = Cancellation::when(move || first.swap(false, Ordering::Relaxed));
        assert!(flag.is_cancelled() && flag.is_cancelled());
        assert!(Cancellation::after(Duration::ZERO).is_cancelled());
        assert!(!Cancellation::after(Duration::MAX).is_cancelled());
    }
}
