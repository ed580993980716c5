//! The branches of a sample.

use core::fmt::Write;

use perf_abi::branch::{BranchFlags, BranchType};
use perf_parse::list::Branch;
use perf_parse::sample::BranchStack;
use perf_profile::Symbols;
use perf_session::{DsoKind, Frame, Mapping, SampleContext};
use perf_symbol::Guess;

use super::ScriptEvent;
use super::dso::push_dso;
use super::fields::Fields;
use crate::perf_text::print::{TextBuffer, push_name};
use crate::render::digits::{push_decimal, push_hex};

/// How the two addresses of a branch are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addresses {
    Absolute,
    Symbols,
    Offsets,
}

/// Appends the branches of a sample, the latest first.
///
/// perf: `perf_sample__fprintf_brstack`, `perf_sample__fprintf_brstacksym` and `perf_sample__fprintf_brstackoff`,
/// `tools/perf/builtin-script.c`.
pub(super) fn push(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    stack: &BranchStack<'_>,
    known: &ScriptEvent,
    names: &mut Symbols,
) {
    let fields = known.fields;
    let addresses = if fields.has(Fields::BRSTACK) {
        Addresses::Absolute
    } else if fields.has(Fields::BRSTACKSYM) {
        Addresses::Symbols
    } else {
        Addresses::Offsets
    };
    for Branch { from, to, flags, .. } in stack.entries.iter() {
        if addresses != Addresses::Symbols {
            out.push(b' ');
        }
        push_address(out, at, from, known, addresses, names);
        out.push(b'/');
        push_address(out, at, to, known, addresses, names);
        push_flags(out, flags);
    }
}

fn push_address(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    addr: u64,
    known: &ScriptEvent,
    addresses: Addresses,
    names: &mut Symbols,
) {
    let has_dso = known.fields.has(Fields::DSO);
    let mapping = if has_dso || addresses != Addresses::Absolute { at.find_data(addr) } else { None };
    match addresses {
        Addresses::Absolute => push_hex(out, addr),
        Addresses::Symbols => push_symbol(out, at, mapping, addr, names),
        Addresses::Offsets => push_hex(out, mapping.map_or(addr, |it| offset_in(at, it, addr, names))),
    }
    if has_dso {
        out.push(b'(');
        push_dso(out, mapping, known);
        out.push(b')');
    }
}

/// perf: `symbol__fprintf_symname_offs`, `tools/perf/util/symbol_fprintf.c`.
fn push_symbol(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    mapping: Option<&Mapping>,
    addr: u64,
    names: &mut Symbols,
) {
    let functions = names.functions(at, &Frame { ip: addr, mode: at.mode(), mapping }, false);
    let function = functions.last();
    match function.and_then(|it| it.name.as_deref()) {
        None => out.extend_from_slice(b"[unknown]"),
        Some(name) => {
            push_name(out, name);
            if function.is_some_and(|it| it.guess.is_some()) {
                out.extend_from_slice(Guess::MARK.as_bytes());
            }
            if let Some(offset) = function.and_then(|it| it.offset) {
                let _ = write!(TextBuffer(out), "+0x{offset:x}");
            }
        }
    }
}

/// Returns the place of an address in what is mapped, also in generated code; in the kernel, from the start of its text. An
/// address in a file that can be read stays as it is: perf does not shift addresses of a file that it has loaded, and loads
/// those that have the address of a sample. Here it does not matter which samples came before.
fn offset_in(at: &SampleContext<'_, '_>, mapping: &Mapping, addr: u64, names: &mut Symbols) -> u64 {
    let start = mapping.range().start;
    match mapping.dso().kind() {
        DsoKind::Kernel => addr.wrapping_sub(start),
        DsoKind::File | DsoKind::Vdso if names.has_file(at, mapping) => addr,
        _ => addr.wrapping_sub(start).wrapping_add(mapping.pgoff()),
    }
}

/// perf: `print_bstack_flags`.
fn push_flags(out: &mut Vec<u8>, flags: BranchFlags) {
    let outcome = if flags.contains(BranchFlags::PREDICTED) {
        b'P'
    } else if flags.contains(BranchFlags::MISPRED) {
        b'M'
    } else {
        b'-'
    };
    let in_tx = if flags.contains(BranchFlags::IN_TX) { b'X' } else { b'-' };
    let abort = if flags.contains(BranchFlags::ABORT) { b'A' } else { b'-' };
    out.extend_from_slice(&[b'/', outcome, b'/', in_tx, b'/', abort, b'/']);
    push_decimal(out, flags.cycles().into());
    out.push(b'/');
    out.extend_from_slice(kind(flags).as_bytes());
    out.push(b' ');
}

const KINDS: [&str; 15] = [
    "",
    "COND",
    "UNCOND",
    "IND",
    "CALL",
    "IND_CALL",
    "RET",
    "SYSCALL",
    "SYSRET",
    "COND_CALL",
    "COND_RET",
    "ERET",
    "IRQ",
    "SERROR",
    "NO_TX",
];
const NEW_KINDS: [&str; 8] =
    ["FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5"];

/// perf: `get_branch_type`, `tools/perf/util/branch.c`.
fn kind(flags: BranchFlags) -> &'static str {
    if flags.kind() == BranchType::EXTEND_ABI {
        // What C prints for a name that perf does not have.
        return NEW_KINDS.get(usize::from(flags.new_type().0)).copied().unwrap_or("(null)");
    }
    KINDS.get(usize::from(flags.kind().0)).copied().unwrap_or_default()
}
