//! The instruction at the address of a sample, and those before it.

use perf_annotate::{InstructionBytes, InstructionReader};
use perf_parse::sample::Tail;
use perf_profile::Symbols;
use perf_session::SampleContext;

use super::field_decoders::FieldDecoders;
use super::fields::Fields;
use super::instruction_text::push_text;
use super::{ScriptEvent, branch_blocks};
use crate::escape::{print, push_hex as push_bytes};

/// Appends the instruction of a sample, and those between its branches.
pub(super) fn push(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    tail: Option<&Tail<'_>>,
    known: &ScriptEvent,
    decoders: &mut FieldDecoders<'_>,
    names: &mut Symbols,
) {
    let Some(reader) = &mut decoders.instructions else { return };
    if known.fields.has(Fields::INSTRUCTION) {
        push_own(out, at, known, names, reader);
    }
    if known.fields.has(Fields::BLOCKS)
        && let Some(stack) = tail.and_then(|tail| tail.branch_stack)
    {
        branch_blocks::push(out, at, &stack, known, names, reader);
    }
}

/// Appends the instruction of a sample: its length, its bytes, its text. Without code, the length is 0, and no more is printed.
///
/// perf: `perf_sample__fprintf_insn`, `tools/perf/builtin-script.c`.
fn push_own(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    known: &ScriptEvent,
    names: &mut Symbols,
    reader: &mut InstructionReader,
) {
    let found = own(at, names, reader);
    let bytes = found.as_ref().map_or(&[][..], InstructionBytes::bytes);
    if known.fields.has(Fields::INSNLEN) {
        print(out, format_args!(" ilen: {}", bytes.len()));
    }
    if bytes.is_empty() {
        return;
    }
    if known.fields.has(Fields::INSN) {
        out.extend_from_slice(b" insn:");
        for byte in bytes {
            out.push(b' ');
            push_bytes(out, &[*byte]);
        }
    }
    if known.fields.has(Fields::DISASM)
        && let Some(found) = &found
    {
        out.extend_from_slice(b"\t\t");
        push_text(out, at, found, names);
    }
}

/// Returns the instruction at the address of a sample.
pub(super) fn own(
    at: &SampleContext<'_, '_>,
    names: &mut Symbols,
    reader: &mut InstructionReader,
) -> Option<InstructionBytes> {
    let frame = names.own_frame(at);
    reader.read(names.symbolizer_mut()?, at, &frame)
}
