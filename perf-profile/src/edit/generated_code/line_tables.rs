//! The lines of generated code.

use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, FileId, LineProgram, LineString, Sections,
};
use gimli::{DW_AT_high_pc, DW_AT_low_pc, DW_AT_name, Encoding, Format, LineEncoding, RunTimeEndian};
use perf_symbol::jitdump::JitDebugInfo;

/// The lines of a function.
#[derive(Debug)]
pub(super) struct CodeLines<'a> {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) info: JitDebugInfo<'a>,
}

/// Returns the sections of the lines: names and contents.
pub(super) fn sections(
    lines: &[CodeLines<'_>],
    address_size: u8,
    endian: RunTimeEndian,
) -> Vec<(&'static str, Vec<u8>)> {
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size };
    let mut unit = DwarfUnit::new(encoding);
    let folder = LineString::String(b"/".to_vec());
    let name = LineString::String(b"jit".to_vec());
    let program = LineProgram::new(encoding, LineEncoding::default(), folder, None, name, None);
    unit.unit.line_program = program;
    let program = &mut unit.unit.line_program;
    let folder = program.default_directory();
    let (mut first, mut end) = (u64::MAX, 0);
    for of in lines {
        // Lines of one path refer to it: it is looked up once.
        let mut last: Option<(&[u8], FileId)> = None;
        let mut lines = Vec::new();
        for it in of.info.lines() {
            let offset = it.code_addr.checked_sub(of.info.code_addr).filter(|&offset| offset < of.size);
            let Some(offset) = offset.filter(|_| !it.file.is_empty()) else { continue };
            let file = match last {
                Some((path, file)) if core::ptr::eq(path, it.file) => file,
                _ => program.add_file(LineString::String(it.file.to_vec()), folder, None),
            };
            last = Some((it.file, file));
            lines.push((offset, it, file));
        }
        lines.sort_by_key(|&(offset, ..)| offset);
        let Some(&(start, ..)) = lines.first() else { continue };
        (first, end) = (first.min(of.address), end.max(of.address.saturating_add(of.size)));
        program.begin_sequence(Some(Address::Constant(of.address.saturating_add(start))));
        for (offset, it, file) in lines {
            let row = program.row();
            row.address_offset = offset.saturating_sub(start);
            (row.file, row.line, row.column) = (file, it.line.into(), it.discrim.into());
            program.generate_row();
        }
        program.end_sequence(of.size.saturating_sub(start));
    }
    if first > end {
        return Vec::new();
    }
    let root = unit.unit.root();
    let root = unit.unit.get_mut(root);
    root.set(DW_AT_name, AttributeValue::String(b"jit".to_vec()));
    root.set(DW_AT_low_pc, AttributeValue::Address(Address::Constant(first)));
    root.set(DW_AT_high_pc, AttributeValue::Udata(end.saturating_sub(first)));
    let mut sections = Sections::new(EndianVec::new(endian));
    if unit.write(&mut sections).is_err() {
        return Vec::new();
    }
    let mut all = Vec::new();
    let _: Result<(), ()> = sections.for_each(|id, content| {
        if !content.slice().is_empty() {
            all.push((id.name(), content.slice().to_vec()));
        }
        Ok(())
    });
    all
}
