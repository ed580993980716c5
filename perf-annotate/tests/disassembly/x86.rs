//! x86.

use super::{CodeMachine, Flow, START, all, one};

#[test]
fn texts() {
    let cases: &[(&[u8], &str)] = &[
        (b"\x48\x89\xe5", "mov    %rsp,%rbp"),
        (b"\x55", "push   %rbp"),
        (b"\xf3\x0f\x1e\xfa", "endbr64"),
        (b"\x90", "nop"),
        (b"\x66\x90", "xchg   %ax,%ax"),
        (b"\x0f\x1f\x00", "nopl   (%rax)"),
        (b"\x0f\x1f\x40\x00", "nopl   0x0(%rax)"),
        (b"\x0f\x1f\x44\x00\x00", "nopl   0x0(%rax,%rax,1)"),
        (b"\x66\x0f\x1f\x44\x00\x00", "nopw   0x0(%rax,%rax,1)"),
        (b"\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "cs nopw 0x0(%rax,%rax,1)"),
        (b"\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "data16 cs nopw 0x0(%rax,%rax,1)"),
        (b"\x48\x83\xec\x08", "sub    $0x8,%rsp"),
        (b"\x48\x83\xc4\xf8", "add    $0xfffffffffffffff8,%rsp"),
        (b"\xc7\x45\xfc\x00\x00\x00\x00", "movl   $0x0,-0x4(%rbp)"),
        (b"\x48\xc7\x04\x24\x20\x00\x00\x00", "movq   $0x20,(%rsp)"),
        (b"\xc6\x04\x10\x0a", "movb   $0xa,(%rax,%rdx,1)"),
        (b"\x48\x8d\x14\xc5\x00\x00\x00\x00", "lea    0x0(,%rax,8),%rdx"),
        (b"\x41\x0f\xb6\x45\x00", "movzbl 0x0(%r13),%eax"),
        (b"\x48\x69\xc0\x1f\x85\xeb\x51", "imul   $0x51eb851f,%rax,%rax"),
        (b"\xf3\x48\xab", "rep stos %rax,%es:(%rdi)"),
        (b"\xf0\x0f\xb1\x55\x00", "lock cmpxchg %edx,0x0(%rbp)"),
        (b"\x64\x48\x8b\x04\x25\x28\x00\x00\x00", "mov    %fs:0x28,%rax"),
        (b"\xff\x30", "push   (%rax)"),
        (b"\x48\x98", "cltq"),
        (b"\x99", "cltd"),
        (b"\x0f\xa2", "cpuid"),
        (b"\x66\x0f\xef\xc0", "pxor   %xmm0,%xmm0"),
        (b"\xf2\x0f\x58\xc1", "addsd  %xmm1,%xmm0"),
        (b"\xc5\xfd\x6f\x06", "vmovdqa (%rsi),%ymm0"),
        (b"\x62\xf1\xfe\x48\x6f\x01", "vmovdqu64 (%rcx),%zmm0"),
        (b"\xd9\xc9", "fxch   %st(1)"),
        (b"\xde\xc9", "fmulp  %st,%st(1)"),
        (b"\x48\xb8\x88\x77\x66\x55\x44\x33\x22\x11", "movabs $0x1122334455667788,%rax"),
    ];
    for (code, text) in cases {
        let it = one(CodeMachine::X86_64, code, text, Flow::Next);
        assert_eq!((it.target, it.data), (None, None), "{text}");
    }
}

#[test]
fn branches() {
    let cases: &[(&[u8], &str, Flow, Option<u64>)] = &[
        (b"\xe8\x1b\x00\x00\x00", "call   401020", Flow::Call, Some(0x40_1020)),
        (b"\xeb\xfe", "jmp    401000", Flow::Jump, Some(START)),
        (b"\x0f\x84\x00\x01\x00\x00", "je     401106", Flow::ConditionalJump, Some(0x40_1106)),
        (b"\xe3\x10", "jrcxz  401012", Flow::ConditionalJump, Some(0x40_1012)),
        (b"\xff\xe0", "jmp    *%rax", Flow::IndirectJump, None),
        (b"\xff\x60\x28", "jmp    *0x28(%rax)", Flow::IndirectJump, None),
        (b"\x3e\xff\xe0", "notrack jmp *%rax", Flow::IndirectJump, None),
        (b"\xff\x14\x24", "call   *(%rsp)", Flow::IndirectCall, None),
        (b"\xc3", "ret", Flow::Return, None),
        (b"\x48\xcf", "iretq", Flow::Return, None),
        (b"\x0f\x05", "syscall", Flow::Interrupt, None),
        (b"\xcc", "int3", Flow::Interrupt, None),
        (b"\x0f\x0b", "ud2", Flow::Interrupt, None),
        (b"\xf4", "hlt", Flow::Next, None),
    ];
    for &(code, text, flow, target) in cases {
        assert_eq!(one(CodeMachine::X86_64, code, text, flow).target, target, "{text}");
    }
}

#[test]
fn addresses_relative_to_the_instruction() {
    let code = b"\x48\x8d\x05\xe2\x2f\x00\x00";
    let text = "lea    0x2fe2(%rip),%rax        # 403fe9";
    assert_eq!(one(CodeMachine::X86_64, code, text, Flow::Next).data, Some(0x40_3fe9));
    let text = "jmp    *0x2fe2(%rip)        # 403fe8";
    let it = one(CodeMachine::X86_64, b"\xff\x25\xe2\x2f\x00\x00", text, Flow::IndirectJump);
    assert_eq!((it.target, it.data), (None, Some(0x40_3fe8)));
}

#[test]
fn other_widths() {
    one(CodeMachine::X86, b"\x89\xe5", "mov    %esp,%ebp", Flow::Next);
    one(CodeMachine::X86, b"\xcd\x80", "int    $0x80", Flow::Interrupt);
    one(CodeMachine::X86Bits16, b"\x89\xe5", "mov    %sp,%bp", Flow::Next);
}

#[test]
fn bytes_that_are_no_instruction() {
    // The byte of a removed instruction, and an instruction that the end of the code cuts.
    let all = all(CodeMachine::X86_64, b"\x06\x90\x48\x8d");
    let texts: Vec<_> = all.iter().map(|it| (it.address - START, it.size, &*it.text)).collect();
    assert_eq!(texts, [(0, 1, "(bad)"), (1, 1, "nop"), (2, 1, "(bad)"), (3, 1, "(bad)")]);
    assert_eq!(all[0].flow, Flow::Invalid);
}
