//! Releases of perf whose text is printed.

/// A release of perf. The texts of this crate are those that `perf script -D` of the release prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PerfText {
    /// perf 6.1.
    V6_1,
    /// perf 7.2.
    #[default]
    V7_2,
}
