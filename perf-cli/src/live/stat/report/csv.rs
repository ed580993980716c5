//! Counts as CSV: the columns of `perf stat -x`.

use perf_record::stat::{CountRow, CountStatus, CountValue};

use super::ReportedSpan;

/// Returns the first columns of a line: the span, and what is counted.
pub(super) fn prefix(row: &CountRow<'_>, span: ReportedSpan, marks_summary: bool) -> Vec<String> {
    let mut columns = Vec::new();
    match span {
        ReportedSpan::Interval(at) => columns.push(format!("{:.9}", at.as_secs_f64())),
        ReportedSpan::Summary if marks_summary => columns.push("summary".to_owned()),
        ReportedSpan::Summary | ReportedSpan::Whole { .. } => {}
    }
    if let Some(label) = row.label {
        columns.push(label.text.clone());
        columns.extend(label.cpus.map(|cpus| cpus.to_string()));
    }
    columns
}

pub(super) fn row(row: &CountRow<'_>, span: ReportedSpan, separator: &str, marks_summary: bool) -> String {
    let mut columns = prefix(row, span, marks_summary);
    let (value, deviation) = match row.status {
        CountStatus::Counted { value: CountValue::Whole(value), deviation_percent } => {
            (value.to_string(), deviation_percent)
        }
        // A mean of counts without a unit is rounded, as perf prints it.
        CountStatus::Counted { value: CountValue::Real(value), deviation_percent }
            if !row.event.has_scale() =>
        {
            (format!("{value:.0}"), deviation_percent)
        }
        CountStatus::Counted { value: CountValue::Real(value), deviation_percent } => {
            (format!("{value:.2}"), deviation_percent)
        }
        CountStatus::NotCounted => ("<not counted>".to_owned(), 0.0),
        CountStatus::NotSupported => ("<not supported>".to_owned(), 0.0),
    };
    columns.push(value);
    columns.push(row.event.unit.clone().unwrap_or_default());
    columns.push(row.event.name.clone());
    columns.extend(row.event.cgroup.clone());
    if matches!(span, ReportedSpan::Whole { runs } if runs > 1) {
        columns.push(format!("{deviation:.2}%"));
    }
    columns.push(row.running.to_string());
    columns.push(format!("{:.2}", row.running_percent().unwrap_or(100.0)));
    columns.push(row.metric.as_ref().map(|metric| format!("{:.3}", metric.value)).unwrap_or_default());
    columns.push(row.metric.as_ref().map(|metric| metric.unit.clone()).unwrap_or_default());
    columns.join(separator)
}

#[cfg(test)]
mod tests;
