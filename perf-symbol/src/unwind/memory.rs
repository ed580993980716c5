//! The memory of a task: its copied stack.

use perf_abi::endian::Endianness;

use super::end::StackEnd;

/// The copy of a part of a task's stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackMemory<'a> {
    /// The address of the first byte.
    start: u64,
    bytes: &'a [u8],
    order: Endianness,
}

impl<'a> StackMemory<'a> {
    pub(crate) fn new(start: u64, bytes: &'a [u8], order: Endianness) -> Self {
        Self { start, bytes, order }
    }

    /// Returns an unsigned number of up to 8 bytes; `None` if it was not copied.
    #[inline]
    pub(crate) fn read(&self, addr: u64, size: u8) -> Option<u64> {
        let offset = usize::try_from(addr.wrapping_sub(self.start)).ok()?;
        number(self.bytes.get(offset..)?, size, self.order)
    }

    /// Returns the number of words of a size that were copied.
    pub(crate) fn words(&self, size: u8) -> usize {
        self.bytes.len().checked_div(size.into()).unwrap_or(0)
    }

    /// Returns how a stack ends that needs the memory at an address, which was not copied.
    pub(crate) fn end_without(&self, addr: u64) -> StackEnd {
        if addr >= self.start { StackEnd::Truncated } else { StackEnd::Garbage }
    }
}

/// Returns the unsigned number at the start of some bytes; `None` if they are too few.
#[inline]
pub(crate) fn number(bytes: &[u8], size: u8, order: Endianness) -> Option<u64> {
    if let (8, Some(word)) = (size, bytes.first_chunk::<8>()) {
        return Some(match order {
            Endianness::Little => u64::from_le_bytes(*word),
            Endianness::Big => u64::from_be_bytes(*word),
        });
    }
    let bytes = bytes.get(..usize::from(size)).filter(|bytes| bytes.len() <= 8)?;
    let join = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
    Some(match order {
        Endianness::Little => bytes.iter().rev().fold(0, join),
        Endianness::Big => bytes.iter().fold(0, join),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_both_orders() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(number(&bytes, 8, Endianness::Little), Some(0x0807_0605_0403_0201));
        assert_eq!(number(&bytes, 8, Endianness::Big), Some(0x0102_0304_0506_0708));
        assert_eq!(number(&bytes, 4, Endianness::Little), Some(0x0403_0201));
        assert_eq!(number(&bytes, 2, Endianness::Big), Some(0x0102));
        assert_eq!(number(&bytes, 9, Endianness::Big), None);
        assert_eq!(number(&bytes[..7], 8, Endianness::Little), None);
    }

    #[test]
    fn what_was_not_copied() {
        let memory = StackMemory::new(0x1000, &[0; 16], Endianness::Little);
        assert_eq!(memory.read(0x1008, 8), Some(0));
        assert_eq!(memory.read(0x1009, 8), None);
        assert_eq!(memory.end_without(0x1009), StackEnd::Truncated);
        assert_eq!(memory.read(0xff8, 8), None);
        assert_eq!(memory.end_without(0xff8), StackEnd::Garbage);
    }
}
