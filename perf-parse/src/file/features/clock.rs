//! Clocks and times.

use perf_abi::endian::Endian;

use super::FeatureSection;
use super::fields::number;
use crate::error::FileError;

impl FeatureSection<'_> {
    /// Decodes `SAMPLE_TIME`: the times of the first and the last sample, in nanoseconds of the events' clock.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn sample_time<O: Endian>(&self) -> Result<(u64, u64), FileError> {
        self.whole(|at| Ok((at.word::<O>("first")?, at.word::<O>("last")?)))
    }

    /// Decodes `CLOCKID`: the resolution of the events' clock in nanoseconds.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn clockid<O: Endian>(&self) -> Result<u64, FileError> {
        self.whole(|at| at.word::<O>("resolution_ns"))
    }

    /// Decodes `CLOCK_DATA`: one moment, on the wall clock and on the events' clock.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string), and [`FileErrorKind::Invalid`](crate::file::FileErrorKind::Invalid) for a version
    /// other than 1.
    pub fn clock_data<O: Endian>(&self) -> Result<ClockData, FileError> {
        self.version_1(
            "clock_data.version",
            |at| number::<O>(at, "version").map(u64::from),
            |at| {
                Ok(ClockData {
                    version: 1,
                    clockid: number::<O>(at, "clockid")?,
                    wall_clock_ns: at.word::<O>("wall_clock_ns")?,
                    clockid_time_ns: at.word::<O>("clockid_time_ns")?,
                })
            },
        )
    }
}

/// One moment on two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockData {
    /// Version of the section: 1.
    pub version: u32,
    /// The events' clock: `CLOCK_*`.
    pub clockid: u32,
    /// Wall clock time in nanoseconds since 1970.
    pub wall_clock_ns: u64,
    /// Time of the events' clock in nanoseconds.
    pub clockid_time_ns: u64,
}
