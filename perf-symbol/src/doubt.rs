//! Why a file may not be the one that was recorded.

use core::fmt;

use crate::guess::Guess;

/// Why the names of a file may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// No build id was recorded, and nothing says that the file is another one by now. Its names are no guesses.
    Unproven,
    /// No build id was recorded, and the file at the path has another inode on the same device, or an inode of another
    /// generation: it was replaced.
    Replaced,
    /// No build id was recorded, and the file was modified after
    /// [`SymbolOptions::recorded_until`](crate::SymbolOptions::recorded_until).
    Modified,
    /// Samples have no time of the clock of the process's jitdump. Only addresses at which all code had the same name are
    /// named.
    Clock,
}

impl Doubt {
    /// Returns what this makes of names; `None` if they are no guesses.
    #[must_use]
    pub fn guess(self) -> Option<Guess> {
        match self {
            Self::Unproven => None,
            Self::Replaced | Self::Modified => Some(Guess::File),
            Self::Clock => Some(Guess::Clock),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unproven => "no build id was recorded",
            Self::Replaced => {
                "no build id was recorded, and the file was replaced since (its inode is another one)"
            }
            Self::Modified => "no build id was recorded, and the file was modified after the recording",
            Self::Clock => {
                "the clock of its jitdump is not that of the samples (perf record -k mono is most jitdumps')"
            }
        })
    }
}
