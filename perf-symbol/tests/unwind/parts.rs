//! The parts of a stack: a test for each row of the table in the docs of `perf_symbol::unwind`.

use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::regs::Arch;
use perf_symbol::unwind::{FrameSource, StackEnd, Unwinder};
use testdata::elf::Elf;
use testdata::stack_sample::StackSample;

use crate::{EM_X86_64, IP, RSP, SP, code, place, program, sample, sources, unwind_on, unwind_with, words};

const KERNEL: u64 = 0xffff_ffff_8000_0000;

/// A chain of the kernel's frame and of places in `.text`.
fn chain(user: &[u64]) -> Option<Vec<u64>> {
    let user = user.iter().map(|&place| code(place));
    Some([CallchainContext::KERNEL.0, KERNEL, CallchainContext::USER.0].into_iter().chain(user).collect())
}

/// A program with frames of 16 bytes up to 0x200.
fn framed() -> Elf {
    program(&[(0x100, 0x100, vec![(0, Cfi::CfaOffset(16))])])
}

/// A sample in the kernel, with a stack of two frames.
fn whole() -> StackSample {
    let mut it = sample(0x108, &[0, code(0x118), 0, code(0xf08)]);
    it.is_kernel = true;
    it.chain = chain(&[0x108, 0x118, 0xf08]);
    it
}

/// The places of a stack, that of the kernel's frame first.
fn places(sample: &StackSample, elf: &Elf) -> (Vec<u64>, StackEnd) {
    let (frames, unwound) = unwind_on(Arch::X86, sample, elf);
    (frames.iter().map(|frame| place(frame.ip)).collect(), unwound.end)
}

/// Checks that nothing is unwound: the stack is the call chain.
fn is_chain(arch: Arch, sample: &StackSample) {
    let (frames, unwound) = unwind_with(&mut Unwinder::new(arch), sample, Some(&framed().build()));
    assert!(unwound.is_none() && frames.is_empty());
}

#[test]
fn without_registers_or_a_copy_it_is_the_chain() {
    let mut it = whole();
    it.regs = vec![];
    it.abi = 0;
    is_chain(Arch::X86, &it);
    let mut it = whole();
    it.has_stack = false;
    is_chain(Arch::X86, &it);
}

/// What simpleperf writes of stacks that it unwound itself: registers of no ABI beside a chain.
#[test]
fn registers_of_no_abi() {
    let mut it = whole();
    it.abi = 0;
    is_chain(Arch::X86, &it);
    it.stack = vec![];
    is_chain(Arch::X86, &it);
    it.is_kernel = false;
    is_chain(Arch::X86, &it);
    it.chain = None;
    is_chain(Arch::X86, &it);
    // A thread of the kernel.
    it.is_kernel = true;
    it.chain = Some(vec![CallchainContext::KERNEL.0, KERNEL]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL], StackEnd::Rooted));
}

#[test]
fn registers_that_cannot_be_used() {
    // Another machine, and no instruction pointer.
    is_chain(Arch::S390, &whole());
    let mut it = whole();
    it.regs.retain(|(bit, _)| *bit != IP);
    is_chain(Arch::X86, &it);
}

#[test]
fn complete_copies_need_no_chain() {
    let mut it = whole();
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08], StackEnd::Rooted));
    // Frame pointers lead elsewhere, or skip frames.
    for other in [&[0x800, 0x900][..], &[0x108, 0xf08], &[]] {
        it.chain = chain(other);
        assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08], StackEnd::Rooted));
    }
}

#[test]
fn copies_that_end_early_go_on_with_the_chain() {
    let mut it = whole();
    it.stack.truncate(16);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &framed());
    assert_eq!(sources(&frames)[1..], [FrameSource::Registers, FrameSource::Cfi, FrameSource::Chain]);
    assert_eq!((unwound.end, unwound.spliced), (StackEnd::Rooted, true));
    // Nothing was copied.
    it.stack = vec![];
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08], StackEnd::Rooted));
    // The chain ends early, too.
    it.chain = chain(&[0x108, 0x118]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118], StackEnd::Truncated));
}

#[test]
fn the_chain_is_better_than_a_guess() {
    // Code without tables, whose frame pointer leads to a call of it.
    let elf = Elf::new(EM_X86_64, true).code(0x206, &[0xff, 0xd0]);
    let mut it = sample(0x108, &[7, 0, code(0x208), 0]);
    it.regs = vec![(6, SP + 8), (RSP, SP), (IP, code(0x108))];
    it.is_kernel = true;
    it.chain = chain(&[0x108, 0x308, 0x408]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [KERNEL, 0x108, 0x308, 0x408]);
    assert_eq!((unwound.guessed, unwound.spliced, unwound.end), (false, true, StackEnd::NoUnwindInfo));
    it.chain = chain(&[]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((place(frames[2].ip), unwound.guessed, unwound.spliced), (0x208, true, false));
}

#[test]
fn the_chain_takes_the_place_of_what_is_no_code() {
    let mut it = whole();
    it.stack = words(&[0, code(0x118), 0, 0x1234]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08], StackEnd::Rooted));
    it.chain = chain(&[0x108]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0x1234], StackEnd::NoMapping));
}

/// No stack is rooted from which recorded frames were dropped.
#[test]
fn chains_that_go_on_after_the_first_function() {
    let mut it = whole();
    it.chain = chain(&[0x108, 0x118, 0xf08, 0x508]);
    let end = StackEnd::NoUnwindInfo;
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08, 0x508], end));
}

/// Branches that are the call stack are the user part of the chain.
#[test]
fn branches_are_the_user_part() {
    let mut it = whole();
    it.chain = Some(vec![CallchainContext::KERNEL.0, KERNEL, CallchainContext::USER.0, code(0x108)]);
    // Those of the calls before 0x118 and 0xf08.
    it.branches = Some(vec![(code(0x113), code(0x108)), (code(0xf03), code(0x110))]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118, 0xf08], StackEnd::Rooted));
    it.stack.truncate(16);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &framed());
    let found: Vec<_> = frames.iter().map(|frame| (place(frame.ip), frame.is_return)).collect();
    assert_eq!(found, [(KERNEL, false), (0x108, false), (0x118, true), (0xf03, false)]);
    assert_eq!(unwound.end, StackEnd::Rooted);
    it.branches = Some(vec![]);
    assert_eq!(places(&it, &framed()), (vec![KERNEL, 0x108, 0x118], StackEnd::Truncated));
    it.abi = 0;
    is_chain(Arch::X86, &it);
}
