//! Counts as text, laid out like those of `perf stat`.

use core::fmt::Write;

use perf_record::stat::{Aggregation, CountRow, CountStatus, CountValue, CpuDomain, RunMean};

use super::{ReportedSpan, RunTotals};
use crate::column::left;

/// The head of the column of units.
pub(super) const UNIT: &str = "unit";

/// The columns of a count, of an event's name, and of a metric with its unit.
const COUNT: usize = 18;
const NAME: usize = 25;
const METRIC: usize = 32;

pub(super) fn head(what: &str, runs: usize) -> String {
    let runs = if runs > 1 { format!(" ({runs} runs)") } else { String::new() };
    format!("\n Performance counter stats for {what}{runs}:\n\n")
}

pub(super) fn interval_head(unit_width: usize) -> String {
    format!("#{:>15} {:>COUNT$} {} events\n", "time", "counts", left(UNIT, unit_width))
}

/// Returns the first columns of a line: the time of an interval, and what is counted.
pub(super) fn prefix(row: &CountRow<'_>, span: ReportedSpan) -> String {
    let mut prefix = match span {
        ReportedSpan::Interval(at) => format!("{:>16.9} ", at.as_secs_f64()),
        ReportedSpan::Summary | ReportedSpan::Whole { .. } => String::new(),
    };
    if let Some(label) = row.label {
        // The name of a thread and its number meet at the dash.
        let width = width(label.aggregation);
        prefix += &match (label.text.rsplit_once('-'), label.cpus) {
            (Some((comm, tid)), None) => format!("{comm:>16}-{tid:<8} "),
            (None, None) => left(&label.text, width),
            (_, Some(cpus)) => format!("{} {cpus:>5} ", left(&label.text, width)),
        };
    }
    prefix
}

/// Returns the columns that the labels of an aggregation take.
fn width(aggregation: Aggregation) -> usize {
    match aggregation {
        Aggregation::Cpu => 8,
        Aggregation::Thread => 25,
        Aggregation::Domain(CpuDomain::Die) => 11,
        Aggregation::Domain(CpuDomain::Cluster) => 19,
        Aggregation::Domain(CpuDomain::Core) => 14,
        Aggregation::Domain(CpuDomain::Cache(_)) => 21,
        _ => 5,
    }
}

pub(super) fn row(row: &CountRow<'_>, span: ReportedSpan, unit_width: usize, big_num: bool) -> String {
    let runs = if let ReportedSpan::Whole { runs } = span { runs } else { 1 };
    let mut line = prefix(row, span);
    let (count, deviation) = match row.status {
        CountStatus::Counted { value, deviation_percent } => {
            (number(value, row.event.has_scale(), big_num), deviation_percent)
        }
        CountStatus::NotCounted => ("<not counted>".to_owned(), 0.0),
        CountStatus::NotSupported => ("<not supported>".to_owned(), 0.0),
    };
    let unit = left(row.event.unit.as_deref().unwrap_or_default(), unit_width);
    let name = match &row.event.cgroup {
        Some(cgroup) => format!("{:<NAME$} {cgroup}", row.event.name),
        None => row.event.name.clone(),
    };
    let metric = row.metric.as_ref().map(|metric| format!(" # {:>8.3} {}", metric.value, metric.unit));
    let metric = metric.unwrap_or_default();
    line += &format!("{count:>COUNT$} {unit} {name:<NAME$}{metric:<METRIC$}");
    if let (CountStatus::Counted { .. }, true) = (row.status, runs > 1) {
        line += &format!(" ( +-{deviation:>6.2}% )");
    }
    if let (CountStatus::Counted { .. }, Some(percent)) =
        (row.status, row.running_percent().filter(|_| row.running != row.enabled))
    {
        line += &format!(" ({percent:.2}%)");
    }
    line.truncate(line.trim_end().len());
    line
}

/// Formats a number, with separators between thousands if `big_num` is set: `1,234.50`; with decimals only if `has_scale`.
fn number(value: CountValue, has_scale: bool, big_num: bool) -> String {
    let digits = match value {
        CountValue::Whole(value) => value.to_string(),
        CountValue::Real(value) if has_scale => format!("{value:.2}"),
        CountValue::Real(value) => format!("{value:.0}"),
    };
    if !big_num {
        return digits;
    }
    let (whole, decimals) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut apart = String::with_capacity(digits.len().saturating_mul(2));
    for (index, digit) in whole.chars().enumerate() {
        let left = whole.len().saturating_sub(index);
        if index > 0 && left % 3 == 0 && !apart.ends_with('-') {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart + decimals
}

pub(super) fn totals(totals: &RunTotals) -> String {
    let mut text = String::from("\n");
    if let Some(elapsed) = RunMean::of(&totals.elapsed) {
        if totals.table && totals.elapsed.len() > 1 {
            text += &table(&totals.elapsed, elapsed);
        }
        if totals.elapsed.len() > 1 {
            let percent = elapsed.error_percent();
            let _ = writeln!(
                text,
                "{:>18.6} +- {:.6} seconds time elapsed  ( +-{percent:>6.2}% )",
                elapsed.value, elapsed.error
            );
        } else {
            let _ = writeln!(text, "{:>18.9} seconds time elapsed", elapsed.value);
        }
    }
    if let (Some(user), Some(system)) = cpu_seconds(totals) {
        let _ = writeln!(text, "\n{user:>18.9} seconds user\n{system:>18.9} seconds sys");
    }
    text.push('\n');
    text
}

/// Returns the time of each run, its difference to the mean, and a bar that is longer for runs far from it.
///
/// perf: `print_table`, `tools/perf/util/stat-display.c`.
fn table(elapsed: &[f64], mean: RunMean) -> String {
    let mut text = String::from("         # Table of individual measurements:\n");
    for &run in elapsed {
        let difference = run - mean.value;
        // A sign for each 5 % of the run's time; a run can differ by any factor.
        let signs = if run > 0.0 { (100.0 * difference / run).abs() / 5.0 } else { 0.0 };
        let bar = "#".repeat(1 + signs.min(LONGEST_BAR) as usize);
        let _ = writeln!(text, " {run:>17.7} ({difference:+.7}) {bar}");
    }
    text + "\n         # Final result:\n"
}

/// The signs of the longest bar.
const LONGEST_BAR: f64 = 40.0;

/// Returns the mean seconds in user space and in the kernel.
fn cpu_seconds(totals: &RunTotals) -> (Option<f64>, Option<f64>) {
    let mean = |seconds: Vec<f64>| RunMean::of(&seconds).map(|mean| mean.value);
    let user = totals.cpu_times.iter().map(|time| time.user.as_secs_f64()).collect();
    let system = totals.cpu_times.iter().map(|time| time.system.as_secs_f64()).collect();
    (mean(user), mean(system))
}

#[cfg(test)]
mod tests;
