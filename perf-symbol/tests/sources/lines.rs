//! Lines and inlined functions, by each form of DWARF. The files are those of `fixtures`; what is expected is what
//! `addr2line -i -f` of binutils 2.40 prints.

use std::sync::Arc;

use perf_symbol::{Function, Symbolizer};

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
fn dwarf_that_files_share() {
    let main = || Memory::default().with("/bin/a", fixture!("lines-dwz"));
    check(main().with("/bin/shared.dwz", fixture!("shared.dwz")), "by its path");
    // Another file at the path is not used.
    let mut it = symbolizer(main().with("/bin/shared.dwz", fixture!("lines")));
    assert_ne!(lines(&mut it, 0x40_100b), INNER);
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
