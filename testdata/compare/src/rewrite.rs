//! Captures opened, and written again.

use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::RawRecord;
use perf_parse::event::Event;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::file::{FileError, FileHeader, Mode, Reader};
use testdata::Bytes;
use testdata::oracle::Reader as Plain;

/// A writer of a file in memory.
pub type FileBuffer = FileWriter<Cursor<Vec<u8>>>;

/// A file with its bytes and the properties known before a record is read.
#[derive(Debug)]
pub struct File<'a> {
    bytes: &'a [u8],
    reader: Reader<'a>,
}

impl<'a> File<'a> {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// Those of the reader.
    pub fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        Ok(Self { bytes, reader: Reader::new(bytes)? })
    }

    /// The bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The header.
    #[must_use]
    pub fn header(&self) -> &FileHeader {
        match self.reader.mode() {
            Mode::File(header) => header,
            mode => panic!("a {}", mode.name()),
        }
    }
}

impl<'a> core::ops::Deref for File<'a> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

/// Returns an event whose id is in every record.
pub fn event(config: u64, ids: &[u64], name: Option<&str>) -> EventFields {
    let sample_type = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
    let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::FREQ;
    let attr = Attr { kind: EventType::SOFTWARE, config, sample_type, flags, ..Attr::default() };
    EventFields {
        attr,
        ids: ids.to_vec(),
        name: name.map(|name| name.as_bytes().to_vec()),
        ..EventFields::default()
    }
}

/// Returns default options for a byte order.
#[must_use]
pub fn options<O: Endian>() -> WriteOptions {
    WriteOptions { endianness: O::ENDIANNESS, ..WriteOptions::default() }
}

/// Starts a file with default options.
pub fn writer<O: Endian>(events: &[EventFields]) -> FileBuffer {
    FileWriter::new(Cursor::new(Vec::new()), events, &options::<O>()).unwrap()
}

/// Returns the file.
#[must_use]
pub fn finish(writer: FileBuffer) -> Vec<u8> {
    writer.finish().unwrap().into_inner()
}

/// Makes a record of any type.
pub fn record<O: Endian>(kind: RecordType, payload: &[u8]) -> Vec<u8> {
    Bytes::of::<O>().raw(payload).record(kind.0, 0)
}

/// A record and the data after it.
pub type Whole = (Vec<u8>, Vec<u8>);

/// Returns all records in `bytes`, which are contiguous.
pub fn walk<O: Endian>(mut bytes: &[u8]) -> Vec<Whole> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (raw, rest) = RawRecord::<O>::parse(bytes).unwrap();
        let mut plain = Plain::new(raw.payload(), O::ENDIANNESS == Endianness::Big);
        let (fields, announced) = match raw.kind() {
            RecordType::AUXTRACE => (40, plain.u64("size").unwrap()),
            RecordType::HEADER_TRACING_DATA => (4, plain.u32("size").unwrap().into()),
            _ => (0, 0),
        };
        let is_inside = fields + announced <= raw.payload().len() as u64;
        let trailing = if is_inside { 0 } else { announced };
        let (data, rest) = rest.split_at(usize::try_from(trailing).unwrap());
        let mut record = Vec::new();
        raw.write(&mut record);
        records.push((record, data.to_vec()));
        bytes = rest;
    }
    records
}

/// Returns all records of a file.
#[must_use]
pub fn records(file: &File<'_>) -> Vec<Whole> {
    let data = file.header().data;
    let from = usize::try_from(data.offset).unwrap();
    let size = usize::try_from(data.size).unwrap();
    let data = &file.bytes()[from..from + size];
    match file.endianness() {
        Endianness::Little => walk::<LittleEndian>(data),
        Endianness::Big => walk::<BigEndian>(data),
    }
}

/// Returns the type of a record.
pub fn kind<O: Endian>(record: &[u8]) -> RecordType {
    RawRecord::<O>::parse(record).unwrap().0.kind()
}

/// Returns the events of a file.
#[must_use]
pub fn events(file: &File<'_>) -> Vec<EventFields> {
    // Units and scales are in records, which are copied.
    let fields = |event: &Event| EventFields { unit: None, scale: None, ..EventFields::from(event) };
    file.events().iter().map(|event| fields(event)).collect()
}

/// Writes a capture again. `EVENT_DESC` is not copied but made from the events.
pub fn rewrite(file: &File<'_>, mut writer: FileBuffer) -> Vec<u8> {
    for section in file.features().iter().filter(|section| section.feature != Feature::EVENT_DESC) {
        writer.features().raw(section.feature, section.bytes).unwrap();
    }
    for (record, data) in records(file) {
        writer.record_with_data(&record, &data).unwrap();
    }
    finish(writer)
}
