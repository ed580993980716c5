//! Code without unwind information: its callers are guesses, each with a call before its address.

use perf_parse::abi::regs::Arch;
use perf_symbol::Guess;
use perf_symbol::unwind::{FrameSource, StackEnd, Unwinder};
use testdata::elf::{Elf, FUNCTION, IFUNC, TEXT};
use testdata::stack_sample::StackSample;

use crate::{
    BP, EM_AARCH64, EM_ARM, EM_X86_64, EXEC, READ, SP, code, place, program, sample, set, sources, unwind_on,
    unwind_with,
};

/// `CALL` of a place in `.text`, to be put before the return address.
fn call(return_to: u64, target: u64) -> (usize, Vec<u8>) {
    let distance = target.wrapping_sub(return_to) as u32;
    (return_to as usize - 5, [&[0xe8][..], &distance.to_le_bytes()].concat())
}

/// `CALL *%rax`.
const INDIRECT: [u8; 2] = [0xff, 0xd0];

/// A program without tables, with direct calls: where each returns to, and its target.
fn calling(calls: &[(u64, u64)]) -> Elf {
    calls
        .iter()
        .map(|&(return_to, target)| call(return_to, target))
        .fold(Elf::new(EM_X86_64, true), |elf, (at, bytes)| elf.code(at, &bytes))
}

fn places(sample: &StackSample, elf: &Elf) -> (Vec<u64>, StackEnd) {
    let (frames, unwound) = unwind_on(Arch::X86, sample, elf);
    (frames.iter().map(|frame| place(frame.ip)).collect(), unwound.end)
}

/// A sample at 0x108, whose frame pointer leads to the return address 0x208.
fn framed() -> StackSample {
    let mut it = sample(0x108, &[7, 0, code(0x208), 0, 0, 0]);
    set(&mut it, BP, SP + 8);
    it
}

#[test]
fn frame_pointers_lead_to_callers() {
    let (at, bytes) = call(0x208, 0x100);
    let (at_root, of_root) = call(0xf08, 0x200);
    let elf = program(&[]).code(at, &bytes).code(at_root, &of_root);
    let mut it = sample(0x108, &[7, SP + 32, code(0x208), 0, 0, code(0xf08)]);
    set(&mut it, BP, SP + 8);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(frames.iter().map(|frame| place(frame.ip)).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
    assert_eq!(
        sources(&frames),
        [FrameSource::Registers, FrameSource::FramePointer, FrameSource::FramePointer]
    );
    let guesses: Vec<_> = frames.iter().map(|frame| frame.source.guess()).collect();
    assert_eq!(guesses, [None, Some(Guess::Scanned), Some(Guess::Scanned)]);
    assert!(unwound.guessed);
    // A stack with a guess is not known to be complete, although 0xf08 has no caller.
    assert_eq!(unwound.end, StackEnd::NoUnwindInfo);

    // The frame that the pointer leads to was not copied.
    let mut it = sample(0x108, &[7, SP + 64, code(0x208), 0, 0, 0]);
    set(&mut it, BP, SP + 8);
    assert_eq!(places(&it, &elf), (vec![0x108, 0x208], StackEnd::Truncated));
    // A frame pointer to what is no code.
    let mut it = sample(0x108, &[7, SP + 64, 0x1234, 0, 0, 0]);
    set(&mut it, BP, SP + 8);
    assert_eq!(places(&it, &elf), (vec![0x108], StackEnd::NoUnwindInfo));
}

/// A frame pointer of zero and a return address of zero are no evidence of a root.
#[test]
fn zeros_are_no_roots() {
    let elf = calling(&[(0x208, 0x100)]);
    let mut it = sample(0x108, &[7, 0, 0, 0]);
    set(&mut it, BP, SP + 8);
    assert_eq!(places(&it, &elf), (vec![0x108], StackEnd::NoUnwindInfo));
    assert_eq!(places(&framed(), &elf), (vec![0x108, 0x208], StackEnd::NoUnwindInfo));
}

/// No call is before the address, or one of another function: the caller's callee jumped to this one.
#[test]
fn calls_of_others_end_stacks() {
    let end = (vec![0x108], StackEnd::NoUnwindInfo);
    assert_eq!(places(&framed(), &calling(&[])), end);
    let mut elf = calling(&[(0x208, 0x300)]);
    assert_eq!(places(&framed(), &elf), end);
    // With symbols, the call has to be of the same function.
    elf = calling(&[(0x208, 0xf0)]);
    elf.functions = vec![("before", 0x80, 0x80), ("leaf", 0x100, 0x100), ("caller", 0x200, 0x100)];
    assert_eq!(places(&framed(), &elf), end);
    let (at, bytes) = call(0x208, 0x100);
    assert_eq!(places(&framed(), &elf.code(at, &bytes)).0, [0x108, 0x208]);
}

#[test]
fn indirect_calls_may_be_of_any_function() {
    let elf = calling(&[]).code(0x206, &INDIRECT);
    assert_eq!(places(&framed(), &elf).0, [0x108, 0x208]);
    // Bytes that are also a direct call of other code of the program are taken for that.
    let (at, bytes) = call(0x208, 0x300);
    let both = calling(&[]).code(at, &bytes).code(0x206, &[0xff, 0xff]);
    assert_eq!(places(&framed(), &both).0, [0x108]);
}

#[test]
fn functions_that_just_began() {
    let elf = calling(&[(0x208, 0x100)]);
    let mut it = sample(0x108, &[code(0x208)]);
    assert_eq!(places(&it, &elf).0, [0x108, 0x208]);
    // No call is before the address.
    it.stack[..8].copy_from_slice(&code(0x308).to_le_bytes());
    assert_eq!(places(&it, &elf).0, [0x108]);

    // The frame pointer is still that of the caller, and leads to the caller's caller.
    let with_frame = |elf: Elf| {
        let mut it = sample(0x108, &[code(0x208), 7, 0, code(0x408)]);
        set(&mut it, BP, SP + 16);
        places(&it, &elf).0
    };
    assert_eq!(with_frame(calling(&[(0x208, 0x100), (0x408, 0x200)])), [0x108, 0x208, 0x408]);
    // A direct call is better evidence than an indirect one.
    assert_eq!(with_frame(calling(&[(0x208, 0x100)]).code(0x406, &INDIRECT)), [0x108, 0x208, 0x408]);
    assert_eq!(with_frame(calling(&[(0x408, 0x100)]).code(0x206, &INDIRECT)), [0x108, 0x408]);
    // Two that are equal: either may be the caller.
    assert_eq!(with_frame(calling(&[(0x208, 0x100), (0x408, 0x100)])), [0x108]);
    assert_eq!(with_frame(calling(&[]).code(0x206, &INDIRECT).code(0x406, &INDIRECT)), [0x108]);
}

#[test]
fn calls_by_the_plt() {
    // At 0x600 is `write`, and `copy` chooses another function.
    let exports =
        [("write", FUNCTION, 0x100, 0x80), ("copy", IFUNC, 0x600, 0x10), ("other", FUNCTION, 0x400, 0x80)];
    let linked = |stub: u64| {
        let elf = calling(&[]).linked(&["write", "copy", "other"], &exports);
        let target = elf.address_of(".plt") + 16 * (stub + 1);
        let (at, bytes) = call(0x208, target.wrapping_sub(TEXT));
        elf.code(at, &bytes)
    };
    assert_eq!(places(&framed(), &linked(0)).0, [0x108, 0x208]);
    assert_eq!(places(&framed(), &linked(1)).0, [0x108, 0x208]);
    assert_eq!(places(&framed(), &linked(2)).0, [0x108]);
    // No stub.
    assert_eq!(places(&framed(), &linked(3)).0, [0x108]);
}

/// Code of a just-in-time compiler, or of a file that is not available: the frame of the caller has to be there as well.
#[test]
fn code_without_bytes() {
    let unwind = |stack: &[u64], fp: u64| {
        let mut it = sample(0x108, stack);
        set(&mut it, BP, fp);
        let (frames, unwound) = unwind_with(&mut Unwinder::new(Arch::X86), &it, None);
        (frames.iter().map(|frame| place(frame.ip)).collect::<Vec<_>>(), unwound.unwrap().end)
    };
    let frames = [7, SP + 32, code(0x208), 0, SP + 48, code(0xf08), 0, 0];
    assert_eq!(unwind(&frames, SP + 8), (vec![0x108, 0x208, 0xf08], StackEnd::NoUnwindInfo));
    // The next frame is before this one, or far away.
    assert_eq!(unwind(&[7, SP, code(0x208), 0], SP + 8).0, [0x108]);
    assert_eq!(unwind(&[7, SP + (2 << 20), code(0x208), 0], SP + 8).0, [0x108]);
    // A word at the stack pointer is no evidence.
    assert_eq!(unwind(&[code(0x208), 7], 3).0, [0x108]);
    // Anonymous memory beside a file whose code calls nothing.
    let elf = calling(&[]);
    let mut it = framed();
    it.mappings.push((0x5000, 0x1000, 0, READ | EXEC, "//anon"));
    set(&mut it, crate::IP, 0x5008);
    assert_eq!(places(&it, &elf).0, [0x5008]);
    assert_eq!(places(&it, &elf.code(0x206, &INDIRECT)).0, [0x5008, 0x208]);
}

/// The link register has the return address of a function that has called no other.
#[test]
fn link_registers() {
    let bl = |return_to: u64, target: u64| {
        0x9400_0000 | ((target.wrapping_sub(return_to - 4) / 4) as u32 & 0x3ff_ffff)
    };
    let elf = Elf::new(EM_AARCH64, true).code(0x204, &bl(0x208, 0x100).to_le_bytes());
    let elf = elf.code(0x304, &bl(0x308, 0x200).to_le_bytes());
    let mut it = sample(0x108, &[SP + 48, code(0x308), 0, 0]);
    it.regs = vec![(29, SP), (30, code(0x208)), (31, SP), (32, code(0x108))];
    let unwind = |it: &StackSample, elf: &Elf| {
        let (frames, unwound) = unwind_on(Arch::Arm64, it, elf);
        assert!(unwound.guessed || frames.len() == 1);
        frames.iter().map(|frame| place(frame.ip)).collect::<Vec<_>>()
    };
    assert_eq!(unwind(&it, &elf), [0x108, 0x208, 0x308]);
    // It called another function since.
    it.regs[1].1 = code(0x110);
    assert_eq!(unwind(&it, &elf.code(0x10c, &bl(0x110, 0x400).to_le_bytes())), [0x108]);

    // Thumb code of 32-bit Arm: bl .-0x104
    let elf = Elf::new(EM_ARM, false).code(0x204, &[0xff, 0xf7, 0x7c, 0xff]);
    let mut it = sample(0x108, &[0, 0]);
    it.abi = 1;
    it.mappings = vec![(0x1000_0000, 0x1000, testdata::elf::TEXT_OFFSET, READ | EXEC, "/x")];
    it.regs = vec![(13, 0x7000_1000), (14, 0x1000_0209), (15, 0x1000_0108)];
    let (frames, _) = unwind_on(Arch::Arm, &it, &elf);
    assert_eq!(frames.iter().map(|frame| frame.ip).collect::<Vec<_>>(), [0x1000_0108, 0x1000_0208]);
}
