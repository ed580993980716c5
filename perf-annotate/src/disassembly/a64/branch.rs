//! Branches of A64 and its instructions with addresses.

use super::super::Flow;
use super::super::branch::{Branch, signed};

/// Returns the flow of an instruction and the addresses in its bits.
pub(super) fn of(word: u32, address: u64) -> Branch {
    let to = |offset: i64| address.wrapping_add_signed(offset);
    if word & 0x7c00_0000 == 0x1400_0000 {
        // b, bl
        let flow = if word >> 31 == 1 { Flow::Call } else { Flow::Jump };
        return Branch::to(flow, to(signed(word, 26) * 4));
    }
    // b.cond, bc.cond, cbz, cbnz
    if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 {
        return Branch::to(Flow::ConditionalJump, to(signed(word >> 5, 19) * 4));
    }
    // tbz, tbnz
    if word & 0x7e00_0000 == 0x3600_0000 {
        return Branch::to(Flow::ConditionalJump, to(signed(word >> 5, 14) * 4));
    }
    // ldr, ldrsw and prfm of a literal
    if word & 0x3b00_0000 == 0x1800_0000 {
        return Branch::of_data(to(signed(word >> 5, 19) * 4));
    }
    if word & 0x1f00_0000 == 0x1000_0000 {
        // adr, adrp
        let offset = signed(word >> 3 & !3 | word >> 29 & 3, 21);
        let is_page = word >> 31 == 1;
        let data = if is_page { (address & !0xfff).wrapping_add_signed(offset << 12) } else { to(offset) };
        return Branch::of_data(data);
    }
    Branch::without_target(indirect(word))
}

fn indirect(word: u32) -> Flow {
    if word & 0xfe00_0000 == 0xd600_0000 {
        // With authentication of the pointer, bit 24 is set too.
        return match word >> 21 & 0xf {
            0 | 8 => Flow::IndirectJump,
            1 | 9 => Flow::IndirectCall,
            // ret, eret, drps
            2 | 4 | 5 => Flow::Return,
            _ => Flow::Next,
        };
    }
    // svc, hvc, smc, brk, hlt, dcps; udf
    let is_trap = word & 0xff00_0000 == 0xd400_0000 || word >> 16 == 0;
    if is_trap { Flow::Interrupt } else { Flow::Next }
}
