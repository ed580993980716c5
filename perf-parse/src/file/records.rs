//! The walk over the records of a capture, of any byte order and from any source.

use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::thread::Scope;

use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;

use super::knowledge::Knowledge;
#[cfg(feature = "std")]
use super::source::BufferedStream;
use super::source::Slice;
use super::walk::{FilePiece, SourceWalk};
use crate::account::Account;
use crate::batch::{BatchColumns, BatchContents, SampleBatch};
use crate::error::FileError;
use crate::event::{EventRecord, Events, RecordPosition};
use crate::feature::{FeatureSection, Features};
use crate::limits::Limits;

/// A walk over the records of a capture; made by [`Reader::records`](super::Reader::records).
///
/// It applies the attrs and features of a pipe and the names in EVENT_UPDATE records, and decompresses compressed
/// records. If the next record cannot be found, it searches for a boundary that it can prove, and continues there. An
/// error is therefore not the end: the next item comes after the damage. The [`account`](Self::account) has everything
/// that was skipped, and every error.
///
/// Allocates nothing for a record of a capture in memory, in file order.
///
/// # Errors
///
/// [`FileErrorKind::Boundary`](super::FileErrorKind::Boundary) if the next record cannot be found; the next step
/// searches for it. [`FileErrorKind::Skipped`](super::FileErrorKind::Skipped) with the number of bytes that the search
/// skipped. [`FileErrorKind::Decompress`](super::FileErrorKind::Decompress) for a payload that cannot be decompressed.
/// [`FileErrorKind::Io`](super::FileErrorKind::Io) if the stream cannot be read; then the capture ends.
#[derive(Debug)]
pub struct EventRecords<'r> {
    walk: AnyWalk<'r>,
    /// The result of a slow step, until it is returned. If the step returned the result itself, every record, also one
    /// of the fast path, would be kept in memory and copied.
    step: Option<Result<EventRecord<'r>, FileError>>,
}

/// A walk for each byte order and source, so that the inner loops know both.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a walk over millions of records")]
pub(super) enum AnyWalk<'r> {
    LittleMemory(SourceWalk<'r, LittleEndian, Slice<'r>>),
    BigMemory(SourceWalk<'r, BigEndian, Slice<'r>>),
    #[cfg(feature = "std")]
    LittleStream(SourceWalk<'r, LittleEndian, BufferedStream<'r>>),
    #[cfg(feature = "std")]
    BigStream(SourceWalk<'r, BigEndian, BufferedStream<'r>>),
}

/// Evaluates an expression with the walk, whichever it is.
macro_rules! with_walk {
    ($any:expr, $walk:ident => $value:expr) => {
        match $any {
            AnyWalk::LittleMemory($walk) => $value,
            AnyWalk::BigMemory($walk) => $value,
            #[cfg(feature = "std")]
            AnyWalk::LittleStream($walk) => $value,
            #[cfg(feature = "std")]
            AnyWalk::BigStream($walk) => $value,
        }
    };
}

impl<'r> EventRecords<'r> {
    fn new(walk: AnyWalk<'r>) -> Self {
        Self { walk, step: None }
    }

    /// Finds the next record by any path. A separate function, so that only the fast path of most captures is inlined.
    #[inline(never)]
    fn step(&mut self) {
        self.step = with_walk!(&mut self.walk, walk => walk.next());
    }

    /// Creates a walk over `first`, a data file with its number, and the data files after it.
    pub(super) fn in_memory(
        first: (Slice<'r>, usize),
        more: impl IntoIterator<Item = Slice<'r>>,
        knowledge: Knowledge<'r>,
        account: Account,
        (endianness, limits): (Endianness, &Limits),
    ) -> Self {
        Self::new(match endianness {
            Endianness::Little => {
                AnyWalk::LittleMemory(SourceWalk::new(first, more, knowledge, account, limits))
            }
            Endianness::Big => AnyWalk::BigMemory(SourceWalk::new(first, more, knowledge, account, limits)),
        })
    }

    /// Creates a walk over `first`, a stream of a data file with its number, and the data files after it.
    #[cfg(feature = "std")]
    pub(super) fn streamed(
        first: (BufferedStream<'r>, usize),
        more: impl IntoIterator<Item = BufferedStream<'r>>,
        knowledge: Knowledge<'r>,
        account: Account,
        (endianness, limits): (Endianness, &Limits),
    ) -> Self {
        Self::new(match endianness {
            Endianness::Little => {
                AnyWalk::LittleStream(SourceWalk::new(first, more, knowledge, account, limits))
            }
            Endianness::Big => AnyWalk::BigStream(SourceWalk::new(first, more, knowledge, account, limits)),
        })
    }

    /// Skips the records before a place.
    pub(super) fn skipping_to(mut self, place: RecordPosition) -> Self {
        with_walk!(&mut self.walk, walk => walk.skip_to(place));
        self
    }

    /// Leaves out everything but some pieces of the data files, which are in memory and not compressed.
    pub(crate) fn of_pieces(mut self, pieces: Vec<FilePiece>) -> Self {
        with_walk!(&mut self.walk, walk => walk.only_pieces(pieces));
        self
    }

    /// Returns records in time order from here on. Records of equal time are in the order of the capture.
    ///
    /// Records are held until a round of the recorder is over (FINISHED_ROUND), as perf does. Records without a time
    /// are returned at once. For records in memory, the walk holds the start and end of each run of ascending times, 24
    /// bytes for each run; other records are copied. If there are no rounds, as in a folder, or if a round exceeds
    /// [`Limits::held_records`](super::Limits::held_records) or [`Limits::held_bytes`](super::Limits::held_bytes), the
    /// earlier half of the held records is returned. A record that is earlier than one already returned is returned
    /// late, and counted in [`Account::late`].
    #[must_use]
    pub fn in_time_order(mut self) -> Self {
        with_walk!(&mut self.walk, walk => walk.in_time_order());
        self
    }

    /// Has compressed records decompressed by a thread of its own, up to eight of them before their content is needed. Has no
    /// effect on a capture that is not compressed, on compressed records that have been reached, and where the system has no
    /// threads left. Records, errors and account are the same.
    ///
    /// Takes a copy of these compressed records, at most 64 KiB each, and up to eight times
    /// [`Limits::decompressed_step`](super::Limits::decompressed_step) bytes more. The thread ends with its data file, or
    /// when the walk is dropped.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn decompress_ahead(mut self) -> Self {
        with_walk!(&mut self.walk, walk => walk.decompress_ahead());
        self
    }

    /// Has another thread find the order of the records that are not read yet, [in time order](Self::in_time_order). It reads
    /// their headers and times up to 16 MiB ahead, so that the walk only merges what is found. Has no effect without time
    /// order, on streams and compressed records, where the events are found during the walk, and where the system has no
    /// threads left. Records, errors and account are the same.
    ///
    /// The thread ends with the capture, or when the walk is dropped, which should be within the scope: for a walk that goes
    /// on later, it waits no more than a second.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::thread;
    ///
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let reader = Reader::open(path)?;
    /// let count = thread::scope(|scope| reader.records().in_time_order().order_ahead(scope).count());
    /// assert_eq!(count, reader.records().count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn order_ahead<'scope>(mut self, scope: &'scope Scope<'scope, '_>) -> Self
    where
        'r: 'scope,
    {
        match &mut self.walk {
            AnyWalk::LittleMemory(walk) => walk.order_ahead(scope),
            AnyWalk::BigMemory(walk) => walk.order_ahead(scope),
            AnyWalk::LittleStream(_) | AnyWalk::BigStream(_) => {}
        }
        self
    }

    /// Returns only records of these types from here on. The walk counts records of other types and skips them after
    /// reading their headers. It still applies attrs, features and event names.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::{Reader, Record};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut records = reader.records().only(&[RecordType::COMM]);
    /// for record in &mut records {
    ///     let record = record?;
    ///     let Record::Comm(comm) = record.decode()? else { unreachable!("only COMM") };
    ///     println!("{} is {}", comm.tid, String::from_utf8_lossy(comm.comm));
    /// }
    /// assert!(records.account().records > 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn only(mut self, types: &[RecordType]) -> Self {
        with_walk!(&mut self.walk, walk => walk.only(types));
        self
    }

    /// Takes the next samples, as many as the batch has room for, and finds the event of each. Returns their bytes. The first
    /// one is at the place that [`reached`](Self::reached) returned before.
    ///
    /// Call [`next`](Iterator::next) after a batch that is not [full](SampleBatch::is_full): it returns the record at which
    /// the batch ended, or the fault, or `None` at the end. [`SampleBatch`] describes where a batch ends. It also ends, or is
    /// empty, where batches cannot hold samples: in time order, where a stream has to be read on, and at the end of what a
    /// compressed record contains; `next` then returns a sample. Allocates nothing. The account counts the samples.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::{Reader, SampleBatch};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut records = reader.records();
    /// let mut batch = SampleBatch::<256>::new(SampleType::TIME);
    /// let mut last = 0;
    /// loop {
    ///     records.next_batch(&mut batch);
    ///     let of_batch = batch.time().unwrap_or_default().iter().max();
    ///     last = last.max(of_batch.copied().unwrap_or(0));
    ///     if !batch.is_full() {
    ///         let Some(record) = records.next() else { break };
    ///         last = last.max(record?.time().unwrap_or(0));
    ///     }
    /// }
    /// let times = reader.records().filter_map(|record| record.ok()?.time());
    /// assert_eq!(Some(last), times.max());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_batch<const N: usize>(&mut self, batch: &mut SampleBatch<N>) -> &[u8] {
        let filled = self.fill(batch.columns());
        batch.set(filled);
        with_walk!(&self.walk, walk => walk.taken(filled.bytes))
    }

    /// Fills the columns of a batch. Compiled once for all sizes of batches.
    #[inline(never)]
    fn fill(&mut self, columns: BatchColumns<'_>) -> BatchContents {
        with_walk!(&mut self.walk, walk => walk.next_batch(columns))
    }

    /// Returns the account so far: what was read, lost and skipped, including the account of opening.
    #[must_use]
    pub fn account(&self) -> &Account {
        with_walk!(&self.walk, walk => &walk.account)
    }

    /// Returns the account, so that the caller can add the faults that it found while decoding.
    pub fn account_mut(&mut self) -> &mut Account {
        with_walk!(&mut self.walk, walk => &mut walk.account)
    }

    /// Returns the events that are known so far.
    #[must_use]
    pub fn events(&self) -> &Events {
        with_walk!(&self.walk, walk => walk.knowledge.events())
    }

    /// Returns the features that are known so far, in the order of [`Reader::features`](super::Reader::features).
    #[must_use]
    pub fn features(&self) -> &Features<'r> {
        with_walk!(&self.walk, walk => walk.knowledge.features())
    }

    /// Returns a feature; `None` if it is not known so far.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.features().get(feature)
    }

    /// Returns how far the walk has read: the place of what comes next. While decompressed data is left, it has the position in
    /// the decompressed stream.
    #[must_use]
    pub fn reached(&self) -> RecordPosition {
        with_walk!(&self.walk, walk => walk.position())
    }

    /// Returns what the walk has found out about the capture.
    #[cfg(feature = "std")]
    pub(crate) fn into_knowledge(self) -> Knowledge<'r> {
        with_walk!(self.walk, walk => walk.knowledge)
    }

    /// Decodes each feature that was not checked before, and notes the faults in the account. Returns the faults of
    /// these features, including those that the account already had.
    ///
    /// The time, and the temporary memory, grow with the sizes of the features.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let mut records = reader.records();
    /// assert_eq!(records.check_features(), []);
    /// assert!(records.account().is_clean());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_features(&mut self) -> Vec<(Feature, FileError)> {
        let faults = with_walk!(&mut self.walk, walk => walk.knowledge.check_features());
        for (_, error) in &faults {
            self.account_mut().note_once(*error);
        }
        faults
    }
}

impl<'r> Iterator for EventRecords<'r> {
    type Item = Result<EventRecord<'r>, FileError>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.walk {
            AnyWalk::LittleMemory(walk) => {
                if let Some(record) = walk.next_fast() {
                    return Some(Ok(record));
                }
            }
            #[cfg(feature = "std")]
            AnyWalk::LittleStream(walk) => {
                if let Some(record) = walk.next_fast() {
                    return Some(Ok(record));
                }
            }
            _ => {}
        }
        self.step();
        self.step.take()
    }
}
