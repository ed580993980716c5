//! The sums of times by thread, as text.

use perf_profile::sched::{PerfTask, PerfVersion, TaskTimes, Timehist};

use super::idle::IdleChains;
use super::text::{push_comm, push_milliseconds};
use crate::args::sched::TimehistArgs;
use crate::column::right;
use crate::escape::print;

/// Appends the sums.
///
/// perf: `timehist_print_summary`, `tools/perf/builtin-sched.c`.
pub(super) fn push(
    out: &mut Vec<u8>,
    timehist: &Timehist,
    args: &TimehistArgs,
    chains: Option<&IdleChains>,
    mut width: usize,
) {
    let (title, count, times) = match () {
        () if args.idle_hist => (
            "Idle-time",
            "  parent  sched-out  ",
            "  idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n",
        ),
        () if args.state => (
            "Wait-time",
            "  parent   sched-in  ",
            "   run-time      sleep      iowait     preempt       delay\n",
        ),
        () => (
            "Runtime",
            "  parent   sched-in  ",
            "   run-time    min-run     avg-run     max-run  stddev  migrations\n",
        ),
    };
    print(out, format_args!("\n{title} summary\n{}{count}{times}", right("comm", width)));
    let unit = if args.state { "(msec)" } else { "%" };
    print(
        out,
        format_args!(
            "{}            (count)       (msec)     (msec)      (msec)      (msec)       {unit}\n",
            right("", width)
        ),
    );
    out.resize(out.len() + 117, b'-');
    out.push(b'\n');
    let (mut tasks, mut switches, mut run) = (0_u64, 0_u64, 0_u64);
    for has_exited in [false, true] {
        if has_exited && timehist.tasks().version() != PerfVersion::V6_1 {
            break;
        }
        if has_exited {
            out.extend_from_slice(b"\nTerminated tasks:\n");
        }
        let before = tasks;
        for (task, times) in timehist.summary().filter(|(task, _)| task.has_exited == has_exited) {
            tasks += 1;
            switches += times.runs.count();
            run = run.wrapping_add(times.total_run);
            push_task(out, task, times, args.state, &mut width);
        }
        if tasks == before {
            let which = if has_exited { "terminated" } else { "still running" };
            print(out, format_args!("<no {which} tasks>\n"));
        }
    }
    let Some(idle) = timehist.idle_stats() else { return };
    let span = timehist.span();
    out.extend_from_slice(b"\nIdle stats:\n");
    for it in &idle {
        print(out, format_args!("    CPU {:2} idle ", it.cpu));
        match it.times {
            Some(times) => {
                switches += times.runs.count();
                out.extend_from_slice(b"for ");
                push_milliseconds(out, times.total_run, 6);
                let percent = 100.0 * times.total_run as f64 / span as f64;
                print(out, format_args!(" msec  ({percent:6.2}%)\n"));
            }
            None => out.extend_from_slice(b"entire time window\n"),
        }
    }
    if let Some(chains) = chains.filter(|_| args.idle_hist) {
        out.extend_from_slice(b"\nIdle stats by callchain:\n");
        for it in &idle {
            chains.push(out, it.cpu, it.times.map_or(0, |times| times.total_run));
        }
    }
    print(
        out,
        format_args!(
            "\n    Total number of unique tasks: {tasks}\nTotal number of context switches: {switches}\n           Total run time (msec): "
        ),
    );
    push_milliseconds(out, run, 2);
    out.extend_from_slice(b"\n    Total scheduling time (msec): ");
    push_milliseconds(out, span, 2);
    print(out, format_args!(" (x {})\n", timehist.max_cpu()));
}

fn push_task(out: &mut Vec<u8>, task: &PerfTask, times: &TaskTimes, by_state: bool, width: &mut usize) {
    let start = out.len();
    let own = push_comm(out, Some(task));
    *width = own.max(*width);
    out.resize(start + *width, b' ');
    if let Some(text) = out.get_mut(start..) {
        text.rotate_right(*width - own);
    }
    print(out, format_args!("   {:5}  {:9} ", task.ppid, times.runs.count()));
    push_milliseconds(out, times.total_run, 8);
    if by_state {
        push_milliseconds(out, times.total_sleep, 6);
        for time in [times.total_iowait, times.total_preempt, times.total_delay] {
            out.push(b' ');
            push_milliseconds(out, time, 6);
        }
    } else {
        push_milliseconds(out, times.runs.min().unwrap_or(0), 6);
        for time in [times.runs.mean(), times.runs.max()] {
            out.push(b' ');
            push_milliseconds(out, time, 6);
        }
        print(out, format_args!("  {:5.2}   {:5}", times.runs.relative_error() as f32, times.migrations));
    }
    out.push(b'\n');
}
