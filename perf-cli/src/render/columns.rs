//! A few fields of each record, one line a record: `--fields`.

use core::fmt::Display;
use perf_abi::endian::Endian;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, StackUser};

use super::digits::{push_decimal, push_hex, push_seconds, push_signed};
use super::escape::{push_json, push_printable};
use super::json::{self, Json};
use super::name::{Name, SLOTS, name, slot};
use super::tracepoint::Tracepoint;
use super::{Scalars, Sink, print, text};
use crate::args;

/// Keeps the fields that are asked for and passes over the others. The buffers are used again for each record.
#[derive(Clone, Debug)]
pub(crate) struct Columns<'a> {
    format: args::Format,
    columns: Vec<Column<'a>>,
    /// The first column of the names that share a slot; [`NONE`] if none of them is asked for.
    slots: [usize; SLOTS],
    /// The slots that have a column, a bit each.
    asked: u64,
    /// The values that are not numbers, as they print.
    texts: Vec<u8>,
}

/// Stands for no column.
const NONE: usize = usize::MAX;

#[derive(Clone, Debug)]
struct Column<'a> {
    name: &'a str,
    /// `,"name":`
    member: Vec<u8>,
    /// What the record has of this name.
    cell: Cell,
    /// Whether any record had the field.
    seen: bool,
    /// The next column of a name that shares the slot.
    next: usize,
}

/// A value that is not printed yet.
#[derive(Clone, Copy, Debug)]
enum Cell {
    Empty,
    Number(u64),
    Task(i64),
    Hex(u64),
    Time(u64),
    /// Where it is among the texts.
    Text(usize, usize),
}

impl<'a> Columns<'a> {
    pub(crate) fn new(names: &'a [String], format: args::Format) -> Self {
        let mut slots = [NONE; SLOTS];
        let mut columns: Vec<Column<'_>> = names.iter().map(|name| Column::new(name)).collect();
        // From behind, so that the first of a slot is found first.
        for (index, column) in columns.iter_mut().enumerate().rev() {
            column.next = core::mem::replace(&mut slots[slot(column.name.as_bytes())], index);
        }
        let asked = (0..SLOTS).filter(|&slot| slots[slot] != NONE).fold(0, |all, slot| all | 1 << slot);
        Self { format, columns, slots, asked, texts: Vec::new() }
    }

    /// Appends the record's line to `out` and starts over.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        match self.format {
            args::Format::Text => {
                for (index, column) in self.columns.iter_mut().enumerate() {
                    if index > 0 {
                        out.push(b'\t');
                    }
                    match core::mem::replace(&mut column.cell, Cell::Empty) {
                        Cell::Empty => out.push(b'-'),
                        Cell::Number(number) => push_decimal(out, number),
                        Cell::Task(number) => push_signed(out, number),
                        Cell::Hex(number) => push_hex(out, number),
                        Cell::Time(time) => push_seconds(out, time),
                        Cell::Text(start, end) => out.extend_from_slice(&self.texts[start..end]),
                    }
                }
            }
            args::Format::Jsonl => Json::object(out, |json| {
                for column in &mut self.columns {
                    let cell = core::mem::replace(&mut column.cell, Cell::Empty);
                    if matches!(cell, Cell::Empty) {
                        continue;
                    }
                    let out = json.ready(&column.member);
                    match cell {
                        Cell::Empty => {}
                        Cell::Number(number) | Cell::Hex(number) | Cell::Time(number) => {
                            push_decimal(out, number);
                        }
                        Cell::Task(number) => push_signed(out, number),
                        Cell::Text(start, end) => out.extend_from_slice(&self.texts[start..end]),
                    }
                }
            }),
        }
        out.push(b'\n');
        self.texts.clear();
    }

    /// The fields asked for that no record had.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(|column| !column.seen).map(|column| column.name)
    }

    /// Takes in which fields another's records had.
    pub(crate) fn join(&mut self, other: &Self) {
        for (column, other) in self.columns.iter_mut().zip(&other.columns) {
            column.seen |= other.seen;
        }
    }

    /// A field that is a word of ours.
    #[inline]
    pub(crate) fn word(&mut self, name: &Name, value: &str) {
        match self.format {
            args::Format::Text => self.text(name, |out| out.extend_from_slice(value.as_bytes())),
            args::Format::Jsonl => self.text(name, |out| push_json(out, value.as_bytes())),
        }
    }

    /// A field that is a number with a name that is ready to print.
    #[inline]
    pub(crate) fn ready(&mut self, name: &Name, number: u64, shown: &[u8]) {
        match self.format {
            args::Format::Text => self.text(name, |out| out.extend_from_slice(shown)),
            args::Format::Jsonl => self.put(name, Cell::Number(number)),
        }
    }

    /// Whether a field of a name may be asked for.
    #[inline]
    fn asks(&self, slot: usize) -> bool {
        self.asked & 1 << (slot % SLOTS) != 0
    }

    #[inline]
    fn put(&mut self, name: &Name, cell: Cell) {
        if self.asks(name.slot()) {
            self.fill(name.slot(), name.text, cell);
        }
    }

    /// Fills the columns of a name that have nothing yet.
    ///
    /// The first value of a name stands: a record's own time is that of its trailer.
    #[inline]
    fn fill(&mut self, slot: usize, name: &str, cell: Cell) {
        let mut at = self.slots[slot % SLOTS];
        while let Some(column) = self.columns.get_mut(at) {
            if column.name == name && matches!(column.cell, Cell::Empty) {
                column.cell = cell;
                column.seen = true;
            }
            at = column.next;
        }
    }

    /// Whether a column of a name has nothing yet.
    fn wants(&self, slot: usize, name: &str) -> bool {
        let mut at = self.slots[slot % SLOTS];
        while let Some(column) = self.columns.get(at) {
            if column.name == name && matches!(column.cell, Cell::Empty) {
                return true;
            }
            at = column.next;
        }
        false
    }

    /// A value that `push` prints.
    #[inline]
    fn text(&mut self, name: &Name, push: impl FnOnce(&mut Vec<u8>)) {
        if self.asks(name.slot()) {
            self.print(name.slot(), name.text, 0, push);
        }
    }

    /// A value that `push` prints behind `prefix` bytes that are not part of it. An empty one is as none.
    fn print(&mut self, slot: usize, name: &str, prefix: usize, push: impl FnOnce(&mut Vec<u8>)) {
        if !self.wants(slot, name) {
            return;
        }
        let start = self.texts.len() + prefix;
        push(&mut self.texts);
        let end = self.texts.len();
        self.fill(slot, name, if start < end { Cell::Text(start, end) } else { Cell::Empty });
    }

    /// A value that has no shorter text than JSON: that of the one member that `member` names.
    #[inline]
    fn json(&mut self, name: &Name, member: impl FnOnce(&mut Json<'_>)) {
        if self.asks(name.slot()) {
            let prefix = name.text.len() + b",\"\":".len();
            self.print(name.slot(), name.text, prefix, |out| member(&mut Json::members(out)));
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
        Self { name, member, cell: Cell::Empty, seen: false, next: NONE }
    }
}

impl Scalars for Columns<'_> {
    #[inline]
    fn number(&mut self, name: &Name, value: u64) {
        self.put(name, Cell::Number(value));
    }

    #[inline]
    fn task(&mut self, name: &Name, value: i64) {
        self.put(name, Cell::Task(value));
    }

    #[inline]
    fn hex(&mut self, name: &Name, value: u64) {
        self.put(name, Cell::Hex(value));
    }

    #[inline]
    fn time(&mut self, name: &Name, value: u64) {
        self.put(name, Cell::Time(value));
    }

    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display) {
        if self.is_json() {
            self.put(name, Cell::Number(value));
        } else {
            self.text(name, |out| print(out, format_args!("{shown}")));
        }
    }

    fn string(&mut self, name: &Name, value: &[u8]) {
        let push = if self.is_json() { push_json } else { push_printable };
        self.text(name, |out| push(out, value));
    }

    #[inline]
    fn blob(&mut self, name: &Name, value: &[u8]) {
        if self.is_json() {
            self.json(name, |json| json.blob(name, value));
        } else {
            self.text(name, |out| super::escape::push_hex(out, value));
        }
    }
}

impl Sink for Columns<'_> {
    #[inline]
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.json(name!("read"), |json| json.read(value));
    }

    #[inline]
    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        if self.is_json() {
            return self.json(name!("callchain"), |json| json.callchain(value));
        }
        self.text(name!("callchain"), |out| {
            let start = out.len();
            for word in value.words() {
                push_hex(out, word.get());
                out.push(b',');
            }
            out.truncate(start.max(out.len().saturating_sub(1)));
        });
    }

    #[inline]
    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        self.json(name!("branch_stack"), |json| json.branch_stack(value));
    }

    #[inline]
    fn regs<O: Endian>(&mut self, name: &Name, value: &Regs<'_, O>) {
        self.json(name, |json| json.regs(name, value));
    }

    /// Each field under its own name, besides all of them together.
    #[inline]
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.json(name!("tracepoint"), |json| json.tracepoint::<O>(tracepoint, raw));
        if self.asked & tracepoint.slots == 0 {
            return;
        }
        for (field, value) in tracepoint.fields::<O>(raw) {
            let Some(name) = field.text.filter(|_| self.asks(field.slot)) else { continue };
            let push = if self.is_json() { json::push_field } else { text::push_field };
            self.print(field.slot, name, 0, |out| push(out, &value));
        }
    }

    #[inline]
    fn stack_user(&mut self, value: &StackUser<'_>) {
        self.json(name!("stack_user"), |json| json.stack_user(value));
    }

    #[inline]
    fn readings(&mut self, value: &Readings) {
        self.json(name!("readings"), |json| json.readings(value));
    }

    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars)) {
        self.json(name, |json| Sink::object(json, name, fields));
    }

    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        self.json(name, |json| json.list(name, count, item));
    }

    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone) {
        self.json(name, |json| json.addresses(name, values));
    }
}
