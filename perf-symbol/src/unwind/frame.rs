//! A frame of an unwound stack.

use perf_abi::record::CpuMode;

use crate::guess::Guess;

/// A frame of an unwound stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwoundFrame {
    /// The address, as it is on the stack or in the registers: of the next instruction of the frame.
    pub ip: u64,
    /// Whose code it is.
    pub mode: CpuMode,
    /// Whether `ip` is a return address: the call is before it, and it may belong to the next function or line. It is none
    /// where the event or a signal interrupted the code.
    pub is_return: bool,
    /// How the frame was found.
    pub source: FrameSource,
}

/// How an [`UnwoundFrame`] was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameSource {
    /// It is in the call chain of the sample.
    Chain,
    /// The copy of the stack was too short, and all whole stacks of the thread so far have the frame there: see
    /// [`UnwoundStack::spliced`](super::UnwoundStack::spliced).
    Earlier,
    /// It is the instruction pointer of the sample's user registers.
    Registers,
    /// By the unwind information of the frame that it called.
    Cfi,
    /// By the unwind information of a file that may not be the one that was mapped: see
    /// [`Module::with_doubt`](super::Module::with_doubt).
    DoubtfulCfi,
    /// By the unwind information of a file whose code the program is assumed to have moved to the memory that was laid over its
    /// mapping: see [`Mapping::remapped`](perf_session::Mapping::remapped). A call is before the address.
    RemappedCfi,
    /// A signal interrupted it. The frame before is the signal trampoline.
    Signal,
    /// It called a trampoline of Python, which its process named: see
    /// [`StackFinder::with_trampolines`](crate::StackFinder::with_trampolines). A call is before the address.
    Trampoline,
    /// By the frame pointer or the stack pointer of a frame without unwind information.
    FramePointer,
}

impl FrameSource {
    /// Returns why the frame is a guess; `None` if it was recorded, or found by unwind information.
    #[must_use]
    pub fn guess(self) -> Option<Guess> {
        match self {
            Self::FramePointer => Some(Guess::Scanned),
            Self::Earlier => Some(Guess::Completed),
            Self::DoubtfulCfi => Some(Guess::File),
            Self::RemappedCfi => Some(Guess::Remapped),
            Self::Chain | Self::Registers | Self::Cfi | Self::Signal | Self::Trampoline => None,
        }
    }

    /// Returns whether the address is that of an instruction that was about to run, and not a return address.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Registers | Self::Signal)
    }
}
