//! Sections of Android's simpleperf, of any values: what is encoded is decoded to the same values, as by the oracle.

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::record::SimpleperfDsoType;
use perf_parse::feature::{
    DebugUnwindFile, DexFileOffset, Entries, EtmAddress, EtmBinary, EtmBranch, EtmBranchList, FeatureData,
    MetaInfo, MetaInfoEntry, StoredFile, StoredSymbol,
};
use proptest::prelude::*;

use compare::feature;

use crate::arbitrary::config;

fn check_in<O: Endian>(data: &FeatureData<'_>) {
    let bytes = data.encode(O::ENDIANNESS).unwrap();
    let section = feature::section::<O>(data.feature(), 0, &bytes);
    assert_eq!(section.decode().as_ref(), Ok(data));
    assert!(feature::check(&section, 0));
}

fn check(data: &FeatureData<'_>) {
    check_in::<LittleEndian>(data);
    check_in::<BigEndian>(data);
}

/// Numbers of all sizes: protobuf has as many bytes as they need.
fn number() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| number >> shift)
}

/// Text without NULs.
fn text() -> impl Strategy<Value = String> {
    "[ -~é]{0,30}"
}

/// What a file has: path, kind, numbers and offsets, and its symbols.
type File = (String, u32, (u64, Option<u64>), Vec<u64>, Vec<(u64, u32, String)>);

fn file() -> impl Strategy<Value = File> {
    let symbols = prop::collection::vec((number(), any::<u32>(), text()), 0..5);
    let numbers = (number(), prop::option::of(number()));
    (text(), 0_u32..7, numbers, prop::collection::vec(number(), 0..4), symbols)
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn files_with_symbols(files in prop::collection::vec(file(), 0..4)) {
        let symbols: Vec<Vec<_>> = files.iter().map(|(.., symbols)| {
            symbols.iter().map(|(vaddr, len, name)| StoredSymbol { vaddr: *vaddr, len: *len, name: (&**name).into() }).collect()
        }).collect();
        let offsets: Vec<Vec<_>> = files.iter().map(|(_, kind, _, offsets, _)| {
            // Only these have them in FILE.
            let count = if *kind == SimpleperfDsoType::DEX_FILE.0 { offsets.len() } else { 0 };
            offsets[..count].iter().map(|&offset| DexFileOffset(offset)).collect()
        }).collect();
        let stored: Vec<_> = files.iter().zip(&symbols).zip(&offsets).map(|((file, symbols), offsets)| {
            let (path, kind, (min_vaddr, offset), ..) = file;
            let kind = SimpleperfDsoType(*kind);
            StoredFile {
                path: (&**path).into(),
                kind,
                min_vaddr: *min_vaddr,
                symbols: symbols.into(),
                dex_file_offsets: offsets.into(),
                file_offset_of_min_vaddr: offset.filter(|_| kind == SimpleperfDsoType::ELF_FILE),
                memory_offset_of_min_vaddr: offset.filter(|_| kind == SimpleperfDsoType::KERNEL_MODULE),
            }
        }).collect();
        check(&FeatureData::File(Entries::from(&stored)));
        check(&FeatureData::File2(Entries::from(&stored)));
    }

    #[test]
    fn facts_and_lists(
        facts in prop::collection::vec((text(), text()), 0..5),
        unwound in prop::collection::vec((text(), number()), 0..5),
        magic in text(),
        binaries in prop::collection::vec((text(), text(), any::<u32>(), prop::option::of(number())), 0..3),
        addrs in prop::collection::vec(number(), 0..3),
        branches in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..9), any::<u32>(), number()), 0..4),
    ) {
        let entries: Vec<_> = facts.iter()
            .map(|(key, value)| MetaInfoEntry { key: (&**key).into(), value: (&**value).into() })
            .collect();
        check(&FeatureData::MetaInfo(MetaInfo { entries: Entries::from(&entries) }));
        let files: Vec<_> =
            unwound.iter().map(|(path, size)| DebugUnwindFile { path: (&**path).into(), size: *size }).collect();
        check(&FeatureData::DebugUnwind(Entries::from(&files)));
        let branches: Vec<_> = branches.iter()
            .map(|(branch, size, count)| EtmBranch { branch, branch_size: *size, count: *count })
            .collect();
        let addrs: Vec<_> = addrs.iter()
            .map(|&addr| EtmAddress { addr, branches: Entries::from(&branches) })
            .collect();
        let binaries: Vec<_> = binaries.iter().map(|(path, build_id, kind, kernel)| EtmBinary {
            path: (&**path).into(),
            build_id: (&**build_id).into(),
            addrs: Entries::from(&addrs),
            kind: *kind,
            kernel_start_addr: *kernel,
        }).collect();
        let list = EtmBranchList { magic: (&*magic).into(), binaries: Entries::from(&binaries) };
        check(&FeatureData::EtmBranchList(list));
    }
}
