//! The choice among the names of an address.

use core::cmp::Ordering;

use crate::demangle::demangle;

/// What makes a name of an address better than another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spelling {
    /// The number of underscores that the demangled name starts with.
    underscores: usize,
    /// The length of the demangled name.
    len: usize,
    /// Whether it is another name of a system call, of a kernel before 4.17.
    is_of_system_call: bool,
}

impl Spelling {
    pub(super) fn new(name: &[u8], limit: usize) -> Self {
        let name = demangle(name, limit);
        Self {
            underscores: name.iter().take_while(|&&byte| byte == b'_').count(),
            len: name.len(),
            is_of_system_call: name.starts_with(b"SyS") || name.starts_with(b"compat_SyS"),
        }
    }

    /// Returns whether this is the better name, or as good as the other one.
    ///
    /// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
    pub(super) fn is_better(self, other: Self) -> bool {
        match self.underscores.cmp(&other.underscores).then(other.len.cmp(&self.len)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => !self.is_of_system_call,
        }
    }
}
