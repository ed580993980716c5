//! Common parts of the tests.

use std::io::Cursor;
use std::path::PathBuf;

use perf_parse::RawRecord;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{Endian, LittleEndian, U32, U64};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{Header, Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::FeatureSection;
use perf_parse::file::write::{EventFields, FileWriter, Options};
use perf_parse::file::{FileError, FileHeader, Mode, Reader};
use zerocopy::{FromBytes, IntoBytes};

pub(crate) type FileBuffer<O> = FileWriter<O, Cursor<Vec<u8>>>;

/// A file with its bytes and the properties known before a record is read.
pub(crate) struct File<'a, O: Endian> {
    bytes: &'a [u8],
    reader: Reader<'a, O>,
}

impl<'a, O: Endian> File<'a, O> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, FileError> {
        Ok(Self { bytes, reader: Reader::open(bytes)? })
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn header(&self) -> &FileHeader {
        match self.reader.mode() {
            Mode::File(header) => header,
            mode => panic!("a {}", mode.name()),
        }
    }

    pub(crate) fn reader(&self) -> &Reader<'a, O> {
        &self.reader
    }

    pub(crate) fn features(&self) -> Vec<FeatureSection<'_>> {
        self.reader.features().iter().collect()
    }
}

impl<'a, O: Endian> core::ops::Deref for File<'a, O> {
    type Target = Reader<'a, O>;

    fn deref(&self) -> &Reader<'a, O> {
        &self.reader
    }
}

/// Returns an event whose id is in every record.
pub(crate) fn event(config: u64, ids: &[u64], name: Option<&str>) -> EventFields {
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

pub(crate) fn writer<O: Endian>(events: &[EventFields]) -> FileBuffer<O> {
    FileWriter::new(Cursor::new(Vec::new()), events, &Options::default()).unwrap()
}

pub(crate) fn finish<O: Endian>(writer: FileBuffer<O>) -> Vec<u8> {
    writer.finish().unwrap().into_inner()
}

/// Makes a record of any type.
pub(crate) fn record<O: Endian>(kind: RecordType, payload: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + payload.len()).unwrap();
    [Header::<O>::new(kind, Misc(0), size).as_bytes(), payload].concat()
}

/// A record and the data after it.
pub(crate) type Whole = (Vec<u8>, Vec<u8>);

/// Returns all records in `bytes`, which are contiguous.
pub(crate) fn walk<O: Endian>(mut bytes: &[u8]) -> Vec<Whole> {
    let mut records = Vec::new();
    while !bytes.is_empty() {
        let (raw, rest) = RawRecord::<O>::parse(bytes).unwrap();
        let behind = match raw.kind() {
            RecordType::AUXTRACE => U64::<O>::read_from_prefix(raw.payload()).unwrap().0.get(),
            RecordType::HEADER_TRACING_DATA => {
                u64::from(U32::<O>::read_from_prefix(raw.payload()).unwrap().0.get())
            }
            _ => 0,
        };
        let (data, rest) = rest.split_at(usize::try_from(behind).unwrap());
        let mut record = Vec::new();
        raw.write(&mut record);
        records.push((record, data.to_vec()));
        bytes = rest;
    }
    records
}

/// Returns all records of a file.
pub(crate) fn records<O: Endian>(file: &File<'_, O>) -> Vec<Whole> {
    let data = file.header().data;
    let from = usize::try_from(data.offset).unwrap();
    let size = usize::try_from(data.size).unwrap();
    walk::<O>(&file.bytes()[from..from + size])
}

/// Returns the type of a record.
pub(crate) fn kind<O: Endian>(record: &[u8]) -> RecordType {
    RawRecord::<O>::parse(record).unwrap().0.kind()
}

/// Returns the path of a capture of the repository.
pub(crate) fn capture(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures")).join(name)
}

/// Returns the events of a file.
pub(crate) fn events(file: &File<'_, LittleEndian>) -> Vec<EventFields> {
    file.events().iter().map(EventFields::from).collect()
}

/// Writes a capture again. `EVENT_DESC` is not copied but made from the events.
pub(crate) fn rewrite(file: &File<'_, LittleEndian>, mut writer: FileBuffer<LittleEndian>) -> Vec<u8> {
    for section in file.features().iter().filter(|section| section.feature != Feature::EVENT_DESC) {
        writer.features().raw(section.feature, section.bytes).unwrap();
    }
    for (record, data) in records(file) {
        writer.record_with_data(&record, &data).unwrap();
    }
    finish(writer)
}
