//! The record that was found, on its way to the caller.
//!
//! What a look for the next record finds that takes more than a glance, or its fault, is kept in the reader. A call that
//! gave both in one would keep all records in memory, those too that are found at a glance, where they would be copied at
//! each step of their way.

use perf_abi::endian::Endian;

use super::super::compressed::Inflate;
use super::super::error::{FileError, FileErrorKind};
use super::super::records::FileRecord;
use super::super::source::Source;
use super::Reader;
use crate::record::RawRecord;

/// Where the record is that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    pub(super) offset: u64,
    /// Where it is in the decompressed stream; `None` if it was not compressed.
    pub(super) inner: Option<u64>,
    pub(super) data_file: usize,
    /// Where its bytes are.
    pub(super) held: Held,
    /// Bytes behind it that belong to it, and how many of those are at hand.
    pub(super) behind: u64,
    pub(super) behind_held: usize,
}

/// How a look for the next record ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// With a record.
    Found,
    /// At the end of the capture.
    Ended,
    /// With a fault.
    Failed,
}

/// Where the bytes of a record are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// At the front of the source.
    Source,
    /// At the front of the decompressed stream.
    Inflated,
    /// At its offset in its data file.
    InPlace,
    /// Among the copies of records that are held back, here.
    Copied(u64),
}

impl Current {
    /// A record with nothing behind it.
    #[inline]
    pub(super) fn new(offset: u64, inner: Option<u64>, data_file: usize, held: Held) -> Self {
        Self { offset, inner, data_file, held, behind: 0, behind_held: 0 }
    }
}

impl<O: Endian, S: Source> Reader<'_, O, S> {
    /// Keeps what was found, or the fault, where [`stepped`](Self::stepped) finds it.
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

    /// The record that was found, or the fault.
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

    /// A record that was found, if it is there. Apart, and not in the type that [`Reader::next`] gives: a call that gave that
    /// would keep all records in memory, where they would be copied at each step. See [`RawRecord::decode`].
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

    /// The bytes that a record begins.
    fn bytes_of(&self, current: &Current) -> &[u8] {
        let bytes = match current.held {
            Held::Source => Some(self.source.front()),
            Held::Inflated => self.inflate.as_ref().map(Inflate::front),
            Held::InPlace => self.in_place(current.offset, current.data_file),
            Held::Copied(at) => self.order.as_ref().map(|order| order.copied(at)),
        };
        bytes.unwrap_or_default()
    }

    /// A record with nothing behind it, that was not compressed.
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

/// There is no record at the start of `bytes`, which are at `offset`.
#[cold]
#[inline(never)]
pub(super) fn boundary<O: Endian>(bytes: &[u8], offset: u64) -> FileError {
    FileError::new(FileErrorKind::Boundary(RawRecord::<O>::fault(bytes)), offset)
}
