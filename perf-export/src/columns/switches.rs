//! `switches`: the times that threads were off the CPU.

use hashbrown::HashMap;
use perf_abi::attr::AttrFlags;
use perf_abi::record::{Misc, RecordType};
use perf_parse::EventRecord;
use perf_parse::event::Event;
use perf_session::{SampleContext, Session, Thread};

use super::column::{Column, columns};
use super::context::Context;
use super::rows::TableRows;
use super::trace::TraceFormats;

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    process_key: Int64, "", "The process: see `processes`.";
    thread_key: Int64, "", "The thread: see `threads`.";
    pid: Int32, "", "Process id.";
    tid: Int32, "", "Thread id.";
    comm ? Word, "", "Name of the thread when it left the CPU. Null with `--drop comm`.";
    start: Int64, "ns", "When it left the CPU.";
    end: Int64, "ns", "When it was back.";
    duration: Int64, "ns", "The time in between.";
    utc ? Timestamp, "us", "`start` in UTC, as in `samples`.";
    cpu ? Int32, "", "The CPU that it left. Null if it is not recorded.";
    is_preempted: Boolean, "", "Whether it could have run on: then the time is the latency of the scheduler.";
    source: Word, "", "`sched_switch` (the tracepoint, if the capture has it) or `switch` (SWITCH records).";
    stack_id ? Int64, "", "The stack at which it left: of the tracepoint exactly, otherwise that of its last sample before. Null if there is none, and with `--flat`.";
};

/// Number of threads that are followed.
const LIMIT: usize = 1 << 16;

/// A thread that is off the CPU.
#[derive(Clone, Debug)]
struct OffCpuThread {
    thread_key: u64,
    process_key: u64,
    pid: i32,
    comm: Vec<u8>,
    start: u64,
    cpu: Option<u32>,
    is_preempted: bool,
    stack_id: Option<u64>,
}

/// Follows threads off the CPU and back.
#[derive(Debug)]
pub(super) struct SwitchTracker {
    /// The id of `sched:sched_switch`, if the capture has the tracepoint; otherwise SWITCH records count.
    tracepoint: Option<u64>,
    has_records: bool,
    /// By thread id.
    away: HashMap<i32, OffCpuThread>,
    /// The last stack of each thread, by its key.
    last: HashMap<u64, u64>,
}

impl SwitchTracker {
    pub(super) fn new<'e>(
        events: impl Iterator<Item = &'e Event> + Clone,
        traces: &TraceFormats<'_>,
    ) -> Self {
        let is_switch = |event: &&Event| {
            traces.of(event).is_some_and(|it| it.system == b"sched" && it.name == b"sched_switch")
        };
        let tracepoint = events.clone().find(is_switch).map(|event| event.attr.config);
        let has_records = tracepoint.is_none()
            && events.into_iter().any(|it| it.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
        Self { tracepoint, has_records, away: HashMap::default(), last: HashMap::default() }
    }

    /// Adds a sample and its stack.
    #[inline]
    pub(super) fn sample(
        &mut self,
        rows: &mut TableRows,
        context: &Context,
        at: &SampleContext<'_, '_>,
        traces: &TraceFormats<'_>,
        raw: Option<&[u8]>,
        stack_id: Option<u64>,
    ) {
        if self.has_records
            && let Some(stack_id) = stack_id
        {
            if self.last.len() >= LIMIT {
                self.last.clear();
            }
            self.last.insert(at.thread().key(), stack_id);
        }
        let event = at.record().event().filter(|event| Some(event.attr.config) == self.tracepoint);
        let Some(format) = event.and_then(|event| traces.of(event)) else { return };
        let Some((raw, time)) = raw.zip(at.sample().time()) else { return };
        if let Some(next) = traces.number(format, b"next_pid", raw).and_then(|tid| i32::try_from(tid).ok()) {
            self.back(rows, context, next, time, "sched_switch");
        }
        // Kernel: `__trace_sched_switch_state`, `include/trace/events/sched.h`: 0, or TASK_REPORT_MAX if it was preempted.
        let state = traces.number(format, b"prev_state", raw).unwrap_or(0);
        let is_preempted = state & 0xff == 0;
        self.leave(at.thread(), time, at.sample().cpu(), is_preempted, stack_id);
    }

    /// Adds a record that is not a sample.
    pub(super) fn record(
        &mut self,
        rows: &mut TableRows,
        context: &Context,
        record: &EventRecord<'_>,
        session: &Session,
    ) {
        let is_switch = matches!(record.kind(), RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE);
        if !self.has_records || !is_switch {
            return;
        }
        let Some(((_, tid), time)) = record.pid_tid().zip(record.time()) else { return };
        if !record.misc().contains(Misc::SWITCH_OUT) {
            self.back(rows, context, tid, time, "switch");
        } else if let Some(thread) = session.thread(tid) {
            let is_preempted = record.misc().contains(Misc::SWITCH_OUT_PREEMPT);
            let stack_id = self.last.get(&thread.key()).copied();
            self.leave(thread, time, record.cpu(), is_preempted, stack_id);
        }
    }

    fn leave(
        &mut self,
        thread: &Thread,
        time: u64,
        cpu: Option<u32>,
        is_preempted: bool,
        stack_id: Option<u64>,
    ) {
        // The idle task is never away.
        if thread.tid() <= 0 {
            return;
        }
        if self.away.len() >= LIMIT {
            self.away.clear();
        }
        let away = OffCpuThread {
            thread_key: thread.key(),
            process_key: thread.process_key(),
            pid: thread.pid(),
            comm: thread.comm().to_vec(),
            start: time,
            cpu,
            is_preempted,
            stack_id,
        };
        self.away.insert(thread.tid(), away);
    }

    fn back(&mut self, rows: &mut TableRows, context: &Context, tid: i32, time: u64, source: &str) {
        let Some(away) = self.away.remove(&tid) else { return };
        rows.text(context.capture.as_str());
        rows.int64(away.process_key);
        rows.int64(away.thread_key);
        rows.int32(away.pid);
        rows.int32(tid);
        rows.text(context.comm(&away.comm).as_deref());
        rows.int64(away.start);
        rows.int64(time);
        rows.int64(time.saturating_sub(away.start));
        rows.timestamp(context.utc(Some(away.start)));
        rows.int32(away.cpu.map(u32::cast_signed));
        rows.boolean(away.is_preempted);
        rows.text(source);
        rows.int64(away.stack_id);
        rows.end();
    }
}
