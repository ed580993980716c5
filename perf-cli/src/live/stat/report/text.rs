//! Counts as text, laid out like those of `perf stat`.

use core::fmt::Write;
use core::time::Duration;

use super::Totals;
use crate::live::stat::mean::Mean;
use crate::live::stat::table::{Row, Status, Value};
use crate::live::stat::tally::Place;

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
    format!("#{:>15} {:>COUNT$} {UNIT:<unit_width$} events\n", "time", "counts")
}

pub(super) fn row(row: &Row<'_>, at: Option<Duration>, runs: usize, unit_width: usize) -> String {
    let mut line = at.map_or_else(String::new, |at| format!("{:>16.9} ", at.as_secs_f64()));
    line += &match row.place {
        Place::Everywhere => String::new(),
        Place::Cpu(cpu) => format!("{:<8}", format!("CPU{cpu}")),
        Place::Thread(tid) => format!("{:<13}", format!("tid {tid}")),
    };
    let (count, deviation) = match row.status {
        Status::Counted { value, deviation_percent } => {
            (number(value, row.event.has_scale()), deviation_percent)
        }
        Status::NotCounted => ("<not counted>".to_owned(), 0.0),
        Status::NotSupported => ("<not supported>".to_owned(), 0.0),
    };
    let unit = row.event.unit.as_deref().unwrap_or_default();
    let name = &row.event.name;
    let metric = row.metric.as_ref().map(|metric| format!(" # {:>8.3} {}", metric.value, metric.unit));
    let metric = metric.unwrap_or_default();
    line += &format!("{count:>COUNT$} {unit:<unit_width$} {name:<NAME$}{metric:<METRIC$}");
    if let (Status::Counted { .. }, true) = (row.status, runs > 1) {
        line += &format!(" ( +-{deviation:>6.2}% )");
    }
    if let (Status::Counted { .. }, Some(percent)) =
        (row.status, row.running_percent().filter(|_| row.running != row.enabled))
    {
        line += &format!(" ({percent:.2}%)");
    }
    line.truncate(line.trim_end().len());
    line
}

/// Formats a number with separators between thousands, `1,234.50`; with decimals only if `has_scale`.
fn number(value: Value, has_scale: bool) -> String {
    let digits = match value {
        Value::Whole(value) => value.to_string(),
        Value::Real(value) if has_scale => format!("{value:.2}"),
        Value::Real(value) => format!("{value:.0}"),
    };
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

pub(super) fn totals(totals: &Totals) -> String {
    let mut text = String::from("\n");
    if let Some(elapsed) = Mean::of(&totals.elapsed) {
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
    if let (Some(user), Some(system)) = super::json::cpu_seconds(totals) {
        let _ = writeln!(text, "\n{user:>18.9} seconds user\n{system:>18.9} seconds sys");
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests;
