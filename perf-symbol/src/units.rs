//! The units of a file's DWARF by their addresses, found by the root of each unit alone.
//!
//! addr2line parses the abbreviations of all units before the first look-up, which takes longer than the look-ups of a small
//! capture. With this, it gets each unit that an address needs as if it were all that the file has. What it finds is the
//! same: files whose units cannot be parsed alone are left to it as a whole.

use std::sync::Arc;

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrev, DebugAbbrevOffset, DebugAddrBase, DebugAranges, DebugInfo,
    DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, DwForm, Dwarf, EndianSlice, Error,
    LittleEndian, Range, Reader, Section, Unit, UnitHeader, UnitType, constants,
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
        let abbreviations = Table::of(&dwarf, header.debug_abbrev_offset()).ok()?;
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
    let Some(abbreviations) = abbreviations_of_root(dwarf, &header)? else { return Ok(None) };
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

/// Returns the abbreviation of the root of a unit, without the others; `None` if the unit has no root.
fn abbreviations_of_root(
    dwarf: &Dwarf<Metered<'_>>,
    header: &Header<'_>,
) -> Result<Option<Abbreviations>, Error> {
    let mut root = *dwarf.debug_info.reader();
    root.skip(header.debug_info_offset().map_or(0, |offset| offset.0))?;
    root.skip(header.header_size())?;
    let code = root.read_uleb128()?;
    let table = Table::of(dwarf, header.debug_abbrev_offset())?;
    let Some(declaration) = table.find(code)? else { return Ok(None) };
    // With the end of a table.
    let alone = [declaration, &[0]].concat();
    let alone = DebugAbbrev::from(EndianSlice::new(&alone, LittleEndian));
    alone.abbreviations(DebugAbbrevOffset(0)).map(Some)
}

/// Returns whether a form is that of a reference to another unit or another file, or may be.
fn is_of_others(form: DwForm) -> bool {
    matches!(
        form,
        constants::DW_FORM_ref_addr
            | constants::DW_FORM_ref_sup4
            | constants::DW_FORM_ref_sup8
            | constants::DW_FORM_GNU_ref_alt
            | constants::DW_FORM_indirect
    )
}

/// A table of abbreviations, and all that is after it in its section.
struct Table<'a>(Metered<'a>);

impl<'a> Table<'a> {
    fn of(dwarf: &Dwarf<Metered<'a>>, offset: DebugAbbrevOffset) -> Result<Self, Error> {
        let mut reader = *dwarf.debug_abbrev.reader();
        reader.skip(offset.0)?;
        Ok(Self(reader))
    }

    /// Returns the bytes of the abbreviation with a code; `None` if the table has none.
    fn find(&self, code: u64) -> Result<Option<&'a [u8]>, Error> {
        let mut found = None;
        self.each(|it, bytes, _| {
            found = Some(bytes).filter(|_| it == code);
            found.is_none()
        })?;
        Ok(found)
    }

    /// Returns whether entries may refer to other units.
    fn refers_to_others(&self) -> Result<bool, Error> {
        let mut refers = false;
        self.each(|_, _, of_this| {
            refers |= of_this;
            !refers
        })?;
        Ok(refers)
    }

    /// Calls `each` for each abbreviation until that returns false: with the code, the bytes, and whether a form is that of a
    /// reference to others.
    fn each(&self, mut each: impl FnMut(u64, &'a [u8], bool) -> bool) -> Result<(), Error> {
        let all = self.0.slice();
        let mut at = Numbers(all);
        let mut next = || {
            let start = at.0;
            let code = at.next()?;
            if code == 0 {
                return Some(false);
            }
            let (_tag, _has_children) = (at.next()?, at.byte()?);
            let mut refers = false;
            loop {
                let (name, form) = (at.next()?, at.next()?);
                // What does not fit is no form.
                let form = DwForm(u16::try_from(form).unwrap_or(u16::MAX));
                if form == constants::DW_FORM_implicit_const {
                    at.next()?;
                }
                if (name, form) == (0, constants::DW_FORM_null) {
                    break;
                }
                refers |= is_of_others(form);
            }
            let length = start.len().checked_sub(at.0.len())?;
            Some(each(code, start.get(..length)?, refers))
        };
        let is_whole = loop {
            match next() {
                Some(true) => {}
                ended => break ended.is_some(),
            }
        };
        self.0.take(all.len().saturating_sub(at.0.len()))?;
        if is_whole { Ok(()) } else { Err(Error::UnexpectedEof(self.0.offset_id())) }
    }
}

/// Numbers in LEB128.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// Returns the next number, without the bits that 64 have no room for. A number with a sign is another one, but as long.
    #[inline]
    fn next(&mut self) -> Option<u64> {
        let mut byte = self.byte()?;
        let mut number = u64::from(byte & 0x7f);
        let mut shift = 0_u32;
        while byte & 0x80 != 0 {
            byte = self.byte()?;
            shift = shift.saturating_add(7);
            number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use gimli::RunTimeEndian;

    use super::*;
    use crate::budget::Budget;

    fn table(bytes: &[u8], test: impl FnOnce(Table<'_>)) {
        let budget = Budget::new(0);
        budget.begin();
        test(Table(Metered::new(bytes, RunTimeEndian::Little, &budget)));
    }

    /// Two abbreviations: a unit with a name, and a call with a reference in its unit and with a constant.
    const TWO: &[u8] = &[
        1, 0x11, 1, 0x03, 0x0e, 0, 0, // DW_TAG_compile_unit, DW_AT_name in DW_FORM_strp
        0x82, 1, 0x2e, 0, 0x31, 0x13, 0x3b, 0x21, 0xff, 0x7f, 0,
        0, // code 130, DW_FORM_ref4, DW_FORM_implicit_const -129
        0,
    ];

    #[test]
    fn abbreviations_are_found_by_their_codes() {
        table(TWO, |it| {
            assert_eq!(it.find(1), Ok(Some(&TWO[..7])));
            assert_eq!(it.find(130), Ok(Some(&TWO[7..19])));
            assert_eq!(it.find(2), Ok(None));
        });
        // One that was cut is an error, unless what is wanted is before.
        table(&TWO[..18], |it| {
            assert_eq!(it.find(1), Ok(Some(&TWO[..7])));
            assert!(it.find(130).is_err() && it.refers_to_others().is_err());
        });
    }

    #[test]
    fn references_to_others_are_found() {
        table(TWO, |it| assert_eq!(it.refers_to_others(), Ok(false)));
        for (form, refers) in
            [(0x10, true), (0x1c, true), (0x24, true), (0x16, true), (0x20, false), (0x11, false)]
        {
            let mut bytes = TWO.to_vec();
            bytes[12] = form;
            table(&bytes, |it| assert_eq!(it.refers_to_others(), Ok(refers), "{form:#x}"));
        }
    }

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
