//! Each of the kernel's record types except samples, with every possible trailer.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::record::RecordType;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::write::{self, SampleIdFields};
use perf_parse::{RawRecord, SampleLayout};

use crate::fields::read_shape;
use crate::{Random, samples};
use compare::check;
use testdata::Bytes;

const MMAP_BUILD_ID: u16 = 1 << 14;

/// A record to be written: the bytes between its header and its trailer.
struct Body {
    attr: Attr,
    kind: RecordType,
    misc: u16,
    bytes: Bytes,
}

/// Returns bodies of every type except SAMPLE, in every relevant shape, with pseudorandom values.
fn bodies(big: bool) -> Vec<Body> {
    let mut random = Random::new(4);
    let mut bodies = Vec::new();
    let mut add = |kind, misc, bytes| bodies.push(Body { attr: Attr::default(), kind, misc, bytes });
    let new = || Bytes::new(big);

    // Padded strings of 0, 1, 7 and 8 bytes, and one with bytes after its NUL that no kernel writes.
    let strings: [&[u8]; 5] = [
        b"\0\0\0\0\0\0\0\0",
        b"a\0\0\0\0\0\0\0",
        b"/bin/sh\0",
        b"/bin/cat\0\0\0\0\0\0\0\0",
        b"\xff\xfe\0rubbish",
    ];
    for string in strings {
        let mmap = random.u64s(4);
        add(RecordType::MMAP, 2, new().u64s(&mmap).raw(string));
        add(RecordType::COMM, 1 << 13, new().u64s(&mmap[..1]).raw(string));
        let [len, kind_and_flags] = [random.u64() as u32, random.u64() as u32];
        let ksymbol =
            new().u64(mmap[0]).u32(len).u16(kind_and_flags as u16).u16((kind_and_flags >> 16) as u16);
        add(RecordType::KSYMBOL, 0, ksymbol.raw(string));
        add(RecordType::CGROUP, 0, new().u64(mmap[1]).raw(string));

        let inode = || new().u64s(&mmap).u32(8).u32(1).u64(mmap[0]).u64(mmap[1]);
        for prot in [0, 5, 0xff] {
            add(RecordType::MMAP2, 2, inode().u32(prot).u32(random.u64() as u32).raw(string));
        }
        // The layout of Linux 3.12 to 3.15.
        add(RecordType::MMAP2, 2, inode().raw(string));
        for size in [0, 16, 20] {
            let id = new().u64s(&mmap).raw(&[size, 0, 0, 0]).raw(&random.bytes(20));
            add(RecordType::MMAP2, 2 | MMAP_BUILD_ID, id.u32(0x1234).u32(2).raw(string));
        }
    }
    for (kind, words) in [
        (RecordType::LOST, 2),
        (RecordType::EXIT, 3),
        (RecordType::THROTTLE, 3),
        (RecordType::UNTHROTTLE, 3),
        (RecordType::FORK, 3),
        (RecordType::AUX, 3),
        (RecordType::ITRACE_START, 1),
        (RecordType::LOST_SAMPLES, 1),
        (RecordType::SWITCH, 0),
        (RecordType::SWITCH_CPU_WIDE, 1),
        (RecordType::BPF_EVENT, 2),
        (RecordType::AUX_OUTPUT_HW_ID, 1),
        // Types of newer kernels, and the one before the first.
        (RecordType(23), 5),
        (RecordType(63), 0),
        (RecordType(0), 2),
    ] {
        add(kind, random.u64() as u16, new().u64s(&random.u64s(words)));
    }
    for nr in [0, 1, 7] {
        let link_info = random.u64s(2 * nr);
        add(RecordType::NAMESPACES, 0, new().u64(random.u64()).u64(nr as u64).u64s(&link_info));
        let ips = random.u64s(nr);
        add(RecordType::CALLCHAIN_DEFERRED, 2, new().u64(random.u64()).u64(nr as u64).u64s(&ips));
    }
    for (old_len, new_len) in [(0, 5), (5, 0), (5, 5), (2, 2), (0, 0), (1, 130)] {
        let text = random.bytes(old_len + new_len);
        let padding = [0; 8].split_at((old_len + new_len + 4).wrapping_neg() % 8).0;
        let head = new().u64(random.u64()).u16(old_len as u16).u16(new_len as u16);
        add(RecordType::TEXT_POKE, 1, head.raw(&text).raw(padding));
    }
    for shape in 0..64 {
        let (read_format, nr) = read_shape(shape);
        let mut made = samples::made(SampleType::NONE, 0);
        made.add(SampleType::READ, shape, &mut random);
        let read = &made.write(big, 0)[8..];
        let bytes = new().u64(random.u64()).raw(read);
        let attr = Attr { read_format, ..Attr::default() };
        assert_eq!(made.fields.read.map(|read| read.values.len()), Some(nr));
        bodies.push(Body { attr, kind: RecordType::READ, misc: 0, bytes });
    }
    bodies
}

/// The bits that add a word to the trailer, in the order of the trailer.
const ID_BITS: [SampleType; 6] = [
    SampleType::TID,
    SampleType::TIME,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::IDENTIFIER,
];

/// Returns the fields of a trailer, and its bytes for a `sample_type`.
fn trailer(big: bool, sample_type: SampleType) -> (SampleIdFields, Vec<u8>) {
    let id =
        SampleIdFields { pid: -1, tid: 0x1235, time: 1 << 40 | 3, id: 77, stream_id: 99, cpu: 0xffff_fffe };
    let words = [
        Bytes::new(big).u32(id.pid as u32).u32(id.tid as u32),
        Bytes::new(big).u64(id.time),
        Bytes::new(big).u64(id.id),
        Bytes::new(big).u64(id.stream_id),
        Bytes::new(big).u32(id.cpu).u32(0),
        Bytes::new(big).u64(id.id),
    ];
    let asked = ID_BITS.into_iter().zip(words).filter(|&(bit, _)| sample_type.contains(bit));
    (id, asked.flat_map(|(_, word)| word.out).collect())
}

/// Decodes the record and writes it again.
fn rewritten<O: Endian>(layout: &SampleLayout, id: &SampleIdFields, bytes: &[u8]) -> Vec<u8> {
    let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
    let record = raw.decode(layout).unwrap();
    let mut out = vec![1, 2, 3];
    write::record(&mut out, layout, raw.misc(), &record, id).unwrap();
    let mut copy = Vec::new();
    raw.write(&mut copy);
    assert_eq!(copy, bytes);
    out.split_off(3)
}

#[test]
fn every_type_with_every_trailer() {
    let mut records = 0;
    for big in [false, true] {
        for body in bodies(big) {
            for bits in 0..64 {
                let asked = ID_BITS.into_iter().enumerate().filter(|(index, _)| bits & 1 << index != 0);
                // Other fields of samples add nothing to the trailer.
                let sample_type = asked
                    .fold(SampleType::IP | SampleType::ADDR | SampleType::PERIOD, |all, (_, bit)| all | bit);
                for all in [false, true] {
                    let flags = if all { AttrFlags::SAMPLE_ID_ALL } else { AttrFlags::NONE };
                    let attr = Attr { sample_type, flags, ..body.attr };
                    let (id, trailer) = trailer(big, sample_type);
                    let trailer = if all { trailer } else { Vec::new() };
                    let bytes =
                        Bytes::new(big).raw(&body.bytes.out).raw(&trailer).record(body.kind.0, body.misc);
                    let record = check(&attr, big, &bytes);
                    let record = record.unwrap_or_else(|| panic!("{} {:x?}", body.kind, body.bytes.out));
                    assert_eq!(record.sample_id.is_some(), all);
                    records += 1;

                    let layout = SampleLayout::new(&attr).unwrap();
                    assert_eq!(layout.sample_id_size(), trailer.len());
                    let rewritten = if big {
                        rewritten::<BigEndian>(&layout, &id, &bytes)
                    } else {
                        rewritten::<LittleEndian>(&layout, &id, &bytes)
                    };
                    if !body.bytes.out.ends_with(b"rubbish") {
                        assert_eq!(rewritten, bytes, "{}", body.kind);
                    }
                }
            }
        }
    }
    assert!(records > 30_000, "{records}");
}

/// The kernel makes KSYMBOL and BPF_EVENT longer for each further event that gets them. What follows the trailer is then old.
#[test]
fn stale_words_after_the_trailer() {
    let sample_type = SampleType::TID | SampleType::TIME | SampleType::IDENTIFIER;
    for big in [false, true] {
        for body in bodies(big) {
            // What follows the name makes the place of the trailer uncertain.
            if body.bytes.out.ends_with(b"rubbish") {
                continue;
            }
            for flags in [AttrFlags::NONE, AttrFlags::SAMPLE_ID_ALL] {
                let attr = Attr { sample_type, flags, ..body.attr };
                let layout = SampleLayout::new(&attr).unwrap();
                let (id, trailer) = trailer(big, sample_type);
                let trailer = if flags == AttrFlags::NONE { &[] } else { &trailer[..] };
                for stale in [0, 1, 8, 24, 1000] {
                    let bytes = Bytes::new(big).raw(&body.bytes.out).raw(trailer).raw(&[0xfe; 1000][..stale]);
                    let bytes = bytes.record(body.kind.0, body.misc);
                    let decoded = check(&attr, big, &bytes);
                    let endianness = if big { Endianness::Big } else { Endianness::Little };
                    let (raw, _) = RawRecord::<Endianness>::parse_in(endianness, &bytes).unwrap();
                    if matches!(body.kind, RecordType::KSYMBOL | RecordType::BPF_EVENT) && stale % 8 == 0 {
                        assert_eq!(raw.stale_bytes(&layout), stale, "{}", body.kind);
                        let read = decoded.unwrap().sample_id;
                        assert_eq!(read.and_then(|read| read.time), (!trailer.is_empty()).then_some(id.time));
                    } else {
                        assert_eq!(raw.stale_bytes(&layout), 0, "{}", body.kind);
                    }
                }
            }
        }
    }
}

/// Returns the first `size` bytes, with this size in the header.
fn cut(big: bool, bytes: &[u8], size: usize) -> Vec<u8> {
    let mut cut = bytes[..size].to_vec();
    let size = size as u16;
    cut[6..8].copy_from_slice(&if big { size.to_be_bytes() } else { size.to_le_bytes() });
    cut
}

#[test]
fn every_type_cut_off_everywhere() {
    for big in [false, true] {
        for body in bodies(big) {
            for flags in [AttrFlags::NONE, AttrFlags::SAMPLE_ID_ALL] {
                let attr = Attr { sample_type: SampleType::TIME | SampleType::CPU, flags, ..body.attr };
                let trailer = if flags == AttrFlags::NONE { 0 } else { 16 };
                let bytes = Bytes::new(big).raw(&body.bytes.out).raw(&[7; 16][..trailer]);
                let bytes = bytes.record(body.kind.0, body.misc);
                let decoded =
                    (8..bytes.len()).filter(|&size| check(&attr, big, &cut(big, &bytes, size)).is_some());
                // Without the end of a padded string the record is still whole, and a shorter record of unknown type
                // is valid too. All others are not.
                let decoded: Vec<usize> = decoded.collect();
                let strings = [
                    RecordType::MMAP,
                    RecordType::MMAP2,
                    RecordType::COMM,
                    RecordType::KSYMBOL,
                    RecordType::CGROUP,
                ];
                let unknown = body.kind.0 == 0 || body.kind.0 >= RecordType::MAX;
                if !unknown && !strings.contains(&body.kind) {
                    assert_eq!(decoded, [], "{} of {}", body.kind, bytes.len());
                } else if unknown {
                    assert_eq!(decoded.len(), body.bytes.out.len(), "{} of {}", body.kind, bytes.len());
                }
            }
        }
    }
}

#[test]
fn samples_cut_off_everywhere() {
    let mut random = Random::new(5);
    for round in 0..40 {
        let sample_type = SampleType(random.u64() & SampleType::KNOWN.0 & !SampleType::WEIGHT.0);
        let made = samples::made(sample_type, random.u64());
        for big in [false, true] {
            let bytes = made.write(big, 1 + round % 2);
            for size in 8..bytes.len() {
                check(&made.attr, big, &cut(big, &bytes, size));
            }
            let longer = Bytes::new(big).raw(&bytes[8..]).u64(random.u64()).record(9, 1);
            check(&made.attr, big, &longer);
        }
    }
}
