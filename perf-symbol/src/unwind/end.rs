//! Ends of stacks.

/// How a stack ends: whether it is whole and, if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum StackEnd {
    /// The last frame is the first function of the program or of the thread: its unwind information says that it has no
    /// caller, or its return address or frame pointer is 0. Also a task that has no user space. A stack with a
    /// [guessed](crate::Guess) frame never ends like this.
    Rooted,
    /// The copy of the stack ended first. The outer frames, up to the first function, are those that all complete stacks
    /// of the thread have there: see [`UnwoundStack::spliced`](super::UnwoundStack::spliced).
    Completed,
    /// More of the stack was needed than the sample has a copy of, or the stack has more frames than were asked for.
    Truncated,
    /// No unwind information covers the last frame, or one before it: what was found after that is a guess.
    NoUnwindInfo,
    /// The last frame's address is in no mapping.
    NoMapping,
    /// The return address of the last frame is not code, its unwind information is malformed or needs a value that is not
    /// known, or the stack would go backwards. Also an instruction pointer that is not code.
    Garbage,
}

impl StackEnd {
    /// Returns the name: `rooted`, `completed`, `truncated`, `no-unwind-info`, `no-mapping` or `garbage`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rooted => "rooted",
            Self::Completed => "completed",
            Self::Truncated => "truncated",
            Self::NoUnwindInfo => "no-unwind-info",
            Self::NoMapping => "no-mapping",
            Self::Garbage => "garbage",
        }
    }
}

impl core::fmt::Display for StackEnd {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
