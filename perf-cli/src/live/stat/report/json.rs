//! Counts as JSON: one object per line, with the names of `perf stat -j`.
//!
//! perf: `tools/perf/util/stat-display.c`.

use perf_record::stat::{Aggregation, CountRow, CountStatus, CountValue};
use serde_json::{Map, Number, Value as Json};

use super::ReportedSpan;

/// Returns the first members of an object: the span, and what is counted.
pub(super) fn prefix(row: &CountRow<'_>, span: ReportedSpan) -> Map<String, Json> {
    let mut object = Map::new();
    if let ReportedSpan::Interval(at) = span {
        object.insert("interval".to_owned(), at.as_secs_f64().into());
    }
    if let Some(label) = row.label {
        // The number alone.
        let is_cpu = label.aggregation == Aggregation::Cpu;
        let text = if is_cpu { label.text.trim_start_matches("CPU") } else { &label.text };
        object.insert(label.aggregation.name().to_owned(), text.into());
        if let Some(cpus) = label.cpus {
            object.insert("counters".to_owned(), cpus.into());
        }
    }
    object
}

pub(super) fn row(row: &CountRow<'_>, span: ReportedSpan) -> String {
    let mut object = prefix(row, span);
    let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
    let (value, deviation) = match row.status {
        CountStatus::Counted { value: CountValue::Whole(value), deviation_percent } => {
            (format!("{value}.000000"), deviation_percent)
        }
        CountStatus::Counted { value: CountValue::Real(value), deviation_percent } => {
            (format!("{value:.6}"), deviation_percent)
        }
        CountStatus::NotCounted => ("<not counted>".to_owned(), 0.0),
        CountStatus::NotSupported => ("<not supported>".to_owned(), 0.0),
    };
    put("counter-value", value.into());
    put("unit", row.event.unit.as_deref().unwrap_or_default().into());
    put("event", row.event.name.as_str().into());
    if let Some(cgroup) = &row.event.cgroup {
        put("cgroup", cgroup.as_str().into());
    }
    if matches!(span, ReportedSpan::Whole { runs } if runs > 1) {
        put("variance", decimals(deviation));
    }
    put("event-runtime", row.running.into());
    put("pcnt-running", decimals(row.running_percent().unwrap_or(100.0)));
    if let Some(metric) = &row.metric {
        put("metric-value", format!("{:.6}", metric.value).into());
        put("metric-unit", metric.unit.as_str().into());
    }
    Json::Object(object).to_string()
}

/// Returns a number with two decimals.
fn decimals(value: f64) -> Json {
    Number::from_f64((value * 100.0).round() / 100.0).map_or(Json::Null, Json::Number)
}

#[cfg(test)]
mod tests;
