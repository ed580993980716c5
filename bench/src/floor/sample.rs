//! The fields of a sample.

use super::layout::{Layout, bit};
use crate::sums::{Sums, add, add_some};

/// Removes `size` bytes from the start of `rest` and returns them.
#[inline(always)]
fn take<'a>(rest: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(size)?;
    *rest = behind;
    Some(taken)
}

/// Removes a 64-bit count from the start of `rest` and returns it.
#[inline(always)]
fn count(rest: &mut &[u8]) -> Option<usize> {
    let (word, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(u64::from_le_bytes(*word) as usize)
}

/// Returns the sum of words.
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    bytes.as_chunks().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

impl Layout {
    /// Reads all fields of a sample.
    #[inline(always)]
    pub(super) fn sample(&self, sums: &mut Sums, payload: &[u8]) -> Option<()> {
        let (head, tail) = payload.split_at_checked(self.head)?;
        let words = head.as_chunks().0;
        let word = |index: usize| words.get(index).map(|word| u64::from_le_bytes(*word));
        add_some(&mut sums.ip, word(self.ip));
        if let Some(tid) = word(self.tid) {
            add(&mut sums.pid, tid as u32 as u64);
            add(&mut sums.tid, tid >> 32);
        }
        add_some(&mut sums.time, word(self.time));
        add_some(&mut sums.addr, word(self.addr));
        add_some(&mut sums.cpu, word(self.cpu).map(|cpu| cpu as u32));
        add_some(&mut sums.period, word(self.period));
        let rest = if self.tail == 0 { tail } else { self.tail(sums, tail)? };
        rest.is_empty().then_some(())
    }

    /// Reads the fields after the leading ones; returns the rest of the sample. It is a separate function so
    /// that the loop keeps its registers.
    #[inline(never)]
    fn tail<'a>(&self, sums: &mut Sums, mut rest: &'a [u8]) -> Option<&'a [u8]> {
        if self.tail & bit::CALLCHAIN != 0 {
            let frames = count(&mut rest)?;
            let chain = take(&mut rest, frames.checked_mul(8)?)?;
            add(&mut sums.frames, frames as u64);
            add(&mut sums.callchain, sum(chain));
        }
        if self.tail & bit::RAW != 0 {
            let (size, behind) = rest.split_first_chunk()?;
            rest = behind;
            let raw = take(&mut rest, u32::from_le_bytes(*size) as usize)?;
            add(&mut sums.raw, raw.len() as u64);
        }
        if self.tail & bit::REGS_USER != 0 && count(&mut rest)? != 0 {
            add(&mut sums.regs_user, sum(take(&mut rest, self.regs_user)?));
        }
        if self.tail & bit::STACK_USER != 0 {
            let size = count(&mut rest)?;
            let stack = take(&mut rest, size)?;
            if size != 0 {
                let copied = stack.get(..count(&mut rest)?)?;
                add(&mut sums.stack_user, copied.len() as u64);
                add_some(&mut sums.stack_first, copied.first().copied());
            }
        }
        if self.tail & bit::DATA_SRC != 0 {
            take(&mut rest, 8)?;
        }
        Some(rest)
    }
}
