//! Rows of line tables, by their addresses.

use std::ops::Range;

use super::line_table::{LineTable, RowPlace};
use super::steps::Steps;
use super::unit_lines::UnitLines;
use super::{DwarfLines, DwarfSource, ParsedUnits, early};
use crate::units::UnitsAt;

/// A row of a line table: addresses with the source line that they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRow<'a> {
    /// The first address of the row within the range that was asked for.
    pub start: u64,
    /// The address after the last one of the row within that range.
    pub end: u64,
    /// Path of the source, as in [`DwarfFrame::file`](crate::DwarfFrame::file). `None` if the table does not have it.
    pub file: Option<&'a str>,
    /// Line, from 1 on. `None` for code that has no line, such as what a compiler adds.
    pub line: Option<u32>,
    /// Column, from 1 on. `None` if it is not known.
    pub column: Option<u32>,
    /// Whether the compiler recommends the start of the row as the place of a breakpoint for the line.
    pub is_stmt: bool,
    /// Number that tells blocks of the same line apart; 0 if there is one, or if the compiler does not write it.
    pub discriminator: u64,
    /// The text of the file, if the compiler embedded it, as `clang -gembed-source` does. `None` if it did not.
    pub source: Option<&'a [u8]>,
}

impl DwarfLines {
    /// Calls `each` for each row of the line tables that has an address in `range`, in the order of addresses. Rows do not overlap.
    /// Addresses without lines are left out.
    ///
    /// The row at an address has the file and line of the innermost frame that [`look_up`](Self::look_up) finds there. The one
    /// exception is an address that several units have: the row is that of the first unit with a line there, also if another one
    /// has a function there.
    ///
    /// The addresses are those of the file. The first request in a unit parses its line table, which is kept. What hostile files may
    /// make it read is limited as for `look_up`. Without [`SymbolOptions::lines`](crate::SymbolOptions::lines), there are no rows.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use perf_symbol::{FileFinder, DwarfLines, SymbolOptions, ReadFiles};
    ///
    /// let finder = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
    /// let found = finder.find(b"/usr/bin/cat", None, None);
    /// if let Some(lines) = DwarfLines::load(&finder, &found) {
    ///     lines.rows(0x1000..0x2000, &mut |row| println!("{:#x} {:?}:{:?}", row.start, row.file, row.line));
    /// }
    /// ```
    pub fn rows(&self, range: Range<u64>, each: &mut dyn FnMut(LineRow<'_>)) {
        self.0.with_dependent(|owner, parsed| {
            if !owner.sections.needs_lines() {
                return;
            }
            owner.sections.budget.begin();
            let steps = Steps::new(&owner.sections.budget);
            let mut rows = RowJoiner { parsed, each, pending: None };
            parsed.each_unit(owner, range, &steps, &mut |units, range| {
                units.pieces(range, &steps, &mut |table, place, range| {
                    rows.add(Piece { units, table, place, range });
                });
            });
            rows.finish();
        });
    }
}

/// A part of a row: ranges of units may divide it.
struct Piece<'t, 'a> {
    units: &'t UnitLines<'a>,
    table: &'t LineTable<'a>,
    place: RowPlace,
    range: Range<u64>,
}

/// Joins the parts of rows.
struct RowJoiner<'t, 'a, 'e> {
    parsed: &'t ParsedUnits<'a>,
    each: &'e mut dyn FnMut(LineRow<'_>),
    pending: Option<Piece<'t, 'a>>,
}

impl<'t, 'a> RowJoiner<'t, 'a, '_> {
    fn add(&mut self, piece: Piece<'t, 'a>) {
        if let Some(pending) = &mut self.pending
            && std::ptr::eq(pending.table, piece.table)
            && pending.place == piece.place
            && pending.range.end == piece.range.start
        {
            pending.range.end = piece.range.end;
            return;
        }
        self.finish();
        self.pending = Some(piece);
    }

    /// Passes on the last row.
    fn finish(&mut self) {
        let Some(Piece { units, table, place, range }) = self.pending.take() else { return };
        let Some(row) = table.row(place) else { return };
        let file = table.file(row);
        let source = file.and_then(|file| file.source.as_ref());
        (self.each)(LineRow {
            start: range.start,
            end: range.end,
            file: file.map(|file| &*file.path),
            line: Some(row.line).filter(|&line| line != 0),
            column: Some(row.column).filter(|&column| row.line != 0 && column != 0),
            is_stmt: row.is_stmt,
            discriminator: row.discriminator,
            source: source.and_then(|source| self.parsed.sources.text(units.dwarf(), source)),
        });
    }
}

impl<'a> ParsedUnits<'a> {
    /// Calls `each` for each part of `range` with the units that have its addresses, as [`context`](Self::context) finds them.
    fn each_unit<'t>(
        &'t self,
        owner: &'a DwarfSource,
        range: Range<u64>,
        steps: &Steps,
        each: &mut dyn FnMut(&'t UnitLines<'a>, Range<u64>),
    ) {
        let sections = &owner.sections;
        let of_all = |range, each: &mut dyn FnMut(&'t UnitLines<'a>, Range<u64>)| {
            if let Some(all) = self.complete(sections) {
                all.each_unit(sections, range, steps, each);
            }
        };
        let Some(listed) = &owner.early else { return of_all(range, each) };
        let code = early::code_within(&sections.image, &range);
        let mut spans = Vec::new();
        listed.spans(range, &mut |count| steps.take(count), &mut |span| spans.push((span.at(), span.range)));
        for (at, range) in spans {
            let unit = match at {
                UnitsAt::Nothing if !early::overlaps(&code, &range) => continue,
                UnitsAt::One(unit) => self.early(owner, listed, unit),
                UnitsAt::Nothing | UnitsAt::Several => None,
            };
            match unit {
                Some(unit) => each(&unit.lines, range),
                None => of_all(range, each),
            }
        }
    }
}
