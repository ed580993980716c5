//! The units of a whole file by their addresses, as addr2line finds them.

use std::ops;

use gimli::{DebugInfoOffset, Dwarf, Error, Range, UnitRef, UnitType, constants};

use super::aranges::Aranges;
use super::spans::{UnitSpan, spans};
use super::{UnitRange, ordered};
use crate::budget::Metered;

/// All units of a file, also of one whose units depend on each other.
#[derive(Debug)]
pub(crate) struct UnitMap {
    offsets: Vec<DebugInfoOffset>,
    ranges: Box<[UnitRange]>,
}

impl UnitMap {
    /// Reads the root of each unit. `of_lines` returns the addresses of a unit's lines, by its number; it is called for units
    /// whose roots have none.
    ///
    /// # Errors
    ///
    /// What is wrong with the DWARF.
    pub(crate) fn of<'a>(
        dwarf: &Dwarf<Metered<'a>>,
        mut of_lines: impl FnMut(usize, UnitRef<'_, Metered<'a>>) -> Vec<Range>,
    ) -> Result<Self, Error> {
        let aranges = Aranges::of(dwarf)?;
        let (mut offsets, mut ranges) = (Vec::new(), Vec::new());
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let Some(offset) = header.debug_info_offset() else { continue };
            // These have no code.
            if matches!(
                header.type_(),
                UnitType::Type { .. } | UnitType::SplitType { .. } | UnitType::Partial
            ) {
                continue;
            }
            let Ok(unit) = dwarf.unit(header) else { continue };
            let unit = UnitRef::new(dwarf, &unit);
            let number = offsets.len();
            offsets.push(offset);
            let mut of_unit = of_root(unit, || aranges.valid_of_unit(dwarf, offset.0))?;
            if of_unit.is_empty() {
                of_unit = of_lines(number, unit);
            }
            ranges.extend(of_unit.into_iter().map(|range| UnitRange::new(number, range)));
        }
        Ok(Self { offsets, ranges: ordered(ranges) })
    }

    /// Returns the number of units.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the offset of a unit in `.debug_info`.
    pub(crate) fn offset(&self, number: usize) -> Option<DebugInfoOffset> {
        self.offsets.get(number).copied()
    }

    /// Calls `each` for each part of `range` that has the same units; see [`spans`].
    pub(crate) fn spans(
        &self,
        range: ops::Range<u64>,
        steps: &mut dyn FnMut(usize) -> bool,
        each: &mut dyn FnMut(UnitSpan<'_>),
    ) {
        spans(&self.ranges, range, steps, each);
    }
}

/// Returns the addresses of a unit that its root has, or those that `.debug_aranges` lists, which addr2line prefers to the root's
/// low and high address.
fn of_root(
    unit: UnitRef<'_, Metered<'_>>,
    listed: impl FnOnce() -> Result<Vec<Range>, Error>,
) -> Result<Vec<Range>, Error> {
    let root = unit.entry(unit.header.root_offset())?;
    let mut ranges = match root.attr(constants::DW_AT_ranges) {
        Some(_) => Vec::new(),
        None => listed()?,
    };
    if ranges.is_empty() {
        let mut of_root = unit.die_ranges(&root)?;
        while let Some(range) = of_root.next()? {
            if range.begin < range.end {
                ranges.push(range);
            }
        }
    }
    Ok(ranges)
}
