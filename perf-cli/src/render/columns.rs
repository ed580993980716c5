//! Selected fields of each record, one line per record: `--fields`.

mod plan;
mod sink;

use super::digits::{Clock, push_decimal, push_hex, push_seconds, push_signed};
use super::escape::push_json;
use super::json::Json;
use super::name::{Key, Name, name};
use super::ready::Ready;
use crate::args;
use plan::Plan;
pub(crate) use plan::SampleEvent;

/// Keeps the selected fields and skips the others. The buffers are reused for each record.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    format: args::Format,
    columns: Vec<Column<'a>>,
    /// For each slot, the first column whose name has that slot; [`NONE`] if there is none.
    slots: [usize; Key::SLOTS],
    /// The slots that have a column, one bit each.
    asked: u64,
    /// The output of the values that are not numbers.
    texts: Vec<u8>,
    /// How to print the samples of each event of a batch directly; `None` for events whose samples are printed field by
    /// field.
    plans: Vec<Option<Plan>>,
    clock: Clock,
}

/// Marks the absence of a column.
const NONE: usize = usize::MAX;

#[derive(Clone, Debug)]
struct Column<'a> {
    name: &'a str,
    key: Key,
    /// `,"name":`
    member: Ready,
    /// The value of this column in the record.
    cell: Cell,
    /// Whether any record had the field.
    seen: bool,
    /// The next column whose name has the same slot.
    next: usize,
}

/// A value to print.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Empty,
    Number(u64),
    Task(i64),
    Hex(u64),
    Time(u64),
    /// The range of the value in `texts`.
    Text(usize, usize),
    /// A value that [`Shown`] contains.
    Kind,
    Misc,
    Event,
}

/// The output that is the same for all records with the same event, type and `misc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'s> {
    pub(crate) kind: &'s Ready,
    pub(crate) misc: &'s Ready,
    pub(crate) event: Option<&'s Ready>,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(names: &'a [String], format: args::Format) -> Self {
        let mut slots = [NONE; Key::SLOTS];
        let mut columns: Vec<Column<'_>> = names.iter().map(|name| Column::new(name)).collect();
        // In reverse, so that the first column of a slot is found first.
        for (index, column) in columns.iter_mut().enumerate().rev() {
            column.next = core::mem::replace(&mut slots[column.key.slot()], index);
        }
        let asked = columns.iter().fold(0, |all, column| all | column.key.bit());
        Self { format, columns, slots, asked, texts: Vec::new(), plans: Vec::new(), clock: Clock::default() }
    }

    /// Appends the record's line to `out` and resets the columns.
    pub(crate) fn finish(&mut self, shown: &Shown<'_>, out: &mut Vec<u8>) {
        match self.format {
            args::Format::Text => {
                for column in &mut self.columns {
                    let cell = core::mem::replace(&mut column.cell, Cell::Empty);
                    push_cell(out, cell, shown, &self.texts);
                    out.push(b'\t');
                }
                // There is at least one column.
                out.truncate(out.len() - 1);
            }
            args::Format::Jsonl => Json::object(out, |json| {
                for column in &mut self.columns {
                    match core::mem::replace(&mut column.cell, Cell::Empty) {
                        Cell::Empty => {}
                        cell => push_member(json.ready(&column.member), cell, shown, &self.texts),
                    }
                }
            }),
        }
        out.push(b'\n');
        self.texts.clear();
    }

    /// Returns the selected fields that no record had.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|column| !column.seen).map(|column| column.name)
    }

    /// Merges which fields the records of another instance had.
    pub(crate) fn join(&mut self, other: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.seen |= other.seen;
        }
    }

    /// Puts the record's type, printed by name.
    #[inline]
    pub(crate) fn kind(&mut self) {
        self.put(name!("type"), Cell::Kind);
    }

    /// Puts the record's `misc`, printed as the names of its bits.
    #[inline]
    pub(crate) fn misc(&mut self, misc: u64) {
        self.put(name!("misc"), if self.is_json() { Cell::Number(misc) } else { Cell::Misc });
    }

    /// Puts the index of the record's event; printed as the name if the event is `named`.
    #[inline]
    pub(crate) fn event(&mut self, index: usize, named: bool) {
        let number = self.is_json() || !named;
        self.put(name!("event"), if number { Cell::Number(index as u64) } else { Cell::Event });
    }

    /// Returns whether a field with this key may be selected.
    #[inline(always)]
    fn asks(&self, key: Key) -> bool {
        self.asked & key.bit() != 0
    }

    #[inline(always)]
    fn put(&mut self, name: &Name, cell: Cell) {
        if self.asks(name.key) {
            self.fill(name.key, cell);
        }
    }

    /// Fills the empty columns of a name.
    ///
    /// The first value of a name is kept: a record's own time equals that of its trailer.
    #[inline]
    fn fill(&mut self, key: Key, cell: Cell) {
        let mut at = self.slots[key.slot()];
        while let Some(column) = self.columns.get_mut(at) {
            if column.key == key && matches!(column.cell, Cell::Empty) {
                column.cell = cell;
                column.seen = true;
            }
            at = column.next;
        }
    }

    /// Returns whether a column of a name is still empty.
    fn wants(&self, key: Key) -> bool {
        let mut at = self.slots[key.slot()];
        while let Some(column) = self.columns.get(at) {
            if column.key == key && matches!(column.cell, Cell::Empty) {
                return true;
            }
            at = column.next;
        }
        false
    }

    /// Puts a value that `push` prints.
    #[inline]
    fn text(&mut self, name: &Name, push: impl FnOnce(&mut Vec<u8>)) {
        if self.asks(name.key) {
            self.print(name.key, 0, push);
        }
    }

    /// Puts a value that `push` prints after `prefix` bytes that are not part of it. An empty value counts as none.
    fn print(&mut self, key: Key, prefix: usize, push: impl FnOnce(&mut Vec<u8>)) {
        if !self.wants(key) {
            return;
        }
        let start = self.texts.len() + prefix;
        push(&mut self.texts);
        let end = self.texts.len();
        self.fill(key, if start < end { Cell::Text(start, end) } else { Cell::Empty });
    }

    /// Puts a value that prints only as JSON: the value of the one member that `member` prints.
    #[inline]
    fn json(&mut self, name: &Name, member: impl FnOnce(&mut Json<'_>)) {
        if self.asks(name.key) {
            let prefix = name.text.len() + b",\"\":".len();
            self.print(name.key, prefix, |out| member(&mut Json::members(out)));
        }
    }

    fn is_json(&self) -> bool {
        self.format == args::Format::Jsonl
    }
}

impl<'a> Column<'a> {
    fn new(name: &'a str) -> Self {
        let mut member = b",".to_vec();
        push_json(&mut member, name.as_bytes());
        member.push(b':');
        let (key, member) = (Key::of(name.as_bytes()), Ready::new(member));
        Self { name, key, member, cell: Cell::Empty, seen: false, next: NONE }
    }
}

/// Appends a value as text; `-` for none.
#[inline]
fn push_cell(out: &mut Vec<u8>, cell: Cell, shown: &Shown<'_>, texts: &[u8]) {
    match cell {
        Cell::Empty => out.push(b'-'),
        Cell::Number(number) => push_decimal(out, number),
        Cell::Task(number) => push_signed(out, number),
        Cell::Hex(number) => push_hex(out, number),
        Cell::Time(time) => push_seconds(out, time),
        Cell::Text(start, end) => out.extend_from_slice(&texts[start..end]),
        Cell::Kind => shown.kind.push(out),
        // `misc` without any bit prints as `-`.
        Cell::Misc if shown.misc.len() == 0 => out.push(b'-'),
        Cell::Misc => shown.misc.push(out),
        Cell::Event => super::given(shown.event, |event| event.push(out)),
    }
}

/// Appends a value as JSON. A value that text prints by name is a number in JSON, except for the type.
#[inline]
fn push_member(out: &mut Vec<u8>, cell: Cell, shown: &Shown<'_>, texts: &[u8]) {
    match cell {
        Cell::Number(number) | Cell::Hex(number) | Cell::Time(number) => push_decimal(out, number),
        Cell::Task(number) => push_signed(out, number),
        Cell::Text(start, end) => out.extend_from_slice(&texts[start..end]),
        Cell::Kind => {
            out.push(b'"');
            shown.kind.push(out);
            out.push(b'"');
        }
        Cell::Empty | Cell::Misc | Cell::Event => {}
    }
}
