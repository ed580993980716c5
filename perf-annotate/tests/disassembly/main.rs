//! Instructions by hand, as objdump has them, and random bytes.

mod arm;
mod random;
mod x86;

use perf_annotate::disassembly::{Disassembler, Flow, Instruction, Syntax};
use perf_symbol::CodeMachine;

/// Where the code is.
const START: u64 = 0x40_1000;

/// Returns the instructions of code.
fn all(machine: CodeMachine, code: &[u8]) -> Vec<Instruction> {
    Disassembler::new(machine).unwrap().instructions(code, START).collect()
}

/// Checks that code is one instruction, and returns it.
fn one(machine: CodeMachine, code: &[u8], text: &str, flow: Flow) -> Instruction {
    let mut all = all(machine, code);
    assert_eq!(all.len(), 1, "{all:?}");
    let it = all.remove(0);
    assert_eq!((&*it.text, it.flow, usize::from(it.size)), (text, flow, code.len()));
    assert_eq!(Disassembler::new(machine).unwrap().length(code, START), Some(it.size));
    it
}

#[test]
fn machines_without_a_disassembler() {
    for machine in [CodeMachine::Other(243), CodeMachine::Other(21)] {
        assert!(Disassembler::new(machine).is_none());
    }
}

#[test]
fn intel_syntax() {
    let mut it = Disassembler::new(CodeMachine::X86_64).unwrap().with_syntax(Syntax::Intel);
    let texts = |it: &mut Disassembler, code: &[u8]| -> Vec<_> {
        it.instructions(code, START).map(|it| it.text.into_string()).collect()
    };
    let code = b"\x48\x89\xe5\x48\x8b\x05\xe2\x2f\x00\x00\xe8\x00\x00\x00\x00\xc6\x00\x00";
    let expected = [
        "mov    rbp,rsp",
        "mov    rax,QWORD PTR [rip+0x2fe2]        # 403fec",
        "call   40100f",
        "mov    BYTE PTR [rax],0x0",
    ];
    assert_eq!(texts(&mut it, code), expected);
}
