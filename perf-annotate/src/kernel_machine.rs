//! The machine of a kernel.

use perf_symbol::CodeMachine;

/// Returns the machine of a kernel's code by its name in `uname -m`.
pub(crate) fn kernel_machine(name: &str) -> CodeMachine {
    const UNKNOWN: u16 = 0;
    match name {
        "x86_64" | "amd64" => CodeMachine::X86_64,
        "i386" | "i486" | "i586" | "i686" | "x86" => CodeMachine::X86,
        "aarch64" | "arm64" => CodeMachine::Aarch64,
        name if name.starts_with("arm") => CodeMachine::Arm,
        _ => CodeMachine::Other(UNKNOWN),
    }
}
