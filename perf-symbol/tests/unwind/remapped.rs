//! Code that a program moved to memory over the mapping of its file: unwound by the tables of the file, by assumption.

use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::abi::regs::Arch;
use perf_symbol::Guess;
use perf_symbol::unwind::{FrameSource, StackEnd, Unwinder};
use testdata::elf::{Elf, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

use crate::{
    BP, EM_AARCH64, EXEC, READ, SP, code, place, program, sample, set, sources, unwind_on, unwind_with,
};

/// `CALL *%rax`.
const INDIRECT: [u8; 2] = [0xff, 0xd0];

/// A program with a function that has 16 bytes of stack, and the end of a call at 0x208 and at 0xf08.
fn calling() -> Elf {
    let functions = [(0x100, 0x10, vec![(0, Cfi::CfaOffset(16))]), (0x200, 0x10, vec![])];
    program(&functions).code(0x206, &INDIRECT).code(0xf06, &INDIRECT)
}

/// A sample in memory that is laid over its file.
fn remapped(stack: &[u64]) -> StackSample {
    let mut it = sample(0x108, stack);
    it.mappings.push((code(0), 0x1000, 0, READ | EXEC, "//anon"));
    it
}

fn places(sample: &StackSample, elf: &Elf) -> (Vec<u64>, StackEnd) {
    let (frames, unwound) = unwind_on(Arch::X86, sample, elf);
    (frames.iter().map(|frame| place(frame.ip)).collect(), unwound.end)
}

#[test]
fn the_tables_of_the_file() {
    let (frames, unwound) = unwind_on(Arch::X86, &remapped(&[7, code(0x208), code(0xf08)]), &calling());
    assert_eq!(frames.iter().map(|frame| place(frame.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
    let sources = sources(&frames);
    assert_eq!(sources, [FrameSource::Registers, FrameSource::RemappedCfi, FrameSource::RemappedCfi]);
    assert_eq!(sources[1].guess(), Some(Guess::Remapped));
    // 0xf08 has no caller, if it is the code of the file.
    assert_eq!((unwound.end, unwound.guessed), (StackEnd::NoUnwindInfo, true));
    let only = places(&sample(0xf10, &[]), &calling());
    assert_eq!(only, (vec![0xf10], StackEnd::Rooted));
    let mut it = remapped(&[]);
    set(&mut it, crate::IP, code(0xf10));
    assert_eq!(places(&it, &calling()), (vec![0xf10], StackEnd::NoUnwindInfo));
    assert_eq!(places(&remapped(&[7]), &calling()), (vec![0x108], StackEnd::Truncated));
}

/// A part of the code moved; the rest is that of the file, and no guess.
#[test]
fn a_part_of_the_code() {
    let elf = calling();
    let mut it = remapped(&[7, code(0x208), code(0xf08)]);
    it.mappings = vec![
        (code(0) - 0x1000, 0x2000, TEXT_OFFSET - 0x1000, READ | EXEC, "/x"),
        (code(0) - 0x1000, 0x1000, 0, READ | EXEC, "//anon"),
    ];
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(sources(&frames), [FrameSource::Registers, FrameSource::Cfi, FrameSource::Cfi]);
    assert_eq!(unwound.end, StackEnd::Rooted);
}

/// Another program may have generated code at the addresses of a file that is no longer mapped.
#[test]
fn other_code() {
    let elf = calling();
    // What the tables lead to is after no call; the frame pointer leads to a call.
    let mut it = remapped(&[7, code(0x308), SP + 48, code(0x208), 0, 0, 0, 0]);
    set(&mut it, BP, SP + 16);
    let (frames, _) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(sources(&frames)[..2], [FrameSource::Registers, FrameSource::FramePointer]);
    assert_eq!(place(frames[1].ip), 0x208);
    // Memory that is longer than the code, and a file that is not available.
    let mut it = remapped(&[7, code(0x208), code(0xf08)]);
    it.mappings =
        vec![(code(0), 0x8000, TEXT_OFFSET, READ | EXEC, "/x"), (code(0), 0x8000, 0, READ | EXEC, "//anon")];
    assert_eq!(places(&it, &elf).0, [0x108]);
    let it = remapped(&[7, code(0x208), code(0xf08)]);
    assert_eq!(unwind_with(&mut Unwinder::new(Arch::X86), &it, None).0.len(), 1);
}

/// Kernels of arm64 may have pages of 64 KiB: a mapping then has more than the segment at its end.
#[test]
fn large_pages_of_the_kernel() {
    let elf = Elf::new(EM_AARCH64, true).code(0x204, &BLR);
    let unwind = |address: u64, size: u64| {
        let mut it = sample(0x108, &[0; 8]);
        let pc = address + TEXT_OFFSET + 0x108;
        it.mappings = vec![(address, size, 0, READ | EXEC, "/x"), (address, size, 0, READ | EXEC, "//anon")];
        // The link register leads to what is after a call, if the bytes are known.
        it.regs = vec![(29, 0), (30, pc + 0x100), (31, SP), (32, pc)];
        unwind_on(Arch::Arm64, &it, &elf).0.len()
    };
    assert_eq!(unwind(0x7000_0001_0000, 0x1_0000), 2);
    // Pages of 4 KiB, by the bounds.
    assert_eq!(unwind(0x7000_0001_1000, 0x1_0000), 1);
}

/// `BLR x1`.
const BLR: [u8; 4] = 0xd63f_0020_u32.to_le_bytes();
