//! The functions at which a stack ends, whatever their unwind tables say.

use super::module::Module;

/// The largest number of bytes from the entry point of a file to a call in the same function.
const LARGEST_ENTRY: u64 = 1 << 12;

/// Why a stack ends at a function, whatever its unwind tables say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Boundary {
    /// The program starts with the function, or jumps to it: what is at the place of its return address is `argc`.
    First,
    /// The function moves to another stack, so that a word of the old one is taken for its return address.
    OtherStack,
}

impl Module {
    /// Returns whether a stack ends at the function at an address of the file; `None` if it does not.
    ///
    /// Symbols are read only in the function at the entry point of a file, and in programs of Go, whose tables describe
    /// these functions as if they were called.
    ///
    /// Go: `funcFlag_TOPFRAME` and `funcFlag_SPWRITE`, `src/runtime/symtab.go`.
    pub(crate) fn boundary(&self, address: u64) -> Option<Boundary> {
        let entry = self.entry();
        let is_near_entry = entry != 0 && address.wrapping_sub(entry) < LARGEST_ENTRY;
        if !is_near_entry && !self.is_go() {
            return None;
        }
        let function = self.functions().find(address)?;
        if is_near_entry && function.start == entry {
            return Some(Boundary::First);
        }
        let name = function.name.strip_suffix(b".abi0").unwrap_or(function.name);
        match name {
            _ if !self.is_go() => None,
            b"runtime.rt0_go" => Some(Boundary::First),
            b"runtime.systemstack" | b"runtime.mcall" | b"runtime.morestack" => Some(Boundary::OtherStack),
            _ => None,
        }
    }
}
