//! Switches, wake-ups and moves as lines of text.

use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_profile::Symbols;
use perf_profile::samples::pass::CountedSample;
use perf_profile::sched::{MigrationEvent, PerfTask, PerfVersion, SchedSample, SwitchEvent, TimehistRow};
use perf_session::SampleContext;

use crate::args::sched::TimehistArgs;
use crate::column::left;
use crate::escape::print;
use crate::perf_text::print::{pad_to, push_decimal_to, push_microseconds, push_name, push_zeroed};
use crate::render::digits::push_signed;

/// The columns of the text.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of perf sched timehist")]
pub(super) struct TextColumns {
    /// The width of the longest name so far.
    pub(super) comm_width: usize,
    version: PerfVersion,
    cpu_visual: bool,
    prio: bool,
    pre_migrations: bool,
    state: bool,
    next: bool,
    wakeups: bool,
    chains: bool,
}

/// The least width of the column of names.
const COMM_WIDTH: usize = 30;

/// The most bytes of a name with its ids, as perf has them.
const COMM_BYTES: usize = 31;

/// The width of priorities.
const PRIO_WIDTH: usize = 8;

/// Appends milliseconds with microseconds, and a blank.
pub(super) fn push_milliseconds(out: &mut Vec<u8>, nanoseconds: u64, width: usize) {
    push_decimal_to(out, nanoseconds / 1_000_000, width);
    out.push(b'.');
    push_zeroed(out, nanoseconds / 1000 % 1000, 3);
    out.push(b' ');
}

/// Appends the name of a thread with its ids. Returns its width.
pub(super) fn push_comm(out: &mut Vec<u8>, task: Option<&PerfTask>) -> usize {
    let start = out.len();
    let Some(task) = task else {
        out.extend_from_slice(b"<idle>");
        return out.len() - start;
    };
    push_name(out, &task.comm);
    match task {
        PerfTask { pid: 0, .. } => {}
        &PerfTask { pid, tid, .. } => {
            out.push(b'[');
            push_signed(out, tid.into());
            if pid != tid {
                out.push(b'/');
                push_signed(out, pid.into());
            }
            out.push(b']');
        }
    }
    out.truncate(start + COMM_BYTES);
    out.len() - start
}

fn dashes(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b'-');
}

impl TextColumns {
    pub(super) fn new(args: &TimehistArgs, version: PerfVersion, chains: bool) -> Self {
        Self {
            comm_width: COMM_WIDTH,
            version,
            cpu_visual: args.cpu_visual,
            prio: args.show_prio,
            pre_migrations: args.pre_migrations,
            state: args.state,
            next: args.next,
            wakeups: args.wakeups,
            chains,
        }
    }

    /// perf: `timehist_header`, `tools/perf/builtin-sched.c`.
    pub(super) fn push_header(&self, out: &mut Vec<u8>, max_cpu: u32) {
        let (cpus, comm) = (max_cpu as usize + 1, self.comm_width);
        print(out, format_args!("{:>15} {:>6} ", "time", "cpu"));
        if self.cpu_visual {
            out.push(b' ');
            out.extend((0..cpus).map(|cpu| b"0123456789abcdef".get(cpu % 16).copied().unwrap_or(b' ')));
            out.push(b' ');
        }
        print(out, format_args!(" {}", left("task name", comm)));
        if self.prio {
            print(out, format_args!("  {:PRIO_WIDTH$}", "prio"));
        }
        print(out, format_args!("  {:>9}  {:>9}  {:>9}", "wait time", "sch delay", "run time"));
        if self.pre_migrations {
            out.extend_from_slice(b"  pre-mig time");
        }
        if self.state {
            out.extend_from_slice(b"  state");
        }
        print(out, format_args!("\n{:>15} {:6} ", "", ""));
        if self.cpu_visual {
            print(out, format_args!(" {} ", left("", cpus)));
        }
        print(out, format_args!(" {}", left("[tid/pid]", comm)));
        if self.prio {
            print(out, format_args!("  {:PRIO_WIDTH$}", ""));
        }
        print(out, format_args!("  {0:>9}  {0:>9}  {0:>9}", "(msec)"));
        if self.pre_migrations {
            print(out, format_args!("  {:>9}", "(msec)"));
        }
        if self.state && self.version == PerfVersion::V6_1 {
            print(out, format_args!("  {:5}", ""));
        }
        out.push(b'\n');
        dashes(out, 15);
        out.push(b' ');
        dashes(out, 6);
        out.push(b' ');
        if self.cpu_visual {
            out.push(b' ');
            dashes(out, cpus);
            out.push(b' ');
        }
        out.push(b' ');
        dashes(out, comm);
        if self.prio {
            out.extend_from_slice(b"  ");
            dashes(out, PRIO_WIDTH);
        }
        let times = 3 + usize::from(self.pre_migrations);
        for width in core::iter::repeat_n(9, times).chain(self.state.then_some(5)) {
            out.extend_from_slice(b"  ");
            dashes(out, width);
        }
        out.push(b'\n');
    }

    fn push_place(&self, out: &mut Vec<u8>, time: u64, cpu: u32) {
        push_microseconds(out, time, 8);
        out.extend_from_slice(b" [");
        push_zeroed(out, cpu.into(), 4);
        out.extend_from_slice(b"] ");
    }

    /// Appends a column with a letter for a CPU.
    fn push_visual(&self, out: &mut Vec<u8>, cpu: u32, letter: u8, max_cpu: u32, around: &[u8]) {
        if self.cpu_visual {
            out.extend_from_slice(around);
            out.extend((0..=max_cpu).map(|it| if it == cpu { letter } else { b' ' }));
            out.extend_from_slice(around);
        }
    }

    fn push_task(&mut self, out: &mut Vec<u8>, task: Option<&PerfTask>) {
        out.push(b' ');
        let start = out.len();
        let width = push_comm(out, task);
        self.comm_width = self.comm_width.max(width);
        pad_to(out, start, self.comm_width);
        out.push(b' ');
    }

    /// Appends a switch without its call chain and the end of the line.
    ///
    /// perf: `timehist_print_sample`, `tools/perf/builtin-sched.c`.
    pub(super) fn push_row(
        &mut self,
        out: &mut Vec<u8>,
        at: &SchedSample<'_>,
        switch: &SwitchEvent<'_>,
        row: &TimehistRow<'_>,
        max_cpu: u32,
    ) {
        self.push_place(out, row.time, at.cpu);
        self.push_visual(out, at.cpu, if row.task.is_none() { b'i' } else { b's' }, max_cpu, b" ");
        self.push_task(out, row.task);
        if self.prio {
            out.push(b' ');
            let start = out.len();
            if let Some(before) = row.prio_before {
                print(out, format_args!("{before}->"));
            }
            print(out, format_args!("{}", switch.prev_prio.unwrap_or(0)));
            pad_to(out, start, PRIO_WIDTH);
            out.push(b' ');
        }
        push_milliseconds(out, row.times.wait(), 6);
        push_milliseconds(out, row.times.delay, 6);
        push_milliseconds(out, row.times.run, 6);
        if self.pre_migrations {
            push_milliseconds(out, row.times.pre_migration, 6);
        }
        if self.state {
            out.extend_from_slice(b"     ");
            out.extend_from_slice(&[row.state, b' ']);
        }
        if self.next {
            out.push(b' ');
            let start = out.len();
            out.extend_from_slice(b"next: ");
            push_name(out, switch.next_comm);
            print(out, format_args!("[{}]", switch.next_tid));
            out.truncate(start + 29);
            pad_to(out, start, self.comm_width);
        } else if self.wakeups {
            let start = out.len();
            pad_to(out, start, self.comm_width + 2);
        }
        if self.chains && row.task.is_some() {
            out.extend_from_slice(b"  ");
        }
    }

    pub(super) fn push_wakeup(
        &mut self,
        out: &mut Vec<u8>,
        at: &SchedSample<'_>,
        waker: &PerfTask,
        woken: &PerfTask,
        max_cpu: u32,
    ) {
        self.push_place(out, at.time, at.cpu);
        self.push_visual(out, u32::MAX, b' ', max_cpu, b" ");
        self.push_task(out, Some(waker));
        print(out, format_args!("  {0:9}  {0:9}  {0:9} awakened: ", ""));
        let width = push_comm(out, Some(woken));
        self.comm_width = self.comm_width.max(width);
        out.push(b'\n');
    }

    pub(super) fn push_migration(
        &mut self,
        out: &mut Vec<u8>,
        at: &SchedSample<'_>,
        own: &PerfTask,
        moved: &PerfTask,
        migration: &MigrationEvent,
        max_cpu: u32,
    ) {
        self.push_place(out, at.time, at.cpu);
        self.push_visual(out, at.cpu, b'm', max_cpu, b"  ");
        self.push_task(out, Some(own));
        print(out, format_args!("  {0:9}  {0:9}  {0:9} migrated: ", ""));
        let width = push_comm(out, Some(moved));
        self.comm_width = self.comm_width.max(width);
        print(out, format_args!(" cpu {} => {}\n", migration.from, migration.to));
    }
}

pub(super) fn push_lost(out: &mut Vec<u8>, time: u64, cpu: Option<u32>, lost: u64) {
    push_microseconds(out, time, 8);
    let cpu = cpu.map_or(-1, i64::from);
    print(out, format_args!(" lost {lost} events on cpu {cpu}\n"));
}

/// The functions that perf leaves out of call chains.
const LEFT_OUT: [&[u8]; 3] = [b"schedule", b"__schedule", b"preempt_schedule"];

/// The form of a call chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChainOptions {
    pub(super) max_stack: usize,
    /// Whether each function is followed by a zero.
    pub(super) is_json: bool,
    pub(super) version: PerfVersion,
}

/// Appends the functions of the call chain of a switch, as perf does or, for JSON, each followed by a zero.
///
/// perf: `save_task_callchain`, `tools/perf/builtin-sched.c`; `sample__fprintf_callchain`, `tools/perf/util/evsel_fprintf.c`.
pub(super) fn push_chain(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    counted: &CountedSample<'_>,
    symbols: &mut Symbols,
    options: ChainOptions,
) -> Result<(), FileError> {
    let ChainOptions { max_stack, is_json, version } = options;
    let (stack, _) = counted.stack(at, symbols)?;
    let mut is_first = true;
    // perf finds two more frames than it prints, as most chains begin with two that it leaves out.
    for it in stack.iter().take(max_stack.saturating_add(2)) {
        let functions = symbols.functions(at, &it.frame, it.is_caller);
        let mut push = |name: Option<&[u8]>, is_inlined: bool| {
            if name.is_some_and(|name| LEFT_OUT.contains(&name)) {
                return;
            }
            if is_json {
                out.extend_from_slice(name.unwrap_or(b"[unknown]"));
                out.push(0);
                return;
            }
            out.extend_from_slice(if is_first { b" " } else { b" <- " });
            is_first = false;
            push_name(out, name.unwrap_or(b"[unknown]"));
            if is_inlined {
                out.extend_from_slice(b" (inlined)");
            }
        };
        // This version reads no MMAP2 records here, and so knows no files of processes.
        let is_unknown = version == PerfVersion::V6_1 && it.frame.mode == CpuMode::USER;
        match functions.split_last().filter(|_| !is_unknown) {
            None => push(None, false),
            Some((last, inlined)) => {
                inlined.iter().for_each(|function| push(function.name.as_deref(), true));
                push(last.name.as_deref(), false);
            }
        }
    }
    symbols.done(stack);
    Ok(())
}
