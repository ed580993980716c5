//! The reader of a capture in every mode: the caller asks for records.

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

use alloc::borrow::Cow;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::ops::Range;

use perf_abi::endian::{Endian, Endianness};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use super::compressed::Inflate;
use super::error::FileError;
use super::events::Events;
use super::features::{self, FeatureSection};
use super::header::FileHeader;
use super::limits::Limits;
use super::records::FileRecord;
use super::source::{Slice, Source};
use super::{Account, error::FileErrorKind};
use found::Current;
use order::TimeOrder;
use plain::PLAIN;
use types::Types;

/// How a capture holds its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file: a header that says where attrs, records and features are.
    File(FileHeader),
    /// A stream of records, attrs and features among them.
    Pipe,
    /// Records alone, as rings hold them: the events were given by the caller.
    Ring,
}

impl Mode {
    /// The mode in one word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::File(_) => "file",
            Self::Pipe => "pipe",
            Self::Ring => "ring",
        }
    }
}

/// Reads the records of a capture of byte order `O`, in whatever mode it was written.
///
/// Attrs and features that come along in a pipe, names that EVENT_UPDATE records give, and compressed records are
/// taken in on the way: what [`next`](Self::next) gives are records. [`events`](Self::events) and
/// [`features`](Self::features) are what is known so far: of a file all from the start, of a pipe what has come.
///
/// Where the next record cannot be found the reader looks for a boundary that proves itself and goes on there: an
/// error from `next` is not the end. All that was passed over is in the [`account`](Self::account).
#[derive(Debug)]
pub struct Reader<'a, O: Endian, S: Source = Slice<'a>> {
    mode: Mode,
    limits: Limits,
    events: Events,
    features: Vec<OwnedFeature<'a>>,
    source: S,
    /// The data files of a directory capture that were read, and those still to be.
    done: Vec<S>,
    more: VecDeque<S>,
    data_file: usize,
    /// What to pass over before the next record is looked for.
    pending: Pending,
    inflate: Option<Inflate>,
    /// What is left to decompress of the record at the front of the source, as a range of its bytes.
    payload: Option<Range<usize>>,
    /// Bytes of that record.
    pending_payload: u64,
    /// Whether all of the compressed stream was given to `inflate`.
    inflate_ended: bool,
    /// Whether the next boundary has to be looked for, in the source and in the decompressed stream.
    lost: bool,
    lost_inner: bool,
    /// Bytes of the decompressed stream passed over so far in looking for one.
    inner_skipped: u64,
    /// Up to where attrs and features were taken in already.
    absorbed: u64,
    /// Whether the source failed: there is no more.
    failed: bool,
    order: Option<TimeOrder>,
    /// What the last look for a record found, and its fault.
    found: Current,
    fault: FileError,
    /// The types of the records that are asked for; `None` for all.
    only: Option<Types>,
    /// Those of them that are given at a glance, a bit for each of the kernel's.
    plain: u64,
    account: Account,
    /// The account when the capture was opened.
    opened: Account,
    byte_order: core::marker::PhantomData<O>,
}

/// What was given and is passed over when the next record is asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    /// Bytes of the source: a record and what stands behind it.
    outer: u64,
    /// Bytes of the decompressed stream: a record.
    inner: usize,
}

impl Pending {
    /// What is available of the source behind what is passed over.
    #[inline(always)]
    fn ahead<'s, S: Source>(&self, source: &'s S) -> Option<&'s [u8]> {
        source.ahead(usize::try_from(self.outer).ok()?)
    }

    /// Passes over that and `before` bytes more, to a record of `size` bytes, which is to be passed over next.
    #[inline(always)]
    fn pass_to<S: Source>(&mut self, source: &mut S, before: usize, size: usize) {
        let passed = usize::try_from(self.outer).unwrap_or(usize::MAX);
        source.take(passed.saturating_add(before));
        self.outer = size as u64;
    }
}

/// A feature with its bytes: those of the file, or a copy out of a stream.
#[derive(Clone, Debug)]
struct OwnedFeature<'a> {
    feature: Feature,
    offset: u64,
    bytes: Cow<'a, [u8]>,
    /// Whether its faults are in the account.
    is_checked: bool,
}

impl<'a, O: Endian, S: Source> Reader<'a, O, S> {
    /// What reading takes at most, as given when the capture was opened.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// How the capture holds its records.
    #[must_use]
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The number of the data file that is being read: 0 until the first one is at its end. See
    /// [`FileRecord::data_file`].
    #[must_use]
    pub fn data_file(&self) -> usize {
        self.data_file
    }

    /// The order of the bytes of the capture.
    #[must_use]
    pub fn endianness(&self) -> Endianness {
        O::ENDIANNESS
    }

    /// The events, in the order the capture lists them; of a pipe those that have come.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// The features, by rising number in a file, as they came in a pipe.
    pub fn features(&self) -> impl Iterator<Item = FeatureSection<'_>> {
        self.features.iter().map(|it| FeatureSection::new(it.feature, it.offset, &it.bytes))
    }

    /// One feature; `None` if the capture does not have it, or it has not come yet.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.features().find(|section| section.feature == feature)
    }

    /// Decodes each feature that was not checked yet, and notes in the account what is wrong. Gives the faults, the ones
    /// that were noted already included.
    ///
    /// Takes time and, for a moment, memory by the sizes of the features.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::AnyReader;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures/plain.data");
    /// let bytes = std::fs::read(path)?;
    /// let AnyReader::Little(mut reader) = AnyReader::open(&bytes)? else { panic!("recorded on a big-endian machine") };
    /// assert_eq!(reader.check_features(), []);
    /// assert!(reader.account().is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_features(&mut self) -> Vec<(Feature, FileError)> {
        let nr_cpus = self.feature(Feature::NRCPUS);
        let mut faults = Vec::new();
        for it in self.features.iter().filter(|it| !it.is_checked) {
            let section = FeatureSection::new(it.feature, it.offset, &it.bytes);
            features::check::<O>(&section, nr_cpus.as_ref(), |error| faults.push((it.feature, error)));
        }
        self.features.iter_mut().for_each(|it| it.is_checked = true);
        for (_, error) in &faults {
            self.account.note_once(*error);
        }
        faults
    }

    /// The account so far: what was read, lost and skipped.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The account, to add what the caller found wrong while decoding.
    pub fn account_mut(&mut self) -> &mut Account {
        &mut self.account
    }

    /// How far into the capture the reader is, in bytes.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Gives records by rising time from here on, records of equal time as they stand in the capture.
    ///
    /// Holds records back until a round of the recorder is over (FINISHED_ROUND), as perf does; records without a time
    /// are given at once. Of records in memory it holds where each run of rising times begins and ends, 24 bytes a run; of
    /// others a copy. Where rounds are missing, in a directory, or longer than [`Limits::held_records`] or
    /// [`Limits::held_bytes`], it gives the earlier half of what it holds; a record that is earlier than one already given is
    /// given late, and counted in [`Account::late`].
    pub fn in_time_order(&mut self) {
        self.order.get_or_insert_with(|| TimeOrder::new(&self.limits));
    }

    /// Gives only records of these types from here on. The others are counted and passed over, at no more than a look at
    /// their headers; what they say of the capture itself is taken in as ever.
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

    /// Starts over at the first record, with an account of its own; events and features that came on the way stay
    /// known, by which records may be found in a damaged stream that were not at first. In the order of the capture and of
    /// all types, unless [`in_time_order`](Self::in_time_order) and [`only`](Self::only) are asked for again.
    ///
    /// Whether it could: a stream cannot be read again.
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
        self.features.iter_mut().for_each(|it| it.is_checked = false);
        true
    }

    /// As [`rewind`](Self::rewind), and keeps to time order where that was asked for.
    #[cfg(feature = "std")]
    pub(super) fn rewind_in_order(&mut self) {
        let is_ordered = self.order.is_some();
        if self.rewind() && is_ordered {
            self.in_time_order();
        }
    }

    /// The next record; `None` at the end. Allocates nothing for records that are not compressed, in file order.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Boundary`] where the next record could not be found, with how much was passed over: the next
    /// call goes on behind that. [`FileErrorKind::Decompress`] for a payload that cannot be decompressed,
    /// [`FileErrorKind::Io`] if the stream cannot be read; then the capture ends. Each is in the account already.
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

    /// The bytes from an offset in a data file on, if it was begun and is in memory.
    #[inline]
    fn in_place(&self, offset: u64, data_file: usize) -> Option<&[u8]> {
        source_of(&self.source, &self.done, self.data_file, data_file)?.at(offset)
    }

    /// Notes an error of the reader's own.
    #[cold]
    fn note(&mut self, kind: FileErrorKind, offset: u64) -> FileError {
        let error = FileError::new(kind, offset);
        self.account.note(error);
        error
    }
}

/// A data file by its index, if it was begun: the one that is being read is that of index `current`.
#[inline]
fn source_of<'s, S>(source: &'s S, done: &'s [S], current: usize, index: usize) -> Option<&'s S> {
    if index == current { Some(source) } else { done.get(index) }
}
