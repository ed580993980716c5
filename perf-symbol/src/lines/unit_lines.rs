//! Line tables of the units that addr2line parses together.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use gimli::{DebugInfoOffset, Dwarf, Error, UnitRef};

use super::line_table::{LineTable, RowPlace};
use super::steps::Steps;
use crate::budget::Metered;
use crate::units::{UnitMap, UnitSpan};

/// The line tables of one unit, or of all units of a file, each parsed when it is needed.
#[derive(Debug)]
pub(super) struct UnitLines<'a> {
    dwarf: Arc<Dwarf<Metered<'a>>>,
    is_alone: bool,
    /// `None` if the units are damaged.
    tables: OnceCell<Option<UnitTables<'a>>>,
}

#[derive(Debug)]
struct UnitTables<'a> {
    /// `None` if there is one unit, which has all addresses that it is asked for.
    map: Option<UnitMap>,
    tables: Vec<UnitTable<'a>>,
}

/// The table of a unit; `None` if the unit has no lines.
type UnitTable<'a> = OnceCell<Result<Option<LineTable<'a>>, Error>>;

impl<'a> UnitLines<'a> {
    pub(super) fn new(dwarf: Arc<Dwarf<Metered<'a>>>, is_alone: bool) -> Self {
        Self { dwarf, is_alone, tables: OnceCell::new() }
    }

    /// Returns the DWARF of the units.
    pub(super) fn dwarf(&self) -> &Dwarf<Metered<'a>> {
        &self.dwarf
    }

    /// Calls `each` for the part of `range` that each row has, in the order of addresses.
    pub(super) fn pieces<'t>(
        &'t self,
        range: Range<u64>,
        steps: &Steps,
        each: &mut dyn FnMut(&'t LineTable<'a>, RowPlace, Range<u64>),
    ) {
        let Some(tables) = self.tables.get_or_init(|| self.parse().ok()) else { return };
        let Some(map) = &tables.map else {
            let table = self.table(tables, 0).ok().flatten();
            LineTable::pieces(table.as_slice(), range, &mut |count| steps.take(count), each);
            return;
        };
        let mut of_span = |span: UnitSpan<'_>| {
            let mut of_units = Vec::new();
            for unit in span.units() {
                match self.table(tables, unit) {
                    Ok(table) => of_units.extend(table),
                    // No look-up gets past a damaged unit.
                    Err(_) => return,
                }
            }
            LineTable::pieces(&of_units, span.range, &mut |count| steps.take(count), each);
        };
        map.spans(range, &mut |count| steps.take(count), &mut of_span);
    }

    fn parse(&self) -> Result<UnitTables<'a>, Error> {
        if self.is_alone {
            return Ok(UnitTables { map: None, tables: vec![OnceCell::new()] });
        }
        let mut parsed = Vec::new();
        let of_lines = |number, unit: UnitRef<'_, Metered<'a>>| {
            let table = LineTable::of(unit);
            let ranges = table.as_ref().ok().and_then(Option::as_ref).map(|table| table.ranges().collect());
            parsed.push((number, table));
            ranges.unwrap_or_default()
        };
        let map = UnitMap::of(&self.dwarf, of_lines)?;
        let mut tables: Vec<_> = (0..map.len()).map(|_| OnceCell::new()).collect();
        for (number, table) in parsed {
            if let Some(place) = tables.get_mut(number) {
                *place = OnceCell::from(table);
            }
        }
        Ok(UnitTables { map: Some(map), tables })
    }

    /// Returns the table of a unit; `None` if it has no lines.
    fn table<'t>(
        &self,
        tables: &'t UnitTables<'a>,
        number: usize,
    ) -> Result<Option<&'t LineTable<'a>>, Error> {
        let offset = tables.map.as_ref().and_then(|map| map.offset(number));
        let Some(table) = tables.tables.get(number) else { return Ok(None) };
        table.get_or_init(|| self.parse_table(offset)).as_ref().map(Option::as_ref).map_err(|error| *error)
    }

    /// Parses the table of the unit at an offset, or of the only unit.
    fn parse_table(&self, offset: Option<DebugInfoOffset>) -> Result<Option<LineTable<'a>>, Error> {
        let header = match offset {
            Some(offset) => Some(self.dwarf.debug_info.header_from_offset(offset)?),
            None => self.dwarf.units().next()?,
        };
        let Some(header) = header else { return Ok(None) };
        let unit = self.dwarf.unit(header)?;
        LineTable::of(UnitRef::new(&self.dwarf, &unit))
    }
}
