//! Bytes in either byte order, written without any code of the crate under test.

/// Bytes of a capture in one byte order.
pub(crate) struct Bytes {
    big: bool,
    pub(crate) out: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new(big: bool) -> Self {
        Self { big, out: Vec::new() }
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.out.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u16(self, value: u16) -> Self {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes)
    }

    pub(crate) fn u32(self, value: u32) -> Self {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes)
    }

    pub(crate) fn u64(self, value: u64) -> Self {
        let bytes = if self.big { value.to_be_bytes() } else { value.to_le_bytes() };
        self.raw(&bytes)
    }

    pub(crate) fn u64s(self, values: &[u64]) -> Self {
        values.iter().fold(self, |bytes, &value| bytes.u64(value))
    }

    /// Makes a record with the bytes as its payload.
    pub(crate) fn record(self, kind: u32, misc: u16) -> Vec<u8> {
        let size = u16::try_from(self.out.len() + 8).unwrap();
        Self::new(self.big).u32(kind).u16(misc).u16(size).raw(&self.out).out
    }
}
