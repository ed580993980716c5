//! The units of a file's DWARF by their addresses, found by the root of each unit alone.
//!
//! addr2line parses the abbreviations of all units before the first look-up, which takes longer than the look-ups of a small
//! capture. With this, it gets each unit that an address needs as if it were all that the file has. What it finds is the
//! same: files whose units cannot be parsed alone are left to it as a whole.
//!
//! This and [`early`](crate::lines) are here until addr2line and gimli can do it. They would need:
//!
//! - in addr2line, a `Context` that is made of the headers of units and their roots, and that parses the abbreviations,
//!   functions and lines of a unit when an address is in it; today `Context::from_dwarf` parses the abbreviations of all;
//! - in gimli, a way to parse one abbreviation of a table by its code, for the roots ([`abbreviations`]);
//! - in gimli, sections that are asked for a range of their bytes, so that `.debug_info` is decompressed as far as it is needed;
//! - in addr2line, errors of a unit that leave the others, and a limit of what is read, which a reader of our own is for now
//!   ([`Metered`]).

mod abbreviations;
mod aranges;
mod index;
mod root;
mod spans;
mod starts;
mod unit_map;

use std::ops;

use gimli::{DebugAranges, DebugInfo, Dwarf, Error, Range, Reader, Section, UnitType};

use crate::budget::Metered;
use aranges::Aranges;
pub(crate) use index::UnitIndex;
pub(crate) use spans::UnitSpan;
pub(crate) use starts::UnitStarts;
pub(crate) use unit_map::UnitMap;

/// The units of a file.
#[derive(Debug)]
pub(crate) struct Units {
    /// Start and length of each unit in `.debug_info`.
    places: Vec<(usize, usize)>,
    /// The addresses of the units, ordered by their ends.
    ranges: Box<[UnitRange]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UnitRange {
    end: u64,
    unit: usize,
    begin: u64,
    /// The smallest `begin` of this range and those after it.
    least: u64,
}

impl UnitRange {
    fn new(unit: usize, Range { begin, end }: Range) -> Self {
        Self { end, unit, begin, least: begin }
    }
}

/// The units that have an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitsAt {
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
                let others = || aranges.of_unit(dwarf, offset.0);
                let Some(of_unit) = root::ranges(dwarf, header, others)? else { return Ok(None) };
                ranges.extend(of_unit.into_iter().map(|range| UnitRange::new(number, range)));
            }
        }
        tables.sort_unstable();
        if tables.windows(2).any(|pair| pair.first() == pair.get(1)) {
            return Ok(None);
        }
        Ok(Some(Self { places, ranges: ordered(ranges) }))
    }

    /// Returns the number of units.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the units that have an address.
    pub(crate) fn containing(&self, address: u64) -> UnitsAt {
        containing(&self.ranges, address)
    }

    /// Calls `each` for each part of `range` that has the same units; see [`spans::spans`].
    pub(crate) fn spans(
        &self,
        range: ops::Range<u64>,
        steps: &mut dyn FnMut(usize) -> bool,
        each: &mut dyn FnMut(UnitSpan<'_>),
    ) {
        spans::spans(&self.ranges, range, steps, each);
    }

    /// Makes a unit all that `dwarf` has. `None` if it refers to other units.
    pub(crate) fn alone<'a>(&self, number: usize, dwarf: Dwarf<Metered<'a>>) -> Option<Dwarf<Metered<'a>>> {
        let &(start, length) = self.places.get(number)?;
        let dwarf = with_unit(dwarf, start, length)?;
        let header = dwarf.units().next().ok()??;
        if abbreviations::refers_to_others(&dwarf, &header).ok()? { None } else { Some(dwarf) }
    }
}

/// Makes the unit at a place in `.debug_info` all that `dwarf` has. `None` if the place is not in it.
pub(crate) fn with_unit<'a>(
    mut dwarf: Dwarf<Metered<'a>>,
    start: usize,
    length: usize,
) -> Option<Dwarf<Metered<'a>>> {
    let mut unit = *dwarf.debug_info.reader();
    unit.skip(start).ok()?;
    unit.truncate(length).ok()?;
    dwarf.debug_info = DebugInfo::from(unit);
    unit.empty();
    dwarf.debug_aranges = DebugAranges::from(unit);
    Some(dwarf)
}

/// Returns the number of bytes of the unit at an offset in `.debug_info`, its length included; `None` if there is none.
pub(crate) fn size_at(dwarf: &Dwarf<Metered<'_>>, offset: usize) -> Option<usize> {
    let mut reader = *dwarf.debug_info.reader();
    reader.skip(offset).ok()?;
    let (length, format) = reader.read_initial_length().ok()?;
    length.checked_add(format.initial_length_size().into())
}

/// Orders the addresses of units for [`containing`].
fn ordered(mut ranges: Vec<UnitRange>) -> Box<[UnitRange]> {
    ranges.sort_unstable();
    let mut least = u64::MAX;
    for range in ranges.iter_mut().rev() {
        least = least.min(range.begin);
        range.least = least;
    }
    ranges.into()
}

/// Returns the units that have an address.
fn containing(ordered: &[UnitRange], address: u64) -> UnitsAt {
    let first = ordered.partition_point(|range| range.end <= address);
    let after = ordered.get(first..).unwrap_or_default().iter();
    let mut units =
        after.take_while(|it| it.least <= address).filter(|it| it.begin <= address).map(|it| it.unit);
    match units.next() {
        None => UnitsAt::Nothing,
        Some(unit) if units.all(|other| other == unit) => UnitsAt::One(unit),
        Some(_) => UnitsAt::Several,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_none_one_or_several_units() {
        let range = |unit, begin, end| UnitRange::new(unit, Range { begin, end });
        let ranges = ordered(vec![
            range(0, 10, 20),
            range(1, 20, 30),
            range(2, 25, 28),
            range(0, 40, 50),
            range(0, 44, 45),
        ]);
        let at = |address| containing(&ranges, address);
        assert_eq!(
            [9, 10, 19, 20, 24].map(at),
            [UnitsAt::Nothing, UnitsAt::One(0), UnitsAt::One(0), UnitsAt::One(1), UnitsAt::One(1)]
        );
        assert_eq!(
            [25, 27, 28, 30, 44, 50].map(at),
            [
                UnitsAt::Several,
                UnitsAt::Several,
                UnitsAt::One(1),
                UnitsAt::Nothing,
                UnitsAt::One(0),
                UnitsAt::Nothing
            ]
        );
    }
}
