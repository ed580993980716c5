//! The rows of one unit's line table.
//!
//! addr2line parses the same rows, but keeps neither the statement flag nor the discriminator, and no source texts. Rows are
//! sorted and found here as they are there, so that both have the same row at an address, also where sequences overlap.

use std::cmp::Ordering;
use std::ops::Range;

use gimli::{AttributeValue, ColumnType, Error, FileEntry, LineProgramHeader, Reader, UnitRef};

use crate::budget::Metered;

/// The line table of a unit.
#[derive(Debug)]
pub(super) struct LineTable<'a> {
    files: Vec<SourceFile<'a>>,
    sequences: Vec<LineSequence>,
    /// Starts and ends of all sequences, in order.
    edges: Vec<u64>,
}

/// A file of a line table.
#[derive(Debug)]
pub(super) struct SourceFile<'a> {
    pub(super) path: String,
    /// The text that is in the DWARF.
    pub(super) source: Option<AttributeValue<Metered<'a>>>,
}

#[derive(Debug)]
struct LineSequence {
    start: u64,
    end: u64,
    rows: Box<[TableRow]>,
}

/// A row of a line table.
#[derive(Debug)]
pub(super) struct TableRow {
    address: u64,
    file: u64,
    /// 0 if there is none.
    pub(super) line: u32,
    /// 0 if it is not known.
    pub(super) column: u32,
    pub(super) is_stmt: bool,
    pub(super) discriminator: u64,
}

/// The place of a row: the index of its sequence, and its index in that.
pub(super) type RowPlace = (usize, usize);

impl<'a> LineTable<'a> {
    /// Runs the line program of a unit. `None` if it has none.
    ///
    /// # Errors
    ///
    /// What is wrong with the program.
    pub(super) fn of(unit: UnitRef<'_, Metered<'a>>) -> Result<Option<Self>, Error> {
        let Some(program) = unit.line_program.clone() else { return Ok(None) };
        let (mut sequences, mut rows): (Vec<LineSequence>, Vec<TableRow>) = (Vec::new(), Vec::new());
        let mut program = program.rows();
        while let Some((_, row)) = program.next_row()? {
            let address = row.address();
            if row.end_sequence() {
                let rows = std::mem::take(&mut rows).into_boxed_slice();
                if let Some(start) = rows.first().map(|first| first.address).filter(|&start| start < address)
                {
                    sequences.push(LineSequence { start, end: address, rows });
                }
                continue;
            }
            // Of several rows at an address, the last one counts.
            if rows.last().is_some_and(|last| last.address == address) {
                rows.pop();
            }
            rows.push(TableRow {
                address,
                file: row.file_index(),
                line: row.line().map_or(0, |line| low_half(line.get())),
                column: match row.column() {
                    ColumnType::LeftEdge => 0,
                    ColumnType::Column(column) => low_half(column.get()),
                },
                is_stmt: row.is_stmt(),
                discriminator: row.discriminator(),
            });
        }
        sequences.sort_unstable_by_key(|sequence| sequence.start);
        let mut edges: Vec<_> = sequences.iter().flat_map(|it| [it.start, it.end]).collect();
        edges.sort_unstable();
        edges.dedup();
        Ok(Some(Self { files: files(unit, program.header())?, sequences, edges }))
    }

    /// Returns the addresses of the rows.
    pub(super) fn ranges(&self) -> impl Iterator<Item = gimli::Range> {
        self.sequences.iter().map(|it| gimli::Range { begin: it.start, end: it.end })
    }

    /// Returns the place of the row at an address; `None` if no row has the address. The second value is the first address after
    /// it that may have another row, or none.
    pub(super) fn at(&self, address: u64) -> (Option<RowPlace>, u64) {
        let edge = self.edges.partition_point(|&edge| edge <= address);
        let edge = self.edges.get(edge).copied().unwrap_or(u64::MAX);
        let row = self.sequences.binary_search_by(|sequence| match sequence {
            it if address < it.start => Ordering::Greater,
            it if address >= it.end => Ordering::Less,
            _ => Ordering::Equal,
        });
        let place = row.ok().and_then(|index| {
            let rows = &self.sequences.get(index)?.rows;
            Some((index, rows.partition_point(|row| row.address <= address).checked_sub(1)?))
        });
        let next = place.and_then(|(sequence, row)| self.row((sequence, row.checked_add(1)?)));
        (place, next.map_or(edge, |next| next.address.min(edge)))
    }

    /// Returns a row; `None` if there is none at the place.
    pub(super) fn row(&self, (sequence, row): RowPlace) -> Option<&TableRow> {
        self.sequences.get(sequence)?.rows.get(row)
    }

    /// Returns the file of a row; `None` if the table does not have it.
    pub(super) fn file(&self, row: &TableRow) -> Option<&SourceFile<'a>> {
        self.files.get(usize::try_from(row.file).ok()?)
    }

    /// Returns the parts of a range that have a row of the first of several tables with one, in the order of addresses. `steps`
    /// as in [`spans`](crate::units::UnitMap::spans).
    pub(super) fn pieces<'t>(
        tables: &[&'t Self],
        range: Range<u64>,
        steps: &mut dyn FnMut(usize) -> bool,
        each: &mut dyn FnMut(&'t Self, RowPlace, Range<u64>),
    ) {
        let mut address = range.start;
        while address < range.end {
            let (mut end, mut found) = (range.end, None);
            for table in tables {
                if !steps(1) {
                    return;
                }
                let (place, next) = table.at(address);
                end = end.min(next);
                if let Some(place) = place {
                    found = Some((*table, place));
                    break;
                }
            }
            if let Some((table, place)) = found {
                each(table, place, address..end);
            }
            address = end.max(address.saturating_add(1));
        }
    }
}

/// Returns the low half of a number, as addr2line keeps lines and columns.
fn low_half(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default()
}

/// Returns the files of a program. Before DWARF 5, no file has the number 0.
fn files<'a>(
    unit: UnitRef<'_, Metered<'a>>,
    header: &LineProgramHeader<Metered<'a>>,
) -> Result<Vec<SourceFile<'a>>, Error> {
    let mut files = Vec::new();
    if header.file(0).is_none() {
        files.push(SourceFile { path: String::new(), source: None });
    }
    while let Some(file) = header.file(files.len() as u64) {
        files.push(SourceFile { path: path(unit, file, header)?, source: file.source() });
    }
    Ok(files)
}

/// Returns the path of a file: below the folder of the compilation if it is relative.
fn path<'a>(
    unit: UnitRef<'_, Metered<'a>>,
    file: &FileEntry<Metered<'a>>,
    header: &LineProgramHeader<Metered<'a>>,
) -> Result<String, Error> {
    let folder = file.directory(header).filter(|_| file.directory_index() != 0);
    let folder = folder.map(|folder| unit.attr_string(folder)).transpose()?;
    let mut path = String::new();
    for (number, part) in
        [unit.comp_dir, folder, Some(unit.attr_string(file.path_name())?)].iter().enumerate()
    {
        let Some(part) = part else { continue };
        let part = part.to_string_lossy()?;
        match number {
            0 => path = part.into_owned(),
            _ => push(&mut path, &part),
        }
    }
    Ok(path)
}

/// Appends a part of a path, or replaces the path if the part is absolute, on the system of the compiler.
fn push(path: &mut String, part: &str) {
    let is_of_windows = |path: &str| path.starts_with('\\') || path.get(1..3) == Some(":\\");
    if part.starts_with('/') || part.get(1..3) == Some(":/") || is_of_windows(part) {
        path.clear();
    } else {
        let separator = if is_of_windows(path) { '\\' } else { '/' };
        if !path.is_empty() && !path.ends_with(separator) {
            path.push(separator);
        }
    }
    path.push_str(part);
}
