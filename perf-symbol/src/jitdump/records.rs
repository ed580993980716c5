//! An iterator over the records of a jitdump in memory.

use super::error::JitdumpError;
use super::fields::RecordFields;
use super::header::JitdumpHeader;
use super::record::{JitRecord, JitRecordBody, decode, size_of};

/// An iterator over the records of a jitdump in memory; made by [`JitdumpHeader::records`].
///
/// It ends after the record that closes the file, and where the program had not written a whole record.
#[derive(Clone, Debug)]
pub struct JitdumpRecords<'a> {
    /// The whole file.
    fields: RecordFields<'a>,
    at: usize,
    is_closed: bool,
    has_no_end: bool,
}

impl JitdumpHeader {
    /// Returns the records of a file, whose bytes begin with this header. Allocates nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::jitdump::{JitRecordBody, JitdumpHeader};
    ///
    /// # let mut file = b"DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0\0\0\0\0\x07\0\0\0".to_vec();
    /// # file.resize(40, 0);
    /// # for field in [61 << 32, 9, 7 << 32 | 7, 0x1000, 0x1000, 3, 1] {
    /// #     file.extend_from_slice(&u64::to_le_bytes(field));
    /// # }
    /// # file.extend_from_slice(b"f\0\x90\x90\xc3");
    /// // `file` has the bytes of a jit-PID.dump.
    /// for record in JitdumpHeader::parse(&file)?.records(&file) {
    ///     let record = record?;
    ///     if let JitRecordBody::Load(load) = record.body {
    ///         println!("{} {:#x} {}: {:x?}", record.time, load.code_addr, load.name.escape_ascii(), load.code);
    /// #       assert_eq!((load.name, load.code), (&b"f"[..], &b"\x90\x90\xc3"[..]));
    ///     }
    /// }
    /// # Ok::<(), perf_symbol::jitdump::JitdumpError>(())
    /// ```
    #[must_use]
    pub fn records<'a>(&self, bytes: &'a [u8]) -> JitdumpRecords<'a> {
        let fields = RecordFields { bytes, endianness: self.endianness };
        let at = usize::try_from(self.total_size).unwrap_or(usize::MAX);
        JitdumpRecords { fields, at, is_closed: false, has_no_end: false }
    }
}

impl JitdumpRecords<'_> {
    /// Returns whether the file ends within a record, or before the first one. True only after the last record.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        !self.is_closed && self.at < self.fields.bytes.len()
    }
}

impl<'a> Iterator for JitdumpRecords<'a> {
    type Item = Result<JitRecord<'a>, JitdumpError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_closed || self.has_no_end {
            return None;
        }
        let rest = self.fields.bytes.get(self.at..)?;
        let fields = RecordFields { bytes: rest, ..self.fields };
        let offset = self.at as u64;
        let size = match size_of(&fields, offset) {
            Ok(size) => size?,
            Err(error) => {
                self.has_no_end = true;
                return Some(Err(error));
            }
        };
        let end = usize::try_from(size).ok()?;
        let fields = RecordFields { bytes: rest.get(..end)?, ..fields };
        self.at = self.at.checked_add(end)?;
        let record = decode(fields, offset, size);
        self.is_closed = matches!(record, Ok(JitRecord { body: JitRecordBody::Close, .. }));
        Some(record)
    }
}
