//! Each kind of rule.

use gimli::X86_64 as X;
use gimli::write::{CallFrameInstruction as Cfi, Expression};
use perf_symbol::unwind::StackEnd::{Garbage, Rooted};

use crate::{BP, BX, R12, SP, code, program, sample, set, unwind};

#[test]
fn cfa_from_the_stack_pointer() {
    let elf = program(&[(0x100, 0x10, vec![(1, Cfi::CfaOffset(16))]), (0x200, 0x10, vec![])]);
    // Before and after a push.
    assert_eq!(unwind(&sample(0x100, &[code(0xf08)]), &elf), (vec![0x100, 0xf08], Rooted));
    assert_eq!(unwind(&sample(0x101, &[0, code(0xf08)]), &elf), (vec![0x101, 0xf08], Rooted));
    // The middle frame is looked up at its call.
    assert_eq!(
        unwind(&sample(0x200, &[code(0x102), 0, code(0xf08)]), &elf),
        (vec![0x200, 0x102, 0xf08], Rooted)
    );
    // A call at the end of a function, whose return address is in the next one.
    assert_eq!(
        unwind(&sample(0x200, &[code(0x110), 0, code(0xf08)]), &elf),
        (vec![0x200, 0x110, 0xf08], Rooted)
    );
    // The first byte of a function that another one called.
    assert_eq!(
        unwind(&sample(0x200, &[code(0x101), code(0xf08)]), &elf),
        (vec![0x200, 0x101, 0xf08], Rooted)
    );
}

#[test]
fn cfa_from_the_frame_pointer() {
    let frame = vec![(0, Cfi::Cfa(X::RBP, 16)), (0, Cfi::Offset(X::RBP, -16))];
    let elf = program(&[(0x100, 0x10, frame.clone()), (0x200, 0x10, frame)]);
    let mut sample = sample(0x108, &[0, 0, SP + 40, code(0x208), 0, SP + 1000, code(0xf08)]);
    set(&mut sample, BP, SP + 16);
    assert_eq!(unwind(&sample, &elf), (vec![0x108, 0x208, 0xf08], Rooted));
}

/// `_dl_runtime_resolve`, say: registers that only a few functions need are restored on the way.
#[test]
fn cfa_from_another_register() {
    let elf = program(&[
        (
            0x100,
            0x10,
            vec![(0, Cfi::CfaOffset(24)), (0, Cfi::Offset(X::RBX, -16)), (0, Cfi::Offset(X::R12, -24))],
        ),
        (0x200, 0x10, vec![]),
        (0x300, 0x10, vec![(0, Cfi::Cfa(X::RBX, 8))]),
        (0x400, 0x10, vec![(0, Cfi::Cfa(X::R12, 8))]),
    ]);
    let stack = [
        SP + 64,
        SP + 48,
        code(0x208),
        code(0x308),
        0,
        0,
        code(0xeee),
        code(0xeee),
        code(0x408),
        code(0xeee),
    ];
    let mut first = sample(0x108, &stack);
    // rbx leads to the word of 0x408; r12 of that caller to the last.
    first.stack[..16].copy_from_slice(&crate::words(&[SP + 72, SP + 64]));
    first.stack[72..].copy_from_slice(&crate::words(&[code(0xf08)]));
    set(&mut first, BX, 1);
    set(&mut first, R12, 2);
    assert_eq!(unwind(&first, &elf), (vec![0x108, 0x208, 0x308, 0x408, 0xf08], Rooted));

    // A register that no sample has.
    let elf = program(&[(0x100, 0x10, vec![(0, Cfi::Cfa(X::R15, 8))])]);
    assert_eq!(unwind(&sample(0x108, &stack), &elf), (vec![0x108], Garbage));
    // One that calls destroy.
    let elf = program(&[(0x100, 0x10, vec![]), (0x200, 0x10, vec![(0, Cfi::Cfa(X::RDI, 8))])]);
    let mut called = sample(0x108, &[code(0x208), 0, code(0xf08)]);
    set(&mut called, 5, SP + 16);
    assert_eq!(unwind(&called, &elf), (vec![0x108, 0x208], Garbage));
}

/// The epilogue popped a register, and its tables do not say so. The copy of the stack begins at the stack pointer.
#[test]
fn a_popped_register() {
    let elf = program(&[
        (0x100, 0x10, vec![(0, Cfi::CfaOffset(16)), (0, Cfi::Offset(X::RBP, -16)), (8, Cfi::CfaOffset(8))]),
        (0x200, 0x10, vec![(0, Cfi::Cfa(X::RBP, 16))]),
    ]);
    let mut popped = sample(0x108, &[code(0x208), 0, 0, code(0xf08)]);
    set(&mut popped, BP, SP + 16);
    assert_eq!(unwind(&popped, &elf), (vec![0x108, 0x208, 0xf08], Rooted));
}

/// A function that aligns its stack: gcc's `lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10)`.
#[test]
fn cfa_in_memory() {
    let mut at = Expression::new();
    at.op_breg(X::RBP, -8);
    at.op_deref();
    let elf = program(&[(0x100, 0x10, vec![]), (0x200, 0x10, vec![(0, Cfi::CfaExpression(at))])]);
    let mut sample = sample(0x108, &[code(0x208), 0, SP + 40, 0, code(0xf08)]);
    set(&mut sample, BP, SP + 24);
    assert_eq!(unwind(&sample, &elf), (vec![0x108, 0x208, 0xf08], Rooted));
}

/// `.plt`: the second half of an entry has pushed a word.
#[test]
fn cfa_by_an_expression_with_the_instruction_pointer() {
    let mut cfa = Expression::new();
    cfa.op_breg(X::RSP, 8);
    cfa.op_breg(X::RA, 0);
    cfa.op(gimli::DW_OP_lit15);
    cfa.op(gimli::DW_OP_and);
    cfa.op(gimli::DW_OP_lit11);
    cfa.op(gimli::DW_OP_ge);
    cfa.op(gimli::DW_OP_lit3);
    cfa.op(gimli::DW_OP_shl);
    cfa.op(gimli::DW_OP_plus);
    let elf = program(&[(0x100, 0x40, vec![(0, Cfi::CfaExpression(cfa))])]);
    assert_eq!(unwind(&sample(0x116, &[code(0xf08), code(0xeee)]), &elf), (vec![0x116, 0xf08], Rooted));
    assert_eq!(unwind(&sample(0x11b, &[code(0xeee), code(0xf08)]), &elf), (vec![0x11b, 0xf08], Rooted));
}

/// The registers of the caller by each kind of rule; a function after it needs them.
#[test]
fn registers_of_the_caller() {
    let needs_rbp = vec![(0, Cfi::Cfa(X::RBP, 16))];
    let by = |rule: Cfi| program(&[(0x100, 0x10, vec![(0, rule)]), (0x200, 0x10, needs_rbp.clone())]);
    // The caller's frame pointer is SP + 16.
    let mut sample = sample(0x108, &[code(0x208), 0xeee, SP + 16, code(0xf08), SP + 16]);
    set(&mut sample, BP, SP + 999);
    set(&mut sample, BX, SP + 16);
    let mut with_cfa = Expression::new();
    // The CFA is SP + 8, and it is on the stack at first.
    with_cfa.op_plus_uconst(8);
    let mut place = Expression::new();
    place.op_breg(X::RBX, 0);
    for rule in [
        Cfi::ValOffset(X::RBP, 8),
        Cfi::Register(X::RBP, X::RBX),
        Cfi::Offset(X::RBP, 8),
        Cfi::ValExpression(X::RBP, with_cfa),
        Cfi::Expression(X::RBP, place),
    ] {
        assert_eq!(unwind(&sample, &by(rule.clone())), (vec![0x108, 0x208, 0xf08], Rooted), "{rule:?}");
    }
    assert_eq!(unwind(&sample, &by(Cfi::Undefined(X::RBP))), (vec![0x108, 0x208], Garbage));
    set(&mut sample, BP, SP + 16);
    assert_eq!(unwind(&sample, &by(Cfi::SameValue(X::RBP))), (vec![0x108, 0x208, 0xf08], Rooted));
}

/// The return address by other rules than an offset.
#[test]
fn return_addresses() {
    let by = |rule: Cfi| program(&[(0x100, 0x10, vec![(0, rule)])]);
    let mut sample = sample(0x108, &[0xeee, code(0xf08)]);
    set(&mut sample, BX, code(0xf08));
    assert_eq!(unwind(&sample, &by(Cfi::Register(X::RA, X::RBX))), (vec![0x108, 0xf08], Rooted));
    assert_eq!(unwind(&sample, &by(Cfi::Offset(X::RA, 0))), (vec![0x108, 0xf08], Rooted));
    let mut there = Expression::new();
    there.op_breg(X::RSP, 8);
    assert_eq!(unwind(&sample, &by(Cfi::Expression(X::RA, there))), (vec![0x108, 0xf08], Rooted));
    assert_eq!(unwind(&sample, &by(Cfi::Undefined(X::RA))), (vec![0x108], Rooted));
    assert_eq!(unwind(&sample, &by(Cfi::SameValue(X::RA))).0, [0x108]);
}

/// An expression that reads the code of the file, which no copy of a stack has.
#[test]
fn expressions_read_the_file() {
    let mut cfa = Expression::new();
    cfa.op_breg(X::RSP, 0);
    cfa.op_addr(gimli::write::Address::Constant(testdata::elf::TEXT + 0x80));
    cfa.op_deref_size(1);
    cfa.op(gimli::DW_OP_plus);
    let mut elf = program(&[(0x100, 0x10, vec![(0, Cfi::CfaExpression(cfa))])]);
    elf.text[0x80] = 24;
    assert_eq!(unwind(&sample(0x108, &[0, 0, code(0xf08)]), &elf), (vec![0x108, 0xf08], Rooted));
    // Other code: the CFA is beyond the copy.
    elf.text[0x80] = 25;
    assert_eq!(
        unwind(&sample(0x108, &[0, 0, code(0xf08)]), &elf).1,
        perf_symbol::unwind::StackEnd::Truncated
    );
}

/// The number of steps is bounded.
#[test]
fn an_endless_expression() {
    let mut cfa = Expression::new();
    cfa.op(gimli::DW_OP_lit0);
    let jump = cfa.op_skip();
    cfa.set_target(jump, 0);
    let elf = program(&[(0x100, 0x10, vec![(0, Cfi::CfaExpression(cfa))])]);
    assert_eq!(unwind(&sample(0x108, &[code(0xf08)]), &elf), (vec![0x108], Garbage));
}
