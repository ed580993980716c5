//! Symbols that no call ends in front of.

use crate::symtab::{NameSource, Symbol};

/// Returns whether an address that looks like a return address is that of an instruction that was about to run.
///
/// A return address at the first byte of a function belongs to the function before it, which ended with a call that does
/// not return. There is no such call where the compiler put padding before the function, and where a signal handler returns
/// to. `before` is the symbol of the byte before the address, and `at` that of the address.
pub(crate) fn is_exact(before: &Symbol<'_>, at: &Symbol<'_>, address: u64) -> bool {
    at.start == address && (is_padding(before) || RESTORERS.contains(&at.name))
}

/// Returns whether a symbol of the kernel is the padding before a function.
///
/// Kernel: `CONFIG_PREFIX_SYMBOLS`, since Linux 6.2, and `CONFIG_CFI_CLANG`, since Linux 6.1; both of x86.
fn is_padding(symbol: &Symbol<'_>) -> bool {
    let starts = |start: &[u8]| symbol.name.starts_with(start);
    symbol.source != NameSource::Ksymbol && (starts(b"__pfx_") || starts(b"__cfi_"))
}

/// Functions that return from signal handlers: of glibc, of musl, of the vDSO and of Go.
const RESTORERS: [&[u8]; 9] = [
    b"__restore_rt",
    b"__restore",
    b"__default_rt_sa_restorer",
    b"__default_sa_restorer",
    b"__kernel_rt_sigreturn",
    b"__kernel_sigreturn",
    b"runtime.sigreturn__sigaction",
    b"runtime.sigreturn",
    b"__vdso_rt_sigreturn",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_of_functions() {
        let symbol = |name, start, end| Symbol { name, start, end, source: NameSource::Kallsyms };
        let function = symbol(b"f", 0x10, 0x20);
        assert!(is_exact(&symbol(b"__pfx_f", 0, 0x10), &function, 0x10));
        assert!(is_exact(&symbol(b"__cfi_f", 0, 0x10), &function, 0x10));
        // A call that does not return is the last instruction of `do_group_exit`.
        assert!(!is_exact(&symbol(b"do_group_exit", 0, 0x10), &function, 0x10));
        assert!(!is_exact(&function, &function, 0x18));
        assert!(is_exact(&symbol(b"abort", 0, 0x10), &symbol(b"__restore_rt", 0x10, 0x20), 0x10));
    }
}
