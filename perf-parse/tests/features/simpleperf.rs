//! The sections of Android's simpleperf.

use perf_parse::ErrorKind;
use perf_parse::abi::endian::{BigEndian, Endian, Endianness, LittleEndian};
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::{RecordType, SimpleperfDsoType};
use perf_parse::feature::{
    AuxtraceEntry, DebugUnwindFile, DexFileOffset, Entries, FeatureData, Features, InitMap, MetaInfo,
    MetaInfoEntry, StoredFile, StoredSymbol,
};
use perf_parse::file::{FileError, FileErrorKind};

use crate::{big, in_both_orders};
use compare::feature::{check, section};
use testdata::Bytes;
use testdata::features::simpleperf::{self as every, bytes, message, number, varint};

in_both_orders![
    stored_files,
    the_older_section_comes_first,
    init_map,
    auxtrace_without_a_number,
    faults_of_files
];

/// Returns a collection with one section.
fn with<O: Endian>(feature: Feature, section: Vec<u8>) -> Features<'static> {
    let mut features = Features::new(O::ENDIANNESS);
    features.set(feature, 0x1000, section);
    features
}

fn stored_files<O: Endian>() {
    for (feature, sections) in
        [(Feature::FILE, every::files(big::<O>())), (Feature::FILE2, every::files2(big::<O>()))]
    {
        let features = with::<O>(feature, sections.concat());
        let files: Vec<_> = features.stored_files().unwrap().unwrap().iter().collect();
        let [libc, dex, module, ..] = files[..] else { panic!("{files:?}") };
        assert_eq!((libc.path, libc.kind), ("/system/lib64/libc.so".into(), SimpleperfDsoType::ELF_FILE));
        assert_eq!((libc.min_vaddr, libc.file_offset_of_min_vaddr), (0x1000, Some(0x800)));
        let symbol = |vaddr, len, name: &'static str| StoredSymbol { vaddr, len, name: name.into() };
        assert_eq!(libc.symbols, [symbol(0x2000, 0x40, "malloc"), symbol(0x3000, 0, "_ZN3art6ThreadE")]);
        assert!(libc.dex_file_offsets.is_empty() && libc.memory_offset_of_min_vaddr.is_none());
        assert_eq!(dex.kind, SimpleperfDsoType::DEX_FILE);
        assert_eq!(dex.dex_file_offsets, [0x28, 0x1_0000_0028].map(DexFileOffset));
        assert!(dex.symbols.is_empty() && dex.file_offset_of_min_vaddr.is_none());
        assert_eq!(
            (module.kind, module.memory_offset_of_min_vaddr),
            (SimpleperfDsoType::KERNEL_MODULE, Some(16))
        );
    }
}

fn the_older_section_comes_first<O: Endian>() {
    let mut features = with::<O>(Feature::FILE2, every::files2(big::<O>()).concat());
    assert_eq!(features.stored_files().unwrap().unwrap().len(), 4);
    features.set(Feature::FILE, 0, every::files(big::<O>()).concat());
    assert_eq!(features.stored_files().unwrap().unwrap().len(), 3);
    assert_eq!(Features::new(O::ENDIANNESS).stored_files(), Ok(None));
    // A section without bytes has no files.
    assert_eq!(with::<O>(Feature::FILE2, Vec::new()).stored_files().unwrap().unwrap().len(), 0);
}

fn init_map<O: Endian>() {
    let features = with::<O>(Feature::INIT_MAP, every::init_map(big::<O>()).concat());
    let map = features.init_map().unwrap().unwrap();
    let kinds: Vec<_> = map.records().map(|record| record.unwrap().kind()).collect();
    assert_eq!(kinds, [RecordType::MMAP, RecordType::COMM]);
    let cut = Bytes::of::<O>().u32(3).u16(0).u16(16).u32(1).out;
    let kind = ErrorKind::Truncated { field: "payload", needed: 8, available: 4 };
    assert_eq!(fault::<O>(Feature::INIT_MAP, cut), (kind, 8));
}

/// The error of a section and its offset in the section. The oracle refuses the section too.
fn fault<O: Endian>(feature: Feature, bytes: Vec<u8>) -> (ErrorKind, u64) {
    let section = section::<O>(feature, 0x1000, &bytes);
    assert!(!check(&section, 0));
    match section.decode().unwrap_err() {
        FileError { kind: FileErrorKind::Feature { error, .. }, offset } => (error.kind, offset - 0x1000),
        other => panic!("{other:?}"),
    }
}

fn truncated(field: &'static str, needed: u64, available: u64) -> ErrorKind {
    ErrorKind::Truncated { field, needed, available }
}

fn auxtrace_without_a_number<O: Endian>() {
    let entry = |file_offset| AuxtraceEntry { file_offset, size: 48 };
    let section_of = |words: &[u64]| Bytes::of::<O>().u64s(words).out;
    let two = section_of(&[0x1000, 48, 0x2000, 48]);
    let features = with::<O>(Feature::AUXTRACE, two.clone());
    assert_eq!(features.auxtrace().unwrap().unwrap(), [entry(0x1000), entry(0x2000)]);
    assert!(check(&section::<O>(Feature::AUXTRACE, 0, &two), 0));
    // It is encoded as perf does it, and the same then.
    let encoded = FeatureData::Auxtrace(Entries::from(&[entry(0x1000)])).encode(O::ENDIANNESS).unwrap();
    assert_eq!(encoded, section_of(&[1, 0x1000, 48]));
    assert_eq!(with::<O>(Feature::AUXTRACE, encoded).auxtrace().unwrap().unwrap(), [entry(0x1000)]);
    // Other sizes are of a list with a number that is cut off.
    let cut = fault::<O>(Feature::AUXTRACE, section_of(&[2, 0x1000, 48, 0x2000]));
    assert_eq!(cut, (truncated("entries", 32, 24), 8));
}

fn faults_of_files<O: Endian>() {
    let file = |body: Bytes| Bytes::of::<O>().u32(body.len() as u32).raw(&body.out).out;
    let head = |kind| Bytes::of::<O>().raw(b"a\0").u32(kind).u64(0).u32(0);
    let of = |body| fault::<O>(Feature::FILE, file(body));
    assert_eq!(fault::<O>(Feature::FILE, vec![1]), (truncated("size", 4, 1), 0));
    assert_eq!(of(Bytes::of::<O>().raw(b"a")), (ErrorKind::Unterminated { field: "path" }, 4));
    assert_eq!(of(Bytes::of::<O>().raw(b"a\0").u16(0)), (truncated("type", 4, 2), 6));
    assert_eq!(of(Bytes::of::<O>().raw(b"a\0").u32(2)), (truncated("min_vaddr", 8, 0), 10));
    let symbols = |nr| Bytes::of::<O>().raw(b"a\0").u32(2).u64(0).u32(nr);
    assert_eq!(of(symbols(u32::MAX)), (truncated("vaddr", 8, 0), 22));
    assert_eq!(of(symbols(1).u64(1).u32(2).raw(b"b")), (ErrorKind::Unterminated { field: "name" }, 34));
    assert_eq!(of(head(3)), (truncated("dex_file_offset_count", 4, 0), 22));
    assert_eq!(of(head(3).u32(2).u64(1)), (truncated("dex_file_offset", 16, 8), 26));
    assert_eq!(of(head(2).u32(1)), (truncated("file_offset_of_min_vaddr", 8, 4), 22));
    assert_eq!(of(head(1).u32(1)), (truncated("memory_offset_of_min_vaddr", 8, 4), 22));
    assert_eq!(of(head(2).u64(1).u8(1)), (ErrorKind::Residue { bytes: 1 }, 30));
    assert_eq!(of(head(5).u64(1)), (ErrorKind::Residue { bytes: 8 }, 22));
    // The offset may be absent, and is for other files.
    let absent = with::<O>(Feature::FILE, [file(head(2)), file(head(0))].concat());
    assert!(absent.file().unwrap().unwrap().iter().all(|it| it.file_offset_of_min_vaddr.is_none()));

    let info = |bytes: &[u8]| fault::<O>(Feature::META_INFO, bytes.to_vec());
    assert_eq!(info(b"key"), (ErrorKind::Unterminated { field: "key" }, 0));
    assert_eq!(info(b"key\0value"), (ErrorKind::Unterminated { field: "value" }, 4));
}

/// The error of a section FILE2 with this message.
fn of_message(message: &[u8]) -> (ErrorKind, u64) {
    let sized = [&(message.len() as u32).to_le_bytes()[..], message].concat();
    fault::<LittleEndian>(Feature::FILE2, sized)
}

#[test]
fn faults_of_messages() {
    let malformed = |field, must| ErrorKind::Malformed { field, must };
    let tag = malformed("tag", "a field number and a wire type of 0, 1, 2 or 5");
    for first in [0x00, 0x03, 0x0b, 0x0c, 0x0e, 0x0f] {
        assert_eq!(of_message(&[0x10, 1, first]), (tag, 6), "{first}");
    }
    assert_eq!(of_message(&[0x80]), (truncated("tag", 1, 0), 5));
    assert_eq!(of_message(&[0x18]), (truncated("value", 1, 0), 5));
    assert_eq!(of_message(&[0x0a, 5, b'a']), (truncated("value", 5, 1), 6));
    assert_eq!(of_message(&[0x0a]), (truncated("length", 1, 0), 5));
    assert_eq!(of_message(&[0x79, 0, 0]), (truncated("value", 8, 2), 5));
    assert_eq!(of_message(&[0x7d, 0, 0]), (truncated("value", 4, 2), 5));
    let many = malformed("value", "a number of at most 64 bits");
    let eleven = [&[0x18][..], &[0xff; 10], &[0]].concat();
    assert_eq!(of_message(&eleven), (many, 5));
    let seventy_bits = [&[0x18][..], &[0xff; 9], &[2]].concat();
    assert_eq!(of_message(&seventy_bits), (many, 5));
    let too_large = ErrorKind::OutOfRange { field: "type", value: 1 << 32, max: u32::MAX.into() };
    assert_eq!(of_message(&number(2, 1 << 32)), (too_large, 4));
    let len = message(4, [number(2, 1 << 32)]);
    assert_eq!(
        of_message(&len),
        (ErrorKind::OutOfRange { field: "len", value: 1 << 32, max: u32::MAX.into() }, 6)
    );
    // A fault of a message inside of another, and of a list.
    assert_eq!(of_message(&message(6, [vec![0x08]])), (truncated("value", 1, 0), 7));
    assert_eq!(of_message(&message(5, [bytes(1, &[0x80])])), (truncated("dex_file_offset", 1, 0), 9));
    let several = malformed("dex_file_offset", "in one list, as simpleperf writes the offsets");
    assert_eq!(of_message(&message(5, [bytes(1, &[1]), bytes(1, &[2])])), (several, 9));
    assert_eq!(of_message(&message(5, [number(1, 1), bytes(1, &[2])])), (several, 6));
    assert_eq!(fault::<BigEndian>(Feature::FILE2, vec![0, 0, 0, 9, 1]), (truncated("file", 9, 1), 4));
}

#[test]
fn what_a_newer_version_may_write() {
    // Unknown fields of every wire type, known ones of another wire type, and fields that come again.
    let unknown =
        [number(99, 7), bytes(98, b"x"), vec![0x79, 0, 0, 0, 0, 0, 0, 0, 0], vec![0x7d, 0, 0, 0, 0]];
    let symbol = message(4, [bytes(1, b"?"), number(1, u64::MAX), bytes(3, b"f")]);
    let file = [
        unknown.concat(),
        bytes(1, b"old"),
        number(1, 5),
        symbol.clone(),
        number(4, 6),
        bytes(1, b"new"),
        message(5, [number(1, 3), number(2, 9), number(1, 1 << 63)]),
        symbol,
        message(6, [unknown.concat(), number(1, 1), number(1, 2)]),
    ]
    .concat();
    let section_of = [(file.len() as u32).to_le_bytes().to_vec(), file].concat();
    assert!(check(&section::<LittleEndian>(Feature::FILE2, 0, &section_of), 0));
    let features = with::<LittleEndian>(Feature::FILE2, section_of);
    let file = features.file2().unwrap().unwrap().iter().next().unwrap();
    let symbol = StoredSymbol { vaddr: u64::MAX, len: 0, name: "f".into() };
    assert_eq!((file.path, file.kind), ("new".into(), SimpleperfDsoType::KERNEL));
    assert_eq!(file.symbols, [symbol, symbol]);
    assert_eq!(file.dex_file_offsets, [3, 1 << 63].map(DexFileOffset));
    assert_eq!(file.file_offset_of_min_vaddr, Some(2));
    assert_eq!(varint(u64::MAX).len(), 10);
}

#[test]
fn facts() {
    let section = b"a\0first\0a\0second\0clockid\0boottime\0event_type_info\0\
        cpu-clock,1,0\na,b,2,91\nno numbers\nx,-1,0\ny,4294967296,0\nz,1,\n,3,4\0";
    let features = with::<LittleEndian>(Feature::META_INFO, section.to_vec());
    let info = features.meta_info().unwrap().unwrap();
    assert_eq!(info.get("a"), Some("second".into()));
    assert_eq!(info.get("b"), None);
    let events: Vec<_> = info.event_types().map(|it| (it.name.to_string(), it.kind, it.config)).collect();
    assert_eq!(events, [("cpu-clock".into(), 1, 0), ("a,b".into(), 2, 91), (String::new(), 3, 4)]);
    let clock = |name: &'static str| {
        let entries = [MetaInfoEntry { key: "clockid".into(), value: name.into() }];
        MetaInfo { entries: Entries::from(&entries) }.clock_id()
    };
    let names = ["realtime", "monotonic", "monotonic_raw", "boottime", "perf", "sundial"];
    assert_eq!(names.map(clock), [Some(0), Some(1), Some(4), Some(7), None, None]);
    assert_eq!(MetaInfo::default().clock_id(), None);
}

#[test]
fn what_no_section_can_hold() {
    let refused = |data: FeatureData<'_>| data.encode(Endianness::Little).unwrap_err().to_string();
    let of_file = |file: StoredFile<'_>| refused(FeatureData::File(Entries::from(&[file])));
    let elf = StoredFile { kind: SimpleperfDsoType::ELF_FILE, ..StoredFile::default() };
    let offsets = [DexFileOffset(1)];
    let dex_file_offsets = Entries::from(&offsets);
    let must = "feature FILE: dex_file_offsets: must be empty for a file that is no DEX_FILE";
    assert_eq!(of_file(StoredFile { dex_file_offsets, ..elf }), must);
    let must = "feature FILE: memory_offset_of_min_vaddr: must be absent for a file of this type";
    assert_eq!(of_file(StoredFile { memory_offset_of_min_vaddr: Some(1), ..elf }), must);
    let must = "feature FILE: file_offset_of_min_vaddr: must be absent for a file of this type";
    assert_eq!(of_file(StoredFile { file_offset_of_min_vaddr: Some(1), ..StoredFile::default() }), must);
    assert_eq!(
        of_file(StoredFile { path: b"a\0b".into(), ..elf }),
        "feature FILE: path: must be free of NULs"
    );
    let symbols = [StoredSymbol { name: b"a\0b".into(), ..StoredSymbol::default() }];
    let symbols = Entries::from(&symbols);
    assert_eq!(of_file(StoredFile { symbols, ..elf }), "feature FILE: name: must be free of NULs");
    let entry = |key: &'static [u8], value: &'static [u8]| {
        let entries = [MetaInfoEntry { key: key.into(), value: value.into() }];
        refused(FeatureData::MetaInfo(MetaInfo { entries: Entries::from(&entries) }))
    };
    assert_eq!(entry(b"a\0", b""), "feature META_INFO: key: must be free of NULs");
    assert_eq!(entry(b"a", b"\0"), "feature META_INFO: value: must be free of NULs");
    let map = FeatureData::InitMap(InitMap { bytes: &[], endianness: Endianness::Big });
    assert_eq!(refused(map), "feature INIT_MAP: endianness: must be that of the capture");
    // Messages have lengths, so that their strings may have NULs.
    let file = [DebugUnwindFile { path: b"a\0b".into(), size: 3 }];
    let encoded = FeatureData::DebugUnwind(Entries::from(&file)).encode(Endianness::Big).unwrap();
    let features = with::<BigEndian>(Feature::DEBUG_UNWIND, encoded);
    assert_eq!(features.debug_unwind().unwrap().unwrap(), file);
}
