//! Counts as JSON: one object per line.

use core::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::Totals;
use crate::live::stat::mean::Mean;
use crate::live::stat::table::{Row, Status, Value};
use crate::live::stat::tally::Place;

pub(super) fn row(row: &Row<'_>, at: Option<Duration>, runs: usize) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
    if let Some(at) = at {
        put("interval_s", at.as_secs_f64().into());
    }
    match row.place {
        Place::Everywhere => None,
        Place::Cpu(cpu) => put("cpu", cpu.into()),
        Place::Thread(tid) => put("thread", tid.into()),
    };
    let (status, value, deviation) = match row.status {
        Status::Counted { value: Value::Whole(value), deviation_percent } => {
            ("counted", value.into(), Some(deviation_percent))
        }
        Status::Counted { value: Value::Real(value), deviation_percent } => {
            ("counted", value.into(), Some(deviation_percent))
        }
        Status::NotCounted => ("not counted", Json::Null, None),
        Status::NotSupported => ("not supported", Json::Null, None),
    };
    put("event", row.event.name.as_str().into());
    put("status", status.into());
    put("value", value);
    put("unit", row.event.unit.as_deref().into());
    if runs > 1 {
        put("deviation_percent", deviation.into());
    }
    put("enabled_ns", row.enabled.into());
    put("running_ns", row.running.into());
    put("running_percent", row.running_percent().into());
    let metric = row.metric.as_ref().map(|metric| json!({"value": metric.value, "unit": metric.unit}));
    put("metric", metric.into());
    Json::Object(object).to_string()
}

pub(super) fn totals(totals: &Totals) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Json| object.insert(name.to_owned(), value);
    put("elapsed_s", Mean::of(&totals.elapsed).map(|mean| mean.value).into());
    put("runs", totals.elapsed.len().into());
    if let (Some(user), Some(system)) = cpu_seconds(totals) {
        put("user_s", user.into());
        put("system_s", system.into());
    }
    format!("{}\n", Json::Object(object))
}

/// Returns the mean seconds in user space and in the kernel.
pub(super) fn cpu_seconds(totals: &Totals) -> (Option<f64>, Option<f64>) {
    let mean = |seconds: Vec<f64>| Mean::of(&seconds).map(|mean| mean.value);
    let user = totals.cpu_times.iter().map(|time| time.user.as_secs_f64()).collect();
    let system = totals.cpu_times.iter().map(|time| time.system.as_secs_f64()).collect();
    (mean(user), mean(system))
}

#[cfg(test)]
mod tests;
