//! The addresses of units that `.debug_aranges` lists.

use gimli::{Dwarf, Error, Range};

use crate::budget::Metered;

/// Places in `.debug_aranges`: the offset of the unit, and that of its addresses, ordered.
#[derive(Debug)]
pub(super) struct Aranges(Vec<(usize, gimli::DebugArangesOffset)>);

impl Aranges {
    pub(super) fn of(dwarf: &Dwarf<Metered<'_>>) -> Result<Self, Error> {
        let mut list = Vec::new();
        let mut headers = dwarf.debug_aranges.headers();
        while let Some(header) = headers.next()? {
            list.push((header.debug_info_offset().0, header.offset()));
        }
        list.sort_unstable_by_key(|&(unit, _)| unit);
        Ok(Self(list))
    }

    /// Returns the addresses of a unit.
    pub(super) fn of_unit(&self, dwarf: &Dwarf<Metered<'_>>, unit: usize) -> Result<Vec<Range>, Error> {
        self.read(dwarf, unit, Err)
    }

    /// Returns the addresses of a unit without those that are damaged, as addr2line does.
    pub(super) fn valid_of_unit(&self, dwarf: &Dwarf<Metered<'_>>, unit: usize) -> Result<Vec<Range>, Error> {
        self.read(dwarf, unit, |_| Ok(()))
    }

    fn read(
        &self,
        dwarf: &Dwarf<Metered<'_>>,
        unit: usize,
        damaged: impl Fn(Error) -> Result<(), Error>,
    ) -> Result<Vec<Range>, Error> {
        let mut ranges = Vec::new();
        let first = self.0.partition_point(|&(it, _)| it < unit);
        let of_unit = self.0.get(first..).unwrap_or_default().iter().take_while(|&&(it, _)| it == unit);
        for &(_, offset) in of_unit {
            let mut entries = dwarf.debug_aranges.header(offset)?.entries();
            while let Some(entry) = entries.next().transpose() {
                match entry {
                    Ok(entry) if entry.length() != 0 => ranges.push(entry.range()),
                    Ok(_) => {}
                    Err(error) => damaged(error)?,
                }
            }
        }
        Ok(ranges)
    }
}

/// Returns all addresses with the offsets of their units, ordered by the units. `None` if there are more than `most`.
pub(super) fn all(dwarf: &Dwarf<Metered<'_>>, most: usize) -> Result<Option<Vec<(usize, Range)>>, Error> {
    let mut list = Vec::new();
    let mut headers = dwarf.debug_aranges.headers();
    while let Some(header) = headers.next()? {
        let mut entries = header.entries();
        while let Some(entry) = entries.next()? {
            if entry.length() == 0 {
                continue;
            }
            if list.len() >= most {
                return Ok(None);
            }
            list.push((header.debug_info_offset().0, entry.range()));
        }
    }
    list.sort_by_key(|&(unit, _)| unit);
    Ok(Some(list))
}
