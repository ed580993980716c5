//! Branches of T32 and its instructions with addresses.

use super::super::Flow;
use super::super::branch::{Branch, signed};

const SP: u32 = 13;
const LR: u32 = 14;

/// Returns the size of the first instruction, by its first 16 bits.
pub(super) fn size(code: &[u8]) -> u8 {
    let first = code.first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
    if first >= 0xe800 { 4 } else { 2 }
}

/// Returns the flow of an instruction and the addresses in its bits.
pub(super) fn of(code: &[u8], address: u64) -> Option<Branch> {
    let first = u16::from_le_bytes(*code.first_chunk()?);
    // The program counter is 4 bytes ahead.
    let pc = address.wrapping_add(4);
    if size(code) == 2 {
        return Some(narrow(first.into(), pc));
    }
    let second = u16::from_le_bytes(*code.get(2..)?.first_chunk()?);
    Some(wide(u32::from(first) << 16 | u32::from(second), pc))
}

/// An instruction of 16 bits.
fn narrow(word: u32, pc: u64) -> Branch {
    let to = |offset: i64| pc.wrapping_add_signed(offset);
    // cbz, cbnz: only ahead
    if word & 0xf500 == 0xb100 {
        let offset = word >> 3 & 0x40 | word >> 2 & 0x3e;
        return Branch::to(Flow::ConditionalJump, pc.wrapping_add(offset.into()));
    }
    // ldr of a literal, adr
    if matches!(word & 0xf800, 0x4800 | 0xa000) {
        return Branch::of_data((pc & !3).wrapping_add(u64::from(word & 0xff) * 4));
    }
    let register = word >> 3 & 0xf;
    let flow = match word & 0xff00 {
        // udf, svc; bkpt
        0xde00 | 0xdf00 | 0xbe00 => Flow::Interrupt,
        0xd000..0xde00 => return Branch::to(Flow::ConditionalJump, to(signed(word, 8) * 2)),
        0xe000..0xe800 => return Branch::to(Flow::Jump, to(signed(word, 11) * 2)),
        0x4700 if word & 0x80 != 0 => Flow::IndirectCall,
        // bx lr
        0x4700 if register == LR => Flow::Return,
        0x4700 => Flow::IndirectJump,
        // pop {pc}
        0xbd00 => Flow::Return,
        // hlt
        0xba00 if word & 0xc0 == 0x80 => Flow::Interrupt,
        // mov pc, lr
        0x4600 if word & 0x87 == 0x87 && register == LR => Flow::Return,
        // add and mov to pc
        0x4400 | 0x4600 if word & 0x87 == 0x87 => Flow::IndirectJump,
        _ => Flow::Next,
    };
    Branch::without_target(flow)
}

/// An instruction of 32 bits.
fn wide(word: u32, pc: u64) -> Branch {
    // blx goes to A32, whose addresses are multiples of 4.
    match word & 0xf800_d000 {
        0xf000_9000 => return Branch::to(Flow::Jump, pc.wrapping_add_signed(far(word))),
        0xf000_d000 => return Branch::to(Flow::Call, pc.wrapping_add_signed(far(word))),
        0xf000_c000 if word & 1 == 0 => {
            return Branch::to(Flow::Call, (pc & !3).wrapping_add_signed(far(word)));
        }
        // The conditions 14 and 15 are other instructions.
        0xf000_8000 if word >> 23 & 7 != 7 => {
            return Branch::to(Flow::ConditionalJump, pc.wrapping_add_signed(near(word)));
        }
        _ => {}
    }
    let flow = indirect(word);
    // ldr, ldrb, ldrh, ldrsb and ldrsh of a literal
    if flow == Flow::Next && word & 0xfe1f_0000 == 0xf81f_0000 && word >> 12 & 0xf != 15 {
        let offset = i64::from(word & 0xfff);
        let is_after = word >> 23 & 1 == 1;
        return Branch::of_data((pc & !3).wrapping_add_signed(if is_after { offset } else { -offset }));
    }
    Branch::without_target(flow)
}

/// Returns the offset of a branch without a condition.
fn far(word: u32) -> i64 {
    let sign = word >> 26 & 1;
    let bit = |place: u32| (word >> place & 1 ^ sign ^ 1) & 1;
    let offset = sign << 23 | bit(13) << 22 | bit(11) << 21 | (word >> 16 & 0x3ff) << 11 | word & 0x7ff;
    signed(offset, 24) * 2
}

/// Returns the offset of a branch with a condition.
fn near(word: u32) -> i64 {
    let bit = |place: u32| word >> place & 1;
    let offset = bit(26) << 19 | bit(11) << 18 | bit(13) << 17 | (word >> 16 & 0x3f) << 11 | word & 0x7ff;
    signed(offset, 20) * 2
}

fn indirect(word: u32) -> Flow {
    let is_of_stack = word >> 16 & 0xf == SP;
    // tbb, tbh
    if word & 0xfff0_ffe0 == 0xe8d0_f000 {
        return Flow::IndirectJump;
    }
    // rfe
    if matches!(word & 0xffd0_ffff, 0xe810_c000 | 0xe990_c000) {
        return Flow::Return;
    }
    // ldm: pop is one
    if matches!(word & 0xffd0_8000, 0xe890_8000 | 0xe910_8000) {
        return if is_of_stack { Flow::Return } else { Flow::IndirectJump };
    }
    // ldr to pc
    if word & 0xff70_f000 == 0xf850_f000 {
        let is_pop = word == 0xf85d_fb04;
        return if is_pop { Flow::Return } else { Flow::IndirectJump };
    }
    match word & 0xfff0_f000 {
        // bxj
        0xf3c0_8000 => Flow::IndirectJump,
        // subs pc, lr; eret
        0xf3d0_8000 => Flow::Return,
        // hvc, smc, udf
        0xf7e0_8000 | 0xf7f0_8000 | 0xf7f0_a000 => Flow::Interrupt,
        _ => Flow::Next,
    }
}
