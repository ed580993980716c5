//! The lines of generated code.

use gimli::write::{Address, AttributeValue, DwarfUnit, EndianVec, LineProgram, LineString, Sections};
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
        let mut lines: Vec<_> = of
            .info
            .lines()
            .filter_map(|it| Some((it.code_addr.checked_sub(of.info.code_addr)?, it)))
            .filter(|(offset, it)| *offset < of.size && !it.file.is_empty())
            .collect();
        lines.sort_by_key(|&(offset, _)| offset);
        let Some(&(start, _)) = lines.first() else { continue };
        (first, end) = (first.min(of.address), end.max(of.address.saturating_add(of.size)));
        program.begin_sequence(Some(Address::Constant(of.address.saturating_add(start))));
        for (offset, it) in lines {
            let file = program.add_file(LineString::String(it.file.to_vec()), folder, None);
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
