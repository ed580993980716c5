//! Why no samples can be made of AUX data.

use core::fmt::{Display, Formatter};
use std::error::Error;

use perf_aux::pt::InfoError;
use perf_aux::spe::SpeInfoError;

use super::PeriodUnit;

/// Why no samples can be made of the AUX data of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ItraceError {
    /// The capture is a stream, which cannot be read twice.
    Stream,
    /// The AUXTRACE_INFO record of Arm SPE cannot be read.
    Info(SpeInfoError),
    /// The AUXTRACE_INFO record of Intel PT cannot be read.
    PtInfo(InfoError),
    /// Arm SPE selects records by their number, and the period has another unit.
    Unit(PeriodUnit),
    /// The samples of the capture's events have no id, by which those of the new events could be told apart.
    NoIds,
    /// The result would have more events than a file can have.
    TooManyEvents,
}

impl Display for ItraceError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Stream => f.write_str("a stream cannot be read twice, as the data of a trace must be; write it to a file"),
            Self::Info(error) => write!(f, "auxtrace_info: {error}"),
            // It names the record.
            Self::PtInfo(error) => error.fmt(f),
            Self::Unit(unit) => write!(
                f,
                "a period of {unit} is not possible with Arm SPE, whose hardware selects operations; count its records, as i1i does"
            ),
            Self::NoIds => {
                f.write_str("the samples of the trace's event have no id, so that those of new events could not be told apart")
            }
            Self::TooManyEvents => f.write_str("ids of new events must be ids that no event has"),
        }
    }
}

impl Error for ItraceError {}

impl From<SpeInfoError> for ItraceError {
    fn from(error: SpeInfoError) -> Self {
        Self::Info(error)
    }
}

impl From<InfoError> for ItraceError {
    fn from(error: InfoError) -> Self {
        Self::PtInfo(error)
    }
}
