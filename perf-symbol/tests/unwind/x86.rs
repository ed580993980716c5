//! 32-bit tasks of x86.

use gimli::X86 as X;
use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::abi::regs::Arch;
use perf_symbol::unwind::StackEnd;
use testdata::Bytes;
use testdata::elf::{Elf, TEXT, TEXT_OFFSET};

use crate::{EM_386, EXEC, IP, READ, RSP, Tables, X86_64, sample, unwind_on};

#[test]
fn words_have_32_bits() {
    let tables = Tables { address_size: 4, data_alignment: -4, return_address: X::RA, ..X86_64 };
    let initial = [Cfi::Cfa(X::ESP, 4), Cfi::Offset(X::RA, -4)];
    let functions = vec![
        (0x100, 0x10, vec![(0, Cfi::CfaOffset(8)), (0, Cfi::Offset(X::EBP, -8))]),
        (0x200, 0x10, vec![(0, Cfi::Cfa(X::EBP, 8))]),
        (0xf00, 0x10, vec![(0, Cfi::Undefined(X::RA))]),
    ];
    let elf = Elf::new(EM_386, false).section(".eh_frame", tables.eh_frame(&initial, &functions));
    let (base, sp) = (0xf700_0000, 0xffff_e000);
    let text = base + TEXT;
    let mut it = sample(0, &[]);
    it.abi = 1;
    it.mappings = vec![(text, 0x1000, TEXT_OFFSET, READ | EXEC, "/x")];
    it.stack = Bytes::new(false)
        .u32(sp as u32 + 12)
        .u32((text + 0x208) as u32)
        .u32(7)
        .u32(7)
        .u32((text + 0xf08) as u32)
        .out;
    // The upper halves are not the task's.
    it.regs = vec![(RSP, sp | 7 << 32), (IP, text + 0x108)];
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(frames.iter().map(|it| it.ip - text).collect::<Vec<_>>(), [0x108, 0x208, 0xf08]);
    assert_eq!(unwound.end, StackEnd::Rooted);
}
