//! The text of an instruction.

use perf_annotate::InstructionBytes;
use perf_profile::Symbols;
use perf_session::{Frame, SampleContext};
use perf_symbol::Guess;

use crate::escape::print;
use crate::perf_text::print::push_name;

/// Appends the text of an instruction; of a branch, with the function that it leads to. Nothing if the bytes are no instruction.
pub(super) fn push_text(
    out: &mut Vec<u8>,
    at: &SampleContext<'_, '_>,
    it: &InstructionBytes,
    names: &mut Symbols,
) {
    let Some(instruction) = it.disassemble() else { return };
    out.extend_from_slice(instruction.text.as_bytes());
    let Some(target) = instruction.target else { return };
    let frame = frame_at(at, target);
    let Some(function) = names.functions(at, &frame, false).last() else { return };
    let Some(name) = function.name.as_deref() else { return };
    out.extend_from_slice(b" <");
    push_name(out, name);
    if function.guess.is_some() {
        out.extend_from_slice(Guess::MARK.as_bytes());
    }
    if let Some(offset) = function.offset.filter(|&offset| offset != 0) {
        print(out, format_args!("+0x{offset:x}"));
    }
    out.push(b'>');
}

/// Returns the frame of an address of code.
pub(super) fn frame_at<'s>(at: &SampleContext<'s, '_>, ip: u64) -> Frame<'s> {
    Frame { ip, mode: at.mode(), mapping: at.find_data(ip) }
}
