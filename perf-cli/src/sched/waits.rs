//! `perfdata sched waits`: for how long threads run and wait, and why.

use perf_parse::file::Reader;
use perf_profile::sched::{
    Histogram, ThreadId, WaitGroup, WaitGroupKey, WaitGrouping, WaitOptions, WaitReport,
};
use perf_profile::{Samples, Symbols};
use serde_json::{Value, json};

use crate::args::perf_text::PrintFormat;
use crate::args::sched::{WaitsArgs, WaitsBy};
use crate::escape::{OneLine, json_text, milliseconds, print, push_json_value, stack_line};
use crate::input::Memory;
use crate::names;
use crate::observer::StderrObserver;
use crate::outcome::{Failure, Outcome};
use crate::output::{Output, say};
use crate::render::account;
use crate::selection;

/// The number of causes of each kind that a row of text has.
const CAUSES: usize = 5;

pub(super) fn run(reader: &Reader<'_>, memory: Memory<'_>, args: &WaitsArgs) -> Result<Outcome, Failure> {
    let mut options = WaitOptions::default();
    options.by = match args.by {
        WaitsBy::Thread => WaitGrouping::Thread,
        WaitsBy::Process => WaitGrouping::Process,
        WaitsBy::Comm => WaitGrouping::Comm,
        WaitsBy::Cgroup => WaitGrouping::Cgroup,
    };
    (options.pids, options.tids) = (args.pid.clone(), args.tid.clone());
    options.comms = args.comms.iter().map(|comm| comm.clone().into_bytes()).collect();
    let symbols = if args.details {
        options.max_stack = args.max_stack;
        names::symbols(&args.symbols, reader.features(), memory)?
    } else {
        Symbols::of(reader).without_names()
    };
    let mut observer = StderrObserver::new(memory, false);
    let report = Samples::of(reader).waits(&options, &symbols, &mut observer).map_err(selection::failure)?;
    observer.end_progress();
    let mut output = Output::new();
    match args.format {
        PrintFormat::Text => push_text(&mut output.buffer, &report, args),
        PrintFormat::Json => push_json(&mut output.buffer, &report, args),
    }
    output.flush()?;
    if !report.has_wakeups() {
        say!(
            "perfdata: the capture does not have wake-ups, so a thread that was woken up counts as blocked until it runs; record \
             with perfdata record --sched"
        );
    }
    if report.dropped() > 0 {
        say!("perfdata: events that are in no row, because there are too many threads: {}", report.dropped());
    }
    Ok(observer.finish(report.account(), report.omitted(), "read"))
}

fn percentiles(times: &Histogram) -> String {
    let at = |percent| milliseconds(times.percentile(percent));
    format!("p50 {}, p90 {}, p99 {}, max {} ms", at(50.0), at(90.0), at(99.0), milliseconds(times.max()))
}

/// Returns what a row is of.
fn name_of(key: &WaitGroupKey) -> String {
    let name = OneLine(&key.name).to_string();
    match (key.thread, key.pid) {
        (Some(ThreadId { tid, .. }), Some(pid)) if pid != tid => format!("{name}[{tid}/{pid}]"),
        (Some(ThreadId { tid, .. }), _) => format!("{name}[{tid}]"),
        (None, Some(pid)) => format!("{name}[{pid}]"),
        (None, None) if name.is_empty() => "[unknown]".to_owned(),
        (None, None) => name,
    }
}

fn thread(report: &WaitReport, id: ThreadId) -> String {
    if id.tid == 0 { "idle CPU".to_owned() } else { format!("{}[{}]", OneLine(report.comm(id)), id.tid) }
}

fn push_text(out: &mut Vec<u8>, report: &WaitReport, args: &WaitsArgs) {
    let heading = match args.by {
        WaitsBy::Thread => "thread",
        WaitsBy::Process => "process",
        WaitsBy::Comm => "name",
        WaitsBy::Cgroup => "cgroup",
    };
    let columns = ["running", "runnable", "blocked", "stopped"];
    print(out, format_args!("{:>8}", "runs"));
    columns.iter().for_each(|column| print(out, format_args!(" {column:>12}")));
    ["p50", "p90", "p99", "max"].iter().for_each(|column| print(out, format_args!(" {column:>9}")));
    print(out, format_args!("  {heading}\n{:>8}", ""));
    columns.iter().for_each(|_| print(out, format_args!(" {:>12}", "ms")));
    print(out, format_args!("  wake-up to run, ms\n"));
    for (key, group) in report.groups().take(args.limit) {
        print(out, format_args!("{:8}", group.runs.count()));
        for time in [group.running, group.runnable, group.blocked, group.stopped] {
            print(out, format_args!(" {:>12}", milliseconds(time)));
        }
        let delays = &group.wakeup_to_run;
        let p = |percent| delays.percentile(percent);
        for time in [p(50.0), p(90.0), p(99.0), delays.max()] {
            let text = if delays.count() > 0 { milliseconds(time) } else { "-".to_owned() };
            print(out, format_args!(" {text:>9}"));
        }
        print(out, format_args!("  {}\n", name_of(key)));
        if args.details {
            push_details(out, report, group);
        }
    }
    let left = report.groups().len().saturating_sub(args.limit);
    if left > 0 {
        print(out, format_args!("{left} more rows; --limit prints them\n"));
    }
}

fn push_details(out: &mut Vec<u8>, report: &WaitReport, group: &WaitGroup) {
    if group.preempted.count() > 0 {
        let (count, times) = (group.preempted.count(), percentiles(&group.preempted));
        print(
            out,
            format_args!(
                "          preempted {count} times, runnable {} ms: {times}\n",
                milliseconds(group.preempted.sum())
            ),
        );
    }
    for (letters, state) in &group.states {
        let (count, times) = (state.times.count(), percentiles(&state.times));
        let letters = OneLine(letters.as_bytes());
        print(
            out,
            format_args!(
                "          state {letters} {count} times, {} ms: {times}\n",
                milliseconds(state.times.sum())
            ),
        );
    }
    let stolen: Vec<_> = group.stolen_by().into_iter().take(CAUSES).collect();
    if !stolen.is_empty() {
        let all: Vec<_> = stolen
            .iter()
            .map(|&(id, time)| format!("{} {} ms", thread(report, id), milliseconds(time)))
            .collect();
        print(out, format_args!("          ran instead: {}\n", all.join(", ")));
    }
    for (_, letters, number, amount) in group.stacks().into_iter().take(CAUSES) {
        let (letters, stack) = (OneLine(letters.as_bytes()), stack_line(report.stack(number)));
        if !stack.is_empty() {
            print(
                out,
                format_args!(
                    "          waits ({letters}) {} times, {} ms: {stack}\n",
                    amount.count,
                    milliseconds(amount.time)
                ),
            );
        }
    }
    for (id, number, amount) in group.wakers().into_iter().take(CAUSES) {
        let (waker, stack) = (thread(report, id), stack_line(report.stack(number)));
        let colon = if stack.is_empty() { "" } else { ": " };
        print(
            out,
            format_args!(
                "          woken by {waker} {} times, after {} ms{colon}{stack}\n",
                amount.count,
                milliseconds(amount.time)
            ),
        );
    }
}

fn histogram(times: &Histogram) -> Value {
    json!({
        "count": times.count(),
        "sum": times.sum(),
        "min": times.min(),
        "mean": times.mean(),
        "p50": times.percentile(50.0),
        "p90": times.percentile(90.0),
        "p99": times.percentile(99.0),
        "max": times.max(),
    })
}

fn push_json(out: &mut Vec<u8>, report: &WaitReport, args: &WaitsArgs) {
    let functions = |number| report.stack(number).map(json_text).collect::<Vec<_>>();
    let of_thread = |id: ThreadId| json!({"comm": json_text(report.comm(id)), "tid": id.tid});
    out.extend_from_slice(b"{\"groups\":[");
    for (number, (key, group)) in report.groups().take(args.limit).enumerate() {
        out.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let mut value = json!({
            "name": json_text(&key.name),
            "pid": key.pid,
            "tid": key.thread.map(|id| id.tid),
            "threads": group.threads(),
            "lifetime": group.lifetime,
            "running": group.running,
            "runnable": group.runnable,
            "blocked": group.blocked,
            "stopped": group.stopped,
            "runs": histogram(&group.runs),
            "wakeup_to_run": histogram(&group.wakeup_to_run),
            "preempted": histogram(&group.preempted),
        });
        let states = group.states.iter().map(|(letters, state)| {
            json!({"state": &**letters, "kind": state.kind.event_name(), "times": histogram(&state.times)})
        });
        value["states"] = states.collect();
        if args.details {
            let stolen = group
                .stolen_by()
                .into_iter()
                .map(|(id, time)| json!({"thread": of_thread(id), "time": time}));
            value["stolen_by"] = stolen.collect();
            let stacks = group.stacks().into_iter().map(|(_, letters, number, amount)| {
                json!({"state": letters, "stack": functions(number), "count": amount.count, "time": amount.time})
            });
            value["waits"] = stacks.collect();
            let wakers = group.wakers().into_iter().map(|(id, number, amount)| {
                let (thread, stack) = (of_thread(id), functions(number));
                json!({"thread": thread, "stack": stack, "count": amount.count, "time": amount.time})
            });
            value["wakers"] = wakers.collect();
        }
        push_json_value(out, &value);
    }
    out.extend_from_slice(b"],\n\"has_wakeups\":");
    push_json_value(out, &report.has_wakeups().into());
    out.extend_from_slice(b",\n\"has_states\":");
    push_json_value(out, &report.has_states().into());
    out.extend_from_slice(b",\n\"account\":");
    push_json_value(out, &account::value(report.account()));
    out.extend_from_slice(b"}\n");
}
