//! Counts as CSV: the columns of `perf stat -x`.

use core::time::Duration;

use crate::live::stat::table::{Row, Status, Value};
use crate::live::stat::tally::Place;

pub(super) fn row(row: &Row<'_>, at: Option<Duration>, runs: usize, separator: &str) -> String {
    let mut columns = Vec::new();
    if let Some(at) = at {
        columns.push(format!("{:.9}", at.as_secs_f64()));
    }
    match row.place {
        Place::Everywhere => {}
        Place::Cpu(cpu) => columns.push(format!("CPU{cpu}")),
        Place::Thread(tid) => columns.push(tid.to_string()),
    }
    let (value, deviation) = match row.status {
        Status::Counted { value: Value::Whole(value), deviation_percent } => {
            (value.to_string(), deviation_percent)
        }
        Status::Counted { value: Value::Real(value), deviation_percent } => {
            (format!("{value:.2}"), deviation_percent)
        }
        Status::NotCounted => ("<not counted>".to_owned(), 0.0),
        Status::NotSupported => ("<not supported>".to_owned(), 0.0),
    };
    columns.push(value);
    columns.push(row.event.unit.clone().unwrap_or_default());
    columns.push(row.event.name.clone());
    if runs > 1 {
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
