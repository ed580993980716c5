//! The boundaries of the records in the sources of a capture, found from header to header.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::endian::Endian;
use perf_abi::record::RecordType;

use super::note;
use crate::account::Account;
use crate::error::{Error, ErrorKind, FileError, FileErrorKind};
use crate::event::{Events, RecordPosition};
use crate::file::source::ByteSource;
use crate::record::RawRecord;
use crate::salvage;

/// Size of a header in bytes.
pub(in crate::file) const HEADER: usize = 8;

/// Size of the longest record in a stream. simpleperf splits records of more than 65535 bytes, and writes no streams.
const LONGEST_IN_STREAM: usize = 64 << 20;

/// A piece of a data file, which begins and ends between records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePiece {
    pub(crate) data_file: usize,
    pub(crate) range: Range<u64>,
}

/// The position in the data files of a capture.
///
/// The front of the source is where the next record begins, unless `trailing` bytes or a lost boundary come before it.
#[derive(Debug)]
pub(super) struct Framing<S> {
    /// The data file that is being read, and its number.
    pub(super) source: S,
    data_file: usize,
    /// The data files that have been read, the first of which has the number `first`, and those that have not.
    done: Vec<S>,
    first: usize,
    more: VecDeque<S>,
    /// The pieces of the data files that are still to be read, the next one last; `None` for all of each file.
    pieces: Option<Vec<FilePiece>>,
    /// Number of bytes at the front that belong to the record before it.
    trailing: u64,
    /// Whether the next boundary has to be searched for.
    is_lost: bool,
    /// Whether the source failed, so that nothing more can be read.
    has_failed: bool,
}

impl<S> Framing<S> {
    pub(super) fn new(source: S, data_file: usize, more: impl IntoIterator<Item = S>) -> Self {
        Self {
            source,
            data_file,
            done: Vec::new(),
            first: data_file,
            more: more.into_iter().collect(),
            pieces: None,
            trailing: 0,
            is_lost: false,
            has_failed: false,
        }
    }

    #[inline]
    pub(super) fn data_file(&self) -> usize {
        self.data_file
    }

    /// Returns whether data files are left after the one that is being read.
    pub(super) fn is_last(&self) -> bool {
        self.more.is_empty()
    }

    /// Returns the data file that is being read and those after it.
    #[cfg(feature = "std")]
    pub(super) fn sources(&self) -> impl Iterator<Item = &S> {
        core::iter::once(&self.source).chain(&self.more)
    }

    /// Returns whether parts of the data files are left out.
    #[cfg(feature = "std")]
    pub(super) fn is_of_pieces(&self) -> bool {
        self.pieces.is_some()
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns a data file by its number, if it has been read or is being read.
    #[inline]
    pub(super) fn begun(&self, data_file: usize) -> Option<&S> {
        if data_file == self.data_file {
            return Some(&self.source);
        }
        self.done.get(data_file.checked_sub(self.first)?)
    }
}

impl<'r, S: ByteSource<'r>> Framing<S> {
    /// Leaves out everything but these pieces, which are in the order of the capture. Nothing has been read yet.
    pub(super) fn only(&mut self, mut pieces: Vec<FilePiece>) {
        pieces.reverse();
        self.pieces = Some(pieces);
        self.begin_piece();
    }

    /// Begins the next piece of the data file. Returns whether there is one.
    fn begin_piece(&mut self) -> bool {
        let Some(pieces) = &mut self.pieces else { return false };
        let piece = pieces.pop_if(|piece| piece.data_file == self.data_file);
        self.source.narrow(&piece.as_ref().map_or(0..0, |piece| piece.range.clone()));
        piece.is_some()
    }

    /// Begins the next piece of the data file, or the next data file. Returns whether there is one.
    pub(super) fn next_data_file(&mut self) -> bool {
        if self.begin_piece() {
            return true;
        }
        let Some(next) = self.more.pop_front() else { return false };
        self.done.push(core::mem::replace(&mut self.source, next));
        self.data_file = self.data_file.saturating_add(1);
        self.begin_piece();
        true
    }

    /// Returns the place of the front.
    #[inline(always)]
    pub(super) fn position(&self) -> RecordPosition {
        RecordPosition { data_file: self.data_file, offset: self.source.offset(), decompressed: None }
    }

    /// Returns whether the next record begins at the front.
    #[inline(always)]
    pub(super) fn is_at_boundary(&self) -> bool {
        !self.is_lost && self.trailing == 0
    }

    /// Returns whether the data file has been read to its end.
    pub(super) fn is_at_end_of_file(&self) -> bool {
        self.is_at_boundary() && self.source.front().is_empty()
    }

    /// Takes the record of `size` bytes at the front. The `trailing` bytes after it are skipped with the next step.
    pub(super) fn take(&mut self, size: usize, trailing: u64) {
        self.source.take(size);
        self.trailing = trailing;
    }

    /// Skips the bytes after the record that was taken last.
    pub(super) fn skip_trailing(&mut self, account: &mut Account) -> Result<(), FileError> {
        let trailing = core::mem::take(&mut self.trailing);
        if trailing == 0 {
            return Ok(());
        }
        let from = self.source.offset();
        self.skip(trailing, account)?;
        let passed = self.source.offset().saturating_sub(from);
        if passed < trailing {
            let missing = trailing.saturating_sub(passed);
            account.bytes = account.bytes.saturating_sub(missing);
            account.announced = account.announced.saturating_sub(missing);
            let kind =
                FileErrorKind::Truncated { field: "auxtrace.size", needed: trailing, available: passed };
            return Err(note(account, kind, from));
        }
        Ok(())
    }

    /// Makes the record at the front available as a whole. Returns its type and its size; `None` at the end of the
    /// source.
    pub(super) fn next_record<O: Endian>(
        &mut self,
        account: &mut Account,
    ) -> Result<Option<(RecordType, usize)>, FileError> {
        if self.fill(HEADER, account)? == 0 {
            return Ok(None);
        }
        let size = RawRecord::<O>::announced_size((), self.source.front()).unwrap_or(HEADER);
        if !S::IN_MEMORY && size > usize::from(u16::MAX) {
            let (left, front) = (self.source.left(), self.source.front().len());
            // Only damage, or simpleperf, announces so many bytes. They are not read if they cannot all be there.
            if left.map_or(size > LONGEST_IN_STREAM, |left| size as u64 > left) {
                let payload = |size: u64| size.saturating_sub(HEADER as u64);
                let (needed, available) = (payload(size as u64), payload(left.unwrap_or(front as u64)));
                let kind = ErrorKind::Truncated { field: "payload", needed, available };
                return Err(self.lose_boundary(Error::new(kind, 8), account));
            }
        }
        self.fill(size, account)?;
        match RawRecord::<O>::parse(self.source.front()) {
            Ok((raw, _)) => Ok(Some((raw.kind(), raw.len()))),
            Err(error) => Err(self.lose_boundary(error, account)),
        }
    }

    /// Returns the number of bytes after the record of `size` bytes at the front, and how many of them are available.
    pub(super) fn trailing<O: Endian>(
        &mut self,
        kind: RecordType,
        size: usize,
        account: &mut Account,
    ) -> Result<(u64, usize), FileError> {
        let field = match kind {
            RecordType::AUXTRACE => "auxtrace.size",
            RecordType::HEADER_TRACING_DATA => "tracing_data.size",
            _ => return Ok((0, 0)),
        };
        let record = RawRecord::<O>::whole((), self.source.front());
        let trailing = record.and_then(|(raw, _)| raw.trailing_size());
        // Decoding the record reports that it is too short to have this size.
        let Some(trailing) = trailing else { return Ok((0, 0)) };
        if !S::IN_MEMORY && kind == RecordType::AUXTRACE {
            let left = self.source.left().map(|left| left.saturating_sub(size as u64));
            return match left.filter(|&left| left < trailing) {
                Some(available) => {
                    let error = Error::new(ErrorKind::Truncated { field, needed: trailing, available }, 8);
                    Err(self.lose_boundary(error, account))
                }
                None => Ok((trailing, 0)),
            };
        }
        let needed = usize::try_from(trailing).ok().and_then(|trailing| trailing.checked_add(size));
        let available = self.fill(needed.unwrap_or(usize::MAX), account)?;
        match needed {
            Some(needed) if needed <= available => Ok((trailing, needed.saturating_sub(size))),
            _ => {
                let available = available.saturating_sub(size) as u64;
                let error = Error::new(ErrorKind::Truncated { field, needed: trailing, available }, 8);
                Err(self.lose_boundary(error, account))
            }
        }
    }

    #[cold]
    fn lose_boundary(&mut self, error: Error, account: &mut Account) -> FileError {
        self.is_lost = true;
        boundary(account, error, self.source.offset())
    }

    /// Skips bytes up to a boundary that can be proved, or to the end. Returns the fault with the number of skipped
    /// bytes.
    #[cold]
    pub(super) fn resync<O: Endian>(
        &mut self,
        events: &Events,
        account: &mut Account,
    ) -> Result<FileError, FileError> {
        self.is_lost = false;
        let from = self.source.offset();
        // If bytes are missing, records may begin at any offset. One pass over all offsets keeps the cost linear.
        let step = 1;
        loop {
            let window = salvage::HORIZON.saturating_mul(2);
            let available = self.fill(window, account)?;
            let ended = S::IN_MEMORY || available < window;
            let hole = |at| self.source.hole(at);
            if let Some(at) = salvage::search::<O>(
                ((), self.source.front()),
                step,
                ended,
                |raw| events.layout_of(raw),
                hole,
            ) {
                self.skip(at as u64, account)?;
                break;
            }
            if ended {
                self.skip(available as u64, account)?;
                break;
            }
            // The search begins one step after the front: keep the front one step before the first offset that was not
            // judged.
            let judged = available.saturating_sub(salvage::HORIZON) & !7;
            self.skip(judged.saturating_sub(step) as u64, account)?;
        }
        let bytes = self.source.offset().saturating_sub(from);
        account.bytes_skipped = account.bytes_skipped.saturating_add(bytes);
        Ok(note(account, FileErrorKind::Skipped { bytes }, from))
    }

    /// Fills the source as [`ByteSource::fill`]; a failure ends the capture.
    fn fill(&mut self, need: usize, account: &mut Account) -> Result<usize, FileError> {
        if self.has_failed {
            return Ok(0);
        }
        self.source.fill(need).map_err(|kind| self.fail(kind, account))
    }

    fn skip(&mut self, count: u64, account: &mut Account) -> Result<(), FileError> {
        self.source.skip(count).map_err(|kind| self.fail(kind, account))
    }

    #[cold]
    fn fail(&mut self, kind: FileErrorKind, account: &mut Account) -> FileError {
        self.has_failed = true;
        note(account, kind, self.source.offset())
    }
}

/// Notes that the next record after `offset` cannot be found.
#[cold]
pub(super) fn boundary(account: &mut Account, error: Error, offset: u64) -> FileError {
    note(account, FileErrorKind::Boundary(error), offset.saturating_add(u64::from(error.offset)))
}
