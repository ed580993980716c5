//! The result of unwinding a stack, apart from its frames.

use super::end::StackEnd;

/// How a stack ended, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnwoundStack {
    /// How the stack ends.
    pub end: StackEnd,
    /// Whether the copy of the stack was too short, and the outer frames come from elsewhere: from the user part of the
    /// sample's call chain, with the source [`FrameSource::Chain`](super::FrameSource::Chain); or from the earlier stacks
    /// of the thread, with the source [`FrameSource::Earlier`](super::FrameSource::Earlier). The latter only if all whole
    /// stacks of the thread, and no fewer than eight, have the same outermost frames at the same places of its stack.
    pub spliced: bool,
    /// Whether some frames are guesses: see [`FrameSource::guess`](super::FrameSource::guess).
    pub guessed: bool,
}
