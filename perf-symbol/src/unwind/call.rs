//! The call instruction before a return address.

use super::machine::UnwindMachine;

/// The largest number of bytes of a call that is looked at.
pub(crate) const LONGEST: u64 = 8;

/// The calls that the bytes before a return address can be. On x86 they can be read as two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// The target of a direct call.
    pub(crate) direct: Option<u64>,
    /// Whether it can be a call through a register or memory.
    pub(crate) is_indirect: bool,
}

impl Calls {
    /// Returns the calls that end at `pc`, the end of `bytes`. Of 32-bit Arm, the lowest bit of `pc` says that it is Thumb code.
    pub(crate) fn before(machine: UnwindMachine, bytes: &[u8], pc: u64) -> Self {
        let calls = match machine {
            UnwindMachine::X86_64 | UnwindMachine::X86 => of_x86(bytes, pc),
            UnwindMachine::Aarch64 => of_aarch64(bytes, pc),
            UnwindMachine::Arm if pc & 1 == 1 => of_thumb(bytes, pc.wrapping_sub(1)),
            UnwindMachine::Arm => of_arm(bytes, pc),
        };
        Self { direct: calls.direct.map(|target| target & machine.address_mask()), ..calls }
    }

    fn direct(pc: u64, distance: i64) -> Self {
        Self { direct: Some(pc.wrapping_add_signed(distance)), is_indirect: false }
    }

    fn indirect(is_indirect: bool) -> Self {
        Self { direct: None, is_indirect }
    }
}

/// `CALL rel32` and `CALL r/m`.
///
/// Intel's Software Developer's Manual, volume 2, "CALL", "Instruction Format".
fn of_x86(bytes: &[u8], pc: u64) -> Calls {
    let direct = match bytes.last_chunk::<5>() {
        Some([0xe8, distance @ ..]) => Some(pc.wrapping_add_signed(i32::from_le_bytes(*distance).into())),
        _ => None,
    };
    let is_indirect = (2..=7_usize).any(|length| {
        let start = bytes.len().checked_sub(length);
        match start.and_then(|start| bytes.get(start..)) {
            Some([0xff, mod_rm, rest @ ..]) => {
                *mod_rm >> 3 & 7 == 2 && length_of_x86(*mod_rm, rest.first().copied()) == length
            }
            _ => false,
        }
    });
    Calls { direct, is_indirect }
}

/// Returns the number of bytes of an instruction of one byte, ModR/M, SIB and displacement.
fn length_of_x86(mod_rm: u8, sib: Option<u8>) -> usize {
    let (mode, rm) = (mod_rm >> 6, mod_rm & 7);
    let has_sib = mode != 3 && rm == 4;
    let has_no_base = if has_sib { sib.is_some_and(|sib| sib & 7 == 5) } else { rm == 5 };
    let displacement: usize = match mode {
        0 if has_no_base => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    displacement.saturating_add(if has_sib { 3 } else { 2 })
}

/// `BL`, `BLR` and those that check a signature. Instructions are little-endian.
///
/// Arm Architecture Reference Manual for A-profile, "Branches, Exception Generating and System instructions".
fn of_aarch64(bytes: &[u8], pc: u64) -> Calls {
    let Some(word) = bytes.last_chunk().map(|word| u32::from_le_bytes(*word)) else {
        return Calls::default();
    };
    if word & 0xfc00_0000 == 0x9400_0000 {
        return Calls::direct(pc.wrapping_sub(4), signed(word, 26, 4));
    }
    // The four of BLRAA are BLR with other bits, and a register that modifies the signature.
    Calls::indirect(word & 0xffff_fc1f == 0xd63f_0000 || word & 0xfeff_f800 == 0xd63f_0800)
}

/// `BL`, `BLX`, and `MOV LR, PC` before an instruction that sets the program counter, as old processors call.
///
/// Arm Architecture Reference Manual, ARMv7-A and ARMv7-R, A8.8.25 and A8.8.26.
fn of_arm(bytes: &[u8], pc: u64) -> Calls {
    const MOV_LR_PC: u32 = 0x01a0_e00f;
    let Some(word) = bytes.last_chunk().map(|word| u32::from_le_bytes(*word)) else {
        return Calls::default();
    };
    let is_unconditional = word >> 28 == 15;
    // The program counter is two instructions ahead of the call, and so one ahead of the return address.
    let ahead = pc.wrapping_add(4);
    if word & 0x0f00_0000 == 0x0b00_0000 && !is_unconditional {
        return Calls::direct(ahead, signed(word, 24, 4));
    }
    if word & 0xfe00_0000 == 0xfa00_0000 {
        let half = i64::from(word >> 24 & 1) << 1;
        return Calls::direct(ahead, signed(word, 24, 4).wrapping_add(half));
    }
    let before = bytes.len().checked_sub(8).and_then(|at| bytes.get(at..)?.first_chunk());
    let sets_link = before.is_some_and(|word| u32::from_le_bytes(*word) & 0x0fff_ffff == MOV_LR_PC);
    let is_jump = word & 0x0fff_fff0 == 0x012f_ff10 || word & 0x0c10_f000 == 0x0410_f000;
    Calls::indirect(!is_unconditional && (word & 0x0fff_fff0 == 0x012f_ff30 || sets_link && is_jump))
}

/// `BL` and `BLX`.
fn of_thumb(bytes: &[u8], pc: u64) -> Calls {
    let half = |from_end: usize| {
        let at = bytes.len().checked_sub(from_end)?;
        Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
    };
    let Some(last) = half(2) else { return Calls::default() };
    if let Some(first) = half(4).filter(|first| first & 0xf800 == 0xf000)
        && last & 0xc000 == 0xc000
    {
        let to_arm = last & 0x1000 == 0;
        let sign = u32::from(first >> 10 & 1);
        let bit = |at: u32| u32::from(last >> at & 1) ^ sign ^ 1;
        let high = sign << 24 | bit(13) << 23 | bit(11) << 22 | u32::from(first & 0x3ff) << 12;
        let distance = signed(high | u32::from(last & 0x7ff) << 1, 25, 1);
        // Arm code is at multiples of 4.
        return Calls::direct(if to_arm { pc & !3 } else { pc }, distance);
    }
    Calls::indirect(last & 0xff87 == 0x4780)
}

/// Returns the lowest `bits` of a word as a signed number of `unit` bytes.
fn signed(word: u32, bits: u32, unit: i64) -> i64 {
    let above = 32_u32.saturating_sub(bits);
    i64::from((word << above).cast_signed() >> above).wrapping_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn direct(target: u64) -> Calls {
        Calls { direct: Some(target), is_indirect: false }
    }

    /// The bytes are those that binutils' assembler makes of the text.
    #[test]
    fn calls_of_x86() {
        let before = |bytes: &[u8]| Calls::before(UnwindMachine::X86_64, bytes, 0x1000);
        assert_eq!(before(&[0xe8, 0xfb, 0xff, 0xff, 0xff]), direct(0xffb)); // call .
        assert_eq!(before(&[0x90, 0xe8, 0, 1, 0, 0]), direct(0x1100));
        let indirect: [&[u8]; 12] = [
            &[0xff, 0xd0],                         // call *%rax
            &[0x41, 0xff, 0xd7],                   // call *%r15
            &[0xff, 0x13],                         // call *(%rbx)
            &[0xff, 0x14, 0x24],                   // call *(%rsp)
            &[0xff, 0x55, 0xf8],                   // call *-8(%rbp)
            &[0xff, 0x54, 0x24, 0x08],             // call *8(%rsp)
            &[0xff, 0x93, 0x00, 0x01, 0x00, 0x00], // call *0x100(%rbx)
            &[0xff, 0x94, 0x24, 0, 1, 0, 0],       // call *0x100(%rsp)
            &[0xff, 0x15, 0xe2, 0x2f, 0, 0],       // call *0x2fe2(%rip)
            &[0xff, 0x14, 0xc5, 0, 0x40, 0x40, 0], // call *0x404000(,%rax,8)
            &[0x3e, 0xff, 0xd2],                   // notrack call *%rdx
            &[0x65, 0xff, 0x15, 0x10, 0, 0, 0],    // call *%gs:0x10, of 32 bits
        ];
        for bytes in indirect {
            assert_eq!(before(bytes), Calls::indirect(true), "{bytes:x?}");
        }
        let others: [&[u8]; 7] = [
            &[],
            &[0xd0],
            &[0xe8, 0, 0, 0],
            &[0xff, 0xe0],       // jmp *%rax
            &[0xff, 0x30],       // push (%rax)
            &[0x48, 0x89, 0xd0], // mov %rdx,%rax
            &[0xff, 0x14],       // cut
        ];
        for bytes in others {
            assert_eq!(before(bytes), Calls::default(), "{bytes:x?}");
        }
        // Two readings.
        let target = 0x1000_u64.wrapping_add_signed(i64::from(0xd0ff_0000_u32.cast_signed()));
        assert_eq!(before(&[0xe8, 0, 0, 0xff, 0xd0]), Calls { direct: Some(target), is_indirect: true });
        // The address space of 32 bits ends.
        assert_eq!(
            Calls::before(UnwindMachine::X86, &[0xe8, 0, 0, 0, 0x80], 0x9000_0000),
            direct(0x1000_0000)
        );
    }

    #[test]
    fn calls_of_arm() {
        let word = |machine, word: u32, pc| Calls::before(machine, &word.to_le_bytes(), pc);
        let a64 = |it| word(UnwindMachine::Aarch64, it, 0x1000);
        assert_eq!(a64(0x9400_0001), direct(0x1000)); // bl .+4
        assert_eq!(a64(0x97ff_ffff), direct(0xff8)); // bl .-4
        for it in [0xd63f_0000, 0xd63f_03c0, 0xd63f_081f, 0xd63f_0c1f, 0xd73f_0801, 0xd73f_0c3e] {
            assert_eq!(a64(it), Calls::indirect(true), "{it:x}"); // blr, blraaz, blrabz, blraa, blrab
        }
        // br x0, ret, b .+4
        for it in [0xd61f_0000, 0xd65f_03c0, 0x1400_0001] {
            assert_eq!(a64(it), Calls::default(), "{it:x}");
        }
        let a32 = |it| word(UnwindMachine::Arm, it, 0x1000);
        assert_eq!(a32(0xebff_fffe), direct(0xffc)); // bl .
        assert_eq!(a32(0x1b00_0000), direct(0x1004)); // blne .+8
        assert_eq!(a32(0xfb00_0000), direct(0x1006)); // blx to Thumb
        assert_eq!(a32(0xe12f_ff33), Calls::indirect(true)); // blx r3
        // b, bx lr, a nop
        for it in [0xea00_0000, 0xe12f_ff1e, 0xe320_f000] {
            assert_eq!(a32(it), Calls::default(), "{it:x}");
        }
        // mov lr, pc; bx r3, and ldr pc, [r3]
        for last in [0xe12f_ff13_u32, 0xe593_f000] {
            let code = [0xe1a0_e00f_u32.to_le_bytes(), last.to_le_bytes()].concat();
            assert_eq!(Calls::before(UnwindMachine::Arm, &code, 0x1000), Calls::indirect(true));
        }
        let thumb = |first: u16, last: u16| {
            let code = [first.to_le_bytes(), last.to_le_bytes()].concat();
            Calls::before(UnwindMachine::Arm, &code, 0x1001)
        };
        assert_eq!(thumb(0xf7ff, 0xfffe), direct(0xffc)); // bl .
        assert_eq!(thumb(0xf000, 0xf880), direct(0x1100)); // bl .+0x104
        assert_eq!(thumb(0xf000, 0xe880), direct(0x1100)); // blx .+0x104
        assert_eq!(thumb(0x46c0, 0x4798), Calls::indirect(true)); // blx r3
        assert_eq!(thumb(0x46c0, 0x4718), Calls::default()); // bx r3
    }
}
