//! Why generated code is left out.

use core::error::Error;
use core::fmt::{Display, Formatter};

use perf_symbol::NoSymbols;

/// Why a capture does not get the generated code of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GeneratedCodeError {
    /// The jitdump or perf map cannot be read.
    File(NoSymbols),
    /// The times of the capture's records are not those of `CLOCK_MONOTONIC`, which the jitdump has.
    CaptureClock,
    /// The jitdump has times of a clock of the processor.
    DumpClock,
    /// The functions do not fit into an ELF file.
    TooLarge,
    /// It and the files before it have more bytes together than [`SymbolLimits::file`](perf_symbol::SymbolLimits::file).
    TooMuch,
}

impl Display for GeneratedCodeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::File(why) => Display::fmt(why, f),
            Self::CaptureClock => {
                f.write_str("its times are not those of the records; record with perf record -k mono")
            }
            Self::DumpClock => f.write_str("has times of the processor, which no clock of perf record is"),
            Self::TooLarge => f.write_str("its functions do not fit into an ELF file"),
            Self::TooMuch => {
                f.write_str("the jitdumps and perf maps before it are as large as one file may be")
            }
        }
    }
}

impl Error for GeneratedCodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(why) => Some(why),
            Self::CaptureClock | Self::DumpClock | Self::TooLarge | Self::TooMuch => None,
        }
    }
}
