//! What the caller knows about captures that are merged.

use alloc::collections::BTreeMap;

/// What the caller knows about captures that are [merged](super::merge).
///
/// # Examples
///
/// ```
/// use perf_parse::rewrite::MergeOptions;
///
/// let options = MergeOptions { clock_offsets: [(1, -1_500_000)].into(), ..MergeOptions::default() };
/// assert_eq!(options.clock_offsets[&1], -1_500_000); // the second capture's clock is 1.5 ms ahead
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Nanoseconds that are added to all times of a capture, by its index: the time on the clock of the first capture minus
    /// that on its own. Such a capture may have another clock than the first. Captures without an entry have the clock of
    /// the first capture.
    pub clock_offsets: BTreeMap<usize, i64>,
}
