//! Registers.

use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::regs::{RegIndex, RegsAbi};

use crate::list::{List, ListIter};

/// Registers of a task, in user space or at the interrupt. Borrows from the record.
///
/// Kernel: `perf_output_sample_regs`; since Linux 3.7, at the interrupt since 3.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(bound = ""))]
pub struct Regs<'a, O: ByteOrder = Endianness> {
    /// ABI of the task. `NONE`, as for a kernel thread, means that there are no values.
    pub abi: RegsAbi,
    /// The registers that the event records: one bit each, by the index in [`regs`](perf_abi::regs).
    pub mask: u64,
    /// Values of the registers, lowest bit first; empty if `abi` is `NONE`.
    pub values: List<'a, u64, O>,
}

impl<'a, O: ByteOrder> Regs<'a, O> {
    /// Returns the value of a register, which is given as a register of the recorded architecture or by its index; `None` if
    /// it was not recorded.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::regs::{Arch, x86};
    /// use perf_parse::sample::Regs;
    ///
    /// /// Returns instruction pointer and stack pointer.
    /// fn pointers(arch: Arch, regs: &Regs<'_>) -> Option<(u64, u64)> {
    ///     match arch {
    ///         Arch::X86 => regs.get(x86::Reg::IP).zip(regs.get(x86::Reg::SP)),
    ///         _ => None,
    ///     }
    /// }
    /// ```
    #[must_use]
    #[doc(alias = "user_regs")]
    pub fn get(&self, register: impl Into<RegIndex>) -> Option<u64> {
        let flag = 1_u64.checked_shl(register.into().0)?;
        if self.mask & flag == 0 {
            return None;
        }
        let below = (self.mask & flag.wrapping_sub(1)).count_ones();
        self.values.get(below as usize)
    }

    /// Returns the index and value of each register, lowest index first.
    #[must_use]
    pub fn iter(&self) -> RegsIter<'a, O> {
        RegsIter { mask: self.mask, values: self.values.iter() }
    }
}

impl<'a, O: ByteOrder> IntoIterator for &Regs<'a, O> {
    type Item = (u32, u64);
    type IntoIter = RegsIter<'a, O>;

    fn into_iter(self) -> RegsIter<'a, O> {
        self.iter()
    }
}

/// An iterator over registers; made by [`Regs::iter`].
#[derive(Clone, Debug)]
pub struct RegsIter<'a, O: ByteOrder = Endianness> {
    /// The registers that are still to be returned.
    mask: u64,
    values: ListIter<'a, u64, O>,
}

impl<O: ByteOrder> Iterator for RegsIter<'_, O> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        let value = self.values.next()?;
        let bit = self.mask.trailing_zeros();
        self.mask &= self.mask.wrapping_sub(1);
        Some((bit, value))
    }
}

#[cfg(test)]
mod tests {
    use perf_abi::regs::{arm64, powerpc, x86};

    use super::*;

    #[test]
    fn registers_of_any_architecture() {
        let words = [7_u64.to_le_bytes(), 9_u64.to_le_bytes()];
        let values: List<'_, u64> = List::new_in(Endianness::Little, words.as_flattened());
        let regs = Regs { abi: RegsAbi::ABI_64, mask: 1 << 8 | 1 << 32, values };
        assert_eq!((regs.get(x86::Reg::IP), regs.get(8)), (Some(7), Some(7)));
        assert_eq!((regs.get(arm64::Reg::PC), regs.get(powerpc::Reg::NIP)), (Some(9), Some(9)));
        assert_eq!((regs.get(x86::Reg::SP), regs.get(64), regs.get(u32::MAX)), (None, None, None));
    }
}
