//! `CLOCK_DATA`: one moment on two clocks.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::FeatureSection;
use super::codec::{Fault, SectionField, entry, number};
use crate::error::FileError;

entry! {
    /// One moment, on the wall clock and on the events' clock.
    ///
    /// perf: `write_clock_data`, `tools/perf/util/header.c`.
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
}

pub(super) fn decode<O: Endian>(section: &FeatureSection<'_>) -> Result<ClockData, FileError> {
    section.check_version("clock_data.version", |at| number::<O>(at, "version").map(u64::from))?;
    section.whole(|at| SectionField::take::<O>(at, "", 0))
}

pub(super) fn encode<O: Endian>(data: &ClockData, out: &mut Vec<u8>) -> Result<(), Fault> {
    if data.version != 1 {
        return Err(("version", "1"));
    }
    data.put::<O>(out, "")
}
