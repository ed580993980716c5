//! `perfdata lock waits`: for how long threads wait for locks, and where.

use perf_parse::file::Reader;
use perf_profile::lock::{LockGroup, LockGroupKey, LockGrouping, LockId, LockOptions, LockReport};
use perf_profile::{Samples, Symbols};
use serde_json::{Value, json};

use crate::args::lock::{LockWaitsArgs, LockWaitsBy};
use crate::args::perf_text::PrintFormat;
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

pub(super) fn run(reader: &Reader<'_>, memory: Memory<'_>, args: &LockWaitsArgs) -> Result<Outcome, Failure> {
    let mut options = LockOptions::default();
    options.by = match args.by {
        LockWaitsBy::Caller => LockGrouping::Caller,
        LockWaitsBy::Thread => LockGrouping::Thread,
        LockWaitsBy::Process => LockGrouping::Process,
        LockWaitsBy::Lock => LockGrouping::Lock,
        LockWaitsBy::Kind => LockGrouping::Kind,
    };
    options.futexes = (args.futexes || args.kernel_locks).then_some(args.futexes);
    options.kinds.clone_from(&args.kind);
    (options.pids, options.tids) = (args.pid.clone(), args.tid.clone());
    options.at_least = args.at_least.saturating_mul(1000);
    let symbols = if args.details || args.by == LockWaitsBy::Caller {
        options.max_stack = args.max_stack;
        names::symbols(&args.symbols, reader.features(), memory)?
    } else {
        Symbols::of(reader).without_names()
    };
    let mut observer = StderrObserver::new(memory, false);
    let report =
        Samples::of(reader).lock_waits(&options, &symbols, &mut observer).map_err(selection::failure)?;
    observer.end_progress();
    if args.futexes && !report.has_futexes() || args.kernel_locks && !report.has_kernel_locks() {
        let missing = if args.futexes { "futexes" } else { "locks of the kernel" };
        return Err(Failure(format!(
            "the capture does not have waits for {missing}; record with perfdata record --lock"
        )));
    }
    let mut output = Output::new();
    match args.format {
        PrintFormat::Text => push_text(&mut output.buffer, &report, args),
        PrintFormat::Json => push_json(&mut output.buffer, &report, args),
    }
    output.flush()?;
    let counts = report.counts();
    if counts.unfinished > 0 {
        say!("perfdata: waits that had not ended, which are in no row: {}", counts.unfinished);
    }
    let dropped = report.dropped().saturating_add(counts.dropped);
    if dropped > 0 {
        say!("perfdata: waits that are in no row, because there are too many rows or threads: {dropped}");
    }
    Ok(observer.finish(report.account(), report.omitted(), "read"))
}

fn lock(id: LockId) -> String {
    match id {
        LockId::Futex { pid, address } => format!("futex {address:#x} of process {pid}"),
        id => format!("{:#x}", id.address()),
    }
}

/// Returns what a row is of.
fn name_of(report: &LockReport, key: &LockGroupKey) -> String {
    let comm = |id: i32| OneLine(report.comm(id)).to_string();
    match key {
        LockGroupKey { caller: Some(caller), .. } if caller.is_empty() => "[unknown]".to_owned(),
        LockGroupKey { caller: Some(caller), .. } => OneLine(caller).to_string(),
        LockGroupKey { lock: Some(id), .. } => lock(*id),
        LockGroupKey { tid: Some(tid), pid: Some(pid), .. } if pid != tid => {
            format!("{}[{tid}/{pid}]", comm(*tid))
        }
        LockGroupKey { tid: Some(id), .. } | LockGroupKey { pid: Some(id), .. } => {
            format!("{}[{id}]", comm(*id))
        }
        LockGroupKey { .. } => String::new(),
    }
}

fn push_text(out: &mut Vec<u8>, report: &LockReport, args: &LockWaitsArgs) {
    let heading = match args.by {
        LockWaitsBy::Caller => "caller",
        LockWaitsBy::Thread => "thread",
        LockWaitsBy::Process => "process",
        LockWaitsBy::Lock => "lock",
        LockWaitsBy::Kind => "",
    };
    print(out, format_args!("{:>8} {:>12}", "waits", "total, ms"));
    ["mean", "p50", "p90", "p99", "max"].iter().for_each(|column| print(out, format_args!(" {column:>9}")));
    let kind = if matches!(args.by, LockWaitsBy::Thread | LockWaitsBy::Process) { "" } else { "kind" };
    let line = format!("  {kind:12} {heading}");
    print(out, format_args!("{}\n", line.trim_end()));
    for (key, group) in report.groups().take(args.limit) {
        let waits = &group.waits;
        print(out, format_args!("{:8} {:>12}", waits.count(), milliseconds(waits.sum())));
        let p = |percent| waits.percentile(percent);
        for time in [waits.mean(), p(50.0), p(90.0), p(99.0), waits.max()] {
            print(out, format_args!(" {:>9}", milliseconds(time)));
        }
        let line = format!("  {:12} {}", key.kind.unwrap_or_default(), name_of(report, key));
        print(out, format_args!("{}\n", line.trim_end()));
        if args.details {
            push_details(out, report, group);
        }
    }
    let left = report.groups().len().saturating_sub(args.limit);
    if left > 0 {
        print(out, format_args!("{left} more rows; --limit prints them\n"));
    }
}

fn push_details(out: &mut Vec<u8>, report: &LockReport, group: &LockGroup) {
    let threads = group.threads();
    let named = |&(tid, amount): &(i32, perf_profile::sched::Amount)| {
        format!("{}[{tid}] {} ms", OneLine(report.comm(tid)), milliseconds(amount.time))
    };
    let list: Vec<_> = threads.iter().take(CAUSES).map(named).collect();
    print(out, format_args!("          threads: {}\n", list.join(", ")));
    let locks = group.locks();
    let list: Vec<_> = locks
        .iter()
        .take(CAUSES)
        .map(|(id, amount)| format!("{} {} ms", lock(*id), milliseconds(amount.time)))
        .collect();
    print(out, format_args!("          locks: {}\n", list.join(", ")));
    for (it, amount) in group.stacks().into_iter().take(CAUSES) {
        let stack = stack_line(report.stack(it.number));
        if !stack.is_empty() {
            let (kind, count, time) = (it.kind, amount.count, milliseconds(amount.time));
            print(out, format_args!("          waits ({kind}) {count} times, {time} ms: {stack}\n"));
        }
    }
}

fn lock_value(id: LockId) -> Value {
    let pid = if let LockId::Futex { pid, .. } = id { Some(pid) } else { None };
    json!({"address": format!("{:#x}", id.address()), "is_futex": id.is_futex(), "pid": pid})
}

fn push_json(out: &mut Vec<u8>, report: &LockReport, args: &LockWaitsArgs) {
    let functions = |number| report.stack(number).map(json_text).collect::<Vec<_>>();
    out.extend_from_slice(b"{\"groups\":[");
    for (number, (key, group)) in report.groups().take(args.limit).enumerate() {
        out.extend_from_slice(if number > 0 { b",\n" } else { b"\n" });
        let waits = &group.waits;
        let mut value = json!({
            "kind": key.kind,
            "caller": key.caller.as_deref().map(json_text),
            "lock": key.lock.map(lock_value),
            "pid": key.pid,
            "tid": key.tid,
            "comm": key.comm.as_deref().map(json_text),
            "count": waits.count(),
            "total": waits.sum(),
            "min": waits.min(),
            "mean": waits.mean(),
            "p50": waits.percentile(50.0),
            "p90": waits.percentile(90.0),
            "p99": waits.percentile(99.0),
            "max": waits.max(),
        });
        if args.details {
            let threads = group.threads().into_iter().map(|(tid, amount)| {
                json!({"tid": tid, "comm": json_text(report.comm(tid)), "count": amount.count, "time": amount.time})
            });
            value["threads"] = threads.collect();
            let locks = group.locks().into_iter().map(
                |(id, amount)| json!({"lock": lock_value(id), "count": amount.count, "time": amount.time}),
            );
            value["locks"] = locks.collect();
            let stacks = group.stacks().into_iter().map(|(it, amount)| {
                let (count, time) = (amount.count, amount.time);
                json!({"kind": it.kind, "stack": functions(it.number), "count": count, "time": time})
            });
            value["stacks"] = stacks.collect();
        }
        push_json_value(out, &value);
    }
    let counts = report.counts();
    out.extend_from_slice(b"],\n\"unfinished\":");
    push_json_value(out, &counts.unfinished.into());
    out.extend_from_slice(b",\n\"unmatched\":");
    push_json_value(out, &counts.unmatched.into());
    out.extend_from_slice(b",\n\"dropped\":");
    push_json_value(out, &report.dropped().saturating_add(counts.dropped).into());
    out.extend_from_slice(b",\n\"account\":");
    push_json_value(out, &account::value(report.account()));
    out.extend_from_slice(b"}\n");
}
