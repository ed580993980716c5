//! Lines and inlined functions, by each form of DWARF. The files are those of `fixtures`; what is expected is what
//! `addr2line -i -f` of binutils 2.40 prints.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use perf_symbol::{ElfImage, FileBytes, Files, Function, SymbolLimits, Symbolizer};

use crate::elf::{Elf, PROGBITS};
use crate::{Memory, options, symbolizer};

macro_rules! fixture {
    ($name:literal) => {
        &include_bytes!(concat!("../fixtures/", $name))[..]
    };
}

/// The functions at an address of `/bin/a`, a line each.
fn lines(symbolizer: &mut Symbolizer, address: u64) -> Vec<String> {
    let shown = |function: &Function| {
        let text = |bytes: &Option<Arc<[u8]>>| bytes.as_deref().unwrap_or(b"?").escape_ascii().to_string();
        let inlined = if function.is_inlined { " inlined" } else { "" };
        let line = function.line.unwrap_or(0);
        format!("{} {}:{line}{inlined}", text(&function.name), text(&function.file))
    };
    symbolizer.functions_in(b"/bin/a", address).iter().map(shown).collect()
}

const INNER: [&str; 3] =
    ["inner /src/lines.c:6 inlined", "middle /src/lines.c:12 inlined", "outer /src/lines.c:17"];

fn check(files: Memory, name: &str) {
    let mut it = symbolizer(files);
    assert_eq!(lines(&mut it, 0x40_100b), INNER, "{name}");
    assert_eq!(
        lines(&mut it, 0x40_1005),
        ["middle /src/lines.c:12 inlined", "outer /src/lines.c:17"],
        "{name}"
    );
    assert_eq!(lines(&mut it, 0x40_1012), ["outer /src/lines.c:18"], "{name}");
    assert_eq!(lines(&mut it, 0x40_1020), ["_start /src/lines.c:24"], "{name}");
}

#[test]
fn dwarf_compressed_or_not() {
    for (name, file) in [
        ("lines", fixture!("lines")),
        ("lines-v4", fixture!("lines-v4")),
        ("lines-zlib", fixture!("lines-zlib")),
        ("lines-zlib-gnu", fixture!("lines-zlib-gnu")),
        ("lines-zstd", fixture!("lines-zstd")),
    ] {
        check(Memory::default().with("/bin/a", file), name);
    }
}

/// In strict DWARF 2, an inlined function has the range of its first piece alone, and not the place where it was called. What is
/// inlined into its other pieces is outside that range. addr2line names the first function that it looks up by its symbol;
/// these are the names after another look-up.
#[test]
fn functions_inlined_into_a_later_piece() {
    for (file, expected) in [
        (fixture!("nested-strict"), ["rare /src/nested.cpp:13 inlined", "often ?:0 inlined", "work ?:0"]),
        (
            fixture!("nested"),
            [
                "rare /src/nested.cpp:13 inlined",
                "often /src/nested.cpp:26 inlined",
                "work /src/nested.cpp:35",
            ],
        ),
    ] {
        let mut it = symbolizer(Memory::default().with("/bin/a", file));
        assert_eq!(lines(&mut it, 0x40_10b2), expected);
        assert_eq!(lines(&mut it, 0x40_1051), ["often /src/nested.cpp:25 inlined", expected[2]]);
        assert_eq!(lines(&mut it, 0x40_1033), ["work /src/nested.cpp:34"]);
    }
}

#[test]
fn split_dwarf() {
    let main = || Memory::default().with("/bin/a", fixture!("lines-split"));
    let dwo = fixture!("lines-split-lines.dwo");
    // Where the compiler wrote it, and beside the file.
    for path in ["/src/lines-split-lines.dwo", "/bin/lines-split-lines.dwo"] {
        check(main().with(path, dwo), path);
    }
    // Without it, the symbol and the line are known, and not what is inlined.
    let mut it = symbolizer(main());
    assert_eq!(lines(&mut it, 0x40_100b), ["outer /src/lines.c:6"]);
    // That of another unit is not used.
    let mut it = symbolizer(main().with("/bin/lines-split-lines.dwo", fixture!("lines")));
    assert_eq!(lines(&mut it, 0x40_100b), ["outer /src/lines.c:6"]);
}

#[test]
fn packages_of_split_dwarf() {
    let main = || Memory::default().with("/bin/a", fixture!("lines-split-v4"));
    check(main().with("/bin/a.dwp", fixture!("lines-split-v4.dwp")), "version 4, by dwp");
    let mut it = symbolizer(main());
    assert_eq!(lines(&mut it, 0x40_100b), ["outer /src/lines.c:6"]);
    let main = || Memory::default().with("/bin/a", fixture!("lines-split"));
    let package = |id| dwarf_package(fixture!("lines-split-lines.dwo"), id);
    check(main().with("/bin/a.dwp", package(split_id(fixture!("lines-split-lines.dwo")))), "version 5");
    // The split DWARF of another unit.
    let mut it = symbolizer(main().with("/bin/a.dwp", package(1)));
    assert_eq!(lines(&mut it, 0x40_100b), ["outer /src/lines.c:6"]);
    // The file itself is not there, but its debug file, with the package beside it.
    let debug = fixture!("lines-split-v4");
    let id = ElfImage::parse(FileBytes::new(debug)).unwrap().build_id().unwrap().to_string();
    let folder = format!("/usr/lib/debug/.build-id/{}/{}.debug", &id[..2], &id[2..]);
    let main = Elf::new(0x40_0000).build_id(&bytes_of(&id)).build();
    let files = Memory::default().with("/bin/a", main).with(&folder, debug);
    check(files.with(&format!("{folder}.dwp"), fixture!("lines-split-v4.dwp")), "beside the debug file");
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// The id of a unit of DWARF 5, which follows the length, the version, its type, the size of addresses and the offset of
/// the abbreviations.
fn split_id(file: &'static [u8]) -> u64 {
    let image = ElfImage::parse(FileBytes::new(file)).unwrap();
    let info = image.raw_data(image.section(".debug_info.dwo").unwrap());
    u64::from_le_bytes(*info[12..].first_chunk().unwrap())
}

/// Packs the one unit of a file of split DWARF, version 5.
fn dwarf_package(file: &'static [u8], id: u64) -> Vec<u8> {
    // The sections that packages have, by their numbers: DW_SECT_INFO and so on.
    const SECTIONS: [(u32, &str); 5] = [
        (1, ".debug_info.dwo"),
        (3, ".debug_abbrev.dwo"),
        (4, ".debug_line.dwo"),
        (6, ".debug_str_offsets.dwo"),
        (8, ".debug_rnglists.dwo"),
    ];
    let image = ElfImage::parse(FileBytes::new(file)).unwrap();
    let data = |name| image.section(name).map(|section| image.raw_data(section).to_vec()).unwrap_or_default();
    let mut package = Elf::new(0).section(".debug_str.dwo", PROGBITS, data(".debug_str.dwo"));
    // Version, number of sections, of units and of slots; the slots, and the unit of each.
    let mut index: Vec<u8> =
        [5, SECTIONS.len() as u32, 1, 2].iter().flat_map(|it| it.to_le_bytes()).collect();
    let slot = (id & 1) as usize;
    let slots = if slot == 0 { [id, 0] } else { [0, id] };
    index.extend(slots.iter().flat_map(|it| it.to_le_bytes()));
    index.extend([u32::from(slot == 0), u32::from(slot == 1)].iter().flat_map(|it| it.to_le_bytes()));
    let sizes = SECTIONS.map(|(_, name)| data(name).len() as u32);
    let numbers = SECTIONS.map(|(number, _)| number);
    index.extend([numbers, [0; 5], sizes].as_flattened().iter().flat_map(|it| it.to_le_bytes()));
    for (_, name) in SECTIONS {
        package = package.section(name, PROGBITS, data(name));
    }
    package.section(".debug_cu_index", PROGBITS, index).build()
}

#[test]
fn dwarf_that_files_share() {
    let main = || Memory::default().with("/bin/a", fixture!("lines-dwz"));
    check(main().with("/bin/shared.dwz", fixture!("shared.dwz")), "by its path");
    // Another file at the path is not used.
    let mut it = symbolizer(main().with("/bin/shared.dwz", fixture!("lines")));
    assert_ne!(lines(&mut it, 0x40_100b), INNER);
}

/// Relocatable files: without their relocations, all functions have the address 0, and no name.
#[test]
fn modules_of_the_kernel() {
    let middle = ["middle /src/lines.c:12 inlined", "outer /src/lines.c:17"];
    let mut it = symbolizer(Memory::default().with("/bin/a", fixture!("module-x86_64.o")));
    assert_eq!(lines(&mut it, 0x0), middle);
    assert_eq!(lines(&mut it, 0x8), INNER);
    assert_eq!(lines(&mut it, 0x12), ["outer /src/lines.c:18"]);
    assert_eq!(lines(&mut it, 0x20), ["_start /src/lines.c:24"]);
    let mut it = symbolizer(Memory::default().with("/bin/a", fixture!("module-aarch64.o")));
    assert_eq!(lines(&mut it, 0x0), INNER);
    assert_eq!(lines(&mut it, 0x10), middle);
    assert_eq!(lines(&mut it, 0x20), ["_start /src/lines.c:23"]);
    // Other sections follow.
    assert_eq!(lines(&mut it, 0x2000), ["init /src/module.c:5"]);
    // Of another machine, whose relocations are not known, there are symbols without lines.
    let mut riscv = fixture!("module-aarch64.o").to_vec();
    riscv[18] = 243;
    let mut it = symbolizer(Memory::default().with("/bin/a", riscv));
    assert_eq!(lines(&mut it, 0x0), ["outer ?:0"]);
}

#[test]
fn the_last_address() {
    let mut it = symbolizer(Memory::default().with("/bin/a", fixture!("lines")));
    assert!(lines(&mut it, u64::MAX).is_empty());
}

#[test]
fn inlined_functions_can_be_left_out() {
    let mut options = options();
    options.inlines = false;
    let files = || Arc::new(Memory::default().with("/bin/a", fixture!("lines")));
    let mut it = Symbolizer::with_files(options.clone(), files());
    assert_eq!(lines(&mut it, 0x40_100b), ["outer ?:0"]);
    options.inlines = true;
    options.limits.inlined = 1;
    let mut it = Symbolizer::with_files(options, files());
    assert_eq!(lines(&mut it, 0x40_100b).last().unwrap(), "outer /src/lines.c:6");
}

#[test]
fn compressed_sections_within_the_limit() {
    let mut options = options();
    options.limits.decompressed = 0x20;
    let files = Arc::new(Memory::default().with("/bin/a", fixture!("lines-zlib")));
    let mut it = Symbolizer::with_files(options, files);
    assert_eq!(lines(&mut it, 0x40_100b), ["outer ?:0"]);
}

#[test]
fn the_debug_file_of_a_stripped_file() {
    let debug = fixture!("lines");
    let mut crc = flate2::Crc::new();
    crc.update(debug);
    let link = [b"a.debug\0".to_vec(), crc.sum().to_le_bytes().to_vec()].concat();
    let main = Elf::new(0x40_0000).section(".gnu_debuglink", PROGBITS, link).build();
    check(Memory::default().with("/bin/a", main).with("/bin/a.debug", debug), "debug link");
}

/// Files, and the number of times that one was asked for which may have split DWARF: each time that DWARF is parsed.
struct Counted(Memory, AtomicUsize);

impl Files for Counted {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        if path.extension().is_some_and(|it| it == "dwp") {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
        self.0.read(path, limit)
    }
}

/// The number of files whose DWARF is kept after three were used.
fn kept(change: impl FnOnce(&mut SymbolLimits)) -> usize {
    let mut options = options();
    change(&mut options.limits);
    let names = ["/bin/a", "/bin/b", "/bin/c"];
    let files = [fixture!("lines"), fixture!("lines-v4"), fixture!("lines-zlib")];
    let memory = names.iter().zip(files).fold(Memory::default(), |files, (name, it)| files.with(name, it));
    let files = Arc::new(Counted(memory, AtomicUsize::new(0)));
    let mut it = Symbolizer::with_files(options, Arc::clone(&files) as Arc<dyn Files>);
    let mut use_file =
        |name: &str| assert_eq!(it.functions_in(name.as_bytes(), 0x40_100b).len(), 3, "{name}");
    names.iter().for_each(|name| use_file(name));
    let of_three = files.1.load(Ordering::Relaxed);
    // The one that was used last comes first, so that those that are kept are found before others take their place.
    names.iter().rev().for_each(|name| use_file(name));
    let parsed_again = 3 * (files.1.load(Ordering::Relaxed) - of_three) / of_three;
    3 - parsed_again
}

#[test]
fn dwarf_that_is_not_used_makes_room() {
    assert_eq!(kept(|_| {}), 3);
    assert_eq!(kept(|limits| limits.parsed = 3), 3);
    assert_eq!(kept(|limits| limits.parsed = 2), 2);
    assert_eq!(kept(|limits| limits.parsed = 0), 1, "the one that is used");
    // What one takes, and not two.
    assert_eq!(kept(|limits| limits.dwarf = 1500), 1);
}
