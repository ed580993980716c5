//! The selected fields of each record on one line: `--fields`.

mod row;

use core::ops::Range;

use super::leading::Leading;
use super::name::Key;
use crate::args::Format;
pub(crate) use row::ColumnsLine;

/// The selected fields, and their values in the record that is being printed.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    format: Format,
    columns: Vec<Column<'a>>,
    /// The [bits](Key::bit) of the names of all columns.
    selected: u64,
    /// Whether a column is always [collected](Source::Collected).
    collects: bool,
    /// The values that were collected of the record, in its order. In JSON, each value includes its name.
    values: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Column<'a> {
    name: &'a str,
    key: Key,
    source: Source,
    /// The position of the value in `values`; empty if there is none.
    value: Range<usize>,
    /// Whether any record had the field.
    seen: bool,
}

/// Where the value of a column comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The header of the record.
    Offset,
    Type,
    Misc,
    Size,
    Event,
    /// A leading field of a sample. In other records, and in samples that do not have it, it is `Collected`.
    Leading(Leading),
    /// The fields of the record and of its trailer, which are passed one by one to [`Columns::set`].
    Collected,
}

impl Source {
    fn of(name: &str) -> Self {
        match name {
            "offset" => Self::Offset,
            "type" => Self::Type,
            "misc" => Self::Misc,
            "size" => Self::Size,
            "event" => Self::Event,
            name => Leading::named(name).map_or(Self::Collected, Self::Leading),
        }
    }
}

impl<'a> Columns<'a> {
    pub(crate) fn new(names: &'a [String], format: Format) -> Self {
        let column = |name: &'a String| {
            let (key, source) = (Key::of(name.as_bytes()), Source::of(name));
            Column { name, key, source, value: 0..0, seen: false }
        };
        let columns: Vec<Column<'_>> = names.iter().map(column).collect();
        let selected = columns.iter().fold(0, |all, column| all | column.key.bit());
        let collects = columns.iter().any(|column| column.source == Source::Collected);
        Self { format, columns, selected, collects, values: Vec::new() }
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
