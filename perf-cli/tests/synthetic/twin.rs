//! Converts a little-endian capture to its big-endian twin: every field at the same offset, in the other byte order.
//!
//! Kernel records are decoded and encoded again. The rest (header, attrs, the perf tool's own records, feature
//! sections) is converted by its shape, which this file contains.

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::file::Mode;
use perf_parse::record::SampleId;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{EventRecord, Reader, Record, SampleLayout};

use testdata::Bytes;

/// Returns the twin of `original`.
pub(crate) fn of(original: &[u8]) -> Vec<u8> {
    let file = Reader::new(original).unwrap();
    assert_eq!(file.endianness(), Endianness::Little);
    let Mode::File(header) = *file.mode() else { panic!("is a pipe") };
    let mut twin = original.to_vec();
    let mut put = |offset: u64, bytes: &[u8]| {
        let offset = offset as usize;
        twin[offset..offset + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &turned(&original[..104], &[Part::Rest(&[Part::Word])]));
    for (index, event) in file.events().iter().enumerate() {
        let at = header.attrs.offset + index as u64 * header.attr_size;
        let attr_size = header.attr_size - 16;
        put(at, &attr(&event.attr, attr_size));
        let ids = at + attr_size;
        let section = &original[ids as usize..][..16];
        put(ids, &turned(section, &[Part::Word, Part::Word]));
        let offset = u64::from_le_bytes(section[..8].try_into().unwrap());
        put(offset, &event.ids.iter().fold(Bytes::of::<BigEndian>(), |bytes, id| bytes.u64(*id)).out);
    }
    for record in file.records() {
        let record = record.unwrap();
        put(record.offset(), &self::record(&record));
    }
    let table = header.data.offset + header.data.size;
    let entries = &original[table as usize..][..16 * file.features().len()];
    put(table, &turned(entries, &[Part::Rest(&[Part::Word])]));
    for section in file.features() {
        put(section.offset, &feature(section.feature, section.bytes));
    }
    twin
}

fn attr(attr: &Attr, size: u64) -> Vec<u8> {
    attr.write::<BigEndian>(AttrVersion(size as u32)).unwrap().to_vec()
}

fn record(record: &EventRecord<'_>) -> Vec<u8> {
    let raw = record.raw();
    let (kind, misc, size) = (raw.kind(), raw.misc(), raw.size());
    let mut out = Vec::new();
    if kind.is_user() {
        let header = Bytes::of::<BigEndian>().u32(kind.0).u16(misc.0).u16(size as u16);
        return header.raw(&turned(raw.payload(), user_record(kind, raw.payload()))).out;
    }
    let layout = &record.event().unwrap().layout;
    match record.decode().unwrap() {
        Record::Sample(sample) => {
            write::sample::<BigEndian>(&mut out, layout, misc, &sample.to_fields().unwrap()).unwrap();
        }
        decoded => {
            let trailer = sample_id(record.sample_id().unwrap());
            other(&mut out, layout, record, &decoded, &trailer);
        }
    }
    assert_eq!(out.len(), size as usize, "{kind} at {:#x}", record.offset());
    out
}

fn other(
    out: &mut Vec<u8>,
    layout: &SampleLayout,
    record: &EventRecord<'_>,
    decoded: &Record<'_>,
    trailer: &SampleIdFields,
) {
    let decoded = match *decoded {
        Record::Mmap(it) => Record::Mmap(it),
        Record::Mmap2(it) => Record::Mmap2(it),
        Record::Comm(it) => Record::Comm(it),
        Record::Exit(it) => Record::Exit(it),
        _ => panic!("{} at {:#x} has no twin yet", record.kind(), record.offset()),
    };
    write::record::<BigEndian>(out, layout, record.misc(), &decoded, trailer).unwrap();
}

fn sample_id(trailer: Option<SampleId<'_>>) -> SampleIdFields {
    let trailer = trailer.unwrap();
    SampleIdFields {
        pid: trailer.pid().unwrap_or_default(),
        tid: trailer.tid().unwrap_or_default(),
        time: trailer.time().unwrap_or_default(),
        id: trailer.id().or(trailer.identifier()).unwrap_or_default(),
        stream_id: trailer.stream_id().unwrap_or_default(),
        cpu: trailer.cpu().unwrap_or_default(),
    }
}

/// A part of a shape, with its effect on byte order.
enum Part {
    /// 16 bits.
    Short,
    /// 32 bits.
    Half,
    /// 64 bits.
    Word,
    /// This many bytes without a byte order.
    Bytes(usize),
    /// All remaining bytes, without a byte order.
    Opaque,
    /// A 32-bit length, and that many bytes.
    String,
    /// A record of the feature BUILD_ID.
    BuildId,
    /// A 32-bit count, and that many of these.
    List(&'static [Part]),
    /// An event of the feature EVENT_DESC: an attr of 128 bytes, a count, a name, and that many ids.
    Event,
    /// These, repeated to the end.
    Rest(&'static [Part]),
}

/// Returns the shape of a perf tool's own record.
fn user_record(kind: RecordType, payload: &[u8]) -> &'static [Part] {
    match kind {
        RecordType::FINISHED_ROUND | RecordType::FINISHED_INIT => &[],
        RecordType::ID_INDEX => &[Part::Rest(&[Part::Word])],
        RecordType::THREAD_MAP => &[Part::Word, Part::Rest(&[Part::Word, Part::Bytes(16)])],
        // The range of CPUs: two flag bytes between the numbers.
        RecordType::CPU_MAP if payload[0] == 2 => &[Part::Short, Part::Bytes(2), Part::Short, Part::Short],
        RecordType::CPU_MAP if payload[0] == 0 => &[Part::Rest(&[Part::Short])],
        // Unit or name; scale, and the rest of a larger field after it.
        RecordType::EVENT_UPDATE if payload[0] == 1 => &[Part::Word, Part::Word, Part::Word, Part::Opaque],
        RecordType::EVENT_UPDATE if payload[0] != 3 => &[Part::Word, Part::Word, Part::Opaque],
        _ => panic!("{kind} has no twin yet"),
    }
}

fn feature(feature: Feature, bytes: &[u8]) -> Vec<u8> {
    let shape: &[Part] = match feature {
        Feature::BUILD_ID => &[Part::Rest(&[Part::BuildId])],
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => &[Part::String],
        Feature::NRCPUS => &[Part::Half, Part::Half],
        Feature::TOTAL_MEM => &[Part::Word],
        Feature::CMDLINE => &[Part::List(&[Part::String])],
        Feature::EVENT_DESC => &[Part::Half, Part::Half, Part::Rest(&[Part::Event])],
        Feature::CPU_TOPOLOGY => &CPU_TOPOLOGY_OF_TWO,
        Feature::NUMA_TOPOLOGY => &[Part::List(&[Part::Half, Part::Word, Part::Word, Part::String])],
        Feature::PMU_MAPPINGS => &[Part::List(&[Part::Half, Part::String])],
        Feature::GROUP_DESC => &[Part::List(&[Part::String, Part::Half, Part::Half])],
        Feature::CACHE => &[Part::Half, Part::List(&CACHE_LEVEL)],
        Feature::SAMPLE_TIME => &[Part::Word, Part::Word],
        Feature::MEM_TOPOLOGY => &[Part::Rest(&[Part::Word])],
        // Empty lists. A list that is not empty would leave bytes over.
        Feature::BPF_PROG_INFO | Feature::BPF_BTF | Feature::PMU_CAPS => &[Part::List(&[])],
        _ => panic!("{feature} has no twin yet"),
    };
    turned(bytes, shape)
}

/// For a machine with two CPUs: siblings of packages and cores, core and socket of each CPU, siblings of dies, die of
/// each CPU.
const CPU_TOPOLOGY_OF_TWO: [Part; 9] = [
    Part::List(&[Part::String]),
    Part::List(&[Part::String]),
    Part::Half,
    Part::Half,
    Part::Half,
    Part::Half,
    Part::List(&[Part::String]),
    Part::Half,
    Part::Half,
];

const CACHE_LEVEL: [Part; 7] =
    [Part::Half, Part::Half, Part::Half, Part::Half, Part::String, Part::String, Part::String];

/// Returns `bytes` in the other byte order. `shape` must cover all of them.
fn turned(bytes: &[u8], shape: &[Part]) -> Vec<u8> {
    let mut turning = Turning { rest: bytes, out: Vec::new() };
    turning.all(shape);
    assert!(turning.rest.is_empty(), "{} bytes are not part of the shape", turning.rest.len());
    turning.out
}

struct Turning<'a> {
    rest: &'a [u8],
    out: Vec<u8>,
}

impl Turning<'_> {
    fn all(&mut self, shape: &[Part]) {
        shape.iter().for_each(|part| self.part(part));
    }

    fn part(&mut self, part: &Part) {
        match *part {
            Part::Short => _ = self.reversed(2),
            Part::Half => _ = self.reversed(4),
            Part::Word => _ = self.reversed(8),
            Part::Bytes(count) => self.copied(count),
            Part::Opaque => self.copied(self.rest.len()),
            Part::String => {
                let len = self.reversed(4);
                self.copied(len);
            }
            Part::BuildId => {
                self.all(&[Part::Half, Part::Short]);
                let size = self.reversed(2);
                self.all(&[Part::Half, Part::Bytes(size - 12)]);
            }
            Part::List(shape) => {
                for _ in 0..self.reversed(4) {
                    self.all(shape);
                }
            }
            Part::Event => {
                let (read, rest) = self.rest.split_at(128);
                self.rest = rest;
                self.out.extend(attr(&Attr::read::<LittleEndian>(read).unwrap().attr, 128));
                let nr_ids = self.reversed(4);
                self.part(&Part::String);
                (0..nr_ids).for_each(|_| self.part(&Part::Word));
            }
            Part::Rest(shape) => {
                while !self.rest.is_empty() {
                    self.all(shape);
                }
            }
        }
    }

    /// Reverses a number of `size` bytes. Returns its value.
    fn reversed(&mut self, size: usize) -> usize {
        let (number, rest) = self.rest.split_at(size);
        self.rest = rest;
        self.out.extend(number.iter().rev());
        number.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte))
    }

    fn copied(&mut self, count: usize) {
        let (bytes, rest) = self.rest.split_at(count);
        self.rest = rest;
        self.out.extend_from_slice(bytes);
    }
}
