//! The features of a whole file: the bitmap, the table, and the effect of a faulty section.

use perf_parse::ByteStr;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::feature::FeatureData;
use perf_parse::file::{FileErrorKind, Reader};

use crate::in_both_orders;
use testdata::Bytes;
use testdata::features::event;

in_both_orders![
    sections_by_rising_number,
    sections_outside_of_the_file_cost_themselves,
    a_table_that_is_cut_off,
    a_bad_section_costs_one_diagnostic,
];

/// Offset of the table of features: after the header, one attr and one record.
const TABLE: u64 = 104 + 80 + 8;

/// Makes a file with one event and one record, up to the table of its features.
fn file<O: Endian>(bitmap: Bytes) -> Bytes {
    let magic = if O::ENDIANNESS == Endianness::Little { b"PERFILE2" } else { b"2ELIFREP" };
    Bytes::of::<O>()
        .raw(magic) // magic
        .u64(104) // size
        .u64(80) // attr_size
        .u64(104) // attrs.offset
        .u64(80) // attrs.size
        .u64(184) // data.offset
        .u64(8) // data.size
        .zeros(16) // event_types
        .raw(&bitmap.out) // adds_features
        .attr(&event(1, 2), 64) // attr
        .zeros(16) // ids
        .u32(68) // FINISHED_ROUND
        .u16(0) // misc
        .u16(8) // size
}

fn bitmap<O: Endian>(features: &[u32]) -> Bytes {
    let mut words = [0; 4];
    for feature in features {
        words[*feature as usize / 64] |= 1_u64 << (feature % 64);
    }
    words.into_iter().fold(Bytes::of::<O>(), Bytes::u64)
}

/// Returns the features of a file, each with its bytes.
fn features(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let file = Reader::new(bytes).unwrap();
    file.features().iter().map(|section| (section.feature.0, section.bytes.to_vec())).collect()
}

fn sections_by_rising_number<O: Endian>() {
    let bytes = file::<O>(bitmap::<O>(&[3, 34, 35, 255]))
        .u64(TABLE + 64) // HOSTNAME
        .u64(6)
        .u64(TABLE + 70) // CLN_SIZE
        .u64(4)
        .u64(TABLE + 74) // 35, which has no name
        .u64(2)
        .u64(0) // 255, of no bytes
        .u64(0)
        .u32(2) // the string of HOSTNAME
        .raw(b"h\0")
        .u32(64)
        .raw(b"35")
        .out;
    let open = Reader::new(&bytes).unwrap();
    assert_eq!(open.account().diagnostics, []);
    assert_eq!(open.feature(Feature::HOSTNAME).unwrap().offset, TABLE + 64);
    assert_eq!(open.features().hostname(), Ok(Some(ByteStr::new(b"h"))));
    assert_eq!(open.features().cln_size(), Ok(Some(64)));
    assert_eq!(open.feature(Feature(35)).unwrap().bytes, b"35");
    assert_eq!(open.feature(Feature(255)).unwrap().bytes, b"");
    assert_eq!(open.features().len(), 4);
}

fn sections_outside_of_the_file_cost_themselves<O: Endian>() {
    for (offset, size) in [(TABLE + 48, 3), (u64::MAX, 2), (1 << 40, 1)] {
        let bytes = file::<O>(bitmap::<O>(&[3, 15, 35]))
            .u64(offset) // HOSTNAME
            .u64(size)
            .u64(0) // BRANCH_STACK
            .u64(0)
            .u64(TABLE + 48) // 35
            .u64(2)
            .raw(b"ab")
            .out;
        assert_eq!(features(&bytes), [(15, vec![]), (35, b"ab".to_vec())]);
        let open = Reader::new(&bytes).unwrap();
        let [diagnostic] = &open.account().diagnostics[..] else { panic!("{:?}", open.account()) };
        assert_eq!(diagnostic.offset, TABLE, "the entry of HOSTNAME");
        let truncated = FileErrorKind::Truncated {
            field: "feature section",
            needed: size,
            available: (bytes.len() as u64).saturating_sub(offset),
        };
        assert_eq!(diagnostic.kind, truncated);
    }
}

fn a_table_that_is_cut_off<O: Endian>() {
    let bytes = file::<O>(bitmap::<O>(&[15, 19])).u64(0).u64(0).u64(0).out;
    assert_eq!(features(&bytes).len(), 1);
    let open = Reader::new(&bytes).unwrap();
    let [diagnostic] = &open.account().diagnostics[..] else { panic!("{:?}", open.account()) };
    assert_eq!(diagnostic.offset, TABLE + 16);
    let kind = FileErrorKind::Truncated { field: "feature table", needed: 16, available: 8 };
    assert_eq!(diagnostic.kind, kind);
}

fn a_bad_section_costs_one_diagnostic<O: Endian>() {
    let bytes = file::<O>(bitmap::<O>(&[3, 12]))
        .u64(TABLE + 32) // HOSTNAME
        .u64(6)
        .u64(TABLE + 38) // EVENT_DESC, which opening the file reads
        .u64(8)
        .u32(2)
        .raw(b"h\0")
        .u32(u32::MAX) // nr
        .u32(64) // attr_size
        .out;
    let open = Reader::new(&bytes).unwrap();
    assert_eq!(open.events().len(), 1);
    assert_eq!(open.features().hostname(), Ok(Some(ByteStr::new(b"h"))));
    let [diagnostic] = &open.account().diagnostics[..] else { panic!("{:?}", open.account()) };
    assert_eq!(diagnostic.offset, TABLE + 38 + 8);
    assert_eq!(open.features().event_desc(), Err(*diagnostic), "the same error wherever it is met");
    let (decoded, fault) = open.feature(Feature::EVENT_DESC).unwrap().decode_until_fault();
    let Some(FeatureData::EventDesc(decoded)) = decoded else { panic!("{decoded:?}") };
    assert_eq!((decoded.events.len(), fault), (0, Some(*diagnostic)));
}

/// The bitmap of a 32-bit writer has 32-bit words. Its bytes are the same as with 64-bit words only if they are
/// little-endian.
fn of_32_bits<O: Endian>(first: u32, second: u32) -> Vec<u32> {
    let bitmap = Bytes::of::<O>().u32(first).u32(second).zeros(24);
    let count = first.count_ones() + second.count_ones();
    let sections = TABLE + 16 * u64::from(count);
    let table = (0..u64::from(count)).fold(file::<O>(bitmap), |bytes, at| bytes.u64(sections + at).u64(1));
    features(&table.zeros(count as usize).out).iter().map(|(feature, _)| *feature).collect()
}

#[test]
fn bitmaps_of_32_bit_machines() {
    assert_eq!(of_32_bits::<LittleEndian>(1 << 3 | 1 << 31, 1 << 2), [3, 31, 34]);
    assert_eq!(of_32_bits::<BigEndian>(1 << 3 | 1 << 31, 1 << 2), [3, 31, 34]);
    assert_eq!(of_32_bits::<BigEndian>(1 << 1 | 1 << 2, 0), [1, 2], "of perf before HOSTNAME");
}
