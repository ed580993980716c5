//! Numbers and texts in the bytes of a record.

use perf_abi::endian::{ByteOrder, Endianness};

/// The field of a record that contradicts its size, and what it must be.
pub(super) type FieldFault = (&'static str, &'static str);

/// The bytes of a record or of a header.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordFields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) endianness: Endianness,
}

const WITHIN: &str = "within the record";

impl<'a> RecordFields<'a> {
    pub(super) fn u32(&self, at: usize, field: &'static str) -> Result<u32, FieldFault> {
        let bytes = self.bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or((field, WITHIN))?;
        Ok(Endianness::u32(self.endianness, *bytes))
    }

    pub(super) fn u64(&self, at: usize, field: &'static str) -> Result<u64, FieldFault> {
        let bytes = self.bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or((field, WITHIN))?;
        Ok(Endianness::u64(self.endianness, *bytes))
    }

    /// Returns a text without its NUL.
    pub(super) fn text(&self, at: usize, field: &'static str) -> Result<&'a [u8], FieldFault> {
        let rest = self.bytes.get(at..).ok_or((field, WITHIN))?;
        let end = rest.iter().position(|&byte| byte == 0).ok_or((field, "ended by a NUL"))?;
        Ok(rest.get(..end).unwrap_or_default())
    }

    /// Returns the bytes from `at` on.
    pub(super) fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }
}
