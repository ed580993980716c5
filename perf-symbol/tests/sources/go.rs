//! Programs of Go without symbols: their functions, inlined calls and lines, and what is damaged in them.

use perf_symbol::{ElfImage, FileBytes, Function, GoLines, NameSource};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::go_program::{GO_12, GO_116, GO_118, GO_120, GoProgram, OUTER, PROGRAM, TABLE, TEXT};
use crate::{Memory, options, symbolizer};

/// Returns functions as text, such as `main.outer a.go:12`.
fn text(functions: &[Function]) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    functions
        .iter()
        .map(|it| {
            let name = it.name.as_deref().map_or("-".into(), text);
            let file = it.file.as_deref().map_or("-".into(), |file| text(file).replace("/src/", ""));
            let mark = if it.is_inlined { "" } else { "!" };
            assert!(it.name.is_none() || it.source == Some(NameSource::GoPclntab));
            format!("{mark}{name} {file}:{}", it.line.map_or("-".into(), |line| line.to_string()))
        })
        .collect()
}

fn found(program: &GoProgram, address: u64) -> Vec<String> {
    text(&program.symbolizer().functions_in(b"/bin/a", address))
}

const DEEPEST: [&str; 3] = ["main.deeper b.go:200", "main.inlined b.go:100", "!main.outer a.go:12"];

/// What is found without the inlined calls.
const ALONE: [&str; 1] = ["!main.outer b.go:200"];

fn each_machine() -> impl Iterator<Item = GoProgram> {
    [(true, true), (true, false), (false, true), (false, false)]
        .map(|(is_64, is_little_endian)| GoProgram { is_64, is_little_endian, ..PROGRAM })
        .into_iter()
}

#[test]
fn each_layout_on_each_machine() {
    let layouts = [(GO_12, None), (GO_116, None), (GO_118, Some(38)), (GO_120, Some(40)), (GO_120, Some(43))];
    for machine in each_machine() {
        for (magic, function_data) in layouts {
            let program = GoProgram { magic, function_data, ..machine };
            let mut it = program.symbolizer();
            let mut at = |address| text(&it.functions_in(b"/bin/a", address));
            assert_eq!(at(TEXT), ["!_rt0_amd64_linux -:-"]);
            assert_eq!(at(OUTER), ["!main.outer a.go:10"]);
            assert_eq!(at(OUTER + 0x0f), ["!main.outer a.go:12"]);
            let calls: &[&str] = if magic == GO_12 {
                &["!main.outer b.go:100"]
            } else {
                &["main.inlined b.go:100", "!main.outer a.go:12"]
            };
            assert_eq!(at(OUTER + 0x10), calls);
            assert_eq!(at(OUTER + 0x14), if magic == GO_12 { &ALONE[..] } else { &DEEPEST });
            assert_eq!(at(OUTER + 0x18), ["!main.outer a.go:14"]);
            assert_eq!(at(TEXT + 0x5f), ["!main.last a.go:30"]);
            assert!(at(TEXT + 0x60).is_empty() && at(TEXT - 1).is_empty());
            assert!(at(0).is_empty() && at(u64::MAX).is_empty());
        }
    }
}

#[test]
fn offsets_and_sizes_of_functions() {
    let functions = PROGRAM.symbolizer().functions_in(b"/bin/a", OUTER + 4);
    assert_eq!((functions[0].offset, functions[0].size), (Some(4), Some(0x30)));
}

/// The text is where the header has it, where the runtime's data has it, or where the program starts.
#[test]
fn the_start_of_the_text() {
    let at = |program: GoProgram| found(&program, OUTER + 0x14);
    for machine in each_machine() {
        assert_eq!(at(GoProgram { has_text: false, ..machine }), DEEPEST);
        assert_eq!(at(GoProgram { function_data: None, ..machine }), ALONE);
        let by_entry = GoProgram { has_text: false, function_data: None, ..machine };
        assert_eq!(at(by_entry), ALONE);
        // A program of C starts elsewhere, and its text has other functions first.
        assert!(at(GoProgram { entry: TEXT + 0x40, ..by_entry }).is_empty());
        assert!(at(GoProgram { entry: TEXT + 4, ..by_entry }).is_empty());
    }
}

/// A position-independent program has relocations in place of addresses.
#[test]
fn addresses_that_are_left_to_relocations() {
    for is_little_endian in [true, false] {
        for (magic, function_data) in [(GO_12, None), (GO_116, None), (GO_118, Some(38)), (GO_120, Some(43))]
        {
            for has_text in [true, false] {
                let program = GoProgram {
                    magic,
                    function_data,
                    has_text,
                    is_little_endian,
                    is_relocated: true,
                    ..PROGRAM
                };
                assert_eq!(
                    found(&program, OUTER + 0x14),
                    if magic == GO_12 { &ALONE[..] } else { &DEEPEST },
                    "{magic:x}"
                );
            }
        }
    }
}

/// Returns the place of the table in the bytes of [`PROGRAM`].
fn place_of_table(bytes: &[u8]) -> usize {
    bytes.windows(8).position(|it| it == [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8]).unwrap()
}

fn is_found(bytes: Vec<u8>) -> bool {
    GoLines::load(&ElfImage::parse(FileBytes::new(bytes)).unwrap()).is_some()
}

/// The header and the runtime's data contradict each other, or the functions are in no code.
#[test]
fn a_text_that_is_not_sure_is_not_used() {
    let changed = |program: GoProgram, text: u64| {
        let mut bytes = program.build();
        let at = place_of_table(&bytes) + 24;
        bytes[at..at + 8].copy_from_slice(&text.to_le_bytes());
        is_found(bytes)
    };
    assert!(changed(PROGRAM, TEXT) && !changed(PROGRAM, TEXT + 0x10));
    let alone = GoProgram { function_data: None, ..PROGRAM };
    assert!(changed(alone, TEXT + 0x10));
    for text in [TEXT - 1, TEXT + 0x1000 - 0x5f, TABLE, u64::MAX] {
        assert!(!changed(alone, text), "{text:x}");
    }
}

/// Data that refers to the table and does not agree with it is not the runtime's.
#[test]
fn data_of_the_runtime_agrees_with_the_table() {
    let address = TABLE.to_le_bytes();
    let bytes = PROGRAM.build();
    // The last one is the address of the section.
    let places: Vec<_> =
        bytes.windows(8).enumerate().filter(|(_, it)| *it == address).map(|(at, _)| at).collect();
    let data = places.into_iter().find(|at| bytes[at - 1] == 0x11).unwrap();
    let deepest = |bytes: Vec<u8>| {
        let mut it = symbolizer(Memory::default().with("/bin/a", bytes));
        text(&it.functions_in(b"/bin/a", OUTER + 0x14)) == DEEPEST
    };
    assert!(deepest(bytes.clone()));
    for word in [0, 1, 4, 7, 10, 13, 16, 17, 20, 21, 22, 40] {
        let mut changed = bytes.clone();
        changed[data + 8 * word] ^= 1;
        assert!(!deepest(changed), "{word}");
    }
    let mut moved = bytes.clone();
    moved[data + 8 * 24] ^= 1;
    assert!(deepest(moved));
}

/// The table is found by how it begins: a C linker may have put it into another section, and section headers may be gone.
#[test]
fn a_table_without_its_section() {
    for machine in each_machine() {
        for section in [None, Some(".data.rel.ro.gopclntab")] {
            assert_eq!(found(&GoProgram { section, ..machine }, OUTER + 0x14), DEEPEST);
        }
        // No section says that it is a program of Go.
        assert!(found(&GoProgram { section: Some(".data.rel.ro"), ..machine }, OUTER + 0x14).is_empty());
        assert_eq!(found(&GoProgram { section: Some(".go.buildinfo"), ..machine }, OUTER + 0x14), DEEPEST);
    }
}

/// What only begins like a table is ignored. If there are two tables, neither is used.
#[test]
fn another_table_in_the_file() {
    let bytes = GoProgram { section: None, function_data: None, ..PROGRAM }.build();
    let table = place_of_table(&bytes);
    let code = bytes.iter().position(|&byte| byte == 0xcc).unwrap() + 0x200;
    let with_copy = |size: usize| {
        let mut bytes = bytes.clone();
        bytes.copy_within(table..table + size, code);
        is_found(bytes)
    };
    assert!(with_copy(8) && with_copy(0x40));
    assert!(!with_copy(0x200));
}

#[test]
fn functions_out_of_order_are_not_used() {
    let bytes = PROGRAM.build();
    let at = place_of_table(&bytes);
    let table = at + bytes[at + 64] as usize + 256 * bytes[at + 65] as usize;
    for (field, value, is_good) in
        [(2, 0x10, true), (2, 0x0f, true), (2, 0x41, false), (4, 0x0f, false), (6, 0x3f, false)]
    {
        let mut changed = bytes.clone();
        changed[table + 4 * field] = value;
        assert_eq!(is_found(changed), is_good, "{field}");
    }
}

/// Whatever is cut off or changed, the rest is used or not, and nothing else happens.
#[test]
fn damage_everywhere() {
    let bytes = PROGRAM.build();
    let start = place_of_table(&bytes);
    for at in start..bytes.len() {
        for value in [0, 0x7f, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let Ok(image) = ElfImage::parse(FileBytes::new(changed)) else { continue };
            let Some(mut lines) = GoLines::load(&image) else { continue };
            for offset in 0..0x60 {
                let mut count = 0;
                lines.look_up(TEXT + offset, &mut |_| count += 1);
                assert!(count <= 256);
            }
        }
    }
}

/// Calls that are their own callers end.
#[test]
fn inlined_calls_without_end() {
    let mut bytes = PROGRAM.build();
    // The parent of `main.deeper`, and the line at which it starts.
    let parent = [0x12, 0, 0, 0, 1, 0, 0, 0];
    let call = bytes.windows(8).position(|it| it == parent).unwrap();
    bytes[call] = 0x14;
    let mut it = symbolizer(Memory::default().with("/bin/a", bytes));
    let functions = it.functions_in(b"/bin/a", OUTER + 0x14);
    assert_eq!(functions.len(), 256);
    assert!(functions.iter().take(255).all(|it| it.is_inlined));
}

#[test]
fn symbols_come_first() {
    let symbols = |elf: Elf| elf.symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, "f")]).build();
    let mut it = symbolizer(Memory::default().with("/bin/a", symbols(Elf::new(0x40_0000))));
    assert_eq!(it.functions_in(b"/bin/a", 0x40_1014)[0].source, Some(NameSource::Symtab));
}

#[test]
fn lines_are_left_out_on_request() {
    let file = || Memory::default().with("/bin/a", PROGRAM.build());
    let mut without = options();
    without.lines = false;
    let mut it = perf_symbol::Symbolizer::with_files(without, std::sync::Arc::new(file()));
    let names = ["main.deeper -:-", "main.inlined -:-", "!main.outer -:-"];
    assert_eq!(text(&it.functions_in(b"/bin/a", OUTER + 0x14)), names);
    let mut alone = options();
    alone.inlines = false;
    let mut it = perf_symbol::Symbolizer::with_files(alone, std::sync::Arc::new(file()));
    assert_eq!(text(&it.functions_in(b"/bin/a", OUTER + 0x14)), ["!main.outer -:-"]);
}
