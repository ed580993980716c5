//! The recording machine of a capture, and its clock.

use std::time::{Duration, SystemTime};

use perf_parse::ByteStr;
use perf_parse::feature::Features;

/// The machine that a capture was recorded on, and how its clock relates to the wall clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaptureOrigin {
    /// The name of the machine; `None` if it was not recorded.
    pub hostname: Option<Vec<u8>>,
    /// The architecture, as in `uname -m`; `None` if it was not recorded.
    pub arch: Option<Vec<u8>>,
    /// The release of the kernel, as in `uname -r`; `None` if it was not recorded.
    pub release: Option<Vec<u8>>,
    /// The name of the processor; `None` if it was not recorded.
    pub processor: Option<Vec<u8>>,
    /// The number of CPUs that were online; `None` if it was not recorded.
    pub cpus: Option<u32>,
    /// Nanoseconds from a time of the events' clock to the wall clock's, modulo 2^64; `None` if they were not recorded.
    pub to_wall_clock: Option<u64>,
}

impl CaptureOrigin {
    /// Reads the origin from the features of a capture. A feature that cannot be decoded counts as not recorded.
    ///
    /// perf: `write_hostname`, `write_arch` and `write_clock_data`, `tools/perf/util/header.c`.
    #[must_use]
    pub fn of(features: &Features<'_>) -> Self {
        let name = |text: Result<Option<ByteStr<'_>>, _>| {
            text.ok()?.filter(|it| !it.is_empty()).map(|it| it.to_vec())
        };
        Self {
            hostname: name(features.hostname()),
            arch: name(features.arch()),
            release: name(features.os_release()),
            processor: name(features.cpu_desc()),
            cpus: features.nr_cpus().ok().flatten().map(|cpus| cpus.online),
            to_wall_clock: features
                .clock_data()
                .ok()
                .flatten()
                .map(|clocks| clocks.wall_clock_ns.wrapping_sub(clocks.clockid_time_ns)),
        }
    }

    /// Returns the wall clock's time of a time of the events' clock, in nanoseconds since 1970; `None` if the clocks'
    /// relation was not recorded. It wraps around where a capture has impossible times.
    #[must_use]
    pub fn wall_clock(&self, time: u64) -> Option<u64> {
        Some(time.wrapping_add(self.to_wall_clock?))
    }
}

/// Returns the machine that recorded a capture, as in `uname -m`; this machine if the capture does not tell.
#[must_use]
pub fn machine_of(features: &Features<'_>) -> String {
    match features.arch() {
        Ok(Some(name)) => name.to_string(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// Returns the time of the last sample by the wall clock; `None` if the capture does not have that time, or does not relate
/// it to the wall clock (`CLOCK_DATA`).
#[must_use]
pub fn recorded_until(features: &Features<'_>) -> Option<SystemTime> {
    let clock = features.clock_data().ok()??;
    let last = features.sample_time().ok()??.last;
    let nanoseconds = clock.wall_clock_ns.checked_add(last.checked_sub(clock.clockid_time_ns)?)?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_nanos(nanoseconds))
}
