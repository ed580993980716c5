//! Prefixes without an effect, with which compilers fill gaps.

use iced_x86::{Code, CodeSize, Instruction, OpKind, Register};

/// Writes those of the first instruction of the code and takes them from the decoded instruction.
pub(super) fn write(decoded: &mut Instruction, code: &[u8], text: &mut String) {
    let segment = ignored_segment(decoded);
    let sizes = code.iter().take_while(|byte| is_prefix(**byte)).filter(|byte| **byte == 0x66).count();
    // The last one has an effect, but not on this instruction, which linkers replace.
    let is_address_of_thread = decoded.code() == Code::Lea_r64_m;
    for _ in usize::from(!is_address_of_thread)..sizes {
        *text += "data16 ";
    }
    if let Some(name) = segment {
        *text += name;
        decoded.set_segment_prefix(Register::None);
    }
}

/// Returns the segment of an operand in memory if 64-bit code ignores it.
fn ignored_segment(decoded: &Instruction) -> Option<&'static str> {
    let has_memory = (0..decoded.op_count()).any(|it| decoded.op_kind(it) == OpKind::Memory);
    if decoded.code_size() != CodeSize::Code64 || !has_memory {
        return None;
    }
    match decoded.segment_prefix() {
        Register::CS => Some("cs "),
        Register::DS => Some("ds "),
        Register::ES => Some("es "),
        Register::SS => Some("ss "),
        _ => None,
    }
}

/// Whether a byte is one of the old prefixes.
fn is_prefix(byte: u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}
