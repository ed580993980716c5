//! The units of a file's DWARF by their addresses, found by the root of each unit alone.
//!
//! addr2line parses the abbreviations of all units before the first look-up, which takes longer than the look-ups of a small
//! capture. With this, it gets each unit that an address needs as if it were all that the file has. What it finds is the
//! same: files whose units cannot be parsed alone are left to it as a whole.

mod abbreviations;

use std::sync::Arc;

use gimli::{
    AttributeValue, DebugAddrBase, DebugAranges, DebugInfo, DebugLocListsBase, DebugRngListsBase,
    DebugStrOffsetsBase, Dwarf, Error, Range, Reader, Section, Unit, UnitHeader, UnitType, constants,
};

use crate::budget::Metered;

type Header<'a> = UnitHeader<Metered<'a>>;

/// The units of a file.
#[derive(Debug)]
pub(crate) struct Units {
    /// Start and length of each unit in `.debug_info`.
    places: Vec<(usize, usize)>,
    /// The addresses of the units, ordered by their ends.
    ranges: Vec<UnitRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnitRange {
    end: u64,
    unit: usize,
    begin: u64,
    /// The smallest `begin` of this range and those after it.
    least: u64,
}

/// The units that have an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Containing {
    Nothing,
    /// One, by its number.
    One(usize),
    Several,
}

impl Units {
    /// Reads the root of each unit. `None` if addr2line would find the addresses of a unit otherwise than by its root, or if
    /// units share their abbreviations or have parts in other files.
    ///
    /// # Errors
    ///
    /// What is wrong with the DWARF. What addr2line makes of that is for it to say.
    pub(crate) fn of(dwarf: &Dwarf<Metered<'_>>) -> Result<Option<Self>, Error> {
        let aranges = Aranges::of(dwarf)?;
        let (mut places, mut ranges, mut tables) = (Vec::new(), Vec::new(), Vec::new());
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let has_code = match header.type_() {
                UnitType::Type { .. } | UnitType::SplitType { .. } => continue,
                UnitType::Partial => false,
                UnitType::Compilation => true,
                _ => return Ok(None),
            };
            let Some(offset) = header.debug_info_offset() else { continue };
            tables.push(header.debug_abbrev_offset().0);
            let number = places.len();
            places.push((offset.0, header.length_including_self()));
            if has_code {
                let Some(of_unit) = ranges_of(dwarf, header, &aranges)? else { return Ok(None) };
                ranges.extend(of_unit.into_iter().map(|Range { begin, end }| UnitRange {
                    end,
                    unit: number,
                    begin,
                    least: begin,
                }));
            }
        }
        tables.sort_unstable();
        if tables.windows(2).any(|pair| pair.first() == pair.get(1)) {
            return Ok(None);
        }
        let mut units = Self { places, ranges: Vec::new() };
        units.set_ranges(ranges);
        Ok(Some(units))
    }

    fn set_ranges(&mut self, mut ranges: Vec<UnitRange>) {
        ranges.sort_unstable();
        let mut least = u64::MAX;
        for range in ranges.iter_mut().rev() {
            least = least.min(range.begin);
            range.least = least;
        }
        self.ranges = ranges;
    }

    /// Returns the number of units.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the units that have an address.
    pub(crate) fn containing(&self, address: u64) -> Containing {
        let first = self.ranges.partition_point(|range| range.end <= address);
        let after = self.ranges.get(first..).unwrap_or_default().iter();
        let mut units =
            after.take_while(|it| it.least <= address).filter(|it| it.begin <= address).map(|it| it.unit);
        match units.next() {
            None => Containing::Nothing,
            Some(unit) if units.all(|other| other == unit) => Containing::One(unit),
            Some(_) => Containing::Several,
        }
    }

    /// Makes a unit all that `dwarf` has. `None` if it refers to other units.
    pub(crate) fn alone<'a>(
        &self,
        number: usize,
        mut dwarf: Dwarf<Metered<'a>>,
    ) -> Option<Dwarf<Metered<'a>>> {
        let &(start, length) = self.places.get(number)?;
        let mut unit = *dwarf.debug_info.reader();
        unit.skip(start).ok()?;
        unit.truncate(length).ok()?;
        dwarf.debug_info = DebugInfo::from(unit);
        unit.empty();
        dwarf.debug_aranges = DebugAranges::from(unit);
        let header = dwarf.units().next().ok()??;
        let abbreviations = abbreviations::Table::of(&dwarf, header.debug_abbrev_offset()).ok()?;
        if abbreviations.refers_to_others().ok()? { None } else { Some(dwarf) }
    }
}

/// Places in `.debug_aranges`: the offset of the unit, and that of its addresses, ordered.
struct Aranges(Vec<(usize, gimli::DebugArangesOffset)>);

impl Aranges {
    fn of(dwarf: &Dwarf<Metered<'_>>) -> Result<Self, Error> {
        let mut list = Vec::new();
        let mut headers = dwarf.debug_aranges.headers();
        while let Some(header) = headers.next()? {
            list.push((header.debug_info_offset().0, header.offset()));
        }
        list.sort_unstable_by_key(|&(unit, _)| unit);
        Ok(Self(list))
    }

    /// Returns the addresses of a unit.
    fn of_unit(&self, dwarf: &Dwarf<Metered<'_>>, unit: usize) -> Result<Vec<Range>, Error> {
        let mut ranges = Vec::new();
        let first = self.0.partition_point(|&(it, _)| it < unit);
        let of_unit = self.0.get(first..).unwrap_or_default().iter().take_while(|&&(it, _)| it == unit);
        for &(_, offset) in of_unit {
            let mut entries = dwarf.debug_aranges.header(offset)?.entries();
            while let Some(entry) = entries.next()? {
                if entry.length() != 0 {
                    ranges.push(entry.range());
                }
            }
        }
        Ok(ranges)
    }
}

/// Returns the addresses of a unit, by its root; `None` if addr2line would not take them from there.
fn ranges_of<'a>(
    dwarf: &Dwarf<Metered<'a>>,
    header: Header<'a>,
    aranges: &Aranges,
) -> Result<Option<Vec<Range>>, Error> {
    let offset = header.debug_info_offset().map_or(0, |offset| offset.0);
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
    let others = if list.is_none() { aranges.of_unit(dwarf, offset)? } else { Vec::new() };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_none_one_or_several_units() {
        let range = |unit, begin, end| UnitRange { end, unit, begin, least: begin };
        let mut units = Units { places: Vec::new(), ranges: Vec::new() };
        units.set_ranges(vec![
            range(0, 10, 20),
            range(1, 20, 30),
            range(2, 25, 28),
            range(0, 40, 50),
            range(0, 44, 45),
        ]);
        let at = |address| units.containing(address);
        assert_eq!(
            [9, 10, 19, 20, 24].map(at),
            [
                Containing::Nothing,
                Containing::One(0),
                Containing::One(0),
                Containing::One(1),
                Containing::One(1)
            ]
        );
        assert_eq!(
            [25, 27, 28, 30, 44, 50].map(at),
            [
                Containing::Several,
                Containing::Several,
                Containing::One(1),
                Containing::Nothing,
                Containing::One(0),
                Containing::Nothing
            ]
        );
    }
}
