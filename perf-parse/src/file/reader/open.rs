//! Opening a capture: its mode, its byte order, its header.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;
#[cfg(feature = "std")]
use std::io::Read;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::super::events::{self, Events};
use super::super::feature_table;
use super::super::header::{self, FileHeader, Section};
use super::super::limits::Limits;
#[cfg(feature = "std")]
use super::super::source::Stream;
use super::super::source::{Slice, Source};
use super::super::{Account, FileErrorKind};
use super::absorb::{name_by_types, name_events};
use super::found::{Current, Held};
use super::plain::PLAIN;
use super::{Mode, Pending, Reader};
use crate::error::FileError;
use crate::feature::Features;

/// Size of a stream's header in bytes: the magic and the size.
const PIPE_HEADER: usize = 16;

/// A reader of a capture whose byte order was detected. The byte order is decided once, here: there is a compiled
/// reader for each.
#[derive(Debug)]
pub enum AnyReader<'a, S: Source = Slice<'a>> {
    /// Recorded on a little-endian machine.
    Little(Reader<'a, LittleEndian, S>),
    /// Recorded on a big-endian machine.
    Big(Reader<'a, BigEndian, S>),
}

impl<'a> AnyReader<'a> {
    /// Opens a capture in memory: a file or a stream, of either byte order.
    ///
    /// # Errors
    ///
    /// Those of [`Reader::open`], and [`FileErrorKind::NotPerfData`] if the bytes do not begin with a magic.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        Self::open_within(bytes, &Limits::default())
    }

    /// Opens a capture as [`open`](AnyReader::open), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`open`](AnyReader::open).
    pub fn open_within(bytes: &'a [u8], limits: &Limits) -> Result<Self, FileError> {
        match header::endianness(bytes)? {
            Endianness::Little => Reader::open_within(bytes, limits).map(Self::Little),
            Endianness::Big => Reader::open_within(bytes, limits).map(Self::Big),
        }
    }
}

#[cfg(feature = "std")]
impl<R: Read> AnyReader<'static, Stream<R>> {
    /// Opens a stream of either byte order. Reads its header, and the attrs and features before its records.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::NotAStream`] for a file, whose parts are in an order that a stream cannot have: read the whole
    /// file, then [`open`](AnyReader::open) it. [`FileErrorKind::NotPerfData`], [`FileErrorKind::Io`].
    pub fn stream(reader: R) -> Result<Self, FileError> {
        Self::stream_within(reader, &Limits::default())
    }

    /// Opens a stream as [`stream`](AnyReader::stream), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`stream`](AnyReader::stream).
    pub fn stream_within(reader: R, limits: &Limits) -> Result<Self, FileError> {
        let mut source = Stream::new(reader);
        let at = |kind| FileError::new(kind, 0);
        source.fill(PIPE_HEADER).map_err(at)?;
        let endianness = header::endianness(source.front())?;
        let is_pipe = match endianness {
            Endianness::Little => header::is_pipe::<LittleEndian>(source.front()),
            Endianness::Big => header::is_pipe::<BigEndian>(source.front()),
        };
        if !is_pipe {
            return Err(FileError::new(FileErrorKind::NotAStream, 8));
        }
        source.skip(PIPE_HEADER as u64).map_err(at)?;
        Ok(match endianness {
            Endianness::Little => Self::Little(Reader::pipe(source, limits)?),
            Endianness::Big => Self::Big(Reader::pipe(source, limits)?),
        })
    }
}

impl<'a, O: Endian> Reader<'a, O> {
    /// Opens a capture in memory of byte order `O`.
    ///
    /// Of a file, this reads the header, the attrs, the ids and the feature table: time and memory grow with the number
    /// of events and ids, not with the data. Faults that leave records readable are noted in the
    /// [account](Reader::account):
    ///
    /// - A feature whose section is outside of the file, or shares bytes with another part of the file, is left out.
    /// - An event whose ids are outside of the file has no ids.
    /// - Data that ends after the end of the file is read up to the end of the file.
    /// - Data of size 0, which a killed recorder leaves, is read up to the end of the file.
    ///
    /// perf lists some features whose data it could not get. A feature without bytes is therefore absent, which is not
    /// a fault. Exceptions are the features that never have bytes, and unknown features.
    ///
    /// # Errors
    ///
    /// If nothing can be read: [`FileErrorKind::NotPerfData`], also for the other byte order;
    /// [`FileErrorKind::Truncated`]; [`FileErrorKind::Invalid`] for a header field; [`FileErrorKind::Attr`] for an
    /// attr. Each has its offset.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        Self::open_within(bytes, &Limits::default())
    }

    /// Opens a capture as [`open`](Self::open), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_within(bytes: &'a [u8], limits: &Limits) -> Result<Self, FileError> {
        if header::endianness(bytes)? != O::ENDIANNESS {
            return Err(FileError::new(FileErrorKind::NotPerfData, 0));
        }
        if header::is_pipe::<O>(bytes) {
            let stream = bytes.get(PIPE_HEADER..).unwrap_or_default();
            return Self::pipe(Slice::new(stream, PIPE_HEADER as u64), limits);
        }
        let mut account = Account::new(limits);
        let header = FileHeader::read::<O>(bytes)?;
        let data = header.data_bytes(bytes, &mut account)?;
        let features = feature_table::sections::<O>(&header, bytes, &mut account);
        let events = events::read::<O>(&header, bytes, limits, &mut account)?;
        let source = Slice::new(data, header.data.offset);
        let mut reader = Self::new(Mode::File(header), events, features, source, limits);
        reader.account = account;
        name_events(&mut reader.events, &reader.features, &mut reader.account);
        // Event types that are outside of the file name no events.
        if let Ok(types) = header.event_types.of(bytes, "header.event_types.size") {
            let named = name_by_types::<O>(&mut reader.events, types);
            named.err().into_iter().for_each(|error| reader.account.note(error));
        }
        events::leave_shared_ids(&header, &mut reader.events, &mut reader.account);
        reader.opened = reader.account.clone();
        Ok(reader)
    }

    /// Creates a reader of records without a container, as a ring holds them, one after another. The caller provides
    /// the events.
    ///
    /// Pass the records of other rings to [`add_data`](Self::add_data). The offset of a record counts within its own
    /// `data`, whose number is [`FileRecord::data_file`](super::FileRecord::data_file).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::LittleEndian;
    /// use perf_parse::abi::sample_type::SampleType;
    ///
    /// let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    /// let late = b"\x09\0\0\0\0\0\x10\0\x02\0\0\0\0\0\0\0";
    /// let early = b"\x09\0\0\0\0\0\x10\0\x01\0\0\0\0\0\0\0";
    ///
    /// let events = [(attr, vec![])].into_iter().collect();
    /// let mut reader = Reader::<LittleEndian>::of_records(events, late);
    /// reader.add_data(early);
    /// reader.in_time_order();
    /// assert_eq!(reader.next()?.map(|record| record.data_file), Some(1));
    /// assert_eq!(reader.next()?.map(|record| record.data_file), Some(0));
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    #[must_use]
    pub fn of_records(events: Events, data: &'a [u8]) -> Self {
        Self::of_records_within(events, data, &Limits::default())
    }

    /// Creates a reader as [`of_records`](Self::of_records), with other limits. The number of `events` is not limited.
    #[must_use]
    pub fn of_records_within(events: Events, data: &'a [u8], limits: &Limits) -> Self {
        Self::new(Mode::Ring, events, Features::new(O::ENDIANNESS), Slice::new(data, 0), limits)
    }

    /// Reads the records of `data` instead of those of the capture, with the capture's events and features: the dump of
    /// a ring that belongs to the capture.
    ///
    /// Offsets are as for [`of_records`](Self::of_records). The faults that were found when the capture was opened stay
    /// in the account.
    #[must_use]
    pub fn with_records(self, data: &'a [u8]) -> Self {
        let reader = Self::new(Mode::Ring, self.events, self.features, Slice::new(data, 0), &self.limits);
        Self { account: self.opened.clone(), opened: self.opened, ..reader }
    }

    /// Adds a data file of a directory capture. Its records are read after those of the files before it. The first
    /// record is at the start of `bytes`.
    ///
    /// perf: `dir/data.*`; the file given to [`open`](Self::open) is `dir/data`.
    pub fn add_data(&mut self, bytes: &'a [u8]) {
        self.more.push_back(Slice::new(bytes, 0));
    }

    /// Sets the holes of a data file that is a sparse file: ranges of zeros that take no space on disk. `holes` must be
    /// in ascending order of offsets in that file, and no range may be empty. The search for a lost boundary does not
    /// read the holes.
    ///
    /// `data_file` is as in [`FileRecord::data_file`](super::FileRecord::data_file). If there is no such file, the call
    /// has no effect.
    pub fn set_holes(&mut self, data_file: usize, holes: &'a [Range<u64>]) {
        let sources = self.done.iter_mut().chain(core::iter::once(&mut self.source)).chain(&mut self.more);
        if let Some(source) = sources.into_iter().nth(data_file) {
            source.set_holes(holes);
        }
    }

    /// Returns the payload of an AUXTRACE record, or another range of bytes of the capture.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Truncated`] if the range is not entirely in the data section.
    pub fn bytes_at(&self, section: Section) -> Result<&[u8], FileError> {
        let at = self.in_place(section.offset, 0);
        let held = at.zip(usize::try_from(section.size).ok()).and_then(|(bytes, size)| bytes.get(..size));
        held.ok_or_else(|| {
            let kind =
                FileErrorKind::Truncated { field: "auxtrace.size", needed: section.size, available: 0 };
            FileError::new(kind, section.offset)
        })
    }
}

impl<'a, O: Endian, S: Source> Reader<'a, O, S> {
    fn pipe(source: S, limits: &Limits) -> Result<Self, FileError> {
        let mut reader =
            Self::new(Mode::Pipe, Events::within(limits), Features::new(O::ENDIANNESS), source, limits);
        reader.look_ahead()?;
        reader.opened = reader.account.clone();
        Ok(reader)
    }

    fn new(mode: Mode, events: Events, features: Features<'a>, source: S, limits: &Limits) -> Self {
        Self {
            mode,
            limits: *limits,
            events,
            features,
            checked: BTreeSet::new(),
            source,
            done: Vec::new(),
            more: VecDeque::new(),
            data_file: 0,
            pending: Pending::default(),
            inflate: None,
            payload: None,
            pending_payload: 0,
            inflate_ended: false,
            inner_skipped: 0,
            lost: false,
            lost_inner: false,
            absorbed: 0,
            failed: false,
            order: None,
            found: Current::new(0, None, 0, Held::Source),
            fault: FileError::new(FileErrorKind::NotPerfData, 0),
            only: None,
            plain: PLAIN,
            account: Account::new(limits),
            opened: Account::new(limits),
            byte_order: core::marker::PhantomData,
        }
    }
}
