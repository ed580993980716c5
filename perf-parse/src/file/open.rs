//! Opening a capture: its mode, its byte order, its header.

#[cfg(feature = "std")]
mod path;
#[cfg(feature = "std")]
mod storage;

use alloc::borrow::Cow;
use alloc::vec;
#[cfg(feature = "std")]
use std::io::Read;
#[cfg(feature = "std")]
use std::sync::Mutex;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::attrs;
use super::feature_table;
use super::header::{self, FileHeader};
use super::image::FileImage;
use super::knowledge::{Knowledge, KnownEvents, name_by_meta_info, name_by_types, name_events};
use super::look_ahead::look_ahead;
use super::reader::{DataFiles, Mode, Reader};
#[cfg(feature = "std")]
use super::source::BufferedStream;
use super::source::{ByteSource, Slice};
use crate::account::Account;
use crate::error::FileError;
#[cfg(feature = "std")]
use crate::error::FileErrorKind;
use crate::event::Events;
use crate::feature::Features;
use crate::limits::Limits;

/// Size of a stream's header in bytes: the magic and the size.
const PIPE_HEADER: usize = 16;

impl<'a> Reader<'a> {
    /// Opens a capture in memory: a file or a pipe, of either byte order.
    ///
    /// For a file, this reads the header, the attrs, the ids and the feature table: time and memory grow with the
    /// number of events and ids, not with the data. Faults that leave records readable are noted in the
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
    /// If nothing can be read: [`FileErrorKind::NotPerfData`] if the bytes do not begin with a magic;
    /// [`FileErrorKind::Truncated`]; [`FileErrorKind::Invalid`] for a header field; [`FileErrorKind::Attr`] for an
    /// attr. Each has its offset.
    pub fn new(bytes: &'a [u8]) -> Result<Self, FileError> {
        Self::new_within(bytes, &Limits::default())
    }

    /// Opens a capture as [`new`](Self::new), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn new_within(bytes: &'a [u8], limits: &Limits) -> Result<Self, FileError> {
        match header::endianness(bytes)? {
            Endianness::Little => Self::in_memory::<LittleEndian>(bytes, limits),
            Endianness::Big => Self::in_memory::<BigEndian>(bytes, limits),
        }
    }

    /// Opens a capture that can only be read once: standard input, a socket. Reads its header, and the attrs and
    /// features before its records.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::NotAStream`] for a file, whose parts are in an order that a stream cannot have: read the whole
    /// file, then use [`new`](Self::new). [`FileErrorKind::NotPerfData`], [`FileErrorKind::Io`].
    #[cfg(feature = "std")]
    pub fn stream(reader: impl Read + Send + 'a) -> Result<Self, FileError> {
        Self::stream_within(reader, &Limits::default())
    }

    /// Opens a stream as [`stream`](Self::stream), with other limits.
    ///
    /// # Errors
    ///
    /// Those of [`stream`](Self::stream).
    #[cfg(feature = "std")]
    pub fn stream_within(reader: impl Read + Send + 'a, limits: &Limits) -> Result<Self, FileError> {
        let mut source = BufferedStream::new(reader, 0);
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
        let mut account = Account::new(limits);
        let knowledge = match endianness {
            Endianness::Little => head_of_pipe::<LittleEndian, _>(&mut source, limits, &mut account)?,
            Endianness::Big => head_of_pipe::<BigEndian, _>(&mut source, limits, &mut account)?,
        };
        let data = DataFiles::Stream(Mutex::new(Some(source)));
        Ok(Self::of(endianness, Mode::Pipe, knowledge, data, account, limits))
    }

    fn in_memory<O: Endian>(bytes: &'a [u8], limits: &Limits) -> Result<Self, FileError> {
        let mut account = Account::new(limits);
        if header::is_pipe::<O>(bytes) {
            let mut source = Slice::new(bytes.get(PIPE_HEADER..).unwrap_or_default(), PIPE_HEADER as u64);
            let knowledge = head_of_pipe::<O, _>(&mut source, limits, &mut account)?;
            let data = DataFiles::Memory(vec![source]);
            return Ok(Self::of(O::ENDIANNESS, Mode::Pipe, knowledge, data, account, limits));
        }
        let header = FileHeader::read::<O>(bytes)?;
        let range = header.data_range(bytes.len() as u64, &mut account)?;
        let mut source = Slice::new(bytes, 0).part(&range);
        let knowledge =
            head_of_file::<O, _>(&header, FileImage::whole(bytes), &mut source, limits, &mut account)?;
        let data = DataFiles::Memory(vec![source]);
        Ok(Self::of(O::ENDIANNESS, Mode::File(header), knowledge, data, account, limits))
    }

    /// Creates a reader of records without a container, as a ring holds them, one after another. The caller provides
    /// the events.
    ///
    /// Pass the records of other rings to [`add_data`](Self::add_data). The offset of a record counts within its own
    /// `data`, whose number is [`RecordPosition::data_file`](crate::event::RecordPosition::data_file).
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_parse::abi::attr::Attr;
    /// use perf_parse::abi::endian::Endianness;
    /// use perf_parse::abi::sample_type::SampleType;
    ///
    /// let attr = Attr { sample_type: SampleType::TIME, ..Attr::default() };
    /// let late = b"\x09\0\0\0\0\0\x10\0\x02\0\0\0\0\0\0\0";
    /// let early = b"\x09\0\0\0\0\0\x10\0\x01\0\0\0\0\0\0\0";
    ///
    /// let events = [(attr, vec![])].into_iter().collect();
    /// let mut reader = Reader::from_records(events, Endianness::Little, late);
    /// reader.add_data(early);
    /// let files = reader.records().in_time_order().map(|record| Ok(record?.position().data_file));
    /// assert_eq!(files.collect::<Result<Vec<_>, perf_parse::FileError>>()?, [1, 0]);
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    #[must_use]
    pub fn from_records(events: Events, endianness: Endianness, data: &'a [u8]) -> Self {
        Self::from_records_within(events, endianness, data, &Limits::default())
    }

    /// Creates a reader as [`from_records`](Self::from_records), with other limits. The number of `events` is not
    /// limited.
    #[must_use]
    pub fn from_records_within(
        events: Events,
        endianness: Endianness,
        data: &'a [u8],
        limits: &Limits,
    ) -> Self {
        let knowledge = (events, Features::new(endianness), 0);
        let data = DataFiles::Memory(vec![Slice::new(data, 0)]);
        Self::of(endianness, Mode::Ring, knowledge, data, Account::new(limits), limits)
    }
}

/// Reads the attrs and features of a file, and applies the first records that describe them. Returns the events, the
/// features, and the offset of the first record that was not applied.
fn head_of_file<'r, O: Endian, S: ByteSource<'r>>(
    header: &FileHeader,
    image: FileImage<'r>,
    source: &mut S,
    limits: &Limits,
    account: &mut Account,
) -> Result<(Events, Features<'r>, u64), FileError> {
    let features = feature_table::sections::<O>(header, image, account);
    let mut events = attrs::read::<O>(header, image, limits, account)?;
    name_events(&mut events, &features, account);
    // Event types that are outside of the file name no events.
    if let Ok(types) = image.section(header.event_types, "header.event_types.size") {
        let named = name_by_types::<O>(&mut events, types);
        named.err().into_iter().for_each(|error| account.note(error));
    }
    name_by_meta_info(&mut events, &features);
    attrs::leave_shared_ids(header, &mut events, account);
    // perf begins the data with units, scales and names of events.
    let mut knowledge = Knowledge::new(KnownEvents::found(events), Cow::Owned(features), false, 0);
    look_ahead::<O, S>(source, &mut knowledge, limits, account)?;
    let applied = knowledge.applied();
    let (events, features) = knowledge.into_parts();
    Ok((events, features, applied))
}

/// Reads the attrs and features before the records of a pipe. Returns the events, the features, and the offset of the
/// first record after them.
fn head_of_pipe<'r, O: Endian, S: ByteSource<'r>>(
    source: &mut S,
    limits: &Limits,
    account: &mut Account,
) -> Result<(Events, Features<'r>, u64), FileError> {
    let events = KnownEvents::found(Events::within(limits));
    let mut knowledge = Knowledge::new(events, Cow::Owned(Features::new(O::ENDIANNESS)), true, 0);
    look_ahead::<O, S>(source, &mut knowledge, limits, account)?;
    let applied = knowledge.applied();
    let (events, features) = knowledge.into_parts();
    Ok((events, features, applied))
}
