//! The units of a file that `.debug_aranges` lists, found without `.debug_info`.

use std::ops;

use gimli::{Dwarf, Error, Range, UnitType};

use super::{UnitRange, UnitSpan, UnitsAt, abbreviations, aranges, containing, ordered, root, spans};
use crate::budget::Metered;

/// The units that `.debug_aranges` lists. A file may have more units.
#[derive(Debug)]
pub(crate) struct UnitIndex {
    /// All addresses with the offsets of their units, ordered by the units.
    listed: Vec<(usize, Range)>,
    /// Where the addresses of each unit start in `listed`.
    units: Vec<usize>,
    ranges: Box<[UnitRange]>,
}

impl UnitIndex {
    /// Reads `.debug_aranges`, in time in proportion to it. `None` if it has more than `most` ranges of addresses.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn of(dwarf: &Dwarf<Metered<'_>>, most: usize) -> Result<Option<Self>, Error> {
        let Some(listed) = aranges::all(dwarf, most)? else { return Ok(None) };
        let (mut units, mut ranges) = (Vec::new(), Vec::with_capacity(listed.len()));
        let mut before = None;
        for (place, &(offset, range)) in listed.iter().enumerate() {
            if before.replace(offset) != Some(offset) {
                units.push(place);
            }
            ranges.push(UnitRange::new(units.len().saturating_sub(1), range));
        }
        Ok(Some(Self { listed, units, ranges: ordered(ranges) }))
    }

    /// Returns the number of units.
    pub(crate) fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns the offset of a unit in `.debug_info`.
    pub(crate) fn offset(&self, number: usize) -> Option<usize> {
        self.of_unit(number)?.first().map(|&(offset, _)| offset)
    }

    fn of_unit(&self, number: usize) -> Option<&[(usize, Range)]> {
        let start = *self.units.get(number)?;
        let next = number.checked_add(1).and_then(|next| self.units.get(next));
        self.listed.get(start..next.copied().unwrap_or(self.listed.len()))
    }

    /// Returns the listed units that have an address.
    pub(crate) fn containing(&self, address: u64) -> UnitsAt {
        containing(&self.ranges, address)
    }

    /// Calls `each` for each part of `range` that has the same listed units; see [`spans::spans`].
    pub(crate) fn spans(
        &self,
        range: ops::Range<u64>,
        steps: &mut dyn FnMut(usize) -> bool,
        each: &mut dyn FnMut(UnitSpan<'_>),
    ) {
        spans::spans(&self.ranges, range, steps, each);
    }

    /// Returns whether the one unit in `dwarf` is this one, has the listed addresses by its root too, and can be parsed
    /// without the others.
    ///
    /// # Errors
    ///
    /// What is wrong with the DWARF.
    pub(crate) fn is_alone<'a>(&self, number: usize, dwarf: &Dwarf<Metered<'a>>) -> Result<bool, Error> {
        let (Some(listed), Some(header)) = (self.of_unit(number), dwarf.units().next()?) else {
            return Ok(false);
        };
        if header.type_() != UnitType::Compilation || abbreviations::refers_to_others(dwarf, &header)? {
            return Ok(false);
        }
        let listed: Vec<_> = listed.iter().map(|&(_, range)| range).collect();
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
