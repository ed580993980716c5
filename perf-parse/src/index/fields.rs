//! Numbers of variable length: 7 bits a byte, the lowest first, the highest bit set in all but the last byte (LEB128).

use alloc::vec::Vec;

use super::error::{IndexError, IndexErrorKind};

/// Appends a number.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

/// Appends bytes that may be absent: 0 if they are, otherwise their number plus 1 and then the bytes.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    put(out, bytes.map_or(0, |bytes| (bytes.len() as u64).saturating_add(1)));
    out.extend_from_slice(bytes.unwrap_or_default());
}

/// The fields of an encoded index that are left to read.
#[derive(Clone, Debug)]
pub(super) struct EncodedFields<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the encoded index.
    offset: u64,
}

impl<'a> EncodedFields<'a> {
    pub(super) fn new(rest: &'a [u8], offset: u64) -> Self {
        Self { rest, offset }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes a number.
    pub(super) fn number(&mut self, field: &'static str) -> Result<u64, IndexError> {
        let start = self.offset;
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let Some((&byte, rest)) = self.rest.split_first() else {
                let kind = IndexErrorKind::Truncated { field, needed: 1, available: 0 };
                return Err(IndexError::new(kind, self.offset));
            };
            self.rest = rest;
            self.offset = self.offset.saturating_add(1);
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits || (byte == 0 && shift > 0) {
                return Err(IndexError::invalid(
                    field,
                    "a number of 64 bits in as few bytes as possible",
                    start,
                ));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(IndexError::invalid(field, "a number of 64 bits in as few bytes as possible", start))
    }

    /// Takes a number of 32 bits.
    pub(super) fn number_32(&mut self, field: &'static str) -> Result<u32, IndexError> {
        let start = self.offset;
        let number = self.number(field)?;
        u32::try_from(number).map_err(|_| IndexError::invalid(field, "a number of 32 bits", start))
    }

    /// Takes `size` bytes.
    pub(super) fn part(&mut self, field: &'static str, size: u64) -> Result<Self, IndexError> {
        let parts = usize::try_from(size).ok().and_then(|size| self.rest.split_at_checked(size));
        let Some((part, rest)) = parts else {
            let kind = IndexErrorKind::Truncated { field, needed: size, available: self.rest.len() as u64 };
            return Err(IndexError::new(kind, self.offset));
        };
        let part = Self::new(part, self.offset);
        self.rest = rest;
        self.offset = self.offset.saturating_add(size);
        Ok(part)
    }

    /// Takes the bytes that [`put_bytes`] has appended.
    pub(super) fn bytes(&mut self, field: &'static str) -> Result<Option<Self>, IndexError> {
        match self.number(field)?.checked_sub(1) {
            Some(size) => self.part(field, size).map(Some),
            None => Ok(None),
        }
    }

    /// Checks that nothing is left.
    pub(super) fn end(&self) -> Result<(), IndexError> {
        match self.rest.len() as u64 {
            0 => Ok(()),
            bytes => Err(IndexError::new(IndexErrorKind::Residue { bytes }, self.offset)),
        }
    }

    /// Returns the bytes that are left.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
