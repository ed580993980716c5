//! The lines of a sample.

use perf_abi::record::{CpuMode, Misc, RecordType};
use perf_parse::FileError;
use perf_parse::record::user::IdIndexGuest;
use perf_parse::sample::Tail;
use perf_profile::Symbols;
use perf_profile::samples::pass::SampleStack;
use perf_session::SampleContext;

use super::clock::{push_time, time_of};
use super::field_decoders::FieldDecoders;
use super::fields::Fields;
use super::frames::{push_ip, push_place};
use super::note::SampleNote;
use super::{Options, ScriptEvent, bpf_output, branches, instruction, registers, synth, tod};
use crate::escape::print;
use crate::perf_text::data_src;
use crate::perf_text::print::{left_padded, push_decimal_to, push_hex_to, push_name, push_zeroed};
use crate::perf_text::size::push_page_size;
use crate::render::simd_regs::Side;
use crate::render::{given, weight};

/// What precedes the fields of a record's own: who, where and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'a> {
    pub(super) kind: RecordType,
    pub(super) misc: Misc,
    pub(super) comm: &'a [u8],
    pub(super) pid: i32,
    pub(super) tid: i32,
    pub(super) cpu: Option<u32>,
    pub(super) time: u64,
    /// The time that is printed: see [`Clock`](super::clock::Clock).
    pub(super) shown: u64,
    pub(super) guest: Option<IdIndexGuest>,
}

/// Appends the start of a line.
///
/// perf: `perf_sample__fprintf_start`, `tools/perf/builtin-script.c`.
pub(super) fn push_start(out: &mut Vec<u8>, start: &Start<'_>, known: &ScriptEvent, options: &Options<'_>) {
    let fields = known.fields;
    if let Some(guest) = start.guest {
        if fields.has(Fields::MACHINE_PID) {
            print(out, format_args!("VM:{:5} ", guest.machine_pid));
        }
        if fields.has(Fields::VCPU) {
            print(out, format_args!("VCPU:{:03} ", guest.vcpu));
        }
    }
    if fields.has(Fields::COMM) {
        if fields.has(Fields::IP) && known.has_callchain && options.shows_chains {
            push_name(out, start.comm);
        } else {
            left_padded(out, 16, |out| push_name(out, start.comm));
        }
        out.push(b' ');
    }
    if fields.has(Fields::PID) && fields.has(Fields::TID) {
        print(out, format_args!("{:5}/{:<5} ", start.pid, start.tid));
    } else if fields.has(Fields::PID) || fields.has(Fields::TID) {
        let id = if fields.has(Fields::PID) { start.pid } else { start.tid };
        match u64::try_from(id) {
            Ok(id) => push_decimal_to(out, id, 5),
            Err(_) => print(out, format_args!("{id:5}")),
        }
        out.push(b' ');
    }
    if fields.has(Fields::CPU) {
        match start.cpu {
            Some(cpu) => {
                out.push(b'[');
                push_zeroed(out, cpu.into(), 3);
                out.extend_from_slice(b"] ");
            }
            None => out.extend_from_slice(b"[-01] "),
        }
    }
    if fields.has(Fields::MISC) {
        push_misc(out, start.kind, start.misc);
    }
    if fields.has(Fields::TOD) {
        tod::push(out, start.time, known.clock.as_ref(), options.ns);
    }
    if fields.has(Fields::TIME) {
        push_time(out, start.shown, options.ns);
        out.extend_from_slice(b": ");
    }
}

/// Appends the letters of a record's `misc`, in six columns.
fn push_misc(out: &mut Vec<u8>, kind: RecordType, misc: Misc) {
    let start = out.len();
    // As perf compares them: the modes are numbers, of which one may contain the bits of another.
    let modes = [
        (CpuMode::KERNEL, b'K'),
        (CpuMode::USER, b'U'),
        (CpuMode::HYPERVISOR, b'H'),
        (CpuMode::GUEST_KERNEL, b'G'),
        (CpuMode::GUEST_USER, b'g'),
    ];
    out.extend(modes.iter().filter(|(mode, _)| misc.contains((*mode).into())).map(|(_, letter)| letter));
    match kind {
        RecordType::MMAP | RecordType::MMAP2 if misc.contains(Misc::MMAP_DATA) => out.push(b'M'),
        RecordType::COMM if misc.contains(Misc::COMM_EXEC) => out.push(b'E'),
        RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE if misc.contains(Misc::SWITCH_OUT) => {
            out.push(b'S');
            if misc.contains(Misc::SWITCH_OUT_PREEMPT) {
                out.push(b'p');
            }
        }
        _ => {}
    }
    let width = (start + 6).max(out.len() + 1);
    out.resize(width, b' ');
}

/// Appends a sample, with its line end.
///
/// perf: `process_event`.
///
/// # Errors
///
/// Those of the call chain and of the fields after the leading ones. What could be printed is in `out`.
pub(super) fn push_sample(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    note: &SampleNote,
    stack: &SampleStack<'_>,
    options: &Options<'_>,
    decoders: &mut FieldDecoders<'_>,
    names: &mut Symbols,
) -> Result<(), FileError> {
    let known = &*note.known;
    let (fields, sample) = (known.fields, at.sample());
    let start = Start {
        kind: RecordType::SAMPLE,
        misc: at.record().misc(),
        comm: at.thread().comm(),
        pid: sample.pid().unwrap_or(-1),
        tid: sample.tid().unwrap_or(-1),
        cpu: sample.cpu(),
        time: time_of(&sample),
        shown: note.time,
        guest: note.guest,
    };
    push_start(out, &start, known, options);
    if fields.has(Fields::PERIOD) {
        push_decimal_to(out, note.period, 10);
        out.push(b' ');
    }
    if fields.has(Fields::EVENT) {
        left_padded(out, known.name_width, |out| out.extend_from_slice(&known.name));
        out.extend_from_slice(b": ");
    }
    if fields.has(Fields::FLAGS) {
        // Only a decoder of processor traces sets them.
        out.resize(out.len() + 24, b' ');
    }
    if known.is_branch_trace {
        push_branch(out, at, known, stack, options, names)?;
        instruction::push(out, at, None, known, decoders, names);
        out.push(b'\n');
        return Ok(());
    }
    let tail =
        known.needs_tail.then(|| sample.tail().map_err(|error| at.record().error(error))).transpose()?;
    if fields.has(Fields::TRACE)
        && let Some((raw, trace)) = tail.and_then(|tail| tail.raw).zip(known.trace)
    {
        decoders.traces.push(out, trace, raw, at, names);
    }
    if let Some(id) = known.synth.filter(|_| fields.has(Fields::SYNTH))
        && let Some(raw) = tail.and_then(|tail| tail.raw)
    {
        synth::push(out, id, raw);
    }
    if fields.has(Fields::ADDR) {
        push_addr(out, at, sample.addr().unwrap_or(0), known, names);
    }
    if let Some(tail) = &tail {
        push_access(out, at, tail, note);
    }
    if fields.has(Fields::IP) {
        push_ip(out, at, known, stack, options, names)?;
    }
    if let Some(tail) = &tail {
        push_rest(out, at, tail, known, names);
    }
    instruction::push(out, at, tail.as_ref(), known, decoders, names);
    if let Some(tail) = &tail {
        push_pages(out, tail, fields);
    }
    out.push(b'\n');
    Ok(())
}

/// Appends a branch that Intel's branch trace store recorded: where it was, and where it led.
///
/// perf: `perf_sample__fprintf_bts`.
fn push_branch(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    known: &ScriptEvent,
    stack: &SampleStack<'_>,
    options: &Options<'_>,
    names: &mut Symbols,
) -> Result<(), FileError> {
    let (fields, sample) = (known.fields, at.sample());
    if fields.has(Fields::IP) {
        push_ip(out, at, known, stack, options, names)?;
    }
    if fields.has(Fields::ADDR) || sample.addr().is_some() && !known.is_chosen {
        out.extend_from_slice(b" => ");
        push_addr(out, at, sample.addr().unwrap_or(0), known, names);
    }
    Ok(())
}

/// Appends the fields between the address of the data and that of the instruction.
fn push_access(out: &mut Vec<u8>, at: &SampleContext<'_, '_>, tail: &Tail<'_>, note: &SampleNote) {
    let fields = note.known.fields;
    if fields.has(Fields::DATA_SRC) {
        data_src::push(out, tail.data_src, note.data_src_width);
    }
    let parts = tail.weight_struct;
    if fields.has(Fields::WEIGHT) {
        push_decimal_to(out, weight(tail).unwrap_or(0), 16);
    }
    if fields.has(Fields::INS_LAT) {
        push_decimal_to(out, parts.map_or(0, |parts| parts.var2_w().into()), 16);
    }
    if fields.has(Fields::RETIRE_LAT) {
        push_decimal_to(out, parts.map_or(0, |parts| parts.var3_w().into()), 16);
    }
    if fields.has(Fields::CGROUP) {
        out.push(b' ');
        match at.cgroup() {
            Some(path) => push_name(out, path),
            None => out.extend_from_slice(b"unknown"),
        }
    }
}

/// Appends the fields between the address of the instruction and its bytes.
fn push_rest(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    tail: &Tail<'_>,
    known: &ScriptEvent,
    names: &mut Symbols,
) {
    let fields = known.fields;
    if let Some(regs) = tail.regs_intr.filter(|_| fields.has(Fields::IREGS)) {
        registers::push(out, &regs, known.arch);
        given(tail.simd_regs_intr, |regs| registers::push_simd(out, &regs, Side::Intr, known.simd_names));
    }
    if let Some(regs) = tail.regs_user.filter(|_| fields.has(Fields::UREGS)) {
        registers::push(out, &regs, known.arch);
        given(tail.simd_regs_user, |regs| registers::push_simd(out, &regs, Side::User, known.simd_names));
    }
    if let Some(stack) = tail.branch_stack.filter(|_| fields.has(Fields::BRANCHES)) {
        branches::push(out, at, &stack, known, names);
    }
    if known.is_bpf_output && fields.has(Fields::BPF_OUTPUT) {
        bpf_output::push(out, tail.raw.unwrap_or_default());
    }
}

/// Appends the fields after the instruction.
fn push_pages(out: &mut Vec<u8>, tail: &Tail<'_>, fields: Fields) {
    if fields.has(Fields::PHYS_ADDR) {
        push_hex_to(out, tail.phys_addr.unwrap_or(0), 16);
    }
    if fields.has(Fields::DATA_PAGE_SIZE) {
        out.push(b' ');
        push_page_size(out, tail.data_page_size);
    }
    if fields.has(Fields::CODE_PAGE_SIZE) {
        out.push(b' ');
        push_page_size(out, tail.code_page_size);
    }
}

/// perf: `perf_sample__fprintf_addr`.
fn push_addr(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    addr: u64,
    known: &ScriptEvent,
    names: &mut Symbols,
) {
    push_hex_to(out, addr, 16);
    if known.has_data_address {
        push_place(out, at, at.find_data(addr), addr, known, names);
    }
}
