//! Rows of line tables, by each form of DWARF. What is expected is what `llvm-dwarfdump --debug-line` of LLVM 14 prints.

use std::ops::Range;
use std::sync::Arc;

use perf_symbol::{Cancellation, DwarfLines, FileFinder, LineRow, SymbolOptions};
use proptest::prelude::*;

use crate::elf::{Elf, PROGBITS};
use crate::{Memory, options};

macro_rules! fixture {
    ($name:literal) => {
        &include_bytes!(concat!("../fixtures/", $name))[..]
    };
}

/// All addresses of the files, and some around them.
const CODE: Range<u64> = 0x40_0f80..0x40_1400;

/// A row: start and end, file, line, column, whether it is a statement, and the discriminator.
type Row = (u64, u64, Option<String>, Option<u32>, Option<u32>, bool, u64);

fn load(files: Memory, options: SymbolOptions) -> Option<DwarfLines> {
    let finder = FileFinder::new(Arc::new(files), Arc::new(options));
    DwarfLines::load(&finder, &finder.find(b"/bin/a", None, None))
}

fn rows(lines: &DwarfLines, range: Range<u64>) -> Vec<Row> {
    let mut rows = Vec::new();
    lines.rows(range, &mut |row: LineRow<'_>| {
        let file = row.file.map(str::to_owned);
        rows.push((row.start, row.end, file, row.line, row.column, row.is_stmt, row.discriminator));
    });
    rows
}

/// File, line and column of the innermost frame.
type Place = (Option<String>, Option<u32>, Option<u32>);

fn looked_up(lines: &DwarfLines, address: u64) -> Option<Place> {
    let mut first = None;
    lines.look_up(address, &mut |frame| {
        first.get_or_insert((frame.file.map(str::to_owned), frame.line, frame.column));
    });
    first.filter(|first| *first != (None, None, None))
}

/// Each address has the place in its row that its frame has. Returns the number of addresses that have one.
fn agree(lines: &DwarfLines, range: Range<u64>, is_damaged: bool) -> usize {
    let rows = rows(lines, range.clone());
    assert!(rows.iter().all(|row| range.start <= row.0 && row.0 < row.1 && row.1 <= range.end), "{rows:x?}");
    assert!(rows.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{rows:x?}");
    let mut count = 0;
    for address in range {
        let row = rows.iter().find(|row| (row.0..row.1).contains(&address));
        let place = row.map(|row| (row.2.clone(), row.3, row.4));
        let expected = looked_up(lines, address);
        // Damaged functions hide the line of a frame.
        if expected.is_some() || !is_damaged {
            assert_eq!(place, expected, "{address:#x}");
        }
        count += usize::from(expected.is_some());
    }
    count
}

/// Files with another file that they need.
fn fixtures() -> Vec<(&'static str, Memory)> {
    let alone = |name, file: &'static [u8]| (name, Memory::default().with("/bin/a", file));
    let with = |name, file: &'static [u8], path, other: &'static [u8]| {
        (name, Memory::default().with("/bin/a", file).with(path, other))
    };
    let dwo = fixture!("lines-split-lines.dwo");
    vec![
        alone("lines", fixture!("lines")),
        alone("v4", fixture!("lines-v4")),
        alone("zlib", fixture!("lines-zlib")),
        alone("zlib-gnu", fixture!("lines-zlib-gnu")),
        alone("zstd", fixture!("lines-zstd")),
        alone("split alone", fixture!("lines-split")),
        with("split", fixture!("lines-split"), "/bin/lines-split-lines.dwo", dwo),
        with("package", fixture!("lines-split-v4"), "/bin/a.dwp", fixture!("lines-split-v4.dwp")),
        with("dwz", fixture!("lines-dwz"), "/bin/shared.dwz", fixture!("shared.dwz")),
    ]
}

const FILE: &str = "/src/lines.c";

/// The last row of each address: start, line, column, whether it is a statement, and the discriminator. All end at 0x40103c.
const LINES: [(u64, u32, u32, bool, u64); 8] = [
    (0x40_1000, 12, 9, false, 0),
    (0x40_1003, 12, 22, false, 0),
    (0x40_1007, 6, 7, false, 0),
    (0x40_100d, 18, 7, false, 0),
    (0x40_1013, 20, 1, false, 0),
    (0x40_1020, 24, 2, true, 0),
    (0x40_1030, 26, 8, false, 1),
    (0x40_103a, 25, 2, true, 1),
];

fn expected() -> Vec<Row> {
    let ends = LINES[1..].iter().map(|row| row.0).chain([0x40_103c]);
    let row = |(&(start, line, column, is_stmt, discriminator), end)| {
        (start, end, Some(FILE.to_owned()), Some(line), Some(column), is_stmt, discriminator)
    };
    LINES.iter().zip(ends).map(row).collect()
}

#[test]
fn each_form_of_dwarf() {
    for (name, files) in fixtures() {
        let lines = load(files, options()).unwrap();
        assert_eq!(rows(&lines, CODE), expected(), "{name}");
        assert_eq!(agree(&lines, CODE, false), 0x3c, "{name}");
        // The same again, after look-ups.
        assert_eq!(rows(&lines, 0..u64::MAX), expected(), "{name}");
    }
}

#[test]
fn rows_within_a_range() {
    let lines = load(Memory::default().with("/bin/a", fixture!("lines")), options()).unwrap();
    let starts = |range| rows(&lines, range).iter().map(|row| (row.0, row.1)).collect::<Vec<_>>();
    assert_eq!(
        starts(0x40_1005..0x40_100e),
        [(0x40_1005, 0x40_1007), (0x40_1007, 0x40_100d), (0x40_100d, 0x40_100e)]
    );
    assert_eq!(starts(0x40_1003..0x40_1007), [(0x40_1003, 0x40_1007)]);
    assert_eq!(starts(0x40_103b..0x40_2000), [(0x40_103b, 0x40_103c)]);
    let (start, end) = (0x40_1007, 0x40_1003);
    for empty in [0x40_103c..0x40_2000, 0..0x40_1000, 0x40_1003..0x40_1003, start..end] {
        assert_eq!(starts(empty), []);
    }
}

#[test]
fn cpp_and_strict_dwarf_2() {
    for (file, size) in
        [(fixture!("lambdas"), 0x9d), (fixture!("nested"), 0xe3), (fixture!("nested-strict"), 0xe3)]
    {
        let lines = load(Memory::default().with("/bin/a", file), options()).unwrap();
        assert_eq!(agree(&lines, CODE, false), size);
    }
}

#[test]
fn modules_of_the_kernel() {
    for (file, size) in [(fixture!("module-x86_64.o"), 64), (fixture!("module-aarch64.o"), 76)] {
        let lines = load(Memory::default().with("/bin/a", file), options()).unwrap();
        assert_eq!(agree(&lines, 0..0x3000, false), size);
    }
    let lines = load(Memory::default().with("/bin/a", fixture!("module-x86_64.o")), options()).unwrap();
    let first = &rows(&lines, 0..8)[0];
    assert_eq!((first.0, first.2.as_deref(), first.3), (0, Some(FILE), Some(12)));
}

#[test]
fn sources_in_the_file() {
    let lines = load(Memory::default().with("/bin/a", fixture!("lines-embedded")), options()).unwrap();
    let mut count = 0;
    lines.rows(CODE, &mut |row| {
        assert_eq!((row.file, row.source), (Some(FILE), Some(fixture!("lines.c"))));
        count += 1;
    });
    assert_eq!(count, 9);
    assert_eq!(agree(&lines, CODE, false), 0x3c);
    let lines = load(Memory::default().with("/bin/a", fixture!("lines")), options()).unwrap();
    lines.rows(CODE, &mut |row| assert_eq!(row.source, None));
}

#[test]
fn without_lines_there_are_no_rows() {
    for (name, files) in fixtures() {
        let mut options = options();
        options.lines = false;
        assert_eq!(rows(&load(files, options).unwrap(), CODE), [], "{name}");
    }
}

#[test]
fn what_is_cancelled_ends() {
    let cancellation = Cancellation::new();
    let files = Memory::default().with("/bin/a", fixture!("lines"));
    let finder = FileFinder::new(Arc::new(files), Arc::new(options())).with_cancellation(&cancellation);
    let lines = DwarfLines::load(&finder, &finder.find(b"/bin/a", None, None)).unwrap();
    assert_eq!(rows(&lines, CODE), expected());
    cancellation.cancel();
    assert_eq!(rows(&lines, CODE), []);
}

/// A file whose unit of DWARF 4 has the code from 0x401000 to 0x402000, with a line program of these instructions.
fn program(instructions: &[u8]) -> Vec<u8> {
    let code = [0x40_1000_u64, 0x1000].map(u64::to_le_bytes).concat();
    let unit = [&[4, 0, 0, 0, 0, 0, 8, 1][..], &code, &[0; 4]].concat();
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    let abbreviations = [1, 0x11, 0, 0x11, 0x01, 0x12, 0x07, 0x10, 0x17, 0, 0, 0];
    // Opcodes up to 9, no folders, the file `a`.
    let header = [1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, b'a', 0, 0, 0, 0, 0];
    let header = [&(header.len() as u32).to_le_bytes()[..], &header].concat();
    let lines = [&[4, 0], &header[..], instructions].concat();
    let lines = [&(lines.len() as u32).to_le_bytes()[..], &lines].concat();
    Elf::new(0x40_0000)
        .section(".debug_info", PROGBITS, info)
        .section(".debug_abbrev", PROGBITS, abbreviations.to_vec())
        .section(".debug_line", PROGBITS, lines)
        .build()
}

/// Instructions of a sequence with a row of each line at its start.
fn sequence(rows: &[(u64, u8)], end: u64) -> Vec<u8> {
    let at = |address: u64| [&[0, 9, 2][..], &address.to_le_bytes()].concat();
    let (mut bytes, mut line) = (Vec::new(), 1);
    for &(address, of_row) in rows {
        bytes.extend(at(address));
        // DW_LNS_advance_line, DW_LNS_copy.
        bytes.extend([3, of_row.wrapping_sub(line) & 0x7f, 1]);
        line = of_row;
    }
    [bytes, at(end), vec![0, 1, 1]].concat()
}

fn lines_of(program: &[u8]) -> DwarfLines {
    load(Memory::default().with("/bin/a", program), options()).unwrap()
}

#[test]
fn sequences_that_overlap() {
    const AT: u64 = 0x40_1000;
    let one = [
        sequence(&[(AT, 1), (AT + 0x10, 2), (AT + 0x40, 3)], AT + 0x60),
        sequence(&[(AT + 0x20, 10), (AT + 0x24, 11)], AT + 0x28),
        sequence(&[(AT + 0x50, 20)], AT + 0x80),
        sequence(&[(AT + 0x90, 30), (AT + 0x90, 31)], AT + 0x94),
        // It has no addresses.
        sequence(&[(AT + 0xa0, 40)], AT + 0xa0),
        // Code that the linker has left out.
        sequence(&[(0, 50), (0x20, 51)], 0x40),
    ];
    let lines = lines_of(&program(&one.concat()));
    let rows = rows(&lines, AT..AT + 0x100);
    assert_eq!(agree(&lines, 0..0x100, false), 0);
    assert_eq!(agree(&lines, AT..AT + 0x100, false), 0x5c);
    assert_eq!(rows.last().map(|row| (row.0, row.1, row.3)), Some((AT + 0x90, AT + 0x94, Some(31))));
}

/// Each row takes 3 bytes; what is read of all is limited.
#[test]
fn long_programs_are_read_once() {
    let mut instructions = sequence(&[(0x40_1000, 1)], 0x40_1000);
    instructions.truncate(14);
    // A special opcode: one byte and one line further.
    instructions.extend(vec![30; 0xfff]);
    instructions.extend([2, 1, 0, 1, 1]);
    let lines = lines_of(&program(&instructions));
    for _ in 0..2000 {
        assert_eq!(rows(&lines, 0x40_1000..0x40_1800).len(), 0x800);
    }
    assert_eq!(agree(&lines, 0x40_1000..0x40_1100, false), 0x100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_any_program(instructions in prop::collection::vec(any::<u8>(), 0..200)) {
        let start = [&[0, 9, 2][..], &0x40_1000_u64.to_le_bytes()].concat();
        let lines = lines_of(&program(&[start, instructions].concat()));
        agree(&lines, 0x40_1000..0x40_1080, true);
    }

    #[test]
    fn of_damaged_files(
        file in 0usize..9,
        changes in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..8),
    ) {
        let mut files = fixtures().remove(file).1;
        let bytes = files.files.get_mut(std::path::Path::new("/bin/a")).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let mut options = options();
        options.limits.decompressed = 1 << 20;
        if let Some(lines) = load(files, options) {
            agree(&lines, 0x40_1000..0x40_1040, true);
            rows(&lines, 0..u64::MAX);
        }
    }
}
