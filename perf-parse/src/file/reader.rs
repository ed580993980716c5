//! The reader of a capture: the opened capture, and the methods that return its records.

use alloc::borrow::Cow;
#[cfg(feature = "std")]
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
#[cfg(feature = "std")]
use std::sync::{Mutex, PoisonError};

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;

use super::header::{FileHeader, Section};
use super::knowledge::{Knowledge, KnownEvents};
use super::records::EventRecords;
#[cfg(feature = "std")]
use super::source::{BufferedStream, RandomAccess, Window};
use super::source::{ByteSource, Slice};
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::event::{EventRecord, Events, RecordPosition};
use crate::feature::{FeatureSection, Features};
use crate::limits::Limits;

/// How a capture stores its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// An opened capture, of any mode and byte order.
///
/// [`records`](Self::records) walks over its records. The reader does not change, so it can be shared by threads and
/// walked as often as needed; a [stream](Self::stream) can be walked once.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
///
/// # let path = "examples/captures/plain.data";
/// let bytes = std::fs::read(path)?;
/// let reader = Reader::new(&bytes)?;
/// let mut samples = Vec::new();
/// for record in reader.records().in_time_order() {
///     let record = record?;
///     if record.sample().is_some() {
///         samples.push(record); // can be kept as long as the reader
///     }
/// }
/// assert!(samples.windows(2).all(|pair| pair[0].time() <= pair[1].time()));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Debug)]
#[doc(alias = "PerfFile")]
#[doc(alias = "PerfFileReader")]
pub struct Reader<'a> {
    endianness: Endianness,
    mode: Mode,
    limits: Limits,
    events: Events,
    features: Features<'a>,
    /// The offset up to which records of a pipe were applied to the events and features.
    applied: u64,
    data: DataFiles<'a>,
    account: Account,
}

/// Where the records of a capture are.
#[derive(Debug)]
pub(super) enum DataFiles<'a> {
    /// The data files, in memory.
    Memory(Vec<Slice<'a>>),
    /// The data files, which each walk reads by windows.
    #[cfg(feature = "std")]
    Windows(Vec<Window<'a>>),
    /// A stream, until it is walked.
    #[cfg(feature = "std")]
    Stream(Mutex<Option<BufferedStream<'a>>>),
}

impl<'a> Reader<'a> {
    pub(super) fn of(
        endianness: Endianness,
        mode: Mode,
        (events, features, applied): (Events, Features<'a>, u64),
        data: DataFiles<'a>,
        account: Account,
        limits: &Limits,
    ) -> Self {
        Self { endianness, mode, limits: *limits, events, features, applied, data, account }
    }

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

    /// Returns the byte order of the capture.
    #[must_use]
    pub fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Returns the events that were known when the capture was opened: all events of a file; those before the first
    /// record of a pipe. [`EventRecords::events`] has those that come later.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns the features that were known when the capture was opened: in a file in ascending order, in a pipe in the
    /// order in which they came. [`EventRecords::features`] has those that come later.
    #[must_use]
    pub fn features(&self) -> &Features<'a> {
        &self.features
    }

    /// Returns a feature; `None` if the capture does not have it, or if it comes after the first record of a pipe.
    #[must_use]
    pub fn feature(&self, feature: Feature) -> Option<FeatureSection<'_>> {
        self.features.get(feature)
    }

    /// Returns the account of opening: the faults of header, attrs and feature table.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Reads the records of `data` instead of those of the capture, with the capture's events and features: the dump of
    /// a ring that belongs to the capture.
    ///
    /// Offsets are as for [`from_records`](Self::from_records). The faults that were found when the capture was opened
    /// stay in the account.
    #[must_use]
    pub fn with_records(self, data: &'a [u8]) -> Self {
        let data = DataFiles::Memory([Slice::new(data, 0)].into());
        Self { mode: Mode::Ring, applied: 0, data, ..self }
    }

    /// Decodes samples of the [provisional ABI](perf_abi::provisional), which no released kernel has. By default they are
    /// refused with [`ErrorKind::Provisional`](crate::ErrorKind::Provisional): the kernel that will have this ABI may write
    /// another layout.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?.with_provisional_abi();
    /// assert!(reader.events().iter().all(|event| event.layout.has_provisional_abi()));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_provisional_abi(mut self) -> Self {
        self.events.decode_provisional_abi();
        self
    }

    /// Adds a data file of a folder capture. Its records are read after those of the files before it. The first record
    /// is at the start of `bytes`. If the other data files are read by windows, this one is, too.
    ///
    /// perf: `dir/data.*`; the file given to [`new`](Self::new) is `dir/data`. A stream has no data files: the call has
    /// no effect.
    pub fn add_data(&mut self, bytes: &'a [u8]) {
        let slice = Slice::new(bytes, 0);
        match &mut self.data {
            DataFiles::Memory(files) => files.push(slice),
            #[cfg(feature = "std")]
            DataFiles::Windows(windows) => windows.push(window(slice)),
            #[cfg(feature = "std")]
            DataFiles::Stream(_) => {}
        }
    }

    /// Sets the holes of a data file that is a sparse file: ranges of zeros that take no space on disk. `holes` must be
    /// in ascending order of offsets in that file, and no range may be empty. The search for a lost boundary does not
    /// read the holes.
    ///
    /// `data_file` is as in [`RecordPosition::data_file`](crate::event::RecordPosition::data_file). If there is no such file,
    /// the call has no effect.
    pub fn set_holes(&mut self, data_file: usize, holes: &'a [Range<u64>]) {
        if let Some(file) = self.files_mut().and_then(|files| files.get_mut(data_file)) {
            file.set_holes(holes);
        }
    }

    /// Returns the payload of an AUXTRACE record, or another range of bytes of the capture's first data file. Borrows from
    /// a capture in memory; reads, and allocates for, one that is read by windows.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Truncated`] if the range is not entirely in the data section, and for a stream, whose bytes are
    /// gone. [`FileErrorKind::Io`] if the file cannot be read.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_parse::file::Section;
    ///
    /// # let path = "examples/captures/auxtrace.le.data";
    /// let reader = Reader::open(path)?;
    /// for record in reader.records() {
    ///     let record = record?;
    ///     let offset = record.offset() + u64::from(record.raw().size());
    ///     let section = Section { offset, size: record.trailing_size() };
    ///     assert_eq!(reader.bytes_at(section)?.len() as u64, record.trailing_size());
    /// }
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    pub fn bytes_at(&self, section: Section) -> Result<Cow<'_, [u8]>, FileError> {
        self.bytes_in(0, section)
    }

    /// Returns the data after a record of this capture: the [data that the record has](EventRecord::trailing), or, where the
    /// capture is read by windows, which skip it, what is read now. Empty for a record without data. Allocates what it reads.
    ///
    /// # Errors
    ///
    /// Those of [`bytes_at`](Self::bytes_at), with the offset of the data.
    pub fn trailing<'b>(&'b self, record: &'b EventRecord<'_>) -> Result<Cow<'b, [u8]>, FileError> {
        let (held, size) = (record.trailing(), record.trailing_size());
        if held.len() as u64 == size {
            return Ok(Cow::Borrowed(held));
        }
        let offset = record.offset().saturating_add(u64::from(record.raw().size()));
        self.bytes_in(record.position().data_file, Section { offset, size })
    }

    /// Returns a range of bytes of a data file, as [`bytes_at`](Self::bytes_at) of the first one. `data_file` is as in
    /// [`RecordPosition::data_file`].
    ///
    /// # Errors
    ///
    /// Those of [`bytes_at`](Self::bytes_at), also if there is no such data file.
    pub fn bytes_in(&self, data_file: usize, section: Section) -> Result<Cow<'_, [u8]>, FileError> {
        let range = section.offset..section.offset.saturating_add(section.size);
        let bytes = match &self.data {
            DataFiles::Memory(files) => {
                let bytes = files.get(data_file).and_then(|file| file.at(range.start));
                let size = usize::try_from(section.size).ok();
                bytes.zip(size).and_then(|(bytes, size)| bytes.get(..size)).map(Cow::Borrowed)
            }
            #[cfg(feature = "std")]
            DataFiles::Windows(windows) => {
                let window = windows.get(data_file).map(|window| window.part(&range));
                let read = window.filter(|window| window.range() == range).map(Window::read_all).transpose();
                let read =
                    read.map_err(|error| FileError::new(FileErrorKind::Io(error.kind()), range.start))?;
                read.filter(|bytes| bytes.len() as u64 == section.size).map(Cow::Owned)
            }
            #[cfg(feature = "std")]
            DataFiles::Stream(_) => None,
        };
        bytes.ok_or_else(|| {
            let kind =
                FileErrorKind::Truncated { field: "auxtrace.size", needed: section.size, available: 0 };
            FileError::new(kind, section.offset)
        })
    }

    /// Returns whether the records can be walked more than once: always, except those of a stream.
    #[must_use]
    pub fn can_walk_again(&self) -> bool {
        match &self.data {
            DataFiles::Memory(_) => true,
            #[cfg(feature = "std")]
            DataFiles::Windows(_) => true,
            #[cfg(feature = "std")]
            DataFiles::Stream(_) => false,
        }
    }

    /// Walks over the records from a place on, which must be the place of a record that an earlier walk returned.
    ///
    /// Begins in constant time, with the events that were known when the capture was opened: an EVENT_UPDATE record
    /// before the place is not applied. A [stream](Self::stream), a compressed capture, and a capture without features,
    /// which may be compressed, are walked from their start: their records are skipped up to the place.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let places: Vec<_> = reader.records().map(|record| record.map(|it| it.position())).collect::<Result<_, _>>()?;
    /// let half = places.len() / 2;
    /// let record = reader.at(places[half])?.expect("the place of a record");
    /// assert_eq!(record.position(), places[half]);
    /// assert_eq!(reader.records_from(places[half]).count(), places.len() - half);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn records_from(&self, place: RecordPosition) -> EventRecords<'_> {
        self.records_beginning_at(place, place.decompressed.is_some() || self.may_be_compressed())
    }

    /// Walks over the records from a place on. `is_compressed` means that the records before the place have to be read,
    /// too.
    pub(crate) fn records_beginning_at(
        &self,
        place: RecordPosition,
        is_compressed: bool,
    ) -> EventRecords<'_> {
        if is_compressed {
            return self.records().skipping_to(place);
        }
        #[cfg(feature = "std")]
        if let DataFiles::Windows(windows) = &self.data {
            let mut windows = windows.get(place.data_file..).unwrap_or_default().to_vec();
            if let Some(first) = windows.first_mut() {
                *first = first.part(&(place.offset..u64::MAX));
            }
            let account = Account::new(&self.limits);
            return self.walk_windows(&windows, place.data_file, self.knowledge(), account);
        }
        let files = self.files();
        let Some(file) = files.get(place.data_file) else { return self.records().skipping_to(place) };
        let part = file.part(&(place.offset..u64::MAX));
        let more = files.get(place.data_file.saturating_add(1)..).unwrap_or_default();
        let account = Account::new(&self.limits);
        let first = (part, place.data_file);
        let more = more.iter().copied();
        EventRecords::in_memory(first, more, self.knowledge(), account, (self.endianness, &self.limits))
    }

    /// Returns whether records may be compressed. A compressed record cannot be found without reading the records
    /// before it.
    fn may_be_compressed(&self) -> bool {
        let is_listed = match &self.mode {
            Mode::File(header) => {
                header.features.first().is_some_and(|word| word >> Feature::COMPRESSED.0 & 1 != 0)
            }
            Mode::Pipe => false,
            Mode::Ring => return false,
        };
        is_listed || self.features.is_empty() || self.feature(Feature::COMPRESSED).is_some()
    }

    /// Returns the record at a place, which must be the place of a record that an earlier walk returned. `None` if the
    /// place is after the last record.
    ///
    /// Costs as much as [`records_from`](Self::records_from).
    ///
    /// # Errors
    ///
    /// Those of [`EventRecords`], if no record begins at the place.
    pub fn at(&self, place: RecordPosition) -> Result<Option<EventRecord<'_>>, FileError> {
        self.records_from(place).next().transpose()
    }

    /// Walks over the records from the first one on.
    ///
    /// A second walk over a [stream](Self::stream) returns the error [`FileErrorKind::Io`] of kind `Unsupported`.
    #[must_use]
    #[doc(alias = "PerfRecordIter")]
    pub fn records(&self) -> EventRecords<'_> {
        self.walk(self.knowledge(), self.account.clone())
    }

    /// Walks over the records as [`records`](Self::records), without borrowing the reader: the walk, and its records, live as
    /// long as the bytes of the capture. Those of a reader that [`open`](Self::open) made borrow nothing, and so may be kept
    /// beside it, or be moved to another thread.
    ///
    /// Copies the events, and the features of a pipe. Each record then counts the users of its event, and the walk finds
    /// no order [ahead](EventRecords::order_ahead). Records, errors and account are the same.
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
    /// let records = reader.owned_records().in_time_order();
    /// let expected = reader.records().count();
    /// drop(reader);
    /// assert_eq!(thread::spawn(|| records.count()).join().unwrap(), expected);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn owned_records(&self) -> EventRecords<'a> {
        let events = KnownEvents::found(self.events.clone());
        let features = Cow::Owned(self.features.clone());
        let knowledge = Knowledge::new(events, features, matches!(self.mode, Mode::Pipe), self.applied);
        self.walk(knowledge, self.account.clone())
    }

    /// Returns what was known of the capture when it was opened.
    pub(super) fn knowledge(&self) -> Knowledge<'_> {
        let (events, features) = (KnownEvents::opened(&self.events), Cow::Borrowed(&self.features));
        Knowledge::new(events, features, matches!(self.mode, Mode::Pipe), self.applied)
    }

    pub(super) fn data(&self) -> &DataFiles<'a> {
        &self.data
    }

    /// Returns the data files; `None` if the capture is not in memory.
    fn files_mut(&mut self) -> Option<&mut Vec<Slice<'a>>> {
        match &mut self.data {
            DataFiles::Memory(files) => Some(files),
            #[cfg(feature = "std")]
            DataFiles::Windows(_) | DataFiles::Stream(_) => None,
        }
    }

    /// Returns the data files, all of them to be read by windows from now on; `None` for a stream.
    #[cfg(feature = "std")]
    pub(super) fn windows_mut(&mut self) -> Option<&mut Vec<Window<'a>>> {
        if let DataFiles::Memory(files) = &self.data {
            self.data = DataFiles::Windows(files.iter().copied().map(window).collect());
        }
        match &mut self.data {
            DataFiles::Windows(windows) => Some(windows),
            DataFiles::Memory(_) | DataFiles::Stream(_) => None,
        }
    }

    /// Walks over the records from the first one on, with what an earlier walk has found: no record is applied again.
    #[cfg(feature = "std")]
    pub(crate) fn records_knowing<'r>(&'r self, knowledge: Knowledge<'r>) -> EventRecords<'r> {
        let mut account = self.account.clone();
        knowledge.faults().iter().for_each(|&error| account.note(error));
        self.walk(knowledge.complete(), account)
    }

    /// Walks over the records in windows of data files, the first of which has the number `data_file`.
    #[cfg(feature = "std")]
    fn walk_windows<'r>(
        &self,
        windows: &[Window<'a>],
        data_file: usize,
        knowledge: Knowledge<'r>,
        account: Account,
    ) -> EventRecords<'r>
    where
        'a: 'r,
    {
        let mut streams = windows.iter().map(BufferedStream::of_window);
        let first = (streams.next().unwrap_or_else(BufferedStream::walked), data_file);
        EventRecords::streamed(first, streams, knowledge, account, (self.endianness, &self.limits))
    }

    fn walk<'r>(&self, knowledge: Knowledge<'r>, account: Account) -> EventRecords<'r>
    where
        'a: 'r,
    {
        match &self.data {
            DataFiles::Memory(files) => {
                let mut files = files.iter().copied();
                let first = (files.next().unwrap_or(Slice::new(&[], 0)), 0);
                EventRecords::in_memory(first, files, knowledge, account, (self.endianness, &self.limits))
            }
            #[cfg(feature = "std")]
            DataFiles::Windows(windows) => self.walk_windows(windows, 0, knowledge, account),
            #[cfg(feature = "std")]
            DataFiles::Stream(stream) => {
                let stream = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
                let first = (stream.unwrap_or_else(BufferedStream::walked), 0);
                EventRecords::streamed(first, [], knowledge, account, (self.endianness, &self.limits))
            }
        }
    }
}

/// Returns a data file in memory as one that is read by windows.
#[cfg(feature = "std")]
fn window(file: Slice<'_>) -> Window<'_> {
    let storage: Arc<dyn RandomAccess + '_> = Arc::new(file);
    Window::new(&storage, file.range())
}
