//! Checks that captures are of one boot of one machine, on one clock.

use perf_abi::attr::AttrFlags;
use perf_abi::feature::Feature;

use super::error::CaptureMergeError;
use crate::feature::FeatureData;
use crate::file::Reader;
use crate::record::Record;

/// Number of records among which the first one about the kernel's code is.
const FIRST_RECORDS: usize = 4096;
/// Nanoseconds by which the wall clock may have been set, or may drift, between two captures.
const CLOCK_SET: u64 = 10_000_000_000;

/// Checks that all captures are as the first.
pub(super) fn check(readers: &[&Reader<'_>]) -> Result<(), CaptureMergeError> {
    let Some((first, others)) = readers.split_first() else { return Ok(()) };
    let (clock, boot, kernel) = (clock(first), boot(first), kernel(first));
    for (index, reader) in readers.iter().enumerate() {
        let differ = |field, must| Err(CaptureMergeError::Differ { capture: index, field, must });
        if reader.feature(Feature::STAT).is_some() {
            return differ("STAT", "left out: counts have no times, so they cannot be ordered");
        }
        if reader.feature(Feature::META_INFO).is_some() {
            return differ(
                "META_INFO",
                "left out: captures of simpleperf number their events and files each for itself",
            );
        }
    }
    for (index, reader) in others.iter().enumerate() {
        let differ =
            |field, must| Err(CaptureMergeError::Differ { capture: index.saturating_add(1), field, must });
        if reader.endianness() != first.endianness() {
            return differ("byte order", "that of the first capture");
        }
        let features = [
            (
                Feature::HOSTNAME,
                "HOSTNAME",
                "that of the first capture: processes of two machines have the same ids",
            ),
            (
                Feature::OSRELEASE,
                "OSRELEASE",
                "that of the first capture: another kernel is another boot, with other processes",
            ),
            (Feature::ARCH, "ARCH", "that of the first capture"),
        ];
        for (feature, field, must) in features {
            let text = |reader: &Reader<'_>| reader.feature(feature).map(|section| section.bytes.to_vec());
            if text(first).zip(text(reader)).is_some_and(|(a, b)| a != b) {
                return differ(field, must);
            }
        }
        if self::clock(reader) != clock {
            return differ("clockid", "that of the first capture: times of two clocks cannot be compared");
        }
        if boot.zip(self::boot(reader)).is_some_and(|(a, b)| a.abs_diff(b) > CLOCK_SET) {
            return differ(
                "CLOCK_DATA",
                "of the boot of the first capture: the clock starts anew with the machine",
            );
        }
        if kernel.zip(self::kernel(reader)).is_some_and(|(a, b)| a != b) {
            return differ(
                "MMAP",
                "of the boot of the first capture: the kernel's code was at another address",
            );
        }
    }
    Ok(())
}

/// Returns the clock of the times: that of the first event; `None` for the default of the kernel.
fn clock(reader: &Reader<'_>) -> Option<i32> {
    let attr = reader.events().iter().next()?.attr;
    attr.flags.contains(AttrFlags::USE_CLOCKID).then_some(attr.clockid)
}

/// Returns the wall-clock time at which the clock of a capture was 0; `None` if it is not recorded.
fn boot(reader: &Reader<'_>) -> Option<u64> {
    match reader.feature(Feature::CLOCK_DATA)?.decode() {
        Ok(FeatureData::ClockData(it)) => Some(it.wall_clock_ns.wrapping_sub(it.clockid_time_ns)),
        _ => None,
    }
}

/// Returns the address of the kernel's code, which differs between boots if the kernel places itself at random.
fn kernel(reader: &Reader<'_>) -> Option<u64> {
    reader.records().take(FIRST_RECORDS).find_map(|record| {
        let record = record.ok()?;
        match record.decode().ok()? {
            Record::Mmap(it) if it.filename.starts_with(b"[kernel.kallsyms]") => Some(it.addr),
            Record::Mmap2(it) if it.filename.starts_with(b"[kernel.kallsyms]") => Some(it.addr),
            _ => None,
        }
    })
}
