//! A64, A32 and T32.

use super::{CodeMachine, Flow, START, all, one};

fn a64(word: u32, text: &str, flow: Flow) -> (Option<u64>, Option<u64>) {
    let it = one(CodeMachine::Aarch64, &word.to_le_bytes(), text, flow);
    (it.target, it.data)
}

#[test]
fn a64_texts() {
    let cases = [
        (0xa9be_7bfd, "stp    x29, x30, [sp, #-32]!"),
        (0x9100_03fd, "mov    x29, sp"),
        (0xf947_3400, "ldr    x0, [x0, #3688]"),
        (0xd280_0002, "mov    x2, #0x0"),
        (0x8b3b_4ebb, "add    x27, x21, w27, uxtw #3"),
        (0x3876_c821, "ldrb   w1, [x1, w22, sxtw]"),
        (0x1a9f_17e6, "cset   w6, eq"),
        (0xd344_fc21, "lsr    x1, x1, #4"),
        (0xd53b_4401, "mrs    x1, fpcr"),
        (0xd51b_4417, "msr    fpcr, x23"),
        (0xd503_245f, "bti    c"),
        (0xd503_201f, "nop"),
    ];
    for (word, text) in cases {
        assert_eq!(a64(word, text, Flow::Next), (None, None), "{text}");
    }
}

#[test]
fn a64_branches() {
    assert_eq!(a64(0x9400_0001, "bl     401004", Flow::Call).0, Some(START + 4));
    assert_eq!(a64(0x17ff_ffff, "b      400ffc", Flow::Jump).0, Some(START - 4));
    assert_eq!(a64(0x5400_0060, "b.eq   40100c", Flow::ConditionalJump).0, Some(START + 12));
    assert_eq!(a64(0x5400_0062, "b.cs   40100c", Flow::ConditionalJump).0, Some(START + 12));
    assert_eq!(a64(0x3400_0060, "cbz    w0, 40100c", Flow::ConditionalJump).0, Some(START + 12));
    assert_eq!(a64(0x3708_0060, "tbnz   w0, #1, 40100c", Flow::ConditionalJump).0, Some(START + 12));
    assert_eq!(a64(0xd61f_0220, "br     x17", Flow::IndirectJump).0, None);
    assert_eq!(a64(0xd63f_0020, "blr    x1", Flow::IndirectCall).0, None);
    assert_eq!(a64(0xd65f_03c0, "ret", Flow::Return).0, None);
    assert_eq!(a64(0xd400_0001, "svc    #0x0", Flow::Interrupt).0, None);
    assert_eq!(a64(0, "udf    #0", Flow::Interrupt).0, None);
    assert_eq!(a64(0xb000_0000, "adrp   x0, 402000", Flow::Next).1, Some(0x40_2000));
}

#[test]
fn an_extension_that_has_no_texts() {
    a64(0x2518_e3e0, ".inst  0x2518e3e0", Flow::Next);
}

#[test]
fn a32() {
    let a32 = |word: u32, text, flow| one(CodeMachine::Arm, &word.to_le_bytes(), text, flow).target;
    a32(0xe1a0_0001, "mov    r0, r1", Flow::Next);
    assert_eq!(a32(0xeb00_0000, "bl     401008", Flow::Call), Some(START + 8));
    assert_eq!(a32(0x0a00_0000, "beq    401008", Flow::ConditionalJump), Some(START + 8));
    a32(0xe12f_ff1e, "bx     lr", Flow::Return);
    a32(0xe12f_ff33, "blx    r3", Flow::IndirectCall);
    // Two registers from the last on.
    let all = all(CodeMachine::Arm, &0xe1cd_f0d0_u32.to_le_bytes());
    assert_eq!((all.len(), all[0].size, all[0].flow), (1, 4, Flow::Invalid));
}

#[test]
fn t32() {
    let t32 = |code: &[u8], text, flow| one(CodeMachine::Thumb, code, text, flow).target;
    t32(b"\x6b\x46", "mov    r3, sp", Flow::Next);
    t32(b"\x70\x47", "bx     lr", Flow::Return);
    assert_eq!(t32(b"\x01\xe0", "b      401006", Flow::Jump), Some(START + 6));
    assert_eq!(t32(b"\x3b\xb1", "cbz    r3, 401012", Flow::ConditionalJump), Some(START + 18));
    assert_eq!(t32(b"\x00\xf0\x01\xf8", "bl     401006", Flow::Call), Some(START + 6));
    t32(b"\x08\xbd", "pop    {r3, pc}", Flow::Return);
}

#[test]
fn the_rest_of_the_code() {
    let all = all(CodeMachine::Aarch64, &[0; 6]);
    let sizes: Vec<_> = all.iter().map(|it| (it.size, it.flow)).collect();
    assert_eq!(sizes, [(4, Flow::Interrupt), (2, Flow::Invalid)]);
}
