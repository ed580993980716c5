//! The root of a unit: the unit's addresses, and the offset of its lines.

use std::sync::Arc;

use gimli::{
    AttributeValue, DebugAddrBase, DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, Dwarf, Error,
    Range, Reader, Unit, UnitHeader, constants,
};

use super::abbreviations;
use crate::budget::Metered;

/// Returns the addresses of a unit, by its root; `None` if addr2line would not take them from there. `others` are those that
/// `.debug_aranges` lists.
pub(super) fn ranges<'a>(
    dwarf: &Dwarf<Metered<'a>>,
    header: UnitHeader<Metered<'a>>,
    others: impl FnOnce() -> Result<Vec<Range>, Error>,
) -> Result<Option<Vec<Range>>, Error> {
    let Some(abbreviations) = abbreviations::of_root(dwarf, &header)? else { return Ok(None) };
    let mut unit = Unit {
        abbreviations: Arc::new(abbreviations),
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(
            header.encoding(),
            dwarf.file_type,
        ),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(header.encoding(), dwarf.file_type),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(header.encoding(), dwarf.file_type),
        line_program: None,
        dwo_id: None,
        header,
    };
    let (mut list, mut low, mut high, mut lines) = (None, None, None, None);
    {
        let mut entries = unit.header.entries(&unit.abbreviations);
        entries.next_dfs()?;
        let Some(root) = entries.current() else { return Ok(None) };
        for attribute in root.attrs() {
            match (attribute.name(), attribute.value()) {
                (constants::DW_AT_ranges, value) => list = Some(value),
                (constants::DW_AT_low_pc, value) => low = Some(value),
                (constants::DW_AT_high_pc, value) => high = Some(value),
                (constants::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => lines = Some(offset),
                (
                    constants::DW_AT_addr_base | constants::DW_AT_GNU_addr_base,
                    AttributeValue::DebugAddrBase(base),
                ) => unit.addr_base = base,
                (
                    constants::DW_AT_rnglists_base | constants::DW_AT_GNU_ranges_base,
                    AttributeValue::DebugRngListsBase(base),
                ) => unit.rnglists_base = base,
                // A part is in another file.
                (
                    constants::DW_AT_GNU_dwo_id | constants::DW_AT_GNU_dwo_name | constants::DW_AT_dwo_name,
                    _,
                ) => {
                    return Ok(None);
                }
                _ => {}
            }
        }
    }
    let address = |value| dwarf.attr_address(&unit, value);
    let low = low.map(address).transpose()?.flatten();
    unit.low_pc = low.unwrap_or(0);
    let list = list.map(|value| dwarf.attr_ranges_offset(&unit, value)).transpose()?.flatten();
    let mut ranges = Vec::new();
    match (list, low, high) {
        (Some(list), ..) => {
            let mut list = dwarf.ranges(&unit, list)?;
            while let Some(range) = list.next()? {
                ranges.push(range);
            }
        }
        (None, Some(begin), Some(high)) => {
            let end = match high {
                AttributeValue::Udata(size) => Some(begin.wrapping_add(size)),
                high => dwarf.attr_address(&unit, high)?,
            };
            ranges.extend(end.map(|end| Range { begin, end }));
        }
        _ => {}
    }
    ranges.retain(|range| range.begin < range.end);
    // addr2line prefers these to the root's low and high address.
    let others = if list.is_none() { others()? } else { Vec::new() };
    if !others.is_empty() && others != ranges {
        return Ok(None);
    }
    // Where there are no others, it takes the addresses of lines.
    if ranges.is_empty()
        && let Some(offset) = lines
        && !dwarf
            .debug_line
            .program(offset, unit.header.address_size(), None, None)?
            .header()
            .raw_program_buf()
            .is_empty()
    {
        return Ok(None);
    }
    Ok(Some(ranges))
}

/// Returns the bytes of a unit in which its root has the offset of its lines; `None` if it has none.
pub(super) fn place_of_lines<'a>(
    dwarf: &Dwarf<Metered<'a>>,
    header: &UnitHeader<Metered<'a>>,
) -> Result<Option<std::ops::Range<usize>>, Error> {
    let Some(abbreviations) = abbreviations::of_root(dwarf, header)? else { return Ok(None) };
    let mut entries = header.entries_raw(&abbreviations, None)?;
    let Some(root) = entries.read_abbreviation()? else { return Ok(None) };
    for attribute in root.attributes() {
        let start = entries.next_offset().0;
        let value = entries.read_attribute(*attribute)?;
        if let (constants::DW_AT_stmt_list, AttributeValue::DebugLineRef(_)) = (value.name(), value.value()) {
            return Ok(Some(start..entries.next_offset().0));
        }
    }
    Ok(None)
}
