//! A record of a capture, with its place and its event.

use alloc::sync::Arc;

use perf_abi::record::{Misc, RecordType};

use super::Event;
use super::events::unknown;
use super::position::RecordPosition;
use crate::account::Account;
use crate::bytes::{MovingArc, RecordBytes};
use crate::error::{Error, ErrorKind, FileError, FileErrorKind};
use crate::layout::{Mmap2Layout, SampleLayout};
use crate::record::{RawRecord, Record, SampleId};
use crate::sample::{Callchain, Sample, Tail};

/// A record of a capture, with its place and its event.
///
/// It can be kept, sorted and sent to another thread. A record of a capture in memory borrows the bytes of the capture
/// and its event, and costs nothing to keep. A record of a stream, of a file that is read by windows, or of compressed
/// data shares the block that holds it: keeping one record keeps its block, of about 64 KiB, in memory.
///
/// The views of the record, such as [`sample`](Self::sample), borrow it. Errors have the offset in the capture.
#[derive(Clone)]
#[doc(alias = "PerfFileRecord")]
pub struct EventRecord<'r> {
    /// The record and the available data after it.
    bytes: RecordBytes<'r>,
    event: EventOf<'r>,
    /// The parts of the record's place. The position is `NOT_COMPRESSED` if the record was not compressed.
    offset: u64,
    position: u64,
    data_file: usize,
}

/// The position of a record that was not compressed.
const NOT_COMPRESSED: u64 = u64::MAX;

/// The event of a record.
#[derive(Clone)]
pub(crate) enum EventOf<'r> {
    /// An event that was known when the capture was opened.
    Opened(&'r Arc<Event>),
    /// An event that a record of the capture added or changed.
    Changed(MovingArc<Event>),
    /// A record of the perf tool, which has no event.
    None,
    /// A record whose event is unknown: its id, if it has one.
    UnknownId(u64),
    Unknown,
}

impl EventOf<'_> {
    /// An unknown event, of which only the id is known.
    #[cold]
    pub(crate) fn unknown(id: Option<u64>) -> Self {
        id.map_or(Self::Unknown, Self::UnknownId)
    }
}

impl core::fmt::Debug for EventRecord<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EventRecord")
            .field("position", &self.position())
            .field("raw", &self.raw())
            .field("event_index", &self.event_index())
            .field("trailing_size", &self.trailing_size())
            .finish_non_exhaustive()
    }
}

impl<'r> EventRecord<'r> {
    #[inline(always)]
    pub(crate) fn new(bytes: RecordBytes<'r>, place: RecordPosition, event: EventOf<'r>) -> Self {
        let RecordPosition { data_file, offset, decompressed } = place;
        let position = decompressed.unwrap_or(NOT_COMPRESSED);
        Self { bytes, event, offset, position, data_file }
    }

    /// Returns the record in bytes of its own: see `RecordBytes::apart`.
    pub(crate) fn apart(&self) -> Self {
        Self { bytes: self.bytes.apart(), ..self.clone() }
    }

    /// Returns the number of bytes that `apart` copies.
    pub(crate) fn size_apart(&self) -> usize {
        self.bytes.size_apart()
    }

    /// Creates a record that comes from elsewhere, such as a live ring, with its event. `place` is for the errors and
    /// for [`position`](Self::position).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::sample_type::SampleType;
    /// use perf_parse::event::{Events, RecordPosition};
    /// use perf_parse::{EventRecord, RawRecord};
    ///
    /// let attr = Attr { sample_type: SampleType::IP, ..Attr::default() };
    /// let events: Events = [(attr, vec![])].into_iter().collect();
    /// let (raw, _) = RawRecord::<LittleEndian>::parse(b"\x09\0\0\0\x02\0\x10\0\x10\0\0\0\0\0\0\0")?;
    /// let record = EventRecord::with_event(raw.untyped(), &events[0], RecordPosition::default());
    /// assert_eq!(record.sample().and_then(|sample| sample.ip()), Some(16));
    /// # Ok::<(), perf_parse::Error>(())
    /// ```
    #[must_use]
    pub fn with_event(raw: RawRecord<'r>, event: &'r Arc<Event>, place: RecordPosition) -> Self {
        let event = if raw.kind().is_user() { EventOf::None } else { EventOf::Opened(event) };
        Self::new(RecordBytes::of_record(raw), place, event)
    }

    /// Returns the record in memory of its own, so that it borrows nothing: it can be sent to a thread that outlives the capture.
    ///
    /// Copies a record in bytes of the caller, with the [data after it](Self::trailing). Shares the event, and the block of a
    /// record that has one.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use std::thread;
    ///
    /// use perf_parse::{EventRecord, Reader};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let (sender, receiver) = mpsc::channel::<EventRecord<'static>>();
    /// let counter = thread::spawn(|| receiver.into_iter().filter(|record| record.sample().is_some()).count());
    /// for record in reader.records() {
    ///     sender.send(record?.into_owned())?;
    /// }
    /// drop(sender);
    /// assert!(counter.join().unwrap() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn into_owned(self) -> EventRecord<'static> {
        let event = match self.event {
            EventOf::Opened(event) => EventOf::Changed(MovingArc::new(Arc::clone(event))),
            EventOf::Changed(event) => EventOf::Changed(event),
            EventOf::None => EventOf::None,
            EventOf::UnknownId(id) => EventOf::UnknownId(id),
            EventOf::Unknown => EventOf::Unknown,
        };
        let Self { bytes, offset, position, data_file, .. } = self;
        EventRecord { bytes: bytes.into_owned(), event, offset, position, data_file }
    }

    /// Returns the undecoded record.
    #[must_use]
    #[inline(always)]
    pub fn raw(&self) -> RawRecord<'_> {
        self.bytes.raw()
    }

    /// Returns the type of the record.
    #[must_use]
    #[inline]
    pub fn kind(&self) -> RecordType {
        self.raw().kind()
    }

    /// Returns the `misc` bits, whose meaning depends on the type.
    #[must_use]
    #[inline]
    pub fn misc(&self) -> Misc {
        self.raw().misc()
    }

    /// Returns the place of the record in the capture.
    #[must_use]
    #[inline]
    pub fn position(&self) -> RecordPosition {
        let decompressed = Some(self.position).filter(|&position| position != NOT_COMPRESSED);
        RecordPosition { data_file: self.data_file, offset: self.offset, decompressed }
    }

    /// Returns the offset of the record's header, in bytes from the start of its data file. See [`RecordPosition::offset`].
    #[must_use]
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the data after the record that belongs to it: the payload of AUXTRACE and HEADER_TRACING_DATA. Empty for
    /// every other record, and for AUX data of a stream, or of a capture that is read by windows: it is skipped.
    /// [`Reader::trailing`](crate::Reader::trailing) reads it then.
    #[must_use]
    pub fn trailing(&self) -> &[u8] {
        self.bytes.trailing()
    }

    /// Returns the number of bytes after the record that belong to it, whether [`trailing`](Self::trailing) has them or
    /// not. They begin at the end of the record.
    #[must_use]
    pub fn trailing_size(&self) -> u64 {
        self.raw().trailing_size().unwrap_or(0)
    }

    /// Returns the record's event; `None` for the records of the perf tool, and if the event is unknown.
    #[must_use]
    #[inline(always)]
    pub fn event(&self) -> Option<&Arc<Event>> {
        match &self.event {
            EventOf::Opened(event) => Some(event),
            EventOf::Changed(event) => event.get(),
            _ => None,
        }
    }

    /// Returns the index of the record's event in the list of [events](super::Events); `None` as for
    /// [`event`](Self::event).
    #[must_use]
    #[inline]
    pub fn event_index(&self) -> Option<usize> {
        self.event().map(|event| event.index)
    }

    /// Returns the reason why the record's event is unknown: [`FileErrorKind::UnknownId`] or
    /// [`FileErrorKind::UnknownEvent`]. `None` if the event is known, and for the records of the perf tool, which have
    /// no event.
    #[must_use]
    pub fn unknown_event(&self) -> Option<FileErrorKind> {
        match self.event {
            EventOf::UnknownId(id) => Some(unknown(self.kind(), Some(id))),
            EventOf::Unknown => Some(unknown(self.kind(), None)),
            _ => None,
        }
    }

    /// Counts the record in an account: its type, its size, and what the kernel lost before it. For one that does not come from
    /// a walk, which counts its records itself, such as one of a live ring.
    pub fn count_in(&self, account: &mut Account) {
        let raw = self.raw();
        account.count(raw.kind(), raw.as_bytes().len());
        let counts = match raw.kind() {
            RecordType::LOST | RecordType::LOST_SAMPLES => true,
            RecordType::MMAP2 => Mmap2Layout::may_fit_both(&raw),
            _ => false,
        };
        // A caller that decodes the record notes its fault.
        if let Some(Ok(decoded)) = counts.then(|| self.decode()) {
            account.count_content(&decoded);
        }
    }

    /// Decodes the record. Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Record`] for a fault in the record. [`FileErrorKind::UnknownId`],
    /// [`FileErrorKind::UnknownEvent`] or [`FileErrorKind::Layout`] if its layout is unknown. The offset is that of the
    /// faulty field. Later records are not affected.
    #[inline(always)]
    pub fn decode(&self) -> Result<Record<'_>, FileError> {
        if let Some(sample) = self.sample() {
            return Ok(Record::Sample(sample));
        }
        match self.decode_other() {
            // `decode_other` never returns a sample: see `RawRecord::decode`.
            None | Some(Record::Sample(_)) => Err(self.fault()),
            Some(record) => Ok(record),
        }
    }

    /// Returns the record as a sample. Like [`RawRecord::sample`], this is the fast way to samples.
    ///
    /// `None` for every other record, and for a sample that has a fault or whose layout is unknown. Pass those to
    /// [`decode`](Self::decode), which reports the fault.
    #[must_use]
    #[inline(always)]
    pub fn sample(&self) -> Option<Sample<'_>> {
        let event = self.event().filter(|event| !event.is_faulty)?;
        self.raw().sample(&event.layout)
    }

    /// Decodes the fields of a sample from `read` on: see [`Sample::tail`].
    ///
    /// `None` for a record that is not a sample.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode), and [`FileErrorKind::Record`] for a fault in these fields.
    #[inline]
    pub fn tail(&self) -> Result<Option<Tail<'_>>, FileError> {
        match self.sample() {
            Some(sample) => sample.tail().map(Some).map_err(|error| self.error(error)),
            None if self.kind() == RecordType::SAMPLE => Err(self.fault()),
            None => Ok(None),
        }
    }

    /// Returns the call chain of a sample: see [`Sample::callchain`].
    ///
    /// `None` for a record that is not a sample, and if the event does not record call chains.
    ///
    /// # Errors
    ///
    /// Those of [`decode`](Self::decode), and [`FileErrorKind::Record`] for a chain that is cut off.
    #[inline]
    pub fn callchain(&self) -> Result<Option<Callchain<'_>>, FileError> {
        match self.sample() {
            Some(sample) => sample.callchain().map_err(|error| self.error(error)),
            None if self.kind() == RecordType::SAMPLE => Err(self.fault()),
            None => Ok(None),
        }
    }

    /// Decodes a record that is not a sample; `None` for a fault. It does not return the type that
    /// [`decode`](Self::decode) returns: that would force samples into memory, as described at
    /// `RawRecord::decode_other`.
    #[inline(never)]
    fn decode_other(&self) -> Option<Record<'_>> {
        self.decode_any().ok()
    }

    /// Returns the fault of a record that could not be decoded.
    #[cold]
    #[inline(never)]
    fn fault(&self) -> FileError {
        let nothing = Error { kind: ErrorKind::Residue { bytes: 0 }, offset: 0 };
        self.decode_any().err().unwrap_or_else(|| self.error(nothing))
    }

    /// Decodes a record, or returns its fault.
    #[inline(never)]
    fn decode_any(&self) -> Result<Record<'_>, FileError> {
        if self.kind().is_user() {
            return self.raw().decode_user().map_err(|error| self.error(error));
        }
        self.raw().decode(self.layout()?).map_err(|error| self.error(error))
    }

    /// Returns the `sample_id` trailer; `None` if the record has none.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn sample_id(&self) -> Result<Option<SampleId<'_>>, FileError> {
        if self.kind().is_user() {
            return Ok(None);
        }
        self.raw().sample_id(self.layout()?).map_err(|error| self.error(error))
    }

    /// Returns the number of bytes after the trailer that the kernel did not write: see [`RawRecord::stale_bytes`]. 0 if the
    /// event is unknown.
    #[must_use]
    pub fn stale_bytes(&self) -> usize {
        self.event().map_or(0, |event| self.raw().stale_bytes(&event.layout))
    }

    /// Returns the time of the record, in nanoseconds of its event's clock: a sample's time field, or the time in
    /// another record's trailer.
    ///
    /// `None` if the event does not record the time, for the records of the perf tool, and if the time cannot be
    /// decoded.
    #[inline]
    #[must_use]
    pub fn time(&self) -> Option<u64> {
        self.raw().time(&self.event()?.layout)
    }

    /// Returns the process id and the thread id of a sample, or of another record's trailer; `None` as for
    /// [`time`](Self::time).
    #[must_use]
    pub fn pid_tid(&self) -> Option<(i32, i32)> {
        match self.sample() {
            Some(sample) => sample.pid().zip(sample.tid()),
            None => self.sample_id().ok()?.and_then(|id| id.pid().zip(id.tid())),
        }
    }

    /// Returns the CPU of a sample, or of another record's trailer; `None` as for [`time`](Self::time).
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        match self.sample() {
            Some(sample) => sample.cpu(),
            None => self.sample_id().ok()?.and_then(|id| id.cpu()),
        }
    }

    /// Adds the offset in the capture to an error in this record, such as an error of
    /// [`Sample::tail`](crate::Sample::tail).
    #[must_use]
    pub fn error(&self, error: Error) -> FileError {
        FileError::in_record(self.kind(), self.offset, self.position().decompressed, error)
    }

    #[inline]
    fn layout(&self) -> Result<&SampleLayout, FileError> {
        match self.event() {
            Some(event) if !event.is_faulty || self.kind() != RecordType::SAMPLE => Ok(&event.layout),
            _ => Err(self.unknown_layout()),
        }
    }

    #[cold]
    fn unknown_layout(&self) -> FileError {
        let kind = match self.event().and_then(|event| event.fault()) {
            Some(error) => FileErrorKind::Layout(error),
            None => self.unknown_event().unwrap_or(FileErrorKind::UnknownEvent { kind: self.kind() }),
        };
        FileError::new(kind, self.offset)
    }
}
