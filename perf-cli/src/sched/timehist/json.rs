//! Switches, wake-ups and moves as a JSON document.

use perf_profile::sched::{
    MigrationEvent, PerfTask, SchedSample, SwitchEvent, TaskTimes, Timehist, TimehistRow,
};
use serde_json::{Map, Value, json};

use crate::escape::{json_text, push_json_value};

fn thread(task: Option<&PerfTask>) -> Value {
    match task {
        Some(task) => json!({"comm": json_text(&task.comm), "pid": task.pid, "tid": task.tid}),
        None => json!({"comm": "<idle>", "pid": 0, "tid": 0}),
    }
}

/// Appends an element of the list of events.
fn push(out: &mut Vec<u8>, has_elements: &mut bool, value: &Value) {
    out.extend_from_slice(if *has_elements { b",\n" } else { b"\n" });
    *has_elements = true;
    push_json_value(out, value);
}

/// Appends a switch. The functions in `chain` are each followed by a zero.
pub(super) fn push_row(
    out: &mut Vec<u8>,
    has_elements: &mut bool,
    at: &SchedSample<'_>,
    switch: &SwitchEvent<'_>,
    row: &TimehistRow<'_>,
    letters: &str,
    chain: &[u8],
) {
    let times = row.times;
    let mut value = json!({
        "type": "switch",
        "time": row.time,
        "cpu": at.cpu,
        "thread": thread(row.task),
        "wait": times.wait(),
        "delay": times.delay,
        "run": times.run,
        "state": if row.task.is_some() { letters } else { "I" },
        "next": {"comm": json_text(switch.next_comm), "tid": switch.next_tid},
    });
    if let Some(chain) = chain.strip_suffix(&[0]) {
        let stack: Vec<_> = chain.split(|&byte| byte == 0).map(json_text).collect();
        value["stack"] = stack.into();
    }
    push(out, has_elements, &value);
}

pub(super) fn push_wakeup(
    out: &mut Vec<u8>,
    has_elements: &mut bool,
    at: &SchedSample<'_>,
    waker: &PerfTask,
    woken: &PerfTask,
) {
    let (waker, woken) = (thread(Some(waker)), thread(Some(woken)));
    let value = json!({"type": "wakeup", "time": at.time, "cpu": at.cpu, "thread": waker, "woken": woken});
    push(out, has_elements, &value);
}

pub(super) fn push_migration(
    out: &mut Vec<u8>,
    has_elements: &mut bool,
    at: &SchedSample<'_>,
    own: &PerfTask,
    moved: &PerfTask,
    migration: &MigrationEvent,
) {
    let value = json!({
        "type": "migration",
        "time": at.time,
        "cpu": at.cpu,
        "thread": thread(Some(own)),
        "moved": thread(Some(moved)),
        "from": migration.from,
        "to": migration.to,
    });
    push(out, has_elements, &value);
}

pub(super) fn push_lost(out: &mut Vec<u8>, has_elements: &mut bool, time: u64, cpu: Option<u32>, lost: u64) {
    push(out, has_elements, &json!({"type": "lost", "time": time, "cpu": cpu, "lost": lost}));
}

fn sums(times: &TaskTimes) -> Map<String, Value> {
    let value = json!({
        "runs": times.runs.count(),
        "run": times.total_run,
        "min_run": times.runs.min(),
        "mean_run": times.runs.mean(),
        "max_run": times.runs.max(),
        "sleep": times.total_sleep,
        "iowait": times.total_iowait,
        "preempt": times.total_preempt,
        "delay": times.total_delay,
        "migrations": times.migrations,
    });
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Appends the sums, and the end of the document.
pub(super) fn push_end(out: &mut Vec<u8>, timehist: &Timehist) {
    out.extend_from_slice(b"],\n\"threads\":[");
    let mut has_elements = false;
    for (task, times) in timehist.summary() {
        let mut value = sums(times);
        value.insert("comm".to_owned(), json_text(&task.comm));
        value.insert("pid".to_owned(), task.pid.into());
        value.insert("tid".to_owned(), task.tid.into());
        push(out, &mut has_elements, &value.into());
    }
    out.extend_from_slice(b"],\n\"idle\":");
    let idle = timehist.idle_stats().unwrap_or_default().into_iter().map(|it| {
        let mut value = it.times.map(sums).unwrap_or_default();
        value.insert("cpu".to_owned(), it.cpu.into());
        Value::from(value)
    });
    push_json_value(out, &Value::from(idle.collect::<Vec<_>>()));
    out.extend_from_slice(b",\n\"span\":");
    push_json_value(out, &timehist.span().into());
    out.extend_from_slice(b"}\n");
}
