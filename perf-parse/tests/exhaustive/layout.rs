//! Every combination of leading fields, and the trailer of each.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::{RawRecord, Record, SampleLayout};

use crate::{error, record, truncated};
use perf_parse::ErrorKind;

/// The leading fields in the order of the kernel's `perf_output_sample`, and their bits in `sample_type`.
const LEADING: [(&str, u32); 9] = [
    ("identifier", 16),
    ("ip", 0),
    ("tid", 1),
    ("time", 2),
    ("addr", 3),
    ("id", 6),
    ("stream_id", 9),
    ("cpu", 7),
    ("period", 8),
];

/// The fields of a trailer in the order of `__perf_event__output_id_sample`.
const TRAILER: [(&str, u32); 6] =
    [("tid", 1), ("time", 2), ("id", 6), ("stream_id", 9), ("cpu", 7), ("identifier", 16)];

/// Returns the value of the word `index` of a payload. Each byte differs from all others.
fn value(index: usize) -> u64 {
    u64::from_be_bytes(core::array::from_fn(|at| (8 * index + at + 1) as u8))
}

/// Returns the index of the field's word among those of `fields` that are recorded.
fn index(fields: &[(&str, u32)], name: &str, bits: u64) -> Option<usize> {
    let mut recorded = fields.iter().filter(|(_, bit)| bits >> bit & 1 != 0);
    recorded.position(|&(field, _)| field == name)
}

/// Returns the two 32-bit numbers of a word. They were written one after the other: the byte order is that of each.
fn halves<O: Endian>(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] =
        if O::ENDIANNESS == BigEndian::ENDIANNESS { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |bytes| {
        if O::ENDIANNESS == BigEndian::ENDIANNESS {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    };
    (half([a, b, c, d]), half([e, f, g, h]))
}

fn check<O: Endian>(bits: u64, has_trailer: bool) {
    let flags = if has_trailer { AttrFlags::SAMPLE_ID_ALL } else { AttrFlags::NONE };
    let attr = Attr { sample_type: SampleType(bits), flags, ..Attr::default() };
    let layout = SampleLayout::new(&attr).unwrap();
    let big = O::ENDIANNESS == BigEndian::ENDIANNESS;
    let words = |count: usize| (0..count).map(value).collect::<Vec<u64>>();
    let all = bits.count_ones() as usize;

    let bytes = record(big, 9, |bytes| bytes.u64s(&words(all)));
    let (raw, _) = RawRecord::<O>::parse(&bytes).unwrap();
    let sample = raw.sample(&layout).unwrap();
    let word = |name| index(&LEADING, name, bits).map(value);
    assert_eq!(sample.identifier(), word("identifier"));
    assert_eq!(sample.ip(), word("ip"));
    assert_eq!(sample.time(), word("time"));
    assert_eq!(sample.addr(), word("addr"));
    assert_eq!(sample.id(), word("id"));
    assert_eq!(sample.stream_id(), word("stream_id"));
    assert_eq!(sample.period(), word("period"));
    let (tid, cpu) = (word("tid").map(halves::<O>), word("cpu").map(halves::<O>));
    assert_eq!((sample.pid(), sample.tid()), (tid.map(|of| of.0 as i32), tid.map(|of| of.1 as i32)));
    assert_eq!(sample.cpu(), cpu.map(|of| of.0));
    let id = index(&LEADING, "identifier", bits).or(index(&LEADING, "id", bits));
    assert_eq!(layout.sample_id_offset(), id.map(|index| 8 * index));
    assert!(raw.sample_id(&layout).unwrap().is_none());
    sample.tail().unwrap();

    // One word less, and one more.
    let decode = |count: usize| {
        let bytes = record(big, 9, |bytes| bytes.u64s(&words(count)));
        RawRecord::<O>::parse(&bytes).unwrap().0.decode(&layout).map(drop)
    };
    if all > 0 {
        let (field, _) = *LEADING.iter().rfind(|(_, bit)| bits >> bit & 1 != 0).unwrap();
        assert_eq!(decode(all - 1), Err(truncated(field, 8, 0, 8 * all)));
    }
    assert_eq!(decode(all + 1), Err(error(ErrorKind::Residue { bytes: 8 }, 8 + 8 * all)));

    // A SWITCH is only a trailer.
    let of_trailer =
        if has_trailer { TRAILER.iter().filter(|(_, bit)| bits >> bit & 1 != 0).count() } else { 0 };
    assert_eq!(layout.sample_id_size(), 8 * of_trailer);
    let bytes = record(big, 14, |bytes| bytes.u64s(&words(of_trailer)));
    let (raw, _) = RawRecord::<O>::parse(&bytes).unwrap();
    assert!(matches!(raw.decode(&layout), Ok(Record::Switch)));
    let index = |name| if has_trailer { index(&TRAILER, name, bits) } else { None };
    let id = index("identifier").or(index("id"));
    assert_eq!(layout.trailer_id_offset(), id.map(|index| 8 * (of_trailer - index)));
    let trailer = raw.sample_id(&layout).unwrap();
    assert_eq!(trailer.is_some(), of_trailer > 0);
    let Some(trailer) = trailer else { return };
    let word = |name| index(name).map(value);
    assert_eq!(trailer.time(), word("time"));
    assert_eq!(trailer.id(), word("id"));
    assert_eq!(trailer.stream_id(), word("stream_id"));
    assert_eq!(trailer.identifier(), word("identifier"));
    let (tid, cpu) = (word("tid").map(halves::<O>), word("cpu").map(halves::<O>));
    assert_eq!((trailer.pid(), trailer.tid()), (tid.map(|of| of.0 as i32), tid.map(|of| of.1 as i32)));
    assert_eq!(trailer.cpu(), cpu.map(|of| of.0));
    for count in 0..of_trailer {
        let bytes = record(big, 14, |bytes| bytes.u64s(&words(count)));
        let (raw, _) = RawRecord::<O>::parse(&bytes).unwrap();
        let missing = truncated("sample_id", 8 * of_trailer as u64, 8 * count as u64, 8);
        assert_eq!(raw.decode(&layout).map(drop), Err(missing));
        assert_eq!(raw.sample_id(&layout).map(drop), Err(missing));
    }
}

#[test]
fn every_combination_of_leading_fields() {
    for number in (0_u64..1 << LEADING.len()).step_by(if cfg!(miri) { 73 } else { 1 }) {
        let recorded = LEADING.iter().enumerate().filter(|(at, _)| number >> at & 1 != 0);
        let bits = recorded.fold(0, |bits, (_, (_, bit))| bits | 1 << bit);
        for has_trailer in [false, true] {
            check::<LittleEndian>(bits, has_trailer);
            check::<BigEndian>(bits, has_trailer);
        }
    }
}
