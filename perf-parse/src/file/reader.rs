//! The reader of a capture in every mode; the caller requests records.

mod absorb;
mod advance;
mod ahead;
mod found;
mod inner;
mod open;
mod order;
mod plain;
mod resync;
mod types;

pub use open::AnyReader;

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use super::Account;
use super::compressed::Inflate;
use super::events::Events;
use super::header::FileHeader;
use super::limits::Limits;
use super::records::FileRecord;
use super::source::{Slice, Source};
use crate::error::FileError;
use crate::error::FileErrorKind;
use crate::feature::{FeatureSection, Features};
use found::Current;
use order::TimeOrder;
use plain::PLAIN;
use types::Types;

/// How a capture stores its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file: a header with the offsets of attrs, records and features.
    File(FileHeader),
    /// A stream of records, including attrs and features.
    Pipe,
    /// Records without a container, as rings hold them. The caller provides the events.
    Ring,
}

impl Mode {
    /// Returns the mode in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Pipe => "pipe",
            Self::Ring => "ring",
        }
    }
}

/// Reads the records of a capture of byte order `O`, in any mode.
///
/// The reader applies the attrs and features of a pipe and the names in EVENT_UPDATE records, and it decompresses
/// compressed records. [`next`](Self::next) returns the records. [`events`](Self::events) and
/// [`features`](Self::features) return those that are known so far: all of them in a file, those that were read in a
/// pipe.
///
/// If the next record cannot be found, the reader searches for a boundary that it can prove, and continues there. An
/// error from `next` is therefore not the end. The [`account`](Self::account) reports everything that was skipped.
#[derive(Debug)]
pub struct Reader<'a, O: Endian, S: Source = Slice<'a>> {
    mode: Mode,
    limits: Limits,
    events: Events,
    features: Features<'a>,
    /// The features, with their offsets, whose faults are in the account.
    checked: BTreeSet<(Feature, u64)>,
    source: S,
    /// The data files of a directory capture that have been read, and those that have not.
    done: Vec<S>,
    more: VecDeque<S>,
    data_file: usize,
    /// What to skip before the next record is read.
    pending: Pending,
    inflate: Option<Inflate>,
    /// The rest of the payload of the record at the front of the source that is not decompressed yet, as a range of the
    /// record's bytes.
    payload: Option<Range<usize>>,
    /// Size of that record in bytes.
    pending_payload: u64,
    /// Whether `inflate` has received the whole compressed stream.
    inflate_ended: bool,
    /// Whether the next boundary has to be searched for, in the source and in the decompressed stream.
    lost: bool,
    lost_inner: bool,
    /// Number of bytes of the decompressed stream that the search has skipped so far.
    inner_skipped: u64,
    /// Offset up to which attrs and features have been applied.
    absorbed: u64,
    /// Whether the source failed, so that nothing more can be read.
    failed: bool,
    order: Option<TimeOrder>,
    /// The last record that the slow path found, and its last fault.
    found: Current,
    fault: FileError,
    /// The types of the records that were requested; `None` for all.
    only: Option<Types>,
    /// The requested kernel types that the fast path may return, one bit each.
    plain: u64,
    account: Account,
    /// The account when the capture was opened.
    opened: Account,
    byte_order: core::marker::PhantomData<O>,
}

/// What was returned and has to be skipped before the next record.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Number of bytes of the source: a record and the data after it.
    outer: u64,
    /// Number of bytes of the decompressed stream: a record.
    inner: usize,
}

impl Pending {
    /// Returns the available bytes of the source after the part to skip.
    #[inline(always)]
    fn ahead<'s, S: Source>(&self, source: &'s S) -> Option<&'s [u8]> {
        source.ahead(usize::try_from(self.outer).ok()?)
    }

    /// Skips that part and `before` bytes more. The next record, of `size` bytes, becomes the part to skip.
    #[inline(always)]
    fn pass_to<S: Source>(&mut self, source: &mut S, before: usize, size: usize) {
        let passed = usize::try_from(self.outer).unwrap_or(usize::MAX);
        source.take(passed.saturating_add(before));
        self.outer = size as u64;
    }
}

impl<'a, O: Endian, S: Source> Reader<'a, O, S> {
    /// Returns the limits that were given when the capture was opened.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns how the capture stores its records.
    #[must_use]
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// Returns the number of the data file that is being read: 0 until the first one has ended. See
    /// [`FileRecord::data_file`].
    #[must_use]
    pub fn data_file(&self) -> usize {
        self.data_file
    }

    /// Returns the byte order of the capture.
    #[must_use]
    pub fn endianness(&self) -> Endianness {
        O::ENDIANNESS
    }

    /// Returns the events, in the order in which the capture lists them; for a pipe, those that have been read.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns the features; of a pipe, those that have been read.
    #[must_use]
    pub fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// Returns a feature; `None` if the capture does not have it, or if it has not been read yet.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.features.get(feature)
    }

    /// Decodes each feature that was not checked before, and notes the faults in the account. Returns the faults of
    /// these features, including those that the account already had.
    ///
    /// The time, and the temporary memory, grow with the sizes of the features.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::AnyReader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on a big-endian machine") };
    /// assert_eq!(reader.check_features(), []);
    /// assert!(reader.account().is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_features(&mut self) -> Vec<(Feature, FileError)> {
        let mut faults = Vec::new();
        for section in &self.features {
            // A later section of a pipe replaces an earlier one, and has another offset.
            if self.checked.insert((section.feature, section.offset)) {
                section.check(|error| faults.push((section.feature, error)));
            }
        }
        for (_, error) in &faults {
            self.account.note_once(*error);
        }
        faults
    }

    /// Returns the account so far: what was read, lost and skipped.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Returns the account, so that the caller can add the faults that it found while decoding.
    pub fn account_mut(&mut self) -> &mut Account {
        &mut self.account
    }

    /// Returns how far the reader has read, in bytes from the start of the capture.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Makes [`next`](Self::next) return records in time order from here on. Records of equal time are in the order of
    /// the capture.
    ///
    /// Records are held until a round of the recorder is over (FINISHED_ROUND), as perf does. Records without a time
    /// are returned at once. For records in memory, the reader holds the start and end of each run of ascending times,
    /// 24 bytes for each run; other records are copied. If there are no rounds, as in a directory, or if a round
    /// exceeds [`Limits::held_records`] or [`Limits::held_bytes`], the earlier half of the held records is returned. A
    /// record that is earlier than one already returned is returned late, and counted in [`Account::late`].
    pub fn in_time_order(&mut self) {
        self.order.get_or_insert_with(|| TimeOrder::new(&self.limits));
    }

    /// Makes [`next`](Self::next) return only records of these types from here on. The reader counts records of other
    /// types and skips them after reading their headers. It still applies attrs, features and event names.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::{AnyReader, FileError, Record};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on a big-endian machine") };
    /// reader.only(&[RecordType::COMM]);
    /// while let Some(record) = reader.next()? {
    ///     let Record::Comm(comm) = record.decode()? else { panic!("not asked for") };
    ///     println!("{} is {}", comm.tid, String::from_utf8_lossy(comm.comm));
    /// }
    /// assert!(reader.account().records > 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn only(&mut self, types: &[RecordType]) {
        let only = Types::new(types);
        self.plain = PLAIN & only.kernels();
        self.only = Some(only);
    }

    /// Goes back to the first record, with the account as it was when the capture was opened. Returns whether this was
    /// possible: a stream cannot be read twice.
    ///
    /// Events and features that were read stay known. With them, a second pass over a damaged stream may find more
    /// records. The second pass returns records of all types in the order of the capture, unless
    /// [`in_time_order`](Self::in_time_order) and [`only`](Self::only) are called again.
    pub fn rewind(&mut self) -> bool {
        let mut sources = core::mem::take(&mut self.done);
        sources.append(&mut self.more.drain(..).collect());
        if !self.source.rewind() || !sources.iter_mut().all(S::rewind) {
            return false;
        }
        let begun = sources.drain(..self.data_file.min(sources.len())).collect::<Vec<_>>();
        let mut all = begun.into_iter();
        if let Some(first) = all.next() {
            let current = core::mem::replace(&mut self.source, first);
            self.more.extend(all);
            self.more.push_back(current);
        }
        self.more.extend(sources);
        self.data_file = 0;
        self.pending = Pending::default();
        self.inflate = None;
        self.payload = None;
        self.pending_payload = 0;
        self.inflate_ended = false;
        self.inner_skipped = 0;
        (self.lost, self.lost_inner, self.failed) = (false, false, false);
        self.absorbed = u64::MAX;
        self.order = None;
        (self.only, self.plain) = (None, PLAIN);
        self.account = self.opened.clone();
        self.checked.clear();
        true
    }

    /// Rewinds as [`rewind`](Self::rewind), and keeps the time order if it was requested.
    #[cfg(feature = "std")]
    pub(super) fn rewind_in_order(&mut self) {
        let is_ordered = self.order.is_some();
        if self.rewind() && is_ordered {
            self.in_time_order();
        }
    }

    /// Returns the next record; `None` at the end. Allocates nothing for records that are not compressed, in file
    /// order.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Boundary`] if the next record cannot be found; the next call searches for it.
    /// [`FileErrorKind::Skipped`] with the number of bytes that the search skipped; the next call continues after them.
    /// [`FileErrorKind::Decompress`] for a payload that cannot be decompressed. [`FileErrorKind::Io`] if the stream
    /// cannot be read; then the capture ends. The account already has these errors.
    ///
    /// # Examples
    ///
    /// See [`file`](super).
    #[inline(always)]
    #[allow(
        clippy::should_implement_trait,
        reason = "the records borrow from the reader, which an Iterator cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<FileRecord<'_, O>>, FileError> {
        if self.order.is_some() { self.next_in_time() } else { self.next_in_capture() }
    }

    /// Returns the bytes of a data file from an offset on, if the reader has begun the file and it is in memory.
    #[inline]
    fn in_place(&self, offset: u64, data_file: usize) -> Option<&[u8]> {
        source_of(&self.source, &self.done, self.data_file, data_file)?.at(offset)
    }

    /// Notes a fault that the reader itself found.
    #[cold]
    fn note(&mut self, kind: FileErrorKind, offset: u64) -> FileError {
        let error = FileError::new(kind, offset);
        self.account.note(error);
        error
    }
}

/// Returns a data file by its index, if the reader has begun it. The file that is being read has the index `current`.
#[inline]
fn source_of<'s, S>(source: &'s S, done: &'s [S], current: usize, index: usize) -> Option<&'s S> {
    if index == current { Some(source) } else { done.get(index) }
}
