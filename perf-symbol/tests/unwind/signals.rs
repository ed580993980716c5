//! Signal frames.

use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::abi::regs::Arch;
use perf_symbol::unwind::{FrameSource, StackEnd};
use testdata::elf::Elf;

use crate::{
    EM_AARCH64, EM_X86_64, SP, Tables, X86_64, called, code, place, program, sample, sources, unwind_on,
};

/// A handler at 0x100, called from the trampoline at 0x200, and code at 0x300 that the signal interrupted at its first
/// byte. The function before has other rules.
fn interrupted() -> Vec<crate::Function> {
    vec![
        (0x100, 0x10, vec![]),
        (0x2f0, 0x10, vec![(0, Cfi::CfaOffset(800))]),
        (0x300, 0x10, vec![]),
        (0xf00, 0x10, vec![(0, Cfi::Undefined(gimli::X86_64::RA))]),
    ]
}

#[test]
fn of_tables() {
    // The trampoline's tables begin one byte early, as glibc's do.
    let signal = Tables { is_signal: true, ..X86_64 };
    let trampoline = vec![(
        0x1ff,
        0x11,
        vec![
            (0, Cfi::Cfa(gimli::X86_64::RSP, 16)),
            (0, Cfi::Offset(gimli::X86_64::RA, -16)),
            (0, Cfi::Offset(gimli::X86_64::RSP, -8)),
        ],
    )];
    let mut eh_frame = signal.eh_frame(&[], &trampoline);
    eh_frame.extend(X86_64.eh_frame(&called(), &interrupted()));
    let elf = Elf::new(EM_X86_64, true).section(".eh_frame", eh_frame);
    // The interrupted code was on another stack, at lower addresses of the copy.
    let it = sample(0x108, &[code(0x200), code(0x300), SP + 32, 7, code(0xf08)]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x200, 0x300, 0xf08]);
    assert_eq!(frames.iter().map(|it| it.is_return).collect::<Vec<_>>(), [false, true, false, true]);
    assert_eq!(sources(&frames)[2], FrameSource::Signal);
    assert_eq!(unwound.end, StackEnd::Rooted);
}

/// The trampoline of musl has no tables, but always the same code.
#[test]
fn of_code_on_x86_64() {
    let mut elf = program(&interrupted()[..3]);
    elf.text[0x200..0x209].copy_from_slice(&[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]);
    // The return address; 5 words of the context, then 16 registers. rsp is the last but one.
    let mut stack = vec![code(0x200)];
    stack.extend([0; 5]);
    stack.extend(1..=16);
    *stack.last_mut().unwrap() = SP + 8 * 24;
    stack.extend([code(0x300), 7, code(0xf08)]);
    let (frames, unwound) = unwind_on(Arch::X86, &sample(0x108, &stack), &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x200, 0x300, 0xf08]);
    assert_eq!(sources(&frames)[2], FrameSource::Signal);
    assert!(!unwound.guessed);
    assert_eq!(unwound.end, StackEnd::Rooted);
    // A copy that ends in the context.
    let (frames, unwound) = unwind_on(Arch::X86, &sample(0x108, &stack[..20]), &elf);
    assert_eq!((frames.len(), unwound.end), (2, StackEnd::Truncated));
}

/// That of the vdso of arm64.
#[test]
fn of_code_on_arm64() {
    let tables = crate::arm::AARCH64;
    let mut functions = interrupted();
    functions.iter_mut().for_each(|function| function.2.clear());
    functions[3].2.push((0, Cfi::Undefined(gimli::AArch64::X30)));
    let mut elf = Elf::new(EM_AARCH64, true)
        .section(".eh_frame", tables.eh_frame(&[Cfi::Cfa(gimli::AArch64::SP, 0)], &functions));
    elf.text[0x200..0x208].copy_from_slice(&[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4]);
    // 39 words before the registers; x30 leads to the root.
    let mut stack = vec![0; 39];
    stack.extend(0..30);
    stack.extend([code(0xf08), SP + 500, code(0x300)]);
    let mut it = sample(0x108, &stack);
    it.regs = vec![(30, code(0x200)), (31, SP), (32, code(0x108))];
    let (frames, unwound) = unwind_on(Arch::Arm64, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x200, 0x300, 0xf08]);
    assert_eq!(sources(&frames)[2], FrameSource::Signal);
    assert_eq!(unwound.end, StackEnd::Rooted);
}

/// The last instruction of a trampoline is the system call, and the instruction pointer in the kernel is after it.
#[test]
fn a_system_call_that_does_not_return() {
    // call *%rax
    let elf = program(&[(0x100, 0x10, vec![])]).code(0xf06, &[0xff, 0xd0]);
    let mut it = sample(0x110, &[code(0xf08)]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.guessed, unwound.end), (2, true, StackEnd::NoUnwindInfo));
    it.is_kernel = true;
    it.chain = Some(vec![]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.guessed, unwound.end), (2, false, StackEnd::Rooted));
    assert_eq!(place(frames[0].ip), 0x110);
}
