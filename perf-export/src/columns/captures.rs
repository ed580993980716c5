//! `captures`: one row for each capture: where it is from, what it has, what it lost, how good its stacks are.

use std::borrow::Cow;

use perf_abi::endian::Endianness;
use perf_parse::ByteStr;
use perf_parse::feature::Features;
use perf_parse::file::Account;
use perf_profile::Quality;
use perf_symbol::unwind::StackEnd;

use super::SCHEMA_VERSION;
use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::utf8::utf8;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Text, "", "The capture: 32 hexadecimal digits of a hash of its header and its first records.";
    schema_version: Int32, "", "Version of these tables.";
    path ? Text, "", "Path that was given to the exporter. Null for a stream.";
    hostname ? Text, "", "Name of the machine. Null if it is not recorded.";
    recorded_on ? Text, "", "Day on which the recording started in UTC, as `YYYY-MM-DD`. Null if the capture does not relate its clock to the wall clock.";
    os_release ? Text, "", "Release of the kernel. Null if it is not recorded.";
    perf_version ? Text, "", "Version of the perf that recorded it. Null if it is not recorded.";
    arch ? Text, "", "Architecture. Null if it is not recorded.";
    cpu_description ? Text, "", "Name of the processor. Null if it is not recorded.";
    cpu_id ? Text, "", "Id of the processor. Null if it is not recorded.";
    cpus_online ? Int32, "", "Number of CPUs that were online. Null if it is not recorded.";
    memory ? Int64, "KiB", "Size of the memory. Null if it is not recorded.";
    command_line ? Texts, "", "The words of the recorder's command line. Null if it is not recorded, and with `--drop cmdline`.";
    clock ? Int32, "", "The events' clock: `CLOCK_*`. Null if the capture does not relate it to the wall clock.";
    clock_to_utc ? Int64, "ns", "What to add to a time to have nanoseconds since 1970, modulo 2^64. Null as `clock`.";
    mode: Text, "", "`file`, `pipe` or `ring`.";
    endianness: Text, "", "`little` or `big`.";
    features: Texts, "", "Names of the features that the capture has.";
    first_time ? Int64, "ns", "Time of the first sample. Null if no sample has one.";
    last_time ? Int64, "ns", "Time of the last sample. Null if no sample has one.";
    first_utc ? Timestamp, "us", "`first_time` in UTC, as in `samples`.";
    last_utc ? Timestamp, "us", "`last_time` in UTC, as in `samples`.";
    samples: Int64, "", "Number of rows in `samples`.";
    records: Int64, "", "Number of records that were read.";
    sample_records: Int64, "", "Number of SAMPLE records that were read; those without a row have a fault in `losses`, or were not selected.";
    bytes: Int64, "bytes", "Bytes that were read.";
    bytes_skipped: Int64, "bytes", "Bytes in which no record could be found.";
    faults: Int64, "", "Number of faults.";
    lost: Int64, "", "Sum of the LOST records.";
    lost_samples: Int64, "", "Sum of the LOST_SAMPLES records.";
    late: Int64, "", "Number of records that were too late to be put in order of time.";
    stacks: Int64, "", "Number of samples whose stack was taken.";
    stacks_rooted: Int64, "", "Number of them that end at the first function.";
    stacks_completed: Int64, "", "Number of them whose end was taken from other stacks of their thread.";
    stacks_truncated: Int64, "", "Number of them that were cut.";
    stacks_no_unwind_info: Int64, "", "Number of them that end where nothing tells the caller.";
    stacks_no_mapping: Int64, "", "Number of them that end in no mapping.";
    stacks_garbage: Int64, "", "Number of them that end in what is no code.";
    frames: Int64, "", "Number of frames of all stacks, inlined functions not counted.";
    frames_mapped: Int64, "", "Number of them whose address is mapped.";
    frames_named: Int64, "", "Number of them that have a name.";
    frames_with_line: Int64, "", "Number of them that have a line.";
    frames_inlined: Int64, "", "Number of inlined functions.";
    frames_guessed: Int64, "", "Number of frames that are guesses, or whose names are.";
};

/// Facts of a capture, complete at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureRow<'a> {
    pub(super) path: Option<&'a [u8]>,
    pub(super) mode: &'static str,
    pub(super) features: &'a Features<'a>,
    pub(super) account: &'a Account,
    pub(super) span: Option<(u64, u64)>,
    pub(super) samples: u64,
    pub(super) quality: &'a Quality,
}

pub(super) fn push(rows: &mut TableRows, context: &Context, capture: &CaptureRow<'_>) {
    let CaptureRow { path, mode, features, account, span, samples, quality } = *capture;
    let origin = &context.origin;
    let name = |text: Result<Option<ByteStr<'_>>, _>| text.ok().flatten().map(|it| it.to_string());
    let (first, last) = (span.map(|it| it.0), span.map(|it| it.1));
    rows.text(context.capture.as_str());
    rows.int32(SCHEMA_VERSION);
    rows.text(path.and_then(|path| context.path(path)).as_deref());
    rows.text(origin.hostname.as_deref().map(utf8).as_deref());
    rows.text(context.date.as_deref());
    rows.text(origin.release.as_deref().map(utf8).as_deref());
    rows.text(name(features.version()).as_deref());
    rows.text(origin.arch.as_deref().map(utf8).as_deref());
    rows.text(origin.processor.as_deref().map(utf8).as_deref());
    rows.text(name(features.cpu_id()).as_deref());
    rows.int32(origin.cpus.map(u32::cast_signed));
    rows.int64(features.total_mem().ok().flatten());
    let words = features.cmdline().ok().flatten().filter(|_| !context.redaction.cmdline);
    rows.texts(words.as_ref().map(|words| words.iter().map(|word| Cow::Owned(word.to_string()))));
    let clock = features.clock_data().ok().flatten();
    rows.int32(clock.map(|it| it.clockid.cast_signed()));
    rows.int64(origin.to_wall_clock);
    rows.text(mode);
    rows.text(if context.endianness == Endianness::Little { "little" } else { "big" });
    rows.texts(Some(features.iter().map(|section| Cow::Owned(section.feature.to_string()))));
    rows.int64(first);
    rows.int64(last);
    rows.timestamp(context.utc(first));
    rows.timestamp(context.utc(last));
    rows.int64(samples);
    rows.int64(account.records);
    let sample_records = account.by_type().find(|(kind, _)| *kind == perf_abi::record::RecordType::SAMPLE);
    rows.int64(sample_records.map_or(0, |(_, count)| count));
    rows.int64(account.bytes);
    rows.int64(account.bytes_skipped);
    rows.int64(account.faults());
    rows.int64(account.lost);
    rows.int64(account.lost_samples);
    rows.int64(account.late);
    rows.int64(quality.stacks());
    rows.int64(quality.stacks_with(StackEnd::Rooted));
    rows.int64(quality.stacks_with(StackEnd::Completed));
    rows.int64(quality.stacks_with(StackEnd::Truncated));
    rows.int64(quality.stacks_with(StackEnd::NoUnwindInfo));
    rows.int64(quality.stacks_with(StackEnd::NoMapping));
    rows.int64(quality.stacks_with(StackEnd::Garbage));
    rows.int64(quality.frames());
    rows.int64(quality.mapped());
    rows.int64(quality.named());
    rows.int64(quality.with_line());
    rows.int64(quality.inlined());
    rows.int64(quality.guessed());
    rows.end();
}

/// Returns the day on which the recording started in UTC, as `YYYY-MM-DD`; `None` if the capture does not relate its clock to
/// the wall clock.
pub(super) fn date_of(features: &Features<'_>) -> Option<String> {
    let started = features.clock_data().ok()??.wall_clock_ns;
    let (year, month, day) = civil(started / 86_400_000_000_000);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// Returns year, month and day of a number of days since 1970 in the Gregorian calendar, whose years are counted from March
/// on, so that a leap day is the last of its year.
fn civil(days: u64) -> (u64, u64, u64) {
    // From 1 March of the year 0 on: 719,468 days before 1970. 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Five months from March on have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        // 2000 has a leap day, 2100 has none.
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(47_540), (2100, 2, 28));
        assert_eq!(civil(47_541), (2100, 3, 1));
        assert_eq!(civil(20_780), (2026, 11, 23));
        assert_eq!(civil(u64::MAX / 86_400_000_000_000), (2554, 7, 21));
    }
}
