//! Registers.

use perf_abi::endian::{Endian, U64};
use perf_abi::regs::RegsAbi;

/// Registers of a task, of user space or at the interrupt. Borrows from the record.
///
/// Kernel: `perf_output_sample_regs`; since Linux 3.7, at the interrupt since 3.19.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regs<'a, O: Endian> {
    /// What kind of task they are of; with `NONE`, as for a kernel thread, there are no values.
    pub abi: RegsAbi,
    /// Which registers the event asked for: a bit each, by index in [`regs`](perf_abi::regs).
    pub mask: u64,
    /// Their values, lowest bit first; empty where `abi` is `NONE`.
    pub values: &'a [U64<O>],
}

impl<'a, O: Endian> Regs<'a, O> {
    /// The register of index `bit`; `None` if it was not recorded.
    #[must_use]
    pub fn get(&self, bit: u32) -> Option<u64> {
        let flag = 1_u64.checked_shl(bit)?;
        if self.mask & flag == 0 {
            return None;
        }
        let below = (self.mask & flag.wrapping_sub(1)).count_ones();
        self.values.get(below as usize).map(|value| value.get())
    }

    /// Each register's index and value, lowest index first.
    #[must_use]
    pub fn iter(&self) -> RegsIter<'a, O> {
        RegsIter { mask: self.mask, values: self.values.iter() }
    }
}

impl<'a, O: Endian> IntoIterator for &Regs<'a, O> {
    type Item = (u32, u64);
    type IntoIter = RegsIter<'a, O>;

    fn into_iter(self) -> RegsIter<'a, O> {
        self.iter()
    }
}

/// An iterator over registers; made by [`Regs::iter`].
#[derive(Clone, Debug)]
pub struct RegsIter<'a, O: Endian> {
    /// The registers still to come.
    mask: u64,
    values: core::slice::Iter<'a, U64<O>>,
}

impl<O: Endian> Iterator for RegsIter<'_, O> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        let value = self.values.next()?.get();
        let bit = self.mask.trailing_zeros();
        self.mask &= self.mask.wrapping_sub(1);
        Some((bit, value))
    }
}
