//! The record that was found, until it is returned.
//!
//! The slow path stores the record that it finds, or its fault, in the reader. A function that returned both in one
//! type would keep every record in memory, also those of the fast path, and copy it at each return.

use perf_abi::endian::Endian;

use super::super::compressed::Inflate;
use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use crate::error::{FileError, FileErrorKind};
use crate::record::RawRecord;

/// The position of the record that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    pub(super) offset: u64,
    /// The position in the decompressed stream; `None` if the record was not compressed.
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    /// Where the record's bytes are.
    pub(super) held: Held,
    /// Number of bytes after the record that belong to it, and how many of them are available.
    pub(super) behind: u64,
    pub(super) behind_held: usize,
}

/// The result of a search for the next record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A record.
    Found,
    /// The end of the capture.
    Ended,
    /// A fault.
    Failed,
}

/// Where the bytes of a record are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// At the front of the source.
    Source,
    /// At the front of the decompressed stream.
    Inflated,
    /// At the record's offset in its data file.
    InPlace,
    /// Among the copies of held records, at this offset.
    Copied(u64),
}

impl Current {
    /// Creates the position of a record without data after it.
    #[inline]
    pub(super) fn new(offset: u64, inner: Option<u64>, data_file: usize, held: Held) -> Self {
        Self { offset, inner, data_file, held, behind: 0, behind_held: 0 }
    }
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Stores the record that was found, or the fault, for [`stepped`](Self::stepped).
    pub(super) fn note_step(&mut self, found: Result<Option<Current>, FileError>) -> Step {
        match found {
            Ok(Some(current)) => {
                self.found = current;
                Step::Found
            }
            Ok(None) => Step::Ended,
            Err(error) => {
                self.fault = error;
                Step::Failed
            }
        }
    }

    /// Returns the record that was found, or the fault.
    #[inline(always)]
    pub(super) fn stepped(&mut self, step: Step) -> Result<Option<FileRecord<'_, O>>, FileError> {
        match step {
            Step::Found => match self.view_any() {
                Some(record) => Ok(Some(record)),
                None => Err(boundary::<O>(self.bytes_of(&self.found), self.found.offset)),
            },
            Step::Ended => Ok(None),
            Step::Failed => Err(self.fault()),
        }
    }

    #[cold]
    #[inline(never)]
    fn fault(&self) -> FileError {
        self.fault
    }

    /// Returns a record that was found, if its bytes are there. A separate function, and not of the type that
    /// [`Reader::next`] returns: with that type all records would be kept in memory and copied at each step. See
    /// [`RawRecord::decode`].
    #[inline(never)]
    fn view_any(&self) -> Option<FileRecord<'_, O>> {
        let current = &self.found;
        let &Current { offset, inner, data_file, behind, behind_held, .. } = current;
        let (raw, rest) = RawRecord::whole(self.bytes_of(current))?;
        Some(FileRecord {
            inner,
            behind: rest.get(..behind_held).unwrap_or_default(),
            behind_size: behind,
            ..self.record(raw, offset, data_file)
        })
    }

    /// Returns the bytes that the record begins.
    fn bytes_of(&self, current: &Current) -> &[u8] {
        let bytes = match current.held {
            Held::Source => Some(self.source.front()),
            Held::Inflated => self.inflate.as_ref().map(Inflate::front),
            Held::InPlace => self.in_place(current.offset, current.data_file),
            Held::Copied(at) => self.order.as_ref().map(|order| order.copied(at)),
        };
        bytes.unwrap_or_default()
    }

    /// Returns a record that was not compressed and has no data after it.
    #[inline(always)]
    pub(super) fn record<'r>(
        &'r self,
        raw: RawRecord<'r, O>,
        offset: u64,
        data_file: usize,
    ) -> FileRecord<'r, O> {
        let event_index = if raw.kind().is_user() { None } else { self.events.index_of(&raw) };
        FileRecord {
            offset,
            inner: None,
            data_file,
            raw,
            event_index,
            behind: &[],
            behind_size: 0,
            events: &self.events,
        }
    }
}

/// Returns the error for `bytes` at `offset` that do not begin with a record.
#[cold]
#[inline(never)]
pub(super) fn boundary<O: Endian>(bytes: &[u8], offset: u64) -> FileError {
    FileError::new(FileErrorKind::Boundary(RawRecord::<O>::fault(bytes)), offset)
}
