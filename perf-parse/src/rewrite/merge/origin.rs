//! Checks that captures are of one boot of one machine, on one clock.

use alloc::vec::Vec;

use perf_abi::attr::AttrFlags;
use perf_abi::feature::Feature;

use super::error::CaptureMergeError;
use super::options::MergeOptions;
use crate::feature::FeatureData;
use crate::file::Reader;
use crate::record::Record;

/// Number of records among which the first one about the kernel's code is.
const FIRST_RECORDS: usize = 4096;
/// Nanoseconds by which the wall clock may have been set, or may drift, between two captures.
const CLOCK_SET: u64 = 10_000_000_000;

/// Checks that all captures are as the first.
pub(super) fn check(readers: &[&Reader<'_>], options: &MergeOptions) -> Result<(), CaptureMergeError> {
    let Some((first, others)) = readers.split_first() else { return Ok(()) };
    let (clock, boot, kernel) = (clock(first), boot(first), kernel(first));
    let is_simpleperf = |reader: &Reader<'_>| {
        // The first of them is older than the last.
        [Feature::FILE, Feature::FILE2, Feature::META_INFO].iter().any(|&it| reader.feature(it).is_some())
    };
    if let Some((&capture, _)) = options.clock_offsets.range(readers.len()..).next() {
        let must = "that of a capture which is merged";
        return Err(CaptureMergeError::Differ { capture, field: "clock offset", must });
    }
    for (index, reader) in readers.iter().enumerate() {
        let differ = |field, must| Err(CaptureMergeError::Differ { capture: index, field, must });
        if reader.feature(Feature::STAT).is_some() {
            return differ("STAT", "left out: counts have no times, so they cannot be ordered");
        }
        if is_simpleperf(reader) != is_simpleperf(first) {
            return differ(
                "META_INFO",
                "in all captures or in none: simpleperf and perf describe files differently",
            );
        }
        if reader.feature(Feature::ETM_BRANCH_LIST).is_some() && readers.len() > 1 {
            return differ("ETM_BRANCH_LIST", "left out: branches have no times, so they cannot be ordered");
        }
        if is_simpleperf(reader) && offset_of(options, index) != 0 {
            return differ("clock offset", "0: simpleperf's records of unwinding have times of their own");
        }
        if trace_offcpu(reader) != trace_offcpu(first) {
            return differ(
                "trace_offcpu",
                "that of the first capture: samples count for other times otherwise",
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
        let has_offset = options.clock_offsets.contains_key(&index.saturating_add(1));
        let is_clock = self::clock(reader) == clock;
        if !is_clock && !has_offset {
            return differ(
                "clockid",
                "that of the first capture, or have a clock offset: times of two clocks cannot be compared",
            );
        }
        // The clocks of an offset began at other times.
        let boot = boot.filter(|_| is_clock && !has_offset);
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

/// Returns the nanoseconds that are added to the times of a capture.
pub(super) fn offset_of(options: &MergeOptions, capture: usize) -> i64 {
    options.clock_offsets.get(&capture).copied().unwrap_or(0)
}

/// Returns how simpleperf made samples of the time off the CPU; `None` without.
fn trace_offcpu(reader: &Reader<'_>) -> Option<Vec<u8>> {
    let info = reader.features().meta_info().ok()??;
    info.get("trace_offcpu").filter(|it| *it != "false").map(|it| Vec::from(it.as_bytes()))
}

/// Returns the clock of the times: that of the first event; `None` for the default of the kernel.
pub(super) fn clock(reader: &Reader<'_>) -> Option<i32> {
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
