//! Branches of A32 and its instructions with addresses.

use super::super::Flow;
use super::super::branch::{Branch, signed};

const SP: u32 = 13;
const LR: u32 = 14;
const PC: u32 = 15;
/// The condition "always".
const ALWAYS: u32 = 14;
/// In place of a condition: another instruction.
const UNCONDITIONAL: u32 = 15;

/// Returns the flow of an instruction and the addresses in its bits.
pub(super) fn of(word: u32, address: u64) -> Branch {
    // The program counter is two instructions ahead.
    let pc = address.wrapping_add(8);
    let condition = word >> 28;
    if word & 0x0e00_0000 == 0x0a00_0000 {
        let target = pc.wrapping_add_signed(signed(word, 24) * 4);
        let is_call = word >> 24 & 1 == 1;
        return match condition {
            // blx: to T32, whose addresses are multiples of 2. Bit 24 is a part of the offset.
            UNCONDITIONAL => Branch::to(Flow::Call, target.wrapping_add(u64::from(is_call) * 2)),
            _ if is_call => Branch::to(Flow::Call, target),
            ALWAYS => Branch::to(Flow::Jump, target),
            _ => Branch::to(Flow::ConditionalJump, target),
        };
    }
    if condition == UNCONDITIONAL {
        let is_rfe = word & 0x0e50_ffff == 0x0810_0a00;
        return Branch::without_target(if is_rfe { Flow::Return } else { Flow::Next });
    }
    let flow = indirect(word);
    // ldr and ldrb of a literal
    if flow == Flow::Next && word & 0x0f3f_0000 == 0x051f_0000 {
        let offset = i64::from(word & 0xfff);
        let is_after = word >> 23 & 1 == 1;
        return Branch::of_data(pc.wrapping_add_signed(if is_after { offset } else { -offset }));
    }
    Branch::without_target(flow)
}

/// Whether an instruction loads or stores two registers from the last one on: there is no second. The decoder panics on them.
pub(super) fn is_unpredictable_pair(word: u32) -> bool {
    word & 0x0e10_f0d0 == 0x0000_f0d0
}

fn indirect(word: u32) -> Flow {
    match word & 0x0fff_fff0 {
        // bx
        0x012f_ff10 if word & 0xf == LR => return Flow::Return,
        // bx, bxj
        0x012f_ff10 | 0x012f_ff20 => return Flow::IndirectJump,
        // blx
        0x012f_ff30 => return Flow::IndirectCall,
        // eret
        0x0160_0060 if word & 0xf == LR => return Flow::Return,
        _ => {}
    }
    if is_trap(word) {
        return Flow::Interrupt;
    }
    let base = word >> 16 & 0xf;
    let destination = word >> 12 & 0xf;
    // ldm: pop is one
    if word & 0x0e10_8000 == 0x0810_8000 {
        return if base == SP { Flow::Return } else { Flow::IndirectJump };
    }
    if destination != PC {
        return Flow::Next;
    }
    // ldr: of a number of bytes or of a register, which media instructions exclude
    let is_register = word & 0x0200_0000 != 0;
    if word & 0x0c50_0000 == 0x0410_0000 && !(is_register && word & 0x10 != 0) {
        let is_pop = word & 0x0fff_ffff == 0x049d_f004;
        return if is_pop { Flow::Return } else { Flow::IndirectJump };
    }
    computed(word)
}

fn is_trap(word: u32) -> bool {
    // svc
    word & 0x0f00_0000 == 0x0f00_0000
        // bkpt, hvc, smc, udf
        || matches!(word & 0x0ff0_00f0, 0x0120_0070 | 0x0140_0070 | 0x0160_0070 | 0x07f0_00f0)
}

/// Returns the flow of an instruction whose destination is the program counter, if it computes.
fn computed(word: u32) -> Flow {
    let is_immediate = word & 0x0200_0000 != 0;
    // Multiplications, loads and stores of halfwords.
    let is_other = !is_immediate && word & 0x90 == 0x90;
    // Comparisons, and instructions in the place of those that do not set the flags.
    let is_comparison = word >> 23 & 3 == 2;
    if word & 0x0c00_0000 != 0 || is_other || is_comparison {
        return Flow::Next;
    }
    let sets_flags = word & 0x0010_0000 != 0;
    let is_mov_lr = word & 0x0fff_ffff == 0x01a0_f00e;
    if sets_flags || is_mov_lr { Flow::Return } else { Flow::IndirectJump }
}
