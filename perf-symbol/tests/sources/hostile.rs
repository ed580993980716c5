//! DWARF that was made to take stack, memory and time. Each limit is tested below it, at it or above it.

use perf_symbol::{ElfImage, FileBytes, Symbolizer};
use std::sync::Arc;

use crate::elf::{Elf, PROGBITS};
use crate::{Memory, options, symbolizer};

/// Abbreviations: a unit and a function with addresses, an inlined function with nothing, a function with a name and
/// ranges, one with ranges, and with a name: an inlined function, one with addresses, and a function with addresses.
const ABBREVIATIONS: [u8; 73] = [
    1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    2, 0x2e, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    3, 0x1d, 1, 0, 0, //
    4, 0x2e, 0, 0x03, 0x08, 0x55, 0x17, 0, 0, //
    5, 0x2e, 0, 0x55, 0x17, 0, 0, //
    6, 0x1d, 1, 0x03, 0x08, 0, 0, //
    7, 0x1d, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    8, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    0, 0, 0, 0, 0,
];

const START: u64 = 0x40_1000;
const SIZE: u64 = 0x1000;

/// A file with one unit of DWARF 4, which has `entries` in it.
fn file(entries: &[u8], ranges: Vec<u8>) -> Vec<u8> {
    file_of_version(4, entries, ranges)
}

fn file_of_version(version: u8, entries: &[u8], ranges: Vec<u8>) -> Vec<u8> {
    let range = [START, SIZE].map(u64::to_le_bytes).concat();
    let unit = [&[version, 0, 0, 0, 0, 0, 8, 1], &range[..], entries, &[0]].concat();
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    Elf::new(0x40_0000)
        .section(".debug_info", PROGBITS, info)
        .section(".debug_abbrev", PROGBITS, ABBREVIATIONS.to_vec())
        .section(".debug_ranges", PROGBITS, ranges)
        .build()
}

fn names(file: Vec<u8>, address: u64) -> Vec<String> {
    let mut it = symbolizer(Memory::default().with("/bin/a", file));
    let name = |function: &perf_symbol::Function| {
        function.name.as_deref().map_or("?".into(), |name| name.escape_ascii().to_string())
    };
    it.functions_in(b"/bin/a", address).iter().map(name).collect()
}

/// addr2line calls itself for each level of inlined functions. Without a limit, the test program would end here.
#[test]
fn inlined_functions_that_nest_deeply() {
    let nested = |levels: usize| {
        let function = [&[2][..], &[START, SIZE].map(u64::to_le_bytes).concat()].concat();
        [function, vec![3; levels], vec![0; levels + 1]].concat()
    };
    assert_eq!(names(file(&nested(20), Vec::new()), START).len(), 1);
    assert!(names(file(&nested(1_000_000), Vec::new()), START).is_empty());
}

/// Of DWARF 2, in which inlined functions are found outside of those around them.
#[test]
fn inlined_functions_of_other_places_that_nest_deeply() {
    const COLD: u64 = START + SIZE / 2;
    let placed = |code: u8, name: &[u8], start: u64, size: u64| {
        [&[code], name, &[0], &[start, size].map(u64::to_le_bytes).concat()].concat()
    };
    let found = |inlined: usize| {
        let outer = placed(8, b"outer", START, SIZE / 2);
        let leaf = placed(7, b"leaf", COLD, 0x10);
        let cold = placed(8, b"cold", COLD, SIZE / 2);
        let between = b"\x06a\0".repeat(inlined);
        let entries = [outer, between, leaf, vec![0; inlined + 1], cold, vec![0]].concat();
        names(file_of_version(2, &entries, Vec::new()), COLD)
    };
    assert_eq!(found(2), ["leaf", "a", "a", "outer"]);
    assert_eq!(found(254).len(), 256);
    assert_eq!(found(255), ["cold"]);
}

/// Each function refers to the same list, so that what is kept grows with the product of both.
#[test]
fn functions_that_share_a_long_list() {
    const ENTRIES: u64 = 2000;
    let functions = |count| {
        let mut entries = b"\x04first\0\0\0\0\0".to_vec();
        (1..count).for_each(|_| entries.extend_from_slice(&[5, 0, 0, 0, 0]));
        let ranges = (0..ENTRIES).flat_map(|index| [index, index + 1]);
        let mut ranges: Vec<u8> = ranges.flat_map(u64::to_le_bytes).collect();
        ranges.extend_from_slice(&[0; 16]);
        file(&entries, ranges)
    };
    // The addresses of the list are relative to that of the unit.
    assert_eq!(names(functions(1), START + 5), ["first"]);
    assert_eq!(names(functions(100), START + 5).len(), 1);
    // More than 64 MB would be read of 44 KB.
    assert!(names(functions(2000), START + 5).is_empty());
}

/// The number of bytes that the sections of the DWARF of a file have, decompressed.
fn decompressed(file: &'static [u8]) -> u64 {
    const SHF_COMPRESSED: u64 = 0x800;
    let image = ElfImage::parse(FileBytes::new(file)).unwrap();
    // Of which unwinding alone needs `.debug_frame`.
    let sections =
        image.sections().iter().filter(|it| it.flags & SHF_COMPRESSED != 0 && it.name() != b".debug_frame");
    sections.map(|section| image.data(section, 1 << 20).unwrap().len() as u64).sum()
}

#[test]
fn sections_that_are_decompressed() {
    let file = &include_bytes!("../fixtures/lines-zlib")[..];
    let size = decompressed(file);
    for (limit, is_known) in [(size + 1, true), (size, true), (size - 1, false)] {
        let mut options = options();
        options.limits.dwarf = limit;
        let files = Memory::default().with("/bin/a", file).with("/bin/b", file);
        let mut it = Symbolizer::with_files(options, Arc::new(files));
        // Each makes room for the other.
        for path in [b"/bin/a", b"/bin/b", b"/bin/a", b"/bin/b"] {
            let functions = it.functions_in(path, 0x40_100b);
            assert_eq!(functions.len(), if is_known { 3 } else { 1 }, "{limit} of {size}");
        }
    }
}
