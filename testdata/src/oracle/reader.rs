//! Reads values from the start of a byte slice.

use byteorder::{BE, ByteOrder, LE};

/// The bytes that remain to be read.
///
/// The crate `byteorder` reads every number. The decoder of perf-parse uses zerocopy, so the two share no code for byte
/// order. An error names the field that needs more bytes than there are.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    left: &'a [u8],
    big: bool,
    /// Whether the record was cut short by 8 bytes that would follow `left`.
    cut: bool,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte; `big` means big-endian byte order.
    #[must_use]
    pub fn new(bytes: &'a [u8], big: bool) -> Self {
        Self { left: bytes, big, cut: false }
    }

    /// Returns whether the byte order is big-endian.
    pub(super) fn is_big(&self) -> bool {
        self.big
    }

    /// Returns the number of bytes left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Returns whether the section of a feature ends here. A stream pads features with zeros to a multiple of 8 bytes.
    pub(super) fn ends(&self, section: &[u8]) -> bool {
        let is_padding = self.left.len() < 8 && section.len().is_multiple_of(8);
        self.left.is_empty() || is_padding && self.left.iter().all(|&byte| byte == 0)
    }

    /// Reads the next `size` bytes.
    ///
    /// # Errors
    ///
    /// There are too few bytes left.
    pub fn bytes(&mut self, field: &str, size: u64) -> Result<&'a [u8], String> {
        if size > self.left.len() as u64 {
            return Err(format!("{field}: {size} bytes needed, {} left", self.left.len()));
        }
        let (bytes, left) = self.left.split_at(size as usize);
        self.left = left;
        Ok(bytes)
    }

    /// Reads all bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.left)
    }

    pub(super) fn array<const N: usize>(&mut self, field: &str) -> Result<[u8; N], String> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(field, N as u64)?);
        Ok(array)
    }

    /// Reads a byte.
    ///
    /// # Errors
    ///
    /// There are too few bytes left.
    pub fn u8(&mut self, field: &str) -> Result<u8, String> {
        Ok(self.array::<1>(field)?[0])
    }

    /// Reads 2 bytes.
    ///
    /// # Errors
    ///
    /// There are too few bytes left.
    pub fn u16(&mut self, field: &str) -> Result<u16, String> {
        let bytes = self.bytes(field, 2)?;
        Ok(if self.big { BE::read_u16(bytes) } else { LE::read_u16(bytes) })
    }

    /// Reads 4 bytes.
    ///
    /// # Errors
    ///
    /// There are too few bytes left.
    pub fn u32(&mut self, field: &str) -> Result<u32, String> {
        let bytes = self.bytes(field, 4)?;
        Ok(if self.big { BE::read_u32(bytes) } else { LE::read_u32(bytes) })
    }

    /// Returns the next `u32` without consuming it.
    pub(super) fn peek_u32(&self, field: &str) -> Result<u32, String> {
        Self::new(self.left, self.big).u32(field)
    }

    /// Returns all bytes that are left without consuming them.
    pub(super) fn peek_rest(&self) -> &'a [u8] {
        self.left
    }

    pub(super) fn i32(&mut self, field: &str) -> Result<i32, String> {
        Ok(self.u32(field)? as i32)
    }

    /// Reads 8 bytes.
    ///
    /// # Errors
    ///
    /// There are too few bytes left.
    pub fn u64(&mut self, field: &str) -> Result<u64, String> {
        let bytes = self.bytes(field, 8)?;
        Ok(if self.big { BE::read_u64(bytes) } else { LE::read_u64(bytes) })
    }

    pub(super) fn i64(&mut self, field: &str) -> Result<i64, String> {
        Ok(self.u64(field)? as i64)
    }

    /// Reads the next `nr` words.
    pub(super) fn words(&mut self, field: &str, nr: u64) -> Result<Vec<u64>, String> {
        let mut words = Vec::new();
        for _ in 0..nr {
            words.push(self.u64(field)?);
        }
        Ok(words)
    }

    /// Marks the record as cut short: the last 8 bytes of the remaining fields are missing.
    pub(super) fn cut(&mut self) {
        self.cut = true;
    }

    /// Returns whether the next 8 bytes are those that were cut off, and takes them as read.
    pub(super) fn ends_cut(&mut self) -> bool {
        let is_cut = self.cut && self.left.is_empty();
        self.cut &= !is_cut;
        is_cut
    }

    /// Reads the next word; returns `None` if it is the word that was cut off.
    pub(super) fn u64_unless_cut(&mut self, field: &str) -> Result<Option<u64>, String> {
        if self.ends_cut() {
            return Ok(None);
        }
        Ok(Some(self.u64(field)?))
    }

    /// Reads the next `size` bytes, which are the last of the record, without the bytes that were cut off.
    pub(super) fn last_bytes(&mut self, field: &str, size: u64) -> Result<&'a [u8], String> {
        if self.cut && size >= 8 {
            self.cut = false;
            return self.bytes(field, size - 8);
        }
        self.bytes(field, size)
    }

    /// Checks that all bytes were read, and that the bytes marked as cut off were missing.
    pub(super) fn end(&self) -> Result<(), String> {
        if !self.left.is_empty() {
            return Err(format!("{} bytes left over", self.left.len()));
        }
        if self.cut {
            return Err("nothing is cut off at the end".to_string());
        }
        Ok(())
    }
}
