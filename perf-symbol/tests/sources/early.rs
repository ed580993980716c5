//! Units that `.debug_aranges` lists, for which no more of `.debug_info` is read or decompressed than is needed.

use std::io::Write;
use std::sync::Arc;

use perf_symbol::Symbolizer;

use crate::elf::Elf;
use crate::{Memory, options};

/// Abbreviations: a unit with addresses and lines, and one without lines; a function with a name and addresses; a function
/// that is inlined, with a name; a call of it with addresses, and one whose function may be in another unit; a variable with a
/// value of any bytes.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0, //
    2, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    4, 0x2e, 0, 0x03, 0x08, 0, 0, //
    5, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0b, 0, 0, //
    6, 0x34, 0, 0x1c, 0x04, 0, 0, //
    0,
];
/// The same with references by an offset in the section, in the table after that one.
const WITH_REFERENCES: &[u8] = &[
    2, 0x11, 1, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, //
    4, 0x2e, 0, 0x03, 0x08, 0, 0, //
    5, 0x1d, 0, 0x31, 0x10, 0x11, 0x01, 0x12, 0x07, 0x59, 0x0b, 0, 0, //
    0,
];

const START: u64 = 0x40_1000;
/// Number of bytes of the code of a unit.
const CODE: u64 = 0x100;
const UNITS: u64 = 40;

/// A program of lines without rows, of DWARF 2.
const LINES: [u8; 17] = [13, 0, 0, 0, 2, 0, 7, 0, 0, 0, 1, 1, 0, 1, 1, 0, 0];

/// What is wrong with a file, or other than compilers write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Odd {
    Nothing,
    /// The stream of `.debug_info` is damaged after two thirds.
    IsDamaged,
    /// The length of a unit after two thirds is far too large.
    LengthIsDamaged,
    /// The last unit is in no `.debug_aranges`.
    NotListed,
    /// The offsets in `.debug_aranges` are those of the units before.
    OtherOffsets,
    /// The offsets in `.debug_aranges` are after the section.
    OffsetsBeyond,
    /// All units are listed with the addresses of all.
    Overlap,
    /// Each is listed at an offset in its middle, where the value of a variable is a unit with the same addresses.
    Inside,
    /// The last unit is in no `.debug_aranges`, and has the addresses of all by its root.
    RootsOverlap,
    /// The inlined function is that of the first unit.
    RefersToOthers,
    /// `.debug_line` is cut off after the lines of the first unit.
    LinesAreCut,
    /// `.debug_info` claims less than it has.
    ClaimsLess,
}

fn bytes<const N: usize>(numbers: [u64; N]) -> Vec<u8> {
    numbers.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// What cannot be compressed well, as a name.
fn long_name(unit: u64) -> Vec<u8> {
    let mut state = unit + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        b'a' + (state >> 59) as u8 % 26
    };
    (0..4000).map(|_| next()).collect()
}

/// A section that is compressed by zlib, with the size that it claims less than it has.
fn compressed(data: &[u8], less: u64) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(data).unwrap();
    let header = [&[1, 0, 0, 0, 0, 0, 0, 0][..], &bytes([data.len() as u64 - less, 1])].concat();
    [header, encoder.finish().unwrap()].concat()
}

/// The size of all compressed sections of [`file`] that claim to have it.
fn size(sections: &[(&'static str, Vec<u8>)]) -> u64 {
    sections.iter().map(|(_, data)| data.len() as u64).sum()
}

/// The sections of a file with many units, each with a function `outer`, in which a function with the number of the unit is
/// inlined.
fn sections(odd: Odd) -> Vec<(&'static str, Vec<u8>)> {
    let (mut info, mut aranges, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut before = 0;
    for unit in 0..UNITS {
        let offset = info.len() as u64;
        let start = START + unit * CODE;
        let refers = odd == Odd::RefersToOthers && unit > 0;
        let table = if refers { ABBREVIATIONS.len() as u32 } else { 0 };
        // The version, the table of abbreviations, and the size of addresses.
        let mut entries = [&[4, 0][..], &table.to_le_bytes(), &[8]].concat();
        entries.push(if refers { 2 } else { 1 });
        let is_last = unit + 1 == UNITS;
        let is_of_all = odd == Odd::RootsOverlap && is_last;
        entries.extend_from_slice(&bytes(if is_of_all { [START, UNITS * CODE] } else { [start, CODE] }));
        if !refers {
            entries.extend_from_slice(&(lines.len() as u32).to_le_bytes());
        }
        let inlined = entries.len() as u32 + 4;
        entries.extend_from_slice(&[&[4][..], format!("inlined{unit}").as_bytes(), &[0]].concat());
        entries.extend_from_slice(&[&[4][..], &long_name(unit), &[0]].concat());
        entries.extend_from_slice(b"\x03outer\0");
        entries.extend_from_slice(&bytes([start, CODE]));
        entries.push(5);
        // In the first unit, the root has four bytes more.
        let first = 4 + 7 + 1 + 16 + 4;
        entries.extend_from_slice(&if refers { first as u32 } else { inlined }.to_le_bytes());
        entries.extend_from_slice(&bytes([start + 0x10, 0x10]));
        // The line of the call, and the end of the function.
        entries.extend_from_slice(&[9, 0]);
        let mut inside = 0;
        if odd == Odd::Inside {
            let unit = [&[4, 0, 0, 0, 0, 0, 8, 2][..], &bytes([start, CODE]), b"\x03inside\0"].concat();
            let unit = [unit, bytes([start, CODE]), vec![0, 0]].concat();
            entries.push(6);
            entries.extend_from_slice(&(unit.len() as u32 + 4).to_le_bytes());
            inside = entries.len() as u64 + 4;
            entries.extend_from_slice(&(unit.len() as u32).to_le_bytes());
            entries.extend_from_slice(&unit);
        }
        // The end of the unit.
        entries.push(0);
        let damage = if odd == Odd::LengthIsDamaged && unit == UNITS / 3 * 2 { 1 << 28 } else { 0 };
        info.extend_from_slice(&(entries.len() as u32 + damage).to_le_bytes());
        info.extend_from_slice(&entries);
        lines.extend_from_slice(&LINES);
        let listed = match odd {
            Odd::OtherOffsets => before,
            Odd::OffsetsBeyond => 1 << 30,
            Odd::Inside => offset + inside,
            _ => offset,
        };
        before = offset;
        if matches!(odd, Odd::NotListed | Odd::RootsOverlap) && is_last {
            continue;
        }
        let range = if odd == Odd::Overlap { [START, UNITS * CODE] } else { [start, CODE] };
        let set = [&[2, 0][..], &(listed as u32).to_le_bytes(), &[8, 0, 0, 0, 0, 0], &bytes(range)].concat();
        let set = [set, vec![0; 16]].concat();
        aranges.extend_from_slice(&(set.len() as u32).to_le_bytes());
        aranges.extend_from_slice(&set);
    }
    if odd == Odd::LinesAreCut {
        lines.truncate(LINES.len());
    }
    let abbreviations = [ABBREVIATIONS, WITH_REFERENCES].concat();
    vec![
        (".debug_info", info),
        (".debug_aranges", aranges),
        (".debug_abbrev", abbreviations),
        (".debug_line", lines),
    ]
}

fn file(odd: Odd, is_compressed: bool) -> Vec<u8> {
    let mut elf = Elf::new(START - 0x1000).code((UNITS + 1) * CODE).plt(START + 0x10_0000, 0x100);
    for (name, data) in sections(odd) {
        let is_info = name == ".debug_info";
        let mut data = match is_compressed {
            true => compressed(&data, u64::from(is_info && odd == Odd::ClaimsLess) * 100),
            false => data,
        };
        if is_info && odd == Odd::IsDamaged {
            let middle = data.len() / 3 * 2;
            data[middle..middle + 100].fill(0x55);
        }
        elf = if is_compressed { elf.compressed(name, data) } else { elf.section(name, 1, data) };
    }
    elf.build()
}

/// The file without `.debug_aranges`, not compressed.
fn unlisted(odd: Odd) -> Vec<u8> {
    let mut file = file(odd, false);
    let name = b".debug_aranges";
    let at = file.windows(name.len()).position(|it| it == name).unwrap();
    file[at..at + 2].copy_from_slice(b".x");
    file
}

/// A symbolizer of `/bin/a`, with so much room for DWARF, and with lines or without.
fn symbolizer(file: Vec<u8>, room: u64, lines: bool) -> Symbolizer {
    let mut options = options();
    options.lines = lines;
    options.limits.dwarf = room;
    Symbolizer::with_files(options, Arc::new(Memory::default().with("/bin/a", file)))
}

/// The names at an offset in the code of a unit, with a `!` if there is a line.
fn names(it: &mut Symbolizer, unit: u64, offset: u64) -> Vec<String> {
    let functions = it.functions_in(b"/bin/a", START + unit * CODE + offset);
    let name = |it: &perf_symbol::Function| {
        let name = it.name.as_deref().map_or("?".into(), |name| name.escape_ascii().to_string());
        name + if it.line.is_some() { "!" } else { "" }
    };
    functions.iter().map(name).collect()
}

fn expected(inlined: u64, lines: bool) -> [String; 2] {
    [format!("inlined{inlined}"), if lines { "outer!" } else { "outer" }.into()]
}

/// A symbolizer that reads the roots of all units: it has no room to keep those too that are found early.
fn reading_all(odd: Odd, lines: bool) -> Symbolizer {
    symbolizer(file(odd, true), size(&sections(odd)), lines)
}

/// What may be odd in `.debug_aranges`.
const LISTINGS: [Odd; 6] =
    [Odd::Nothing, Odd::NotListed, Odd::OtherOffsets, Odd::OffsetsBeyond, Odd::Overlap, Odd::Inside];

const ORDER: [u64; 7] = [20, 21, 5, 0, 39, 38, 20];

#[test]
fn units_in_any_order_are_as_in_a_file_that_is_not_compressed() {
    for odd in LISTINGS.into_iter().chain([Odd::RefersToOthers, Odd::ClaimsLess]) {
        for (is_compressed, lines) in [(false, true), (true, true), (false, false), (true, false)] {
            let mut it = symbolizer(file(odd, is_compressed), 1 << 30, lines);
            for unit in ORDER {
                let inlined = if odd == Odd::RefersToOthers { 0 } else { unit };
                // addr2line believes what is listed.
                if odd == Odd::OtherOffsets || odd == Odd::Overlap {
                    let mut other = reading_all(odd, lines);
                    assert_eq!(names(&mut it, unit, 0x18), names(&mut other, unit, 0x18), "{odd:?} {unit}");
                    continue;
                }
                let expected = expected(inlined, lines);
                let what = format!("{odd:?} {is_compressed} {lines} {unit}");
                assert_eq!(names(&mut it, unit, 0x18), expected, "{what}");
                assert_eq!(names(&mut it, unit, 0x28), ["outer"], "{what}");
            }
            assert!(names(&mut it, UNITS, 0).is_empty());
        }
    }
}

/// What is listed wrong makes no difference, nor does the order of look-ups.
#[test]
fn each_address_has_the_functions_that_it_has_alone() {
    for odd in LISTINGS.into_iter().chain([Odd::RootsOverlap, Odd::RefersToOthers]) {
        let files = [false, true].map(|is_compressed| file(odd, is_compressed));
        for (is_compressed, lines) in [(false, true), (true, true), (false, false), (true, false)] {
            let new = || symbolizer(files[usize::from(is_compressed)].clone(), 1 << 30, lines);
            let mut all = reading_all(odd, lines);
            let places = [5, 20, 38, 39, 40].map(|unit| [(unit, 0x18), (unit, 0x28)]).concat();
            let alone: Vec<_> =
                places.iter().map(|&(unit, offset)| names(&mut new(), unit, offset)).collect();
            for order in [[1, 4, 0, 5, 2, 8, 6], [6, 1, 5, 0, 8, 4, 2], [8, 5, 6, 0, 2, 4, 1]] {
                let mut it = new();
                for number in order {
                    let (unit, offset) = places[number];
                    let what = format!("{odd:?} {is_compressed} {lines} {unit} {offset:#x}");
                    assert_eq!(names(&mut it, unit, offset), alone[number], "{what}");
                    // Where the roots of two units have an address and one is listed, that one is used.
                    if odd != Odd::RootsOverlap {
                        assert_eq!(names(&mut all, unit, offset), alone[number], "{what}");
                    }
                }
            }
        }
    }
    let mut overlapping = symbolizer(file(Odd::RootsOverlap, false), 1 << 30, true);
    assert_eq!(names(&mut overlapping, 20, 0x18), expected(20, true));
}

/// The header of a unit is damaged, so that reading all units finds none.
#[test]
fn what_is_after_the_needed_units_is_not_read() {
    let mut it = symbolizer(file(Odd::LengthIsDamaged, false), 1 << 30, true);
    let at = |it: &mut Symbolizer, unit| names(it, unit, 0x18);
    assert_eq!([at(&mut it, 20), at(&mut it, 1)], [expected(20, true), expected(1, true)]);
    assert!(at(&mut it, 39).is_empty());
    assert_eq!([at(&mut it, 2), at(&mut it, 20)], [expected(2, true), expected(20, true)]);
    let mut all = symbolizer(unlisted(Odd::LengthIsDamaged), 1 << 30, true);
    assert!(at(&mut all, 1).is_empty());
}

#[test]
fn what_is_after_the_needed_units_is_not_decompressed() {
    let mut it = symbolizer(file(Odd::IsDamaged, true), 1 << 30, true);
    assert_eq!(names(&mut it, 20, 0x18), expected(20, true));
    assert_eq!(names(&mut it, 1, 0x18), expected(1, true));
    // An address of the linker's own code needs no more.
    let plt = it.functions_in(b"/bin/a", START + 0x10_0000);
    assert!(plt.iter().all(|function| function.name.is_none()), "{plt:?}");
    // Nor does one in no section.
    assert!(names(&mut it, 1 << 20, 0).is_empty());
    assert_eq!(names(&mut it, 2, 0x18), expected(2, true));
    // All of the section is needed, and damaged.
    assert!(names(&mut it, 39, 0x18).is_empty());
    // So it is for an address of code that no listed unit has. What is before the damage is found as before.
    assert!(names(&mut it, UNITS, 0).is_empty());
    for unit in [2, 20, 3, 21] {
        assert_eq!(names(&mut it, unit, 0x18), expected(unit, true));
    }
}

#[test]
fn lines_that_are_not_wanted_are_not_read() {
    for (lines, unit, is_known) in [(true, 0, true), (true, 1, false), (false, 0, true), (false, 1, true)] {
        let mut it = symbolizer(file(Odd::LinesAreCut, true), 1 << 30, lines);
        let names = names(&mut it, unit, 0x18);
        assert_eq!(names.len(), if is_known { 2 } else { 0 }, "{lines} {unit}: {names:?}");
    }
}

/// Below the room for all sections, at it and above it; and the same for the room that units need that are found early: three
/// times as much.
#[test]
fn the_room_is_a_limit_for_both_ways() {
    let size = size(&sections(Odd::Nothing));
    for (room, is_known) in [(size - 1, false), (size, true), (size + 1, true)] {
        let mut it = symbolizer(file(Odd::Nothing, true), room, true);
        assert_eq!(!names(&mut it, 1, 0x18).is_empty(), is_known, "{room} of {size}");
    }
    // Only where units are found early is the damage after them not seen.
    let size = 3 * (size - sections(Odd::Nothing)[1].1.len() as u64);
    for (room, is_early) in [(size - 1, false), (size, true), (size + 1, true)] {
        let mut it = symbolizer(file(Odd::IsDamaged, true), room, true);
        assert_eq!(!names(&mut it, 1, 0x18).is_empty(), is_early, "{room} of {size}");
    }
}
