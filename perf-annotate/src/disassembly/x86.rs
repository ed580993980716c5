//! x86: 16, 32 and 64 bits.

mod prefixes;
mod text;

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl, Instruction as Decoded, OpKind};

use self::text::TextFormat;
use super::{Flow, Instruction, Syntax};

/// A disassembler of one width.
pub(super) struct X86 {
    bits: u32,
    text: TextFormat,
}

impl X86 {
    /// Creates it for 16, 32 or 64 bits.
    pub(super) fn new(bits: u32) -> Self {
        Self { bits, text: TextFormat::new(Syntax::Att) }
    }

    pub(super) fn set_syntax(&mut self, syntax: Syntax) {
        self.text = TextFormat::new(syntax);
    }

    /// Returns the size of the first instruction; `None` if there is none.
    pub(super) fn length(&self, code: &[u8], address: u64) -> Option<u8> {
        let decoded = self.decode(code, address)?;
        u8::try_from(decoded.len()).ok()
    }

    /// Returns the first instruction; `None` if there is none.
    pub(super) fn instruction(&mut self, code: &[u8], address: u64) -> Option<Instruction> {
        let decoded = self.decode(code, address)?;
        let data = decoded.is_ip_rel_memory_operand().then(|| decoded.ip_rel_memory_address());
        let text = self.text.of(&decoded, code);
        Some(Instruction {
            address,
            size: u8::try_from(decoded.len()).ok()?,
            text: text.into(),
            flow: flow(&decoded),
            target: target(&decoded),
            data,
        })
    }

    fn decode(&self, code: &[u8], address: u64) -> Option<Decoded> {
        let decoder = Decoder::try_with_ip(self.bits, code, address, DecoderOptions::NONE);
        let decoded = decoder.ok()?.decode();
        (decoded.code() != Code::INVALID).then_some(decoded)
    }
}

fn flow(decoded: &Decoded) -> Flow {
    match decoded.flow_control() {
        FlowControl::Next => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump,
        FlowControl::IndirectBranch => Flow::IndirectJump,
        FlowControl::ConditionalBranch => Flow::ConditionalJump,
        // Aborts of a transaction continue at the target of the xbegin.
        FlowControl::XbeginXabortXend if target(decoded).is_some() => Flow::ConditionalJump,
        FlowControl::XbeginXabortXend => Flow::Next,
        FlowControl::Return => Flow::Return,
        FlowControl::Call if is_direct(decoded) => Flow::Call,
        // System calls and calls of a hypervisor.
        FlowControl::Call | FlowControl::Interrupt | FlowControl::Exception => Flow::Interrupt,
        FlowControl::IndirectCall => Flow::IndirectCall,
    }
}

/// Whether the first operand is an address in the code: with a segment if the branch is a far one.
fn is_direct(decoded: &Decoded) -> bool {
    target(decoded).is_some() || matches!(decoded.op0_kind(), OpKind::FarBranch16 | OpKind::FarBranch32)
}

fn target(decoded: &Decoded) -> Option<u64> {
    let is_near =
        matches!(decoded.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    is_near.then(|| decoded.near_branch_target())
}
