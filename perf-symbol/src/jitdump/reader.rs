//! A reader of a jitdump that may still grow.

use std::io::{self, Read};

use super::error::JitdumpError;
use super::fields::RecordFields;
use super::header::JitdumpHeader;
use super::record::{JitRecord, decode, is_close, size_of};

/// Reads the records of a jitdump one at a time, from a file that the program may still write.
///
/// It holds one record at a time in memory, and what it has read after it: at most 64 KiB.
///
/// # Examples
///
/// ```
/// use perf_symbol::jitdump::{JitRecordBody, JitdumpReader};
///
/// # let mut file = b"DTiJ\x01\0\0\0\x28\0\0\0\x3e\0\0\0\0\0\0\0\x07\0\0\0".to_vec();
/// # file.resize(40, 0);
/// # let file = &file[..];
/// // `file` is an open jit-PID.dump.
/// let mut reader = JitdumpReader::new(file);
/// while let Some(record) = reader.next_record()? {
///     match record.body {
///         JitRecordBody::Load(load) => println!("{:#x} {}", load.code_addr, load.name.escape_ascii()),
///         JitRecordBody::Close => break,
///         _ => {}
///     }
/// }
/// // All that was written is read. When the file has grown, `next_record` returns the next ones.
/// # Ok::<(), perf_symbol::jitdump::JitdumpError>(())
/// ```
#[derive(Debug)]
pub struct JitdumpReader<R> {
    source: R,
    header: Option<JitdumpHeader>,
    /// What was read, from `offset` on.
    buffer: Vec<u8>,
    /// Offset in the file, and number of bytes at the start of `buffer` that are not needed any more.
    offset: u64,
    used: usize,
    /// Number of bytes that are skipped before the next record.
    skip: u64,
    max_record: u32,
    is_closed: bool,
}

/// Number of bytes that are read at once.
const READ: usize = 1 << 16;

/// The default of [`JitdumpReader::with_max_record`].
const MAX_RECORD: u32 = 64 << 20;

impl<R: Read> JitdumpReader<R> {
    /// Creates a reader of a file from its start on. Reads nothing yet.
    #[must_use]
    pub fn new(source: R) -> Self {
        Self {
            source,
            header: None,
            buffer: Vec::new(),
            offset: 0,
            used: 0,
            skip: 0,
            max_record: MAX_RECORD,
            is_closed: false,
        }
    }

    /// Sets the size in bytes of the largest record that is read; larger ones are skipped. The default is 64 MiB.
    #[must_use]
    pub fn with_max_record(self, bytes: u32) -> Self {
        Self { max_record: bytes, ..self }
    }

    /// Returns the header; `None` if the program has not written it yet.
    ///
    /// # Errors
    ///
    /// [`JitdumpError::Header`] if it is not that of a jitdump, and [`JitdumpError::Io`].
    pub fn header(&mut self) -> Result<Option<JitdumpHeader>, JitdumpError> {
        if self.header.is_none() && self.fill(JitdumpHeader::SIZE)? {
            let header = JitdumpHeader::parse(self.unused())?;
            self.skip = header.total_size.into();
            self.header = Some(header);
        }
        Ok(self.header)
    }

    /// Returns the next record; `None` if the program has not written a whole one yet, or if it has closed the file. Call it
    /// again when the file has grown.
    ///
    /// # Errors
    ///
    /// Those of [`header`](Self::header). [`JitdumpError::Record`] and [`JitdumpError::TooLarge`] for a record that is
    /// skipped: the next call returns the one after it. [`JitdumpError::RecordSize`] for a record that has no end: each further
    /// call returns the same.
    pub fn next_record(&mut self) -> Result<Option<JitRecord<'_>>, JitdumpError> {
        let Some(header) = self.header()? else { return Ok(None) };
        if self.is_closed || !self.skip()? || !self.fill(8)? {
            return Ok(None);
        }
        let offset = self.offset;
        let Some(size) = size_of(&self.fields(header), offset)? else { return Ok(None) };
        if size > self.max_record {
            self.skip = size.into();
            return Err(JitdumpError::TooLarge { offset, size });
        }
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        if !self.fill(bytes)? {
            return Ok(None);
        }
        self.skip = size.into();
        self.is_closed = is_close(&self.fields(header));
        let all = self.fields(header);
        let fields = RecordFields { bytes: all.bytes.get(..bytes).unwrap_or_default(), ..all };
        decode(fields, offset, size).map(Some)
    }

    /// Returns whether the program has closed the file, so that no record follows.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns whether the program has written a part of a record, as far as it was read.
    pub(super) fn is_within_record(&self) -> bool {
        !self.is_closed && (self.skip > 0 || !self.unused().is_empty())
    }

    /// Skips what was returned or is not wanted. Returns whether it is all there.
    fn skip(&mut self) -> Result<bool, JitdumpError> {
        while self.skip > 0 {
            if self.unused().is_empty() && !self.fill(1)? {
                return Ok(false);
            }
            let bytes = usize::try_from(self.skip).unwrap_or(usize::MAX).min(self.unused().len());
            self.used = self.used.saturating_add(bytes);
            self.offset = self.offset.saturating_add(bytes as u64);
            self.skip = self.skip.saturating_sub(bytes as u64);
        }
        Ok(true)
    }

    fn unused(&self) -> &[u8] {
        self.buffer.get(self.used..).unwrap_or_default()
    }

    fn fields(&self, header: JitdumpHeader) -> RecordFields<'_> {
        RecordFields { bytes: self.unused(), endianness: header.endianness }
    }

    /// Reads until so many bytes are there. Returns whether they are. The buffer grows with what is read, and not with what a
    /// record claims.
    fn fill(&mut self, bytes: usize) -> Result<bool, JitdumpError> {
        while self.unused().len() < bytes {
            self.buffer.drain(..self.used);
            self.used = 0;
            let start = self.buffer.len();
            self.buffer.resize(start.saturating_add(READ), 0);
            let read = loop {
                match self.source.read(self.buffer.get_mut(start..).unwrap_or_default()) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            self.buffer.truncate(start.saturating_add(*read.as_ref().unwrap_or(&0)));
            if read.map_err(JitdumpError::Io)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
