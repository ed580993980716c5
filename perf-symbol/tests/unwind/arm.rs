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
