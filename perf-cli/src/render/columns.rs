//! The selected fields of each record on one line: `--fields`.

mod row;

use core::ops::Range;

use super::name::Key;
use crate::args::Format;
pub(crate) use row::Row;

/// The selected fields, and their values in the record that is being printed.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    format: Format,
    columns: Vec<Column<'a>>,
    /// The [bits](Key::bit) of the names of all columns.
    selected: u64,
    /// The values of the record, in the order in which it has them. In JSON, each value includes its name.
    values: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Column<'a> {
    name: &'a str,
    key: Key,
    /// The position of the value in `values`; empty if there is none.
    value: Range<usize>,
    /// Whether any record had the field.
    seen: bool,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(names: &'a [String], format: Format) -> Self {
        let column = |name: &'a String| Column { name, key: Key::of(name.as_bytes()), value: 0..0, seen: false };
        let columns: Vec<Column<'_>> = names.iter().map(column).collect();
        let selected = columns.iter().fold(0, |all, column| all | column.key.bit());
        Self { format, columns, selected, values: Vec::new() }
    }

    /// Returns the selected fields that no record had.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|column| !column.seen).map(|column| column.name)
    }

    /// Adds the fields that the records of another instance had.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.seen |= other.seen;
        }
    }

    /// Returns whether a field with one of these [bits](Key::bit) may be selected.
    #[inline(always)]
    fn may_select(&self, bits: u64) -> bool {
        self.selected & bits != 0
    }

    /// Sets the columns of a name to the value that `push` appends.
    ///
    /// The first value of a name is kept: a record's own time equals that of its trailer.
    #[inline]
    fn set(&mut self, key: Key, push: impl FnOnce(&mut Vec<u8>)) {
        let mut empty = self.columns.iter_mut().filter(|column| column.key == key && column.value.is_empty());
        let Some(first) = empty.next() else { return };
        let start = self.values.len();
        push(&mut self.values);
        for column in core::iter::once(first).chain(empty) {
            column.value = start..self.values.len();
            column.seen = true;
        }
    }
}
