//! `samples`: one row for each SAMPLE record that can be decoded.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use perf_abi::branch::BranchFlags;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::list::Branch;
use perf_parse::sample::Tail;
use perf_session::SampleContext;
use perf_symbol::Guess;
use perf_symbol::unwind::StackEnd;

use super::column::{self, Column, columns};
use super::context::Context;
use super::heads::{SampleHead, SampleHeads};
use super::rows::TableRows;
use super::trace::TraceField;
use super::utf8::utf8;

/// The fields of a branch.
const BRANCH: &[Column] = columns! {
    from: Int64, "address", "Address of the branch instruction.";
    to: Int64, "address", "Address of the target.";
    is_mispredicted: Boolean, "", "Whether the target was mispredicted.";
    is_predicted: Boolean, "", "Whether the target was predicted. Both are false if the hardware does not tell.";
    cycles: Int64, "cycles", "Cycles since the branch before; 0 if the hardware does not tell.";
};

/// A field of a tracepoint.
const FIELD: &[Column] = columns! {
    name: Text, "", "Name of the field.";
    value: Text, "", "Value: a decimal number, a text, or bytes in hexadecimal.";
};

/// A frame of a stack in one wide table.
const FRAME: &[Column] = columns! {
    function ? Text, "", "As `frames.function`.";
    file ? Text, "", "As `frames.file`.";
    line ? Int32, "", "As `frames.line`.";
    inline_depth: Int32, "", "As `frames.inline_depth`.";
    dso ? Text, "", "As `dsos.name`.";
    build_id ? Text, "", "As `dsos.build_id`.";
    file_offset: Int64, "bytes", "As `frames.file_offset`.";
    guess ? Word, "", "As `frames.guess`.";
};

pub(super) const COLUMNS: &[Column] = columns! {
    capture: Word, "", "The capture.";
    time ? Int64, "ns", "Time of the event's clock. Null if the event does not record it.";
    utc ? Timestamp, "us", "The same time in UTC. Null if the capture does not relate its clock to the wall clock (`perf record -k` does).";
    cpu ? Int32, "", "CPU. Null if the event does not record it.";
    pid: Int32, "", "Process id; -1 if it is not recorded.";
    tid: Int32, "", "Thread id; -1 if it is not recorded.";
    process_key: Int64, "", "The process: see `processes`. Process ids are used again; these numbers are not.";
    thread_key: Int64, "", "The thread: see `threads`.";
    comm ? Word, "", "Name of the thread at that time. Null with `--drop comm`.";
    event_id: Int32, "", "The event: see `events`.";
    event: Word, "", "Name of the event.";
    period: Int64, "as events.unit", "What the sample counts for: its period, or that of the event.";
    weight ? Int64, "as the hardware", "Weight, or the first of three weights. Null if it is not recorded.";
    ip ? Int64, "address", "Instruction pointer. Null if it is not recorded.";
    mode: Word, "", "Whose code was interrupted: `user`, `kernel`, `hypervisor`, `guest_user`, `guest_kernel` or `unknown`.";
    stack_id ? Int64, "", "The stack: see `stacks`. Of an event without call chains, a stack of the instruction pointer alone. Null if there is no frame, and with `--flat`.";
    stack_end ? Word, "", "How the stack ends: `rooted`, `truncated`, `no-unwind-info`, `no-mapping` or `garbage`. Null if the event records no stacks.";
    stack ? Structures(FRAME), "", "The stack itself, innermost frame first, with `--flat`; otherwise null.";
    addr ? Int64, "address", "Address of the data or of the fault. Null if it is not recorded.";
    phys_addr ? Int64, "address", "Physical address of the data. Null if it is not recorded.";
    data_src ? Int64, "bits", "Source of the memory access as the kernel wrote it: `union perf_mem_data_src`. Null if it is not recorded.";
    mem_op ? Word, "", "The operation in `data_src`.";
    mem_level ? Word, "", "The level of the memory hierarchy in `data_src`.";
    mem_snoop ? Word, "", "The snoop in `data_src`.";
    mem_lock ? Word, "", "The lock in `data_src`.";
    mem_tlb ? Word, "", "The TLB access in `data_src`.";
    cgroup_id ? Int64, "", "The cgroup. Null if it is not recorded.";
    cgroup ? Word, "", "Path of the cgroup. Null if the capture does not have it.";
    transaction ? Int64, "bits", "Reason of a transactional abort: `PERF_TXN_*`. Null if it is not recorded.";
    data_page_size ? Int64, "bytes", "Size of the page of `addr`. Null if it is not recorded.";
    code_page_size ? Int64, "bytes", "Size of the page of `ip`. Null if it is not recorded.";
    branches ? Structures(BRANCH), "", "Branches before the sample, newest first, with `--with branches`.";
    user_registers ? Integers, "", "User registers in the order of the bits in `events.sample_regs_user`, with `--with registers`.";
    interrupt_registers ? Integers, "", "Registers at the interrupt in the order of the bits in `events.sample_regs_intr`, with `--with registers`.";
    trace ? Structures(FIELD), "", "Fields of the tracepoint, with `--with trace`.";
};

/// The optional columns that are filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtraColumns {
    /// Branches.
    pub branches: bool,
    /// Registers.
    pub registers: bool,
    /// Fields of tracepoints.
    pub trace: bool,
}

/// A frame of `samples.stack`.
#[derive(Debug)]
pub(super) struct FlatFrame<'a> {
    pub(super) function: Option<&'a str>,
    pub(super) file: Option<&'a str>,
    pub(super) line: Option<u32>,
    pub(super) inline_depth: i32,
    pub(super) dso: Option<&'a str>,
    pub(super) build_id: Option<&'a str>,
    pub(super) file_offset: u64,
    pub(super) guess: Option<Guess>,
}

/// The values of a row that are not in the record.
#[derive(Debug)]
pub(super) struct SampleFacts<'a> {
    pub(super) event: &'a Event,
    pub(super) period: u64,
    /// `None` if the sample has no frame.
    pub(super) stack_id: Option<u64>,
    /// `None` if the event records no stacks.
    pub(super) stack_end: Option<StackEnd>,
    pub(super) trace: Option<Vec<TraceField>>,
    /// Whether the stack is written later, in place.
    pub(super) is_flat: bool,
}

/// The rows of the table.
#[derive(Debug)]
pub(super) struct SampleRows {
    schema: SchemaRef,
    heads: SampleHeads,
    /// The columns after the heads. Most samples have none of them.
    rest: TableRows,
}

/// The fields of the columns after the heads.
const REST: SampleType = SampleType::ADDR
    .union(SampleType::PHYS_ADDR)
    .union(SampleType::DATA_SRC)
    .union(SampleType::CGROUP)
    .union(SampleType::TRANSACTION)
    .union(SampleType::DATA_PAGE_SIZE)
    .union(SampleType::CODE_PAGE_SIZE);

impl SampleRows {
    pub(super) fn new(columns: &[Column]) -> Self {
        let rest = columns.get(SampleHeads::COLUMNS..).unwrap_or_default();
        Self { schema: column::schema(columns), heads: SampleHeads::default(), rest: TableRows::new(rest) }
    }

    /// Returns the number of rows.
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Sets the name of an event, before its first row.
    pub(super) fn name_event(&mut self, index: usize, name: String) {
        self.heads.name_event(index, name);
    }

    /// Returns the rows, and starts again.
    ///
    /// # Errors
    ///
    /// If a column has other cells than the schema says, which is a fault of this crate.
    pub(super) fn finish(&mut self, context: &Context) -> Result<RecordBatch, ArrowError> {
        let mut arrays = self.heads.finish(context)?;
        arrays.extend(self.rest.arrays()?);
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }

    /// Writes a row.
    #[inline]
    pub(super) fn push(
        &mut self,
        context: &Context,
        at: &SampleContext<'_, '_>,
        tail: &Tail<'_>,
        with: ExtraColumns,
        known: &SampleFacts<'_>,
    ) {
        let (sample, thread) = (at.sample(), at.thread());
        let heads = &mut self.heads;
        let head = SampleHead {
            time: sample.time(),
            cpu: sample.cpu(),
            pid: sample.pid().unwrap_or(-1),
            tid: sample.tid().unwrap_or(-1),
            process_key: thread.process_key(),
            thread_key: thread.key(),
            comm: context.comm(thread.comm()).map(|comm| heads.number(&comm)),
            event: known.event.index as u32,
            period: known.period,
            weight: tail.weight.or_else(|| tail.weight_struct.map(|it| u64::from(it.var1_dw()))),
            ip: sample.ip(),
            mode: at.mode(),
            stack_id: known.stack_id,
            stack_end: known.stack_end,
        };
        heads.push(head);
        if known.is_flat {
            self.rest.leave();
        }
        let has_rest = known.event.attr.sample_type.intersects(REST)
            || known.trace.is_some()
            || with.branches
            || with.registers;
        if has_rest {
            if !known.is_flat {
                push_flat(&mut self.rest, None::<core::iter::Empty<_>>);
            }
            push_rest(&mut self.rest, context, at, tail, with, known);
        } else {
            self.rest.end_without();
        }
    }

    /// Writes the flat stack of the first row that has none yet.
    pub(super) fn push_flat<'a>(&mut self, frames: Option<impl Iterator<Item = FlatFrame<'a>>>) {
        self.rest.write_column(0, |rows| push_flat(rows, frames));
    }
}

/// Writes the flat stack of a row.
fn push_flat<'a>(rows: &mut TableRows, frames: Option<impl Iterator<Item = FlatFrame<'a>>>) {
    rows.structures(frames, |rows, frame| {
        rows.text(frame.function);
        rows.text(frame.file);
        rows.int32(frame.line.map(u32::cast_signed));
        rows.int32(frame.inline_depth);
        rows.text(frame.dso);
        rows.text(frame.build_id);
        rows.int64(frame.file_offset);
        rows.text(frame.guess.map(Guess::name));
    });
}

/// The columns after the stack, and the end of the row.
fn push_rest(
    rows: &mut TableRows,
    context: &Context,
    at: &SampleContext<'_, '_>,
    tail: &Tail<'_>,
    with: ExtraColumns,
    known: &SampleFacts<'_>,
) {
    rows.int64(at.sample().addr());
    rows.int64(tail.phys_addr);
    rows.int64(tail.data_src.map(|it| it.0));
    rows.text(tail.data_src.map(|it| it.op().to_string()).as_deref());
    rows.text(tail.data_src.map(|it| it.lvl().to_string()).as_deref());
    rows.text(tail.data_src.map(|it| it.snoop().to_string()).as_deref());
    rows.text(tail.data_src.map(|it| it.lock().to_string()).as_deref());
    rows.text(tail.data_src.map(|it| it.dtlb().to_string()).as_deref());
    rows.int64(tail.cgroup);
    let cgroup = tail.cgroup.and_then(|id| at.session().cgroup(id));
    rows.text(cgroup.and_then(|path| context.path(path)).as_deref());
    rows.int64(tail.transaction.map(|it| it.0));
    rows.int64(tail.data_page_size);
    rows.int64(tail.code_page_size);
    let branches = tail.branch_stack.filter(|_| with.branches);
    rows.structures(branches.map(|it| it.entries.iter()), |rows, branch: Branch| {
        rows.int64(branch.from);
        rows.int64(branch.to);
        rows.boolean(branch.flags.contains(BranchFlags::MISPRED));
        rows.boolean(branch.flags.contains(BranchFlags::PREDICTED));
        rows.int64(u64::from(branch.flags.cycles()));
    });
    rows.integers(tail.regs_user.filter(|_| with.registers).map(|it| it.iter().map(|(_, value)| value)));
    rows.integers(tail.regs_intr.filter(|_| with.registers).map(|it| it.iter().map(|(_, value)| value)));
    rows.structures(known.trace.as_ref().map(|it| it.iter()), |rows, field: &TraceField| {
        rows.text(&*utf8(&field.name));
        rows.text(field.value.as_str());
    });
    rows.end();
}
