//! Code as instructions of every machine, or a file as an ELF file whose rows of lines are compared with look-ups.

use std::path::Path;
use std::sync::Arc;

use perf_annotate::disassembly::{Disassembler, Flow, Syntax};
use perf_symbol::{CodeMachine, DwarfLines, ElfImage, FileBytes, FileFinder, SymbolOptions};

use crate::symbol_elf::One;

/// Number of rows that are compared with look-ups.
const ROWS: usize = 256;

/// `data` is an ELF file, or else an address of 8 bytes and the code there.
pub fn run(data: &[u8]) -> bool {
    let bytes = FileBytes::new(data.to_vec());
    if let Ok(image) = ElfImage::parse(bytes.clone()) {
        return rows(bytes, &image);
    }
    let Some((address, code)) = data.split_first_chunk() else { return false };
    let address = u64::from_le_bytes(*address);
    assert!(Disassembler::new(CodeMachine::Other(243)).is_none());
    for machine in Disassembler::MACHINES {
        for syntax in [Syntax::Att, Syntax::Intel] {
            disassemble(machine, syntax, code, address);
        }
    }
    true
}

fn disassemble(machine: CodeMachine, syntax: Syntax, code: &[u8], address: u64) {
    let mut disassembler = Disassembler::new(machine).unwrap().with_syntax(syntax);
    let all: Vec<_> = disassembler.instructions(code, address).collect();
    let mut rest = code;
    for it in &all {
        let size = usize::from(it.size);
        assert!((1..=15).contains(&size) && size <= rest.len());
        assert_eq!(it.address, address.wrapping_add((code.len() - rest.len()) as u64));
        assert!(!it.text.is_empty() && it.text.len() < 256);
        assert!(!it.text.contains(|it: char| !it.is_ascii() || it.is_ascii_control()), "{}", it.text);
        assert_eq!(it.flow == Flow::Invalid, &*it.text == "(bad)");
        let length = disassembler.length(rest, it.address);
        assert_eq!(length, Some(it.size).filter(|_| it.flow != Flow::Invalid), "{}", it.text);
        rest = &rest[size..];
    }
    assert!(rest.is_empty());
}

/// Reads the rows of the whole file, of each section and of a part of it.
fn rows(bytes: FileBytes, image: &ElfImage) -> bool {
    let mut options = SymbolOptions::default();
    options.cache = None;
    options.limits.decompressed = 1 << 20;
    options.limits.dwarf = 1 << 20;
    options.limits.inlined = 16;
    let finder = FileFinder::new(Arc::new(One(bytes)), Arc::new(options));
    let found = finder.find(b"/bin/a", None, None);
    let Some(lines) = DwarfLines::load(&finder, &found) else { return false };
    let one_unit = has_one_unit(image);
    let sections = image.sections().iter().map(|it| (it.address, it.address.saturating_add(it.size)));
    for (start, end) in sections.take(16).chain([(0, u64::MAX)]) {
        let middle = start + (end - start) / 2;
        for (start, end) in [(start, end), (middle, end), (middle, middle.saturating_add(1))] {
            compare(&lines, start, end, one_unit);
        }
    }
    true
}

fn compare(lines: &DwarfLines, start: u64, end: u64, one_unit: bool) {
    let mut rows = Vec::new();
    let mut last = start;
    lines.rows(start..end, &mut |row| {
        assert!(last <= row.start && row.start < row.end && row.end <= end);
        assert!(row.line != Some(0) && row.column != Some(0));
        last = row.end;
        if rows.len() < ROWS {
            rows.push((row.start, row.file.map(|it| Path::new(it).to_owned()), row.line));
        }
    });
    for (address, file, line) in rows {
        let mut found = None;
        lines.look_up(address, &mut |frame| {
            found.get_or_insert_with(|| (frame.file.map(|it| Path::new(it).to_owned()), frame.line));
        });
        // Of an address that several units have, rows and look-ups may use different ones. A look-up of a damaged file may end
        // before it finds a line.
        if one_unit && let Some(found) = found.filter(|(_, line)| line.is_some()) {
            assert_eq!((file, line), found, "{address:#x}");
        }
    }
}

/// Whether the file has one unit at most.
fn has_one_unit(image: &ElfImage) -> bool {
    let Some(info) = image.section(".debug_info") else { return false };
    let Ok(info) = image.data(info, 1 << 20) else { return false };
    let Some(length) = info.first_chunk().map(|length| match image.is_little_endian() {
        true => u32::from_le_bytes(*length),
        false => u32::from_be_bytes(*length),
    }) else {
        return false;
    };
    length as usize + 4 >= info.len()
}
