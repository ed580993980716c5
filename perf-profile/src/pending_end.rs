//! Ends of stacks, as far as they are known while the capture is read.

use perf_symbol::unwind::StackEnd;

/// How a stack ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingEnd {
    /// It ends so.
    Known(StackEnd),
    /// As all call chains with this last frame do: its number.
    OfLast(u32),
}
