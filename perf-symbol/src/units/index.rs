//! The units of a file that `.debug_aranges` lists, found without `.debug_info`.

use std::ops;

use gimli::{Dwarf, Error, Range, UnitType};

use super::aranges::Aranges;
use super::{Containing, UnitRange, abbreviations, containing, ordered, root};
use crate::budget::Metered;

/// The units that `.debug_aranges` lists. A file may have more units.
#[derive(Debug)]
pub(crate) struct Index {
    aranges: Aranges,
    /// The offset of each unit in `.debug_info`.
    offsets: Vec<usize>,
    ranges: Box<[UnitRange]>,
}

impl Index {
    /// Reads `.debug_aranges`, in time in proportion to it.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn of(dwarf: &Dwarf<Metered<'_>>) -> Result<Self, Error> {
        let aranges = Aranges::of(dwarf)?;
        let offsets: Vec<_> = aranges.units().collect();
        let mut ranges = Vec::new();
        for (number, &offset) in offsets.iter().enumerate() {
            let of_unit = aranges.of_unit(dwarf, offset)?;
            ranges.extend(of_unit.into_iter().map(|range| UnitRange::new(number, range)));
        }
        Ok(Self { aranges, offsets, ranges: ordered(ranges) })
    }

    /// Returns the number of units.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns the offset of a unit in `.debug_info`.
    pub(crate) fn offset(&self, number: usize) -> Option<usize> {
        self.offsets.get(number).copied()
    }

    /// Returns the listed units that have an address.
    pub(crate) fn containing(&self, address: u64) -> Containing {
        containing(&self.ranges, address)
    }

    /// Returns whether the one unit in `dwarf` is this one, has the listed addresses by its root too, and can be parsed
    /// without the others.
    ///
    /// # Errors
    ///
    /// What is wrong with the DWARF.
    pub(crate) fn is_alone<'a>(&self, number: usize, dwarf: &Dwarf<Metered<'a>>) -> Result<bool, Error> {
        let (Some(offset), Some(header)) = (self.offset(number), dwarf.units().next()?) else {
            return Ok(false);
        };
        if header.type_() != UnitType::Compilation || abbreviations::refers_to_others(dwarf, &header)? {
            return Ok(false);
        }
        let listed = self.aranges.of_unit(dwarf, offset)?;
        let Some(mut of_root) = root::ranges(dwarf, header, || Ok(listed.clone()))? else { return Ok(false) };
        of_root.sort_unstable_by_key(|range| range.begin);
        let is_of_root = |range: &Range| {
            let after = of_root.partition_point(|it| it.begin <= range.begin);
            let before = after.checked_sub(1).and_then(|last| of_root.get(last));
            before.is_some_and(|it| range.end <= it.end)
        };
        Ok(listed.iter().all(is_of_root))
    }

    /// Returns the bytes of the one unit in `dwarf` in which its root has the offset of its lines; `None` if it has none.
    ///
    /// # Errors
    ///
    /// What is wrong with the DWARF.
    pub(crate) fn place_of_lines(dwarf: &Dwarf<Metered<'_>>) -> Result<Option<ops::Range<usize>>, Error> {
        let Some(header) = dwarf.units().next()? else { return Ok(None) };
        root::place_of_lines(dwarf, &header)
    }
}
