//! Why a frame or its name is a guess.

use core::fmt;

/// Why a frame of a stack, or the name of its function, is a guess and not a fact.
///
/// Texts mark a guess with [`MARK`](Self::MARK) after the name, JSON with `"guessed":true`, and tables with
/// [`name`](Self::name) in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Guess {
    /// The frame was found by a frame pointer, or by a return address at the stack pointer, as no unwind information
    /// covers the code that it called.
    Scanned,
    /// The copy of the stack ended before the frame. The complete stacks of the same thread have it there.
    Completed,
    /// The name is of a file that may have changed since the recording.
    File,
    /// The name is of generated code, in a jitdump whose clock is not that of the capture.
    Clock,
    /// The name, or the unwind information that led to the frame, is of a file whose mapping was replaced by memory at the same
    /// addresses, to which the program may have moved its code.
    Remapped,
}

impl Guess {
    /// What follows the name of a guessed function in texts.
    pub const MARK: &'static str = " [guessed]";

    /// Returns the reason in a word: `scanned`, `completed`, `file`, `clock` or `remapped`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scanned => "scanned",
            Self::Completed => "completed",
            Self::File => "file",
            Self::Clock => "clock",
            Self::Remapped => "remapped",
        }
    }
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
