//! Numbers and texts in bytes of a known byte order.

use crate::bytes::FileBytes;
use crate::symtab::LONGEST_NAME;

/// Bytes that have numbers of one byte order.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub(super) bytes: FileBytes,
    pub(super) is_little_endian: bool,
}

impl Words {
    /// Returns the number of bytes.
    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the byte at an offset.
    pub(super) fn u8(&self, at: u64) -> Option<u8> {
        self.bytes.get(usize::try_from(at).ok()?).copied()
    }

    /// Returns the number of four bytes at an offset.
    pub(super) fn u32(&self, at: u64) -> Option<u32> {
        let bytes = *self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
        Some(if self.is_little_endian { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// Returns the number at an offset that has as many bytes as a pointer: 4 or 8.
    pub(super) fn pointer(&self, at: u64, size: u64) -> Option<u64> {
        if size == 4 {
            return self.u32(at).map(u64::from);
        }
        let bytes = *self.bytes.get(usize::try_from(at).ok()?..)?.first_chunk()?;
        Some(if self.is_little_endian { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    }

    /// Returns the text at an offset, up to the zero byte that ends it. At most 64 KiB of it.
    pub(super) fn text(&self, at: u64) -> Option<&[u8]> {
        self.start_of_text(at, LONGEST_NAME)
    }

    /// Returns the text at an offset, or as many bytes of its start. Any number of functions may share a long name.
    pub(super) fn start_of_text(&self, at: u64, bytes: usize) -> Option<&[u8]> {
        let rest = self.bytes.get(usize::try_from(at).ok()?..)?;
        let rest = rest.get(..bytes).unwrap_or(rest);
        let end = rest.iter().position(|&byte| byte == 0).unwrap_or(rest.len());
        rest.get(..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_both_byte_orders() {
        let bytes = FileBytes::new(vec![1, 2, 3, 4, 5, 6, 7, 8, b'a', b'b', 0, b'c']);
        let little = Words { bytes: bytes.clone(), is_little_endian: true };
        let big = Words { bytes, is_little_endian: false };
        assert_eq!((little.u32(1), big.u32(1)), (Some(0x0504_0302), Some(0x0203_0405)));
        assert_eq!(little.pointer(0, 8), Some(0x0807_0605_0403_0201));
        assert_eq!((big.pointer(0, 8), big.pointer(0, 4)), (Some(0x0102_0304_0506_0708), Some(0x0102_0304)));
        assert_eq!((big.u32(9), big.pointer(5, 8), big.u8(12)), (None, None, None));
        assert_eq!((big.text(8), big.text(11), big.text(13)), (Some(&b"ab"[..]), Some(&b"c"[..]), None));
        assert_eq!(big.u32(u64::MAX), None);
    }
}
