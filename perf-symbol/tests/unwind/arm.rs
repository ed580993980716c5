//! arm64, and 32-bit Arm.

use gimli::AArch64 as A;
use gimli::write::{CallFrameInstruction as Cfi, DebugFrame, EndianVec};
use perf_parse::abi::regs::Arch;
use perf_symbol::unwind::{FrameSource, StackEnd};
use testdata::Bytes;
use testdata::elf::Elf;

use crate::{
    EM_AARCH64, EM_ARM, EXEC, READ, SP, Tables, X86_64, code, place, sample, set, sources, unwind_on,
};

pub(crate) const AARCH64: Tables = Tables { return_address: A::X30, ..X86_64 };

/// A leaf, a function with a frame, and a root.
fn functions() -> Vec<crate::Function> {
    vec![
        (0x100, 0x10, vec![]),
        (
            0x200,
            0x40,
            vec![(4, Cfi::CfaOffset(32)), (4, Cfi::Offset(A::X29, -32)), (4, Cfi::Offset(A::X30, -24))],
        ),
        (0xf00, 0x10, vec![(0, Cfi::Undefined(A::X30))]),
    ]
}

fn file(tables: Tables) -> Elf {
    let mut elf =
        Elf::new(EM_AARCH64, true).section(".eh_frame", tables.eh_frame(&[Cfi::Cfa(A::SP, 0)], &functions()));
    elf.big = tables.big;
    elf
}

#[test]
fn link_registers_and_frames() {
    for big in [false, true] {
        let elf = file(Tables { big, ..AARCH64 });
        let mut it = sample(0x108, &[]);
        it.big = big;
        it.stack = Bytes::new(big).u64s(&[1, code(0xf08), 2, 3]).out;
        it.regs = vec![(29, 5), (30, code(0x208)), (31, SP), (32, code(0x108))];
        let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
        assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0xf08], "{big}");
        assert_eq!(unwound.end, StackEnd::Rooted);

        // A function that did not save the link register cannot have called one.
        set(&mut it, 30, code(0x108));
        let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
        assert_eq!((frames.len(), unwound.end), (2, StackEnd::NoUnwindInfo));
    }
}

/// A signature in the upper bits of a return address (pointer authentication).
#[test]
fn signed_return_addresses() {
    let mut functions = functions();
    functions[1].2.insert(0, (0, Cfi::NegateRaState));
    let elf =
        Elf::new(EM_AARCH64, true).section(".eh_frame", AARCH64.eh_frame(&[Cfi::Cfa(A::SP, 0)], &functions));
    let signed = 0x0055_0000_0000_0000;
    let mut it = sample(0x108, &[1, code(0xf08) | signed, 2, 3]);
    it.regs = vec![(29, 5), (30, code(0x208) | signed), (31, SP), (32, code(0x108))];
    let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
    assert_eq!(unwound.end, StackEnd::Rooted);
}

/// Return addresses that are signed with key B: the letter B in the entry that functions share.
#[test]
fn signed_with_key_b() {
    let tables = Tables { is_signal: true, ..AARCH64 };
    let mut eh_frame = tables.eh_frame(&[Cfi::Cfa(A::SP, 0)], &functions());
    // Written as a signal trampoline.
    let letters = eh_frame.iter().position(|&byte| byte == b'S').unwrap();
    eh_frame[letters] = b'B';
    let elf = Elf::new(EM_AARCH64, true).section(".eh_frame", eh_frame);
    let mut it = sample(0x108, &[1, code(0xf08), 2, 3]);
    it.regs = vec![(29, 5), (30, code(0x208)), (31, SP), (32, code(0x108))];
    let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
    assert_eq!(sources(&frames)[1..], [FrameSource::Cfi, FrameSource::Cfi]);
    assert_eq!(unwound.end, StackEnd::Rooted);
}

#[test]
fn guesses_by_frame_records() {
    // bl 0x100, and blr x3.
    let elf = Elf::new(EM_AARCH64, true).code(0x204, &0x97ff_ffbf_u32.to_le_bytes());
    let elf = elf.code(0x304, &0xd63f_0060_u32.to_le_bytes());
    let mut it = sample(0x108, &[7, SP + 32, code(0x208), 0, 0, code(0x308)]);
    it.regs = vec![(29, SP + 8), (30, 7), (31, SP), (32, code(0x108))];
    let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0x308]);
    assert!(unwound.guessed);
    assert_eq!(unwound.end, StackEnd::NoUnwindInfo);
}

/// A 32-bit task, on a 32-bit kernel and on a 64-bit one. Programs of Arm have `.debug_frame`.
#[test]
fn arm_32() {
    let tables = Tables { address_size: 4, data_alignment: -4, return_address: gimli::Arm::R14, ..X86_64 };
    let functions = vec![
        (0x100, 0x10, vec![]),
        (
            0x200,
            0x10,
            vec![
                (0, Cfi::CfaOffset(8)),
                (0, Cfi::Offset(gimli::Arm::R14, -4)),
                (0, Cfi::Offset(gimli::Arm::R4, -8)),
            ],
        ),
        (0xf00, 0x10, vec![(0, Cfi::Undefined(gimli::Arm::R14))]),
    ];
    let mut section = DebugFrame::from(EndianVec::new(gimli::RunTimeEndian::Little));
    tables.table(&[Cfi::Cfa(gimli::Arm::R13, 0)], &functions).write_debug_frame(&mut section).unwrap();
    let elf = Elf::new(EM_ARM, false).section(".debug_frame", section.0.into_vec());
    let base = 0x1_0000;
    let text = base + testdata::elf::TEXT;
    let mut it = sample(0, &[]);
    it.abi = 1;
    it.mappings = vec![(text, 0x1000, testdata::elf::TEXT_OFFSET, READ | EXEC, "/x")];
    it.stack = Bytes::new(false).u32(4).u32((text + 0xf08) as u32).out;
    it.regs = vec![(13, 0xf000_0000), (14, text + 0x208), (15, text + 0x108)];
    for arch in [Arch::Arm, Arch::Arm64] {
        let (frames, unwound) = unwind_on(arch, &it, &elf);
        assert_eq!(frames.iter().map(|it| it.ip - text).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
        assert_eq!(unwound.end, StackEnd::Rooted);
    }
}

const BASE: u64 = 0x1_0000;
const ARM_TEXT: u64 = BASE + testdata::elf::TEXT;

/// A file with `.ARM.exidx` alone. The function at 0x100 saves nothing, that at 0x200 is called at 0x300 and calls it, and has
/// `content` as the second word of its entry: of the first word of `.ARM.extab` if it is 0. The program starts at 0xf00.
fn with_exidx(content: u32, extab: &[u32]) -> Elf {
    let extab_at = testdata::elf::SECTIONS;
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>();
    let mut elf = Elf::new(EM_ARM, false).section(".ARM.extab", words(extab));
    let at = elf.next();
    let distance = |from: u64, to: u64| (to.wrapping_sub(from) as u32) & 0x7fff_ffff;
    let mut index = Vec::new();
    for (function, content) in [(0x100, 0x80b0_b0b0), (0x200, content), (0x300, 1), (0xf00, 1)] {
        let place = at + 4 * index.len() as u64;
        index.push(distance(place, testdata::elf::TEXT + function));
        index.push(if content == 0 { distance(place + 4, extab_at) } else { content });
    }
    elf = elf.section(".ARM.exidx", words(&index));
    elf.entry = testdata::elf::TEXT + 0xf00;
    // bl 0x100, bl 0x200
    elf.code(0x204, &0xebff_ffbd_u32.to_le_bytes()).code(0x304, &0xebff_ffbd_u32.to_le_bytes())
}

/// Unwinds from an address, with a link register and a stack. Returns the places of the frames, how they were found, and the
/// end of the stack.
fn by_exidx(elf: &Elf, pc: u64, link: u64, stack: &[u64]) -> (Vec<u64>, Vec<FrameSource>, StackEnd) {
    let mut it = sample(0, &[]);
    it.abi = 1;
    it.mappings = vec![(ARM_TEXT, 0x1000, testdata::elf::TEXT_OFFSET, READ | EXEC, "/x")];
    it.stack = stack.iter().flat_map(|&word| (word as u32).to_le_bytes()).collect();
    let sp = 0xf000_0000;
    it.regs = vec![(7, sp + 8), (13, sp), (14, ARM_TEXT + link), (15, ARM_TEXT + pc)];
    let (frames, unwound) = unwind_on(Arch::Arm, &it, elf);
    (frames.iter().map(|it| it.ip - ARM_TEXT).collect(), sources(&frames), unwound.end)
}

const AT_ENTRY: u64 = ARM_TEXT + 0xf08;

#[test]
fn exception_tables_of_arm() {
    let of = |content: u32, extab: &[u32], stack: &[u64]| {
        let (frames, sources, end) = by_exidx(&with_exidx(content, extab), 0x108, 0x208, stack);
        assert_eq!((frames, end), (vec![0x108, 0x208, 0xf08], StackEnd::Rooted), "{content:x} {extab:x?}");
        assert_eq!(sources[1..], [FrameSource::Cfi, FrameSource::Cfi]);
    };
    // pop {r4, lr}
    of(0x80a8_b0b0, &[], &[4, AT_ENTRY]);
    // vsp += 8; pop {r4, r5, lr}
    of(0x8001_a9b0, &[], &[0, 0, 4, 5, AT_ENTRY]);
    // vsp += 16; vsp -= 8; pop {lr} by a mask
    of(0, &[0x8101_0341, 0x8400_b0b0], &[0, 0, AT_ENTRY]);
    // The virtual stack pointer is r7, which is two words above; vsp += 4; pop {r4, r5, pc}
    of(0, &[0x8101_9700, 0x8803_b0b0], &[0, 0, 0, 4, 5, AT_ENTRY]);
    // d8 with VPUSH, d8 and d9 with VPUSH, d8 with FSTMFDX, r0 and r1; pop {lr}
    of(0, &[0x8102_c980, 0xd1b8_b103, 0x8400_b0b0], &[[0; 11].as_slice(), &[AT_ENTRY]].concat());
    // vsp += 0x204 + 4; pop {lr}, in the generic model
    of(0, &[0x1000, 0x01b2_0184, 0x00b0_b0b0], &[[0; 130].as_slice(), &[AT_ENTRY]].concat());
    // d0 with FSTMFDX, the code of a signature, wR10, wCGR0; pop {lr}
    of(0, &[0x8102_b300, 0xb4c0_c701, 0x8400_b0b0], &[[0; 7].as_slice(), &[AT_ENTRY]].concat());
}

#[test]
fn exception_tables_that_do_not_lead_on() {
    let of = |content: u32, extab: &[u32]| {
        let (frames, _, end) = by_exidx(&with_exidx(content, extab), 0x108, 0x208, &[4, AT_ENTRY, 0, 0]);
        assert_eq!(frames, [0x108, 0x208], "{content:x} {extab:x?}");
        end
    };
    // No unwinding, in a table and in the index; pop {r4} before the virtual stack pointer is r11; pop {sp}
    for content in [0x8080_0000, 1, 0x80a0_9bb0, 0x8082_00b0] {
        assert_eq!(of(content, &[]), StackEnd::NoUnwindInfo, "{content:x}");
    }
    // Reserved instructions, a routine that is reserved, and a number that is cut.
    for content in [
        0x809d_b0b0,
        0x80b1_00b0,
        0x80b1_10b0,
        0x80b5_b0b0,
        0x80c7_00b0,
        0x80ca_b0b0,
        0x80d8_b0b0,
        0x80e0_b0b0,
        0x8300_0000,
        0x80b2_8080,
    ] {
        assert_eq!(of(content, &[]), StackEnd::Garbage, "{content:x}");
    }
    // Where the file has nothing.
    assert_eq!(of(0x3fff_fff0, &[]), StackEnd::Garbage);
}

/// In its prologue, a function has saved nothing yet, and the link register has the return address.
#[test]
fn exception_tables_hold_at_calls_alone() {
    let elf = with_exidx(0x80a8_b0b0, &[]);
    // What is on the stack was left by another function.
    let (frames, sources, _) = by_exidx(&elf, 0x200, 0x308, &[4, ARM_TEXT + 0x208]);
    assert_eq!(frames, [0x200, 0x308]);
    assert_eq!(sources[1..], [FrameSource::FramePointer]);
    // After it, the stack has it.
    let (frames, sources, _) = by_exidx(&elf, 0x208, 0x208, &[4, ARM_TEXT + 0x308]);
    assert_eq!(frames, [0x208, 0x308]);
    assert_eq!(sources[1..], [FrameSource::Cfi]);
    // What is no return address is none.
    let (frames, _, end) = by_exidx(&elf, 0x208, 0x210, &[4, ARM_TEXT + 0x400]);
    assert_eq!((frames, end), (vec![0x208], StackEnd::NoUnwindInfo));
}
