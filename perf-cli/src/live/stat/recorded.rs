//! `perfdata stat report`: the counts of a capture.

use perf_parse::Record;
use perf_parse::event::Event;
use perf_parse::file::{EventRecords, Mode};
use perf_profile::event_name;
use perf_record::stat::RecordedCounts;

use super::report::{ReportedSpan, RunTotals, StatReport};
use super::unit_width;
use crate::args::live::{StatArgs, StatReportArgs};
use crate::input;
use crate::outcome::{Failure, Outcome};
use crate::output::{Diagnostics, say};

/// Prints the counts of each round, or the sums at the end.
pub(super) fn run(args: &StatReportArgs) -> Result<Outcome, Failure> {
    input::read(&args.file, |reader, _| {
        let mut format = StatArgs::none()?;
        (format.json, format.field_separator) = (args.json, args.field_separator.clone());
        let mut report = StatReport::new(&format)?;
        let mut counts = RecordedCounts::default();
        let mut records = reader.records();
        let targets = match reader.mode() {
            // As perf names it.
            Mode::Pipe => "'pipe'".to_owned(),
            _ => format!("'{}'", command_line(&records).unwrap_or_else(|| args.file.display().to_string())),
        };
        let name = |event: &Event| String::from_utf8_lossy(&event_name(event)).into_owned();
        while let Some(record) = records.next() {
            let Ok(record) = record else { continue };
            let Ok(Record::User(record, _)) = record.decode() else { continue };
            let had_counts = !counts.events().is_empty();
            let interval = counts.apply(&record, records.events(), name);
            if !had_counts && !counts.events().is_empty() {
                begin(&counts, &mut report)?;
            }
            if let Some(interval) = interval {
                report.rows(&counts.rows(&interval), ReportedSpan::Interval(interval.at))?;
            }
        }
        if counts.events().is_empty() {
            return Err(Failure(
                "there are no counts in the capture; perf stat record writes some".to_owned(),
            ));
        }
        finish(&counts, &targets, &mut report)?;
        Diagnostics::new().report_all(records.account());
        Ok(if records.account().is_clean() { Outcome::Clean } else { Outcome::Partial })
    })
}

/// Returns the command line that wrote the capture; `None` if it is not known.
fn command_line(records: &EventRecords<'_>) -> Option<String> {
    let words = records.features().cmdline().ok()??;
    let words: Vec<_> = words.iter().map(|word| word.to_string()).collect();
    Some(words.join(" "))
}

/// Prints what precedes the first count.
fn begin(counts: &RecordedCounts, report: &mut StatReport) -> Result<(), Failure> {
    if counts.is_by_domain() {
        say!("perfdata: stat report: the counts were recorded by parts of the machine; these are the sums");
    }
    if !counts.interval().is_zero() {
        report.head("", 1, true, unit_width(counts.events()))?;
    }
    Ok(())
}

/// Prints the sums, unless the rounds have been printed, and the time.
fn finish(counts: &RecordedCounts, targets: &str, report: &mut StatReport) -> Result<(), Failure> {
    let total = counts.total();
    if counts.interval().is_zero() {
        report.head(targets, 1, false, unit_width(counts.events()))?;
        report.rows(&counts.rows(&total), ReportedSpan::Whole { runs: 1 })?;
    }
    let elapsed = vec![total.at.as_secs_f64()];
    report.totals(&RunTotals { elapsed, cpu_times: Vec::new(), table: false })
}
