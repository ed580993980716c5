//! A few fields of each record, one line a record: `--fields`.

use core::fmt::Display;
use perf_abi::endian::Endian;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, StackUser};
use perf_parse::tracepoint::Format;

use super::escape::{Printable, Seconds};
use super::json::Json;
use super::text::push_field;
use super::{Scalars, Sink, print};
use crate::args;

/// Keeps the fields that are asked for and passes over the others. The buffers are used again for each record.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    names: &'a [String],
    format: args::Format,
    /// The value of each column; empty where the record has none yet.
    cells: Vec<Vec<u8>>,
    /// Whether any record had the field.
    seen: Vec<bool>,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(names: &'a [String], format: args::Format) -> Self {
        Self { names, format, cells: vec![Vec::new(); names.len()], seen: vec![false; names.len()] }
    }

    /// Appends the record's line to `out` and starts over.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        match self.format {
            args::Format::Text => {
                for (index, cell) in self.cells.iter_mut().enumerate() {
                    if index > 0 {
                        out.push(b'\t');
                    }
                    if cell.is_empty() {
                        out.push(b'-');
                    }
                    out.append(cell);
                }
            }
            args::Format::Jsonl => Json::object(out, |json| {
                for (name, cell) in self.names.iter().zip(&mut self.cells) {
                    if !cell.is_empty() {
                        json.member(name).append(cell);
                    }
                }
            }),
        }
        out.push(b'\n');
    }

    /// The fields asked for that no record had.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = &str> {
        self.names.iter().zip(&self.seen).filter(|&(_, &seen)| !seen).map(|(name, _)| name.as_str())
    }

    /// A field that is a text of ours.
    pub(crate) fn text(&mut self, name: &str, value: &dyn Display) {
        self.put(name, |cell| print(cell, format_args!("{value}")), |json| json.text(name, value));
    }

    /// Puts a value into the columns of its name: as `text`, or as the value of a JSON member.
    ///
    /// The first value of a name stands: a record's own time is that of its trailer.
    fn put(&mut self, name: &str, text: impl Fn(&mut Vec<u8>), json: impl Fn(&mut Json<'_>)) {
        for index in 0..self.names.len() {
            if self.names[index] != name || !self.cells[index].is_empty() {
                continue;
            }
            self.seen[index] = true;
            match self.format {
                args::Format::Text => text(&mut self.cells[index]),
                args::Format::Jsonl => Json::value(&mut self.cells[index], &json),
            }
        }
    }

    /// As [`put`](Self::put), for what has no shorter text than JSON.
    fn put_json(&mut self, name: &str, json: impl Fn(&mut Json<'_>)) {
        self.put(name, |cell| Json::value(cell, &json), &json);
    }
}

impl Scalars for Columns<'_> {
    fn number(&mut self, name: &'static str, value: u64) {
        self.put_json(name, |json| json.number(name, value));
    }

    fn task(&mut self, name: &'static str, value: i64) {
        self.put_json(name, |json| json.task(name, value));
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        self.put(name, |cell| print(cell, format_args!("{value:#x}")), |json| json.hex(name, value));
    }

    fn time(&mut self, name: &'static str, value: u64) {
        self.put(name, |cell| print(cell, format_args!("{}", Seconds(value))), |json| json.time(name, value));
    }

    fn named(&mut self, name: &'static str, value: u64, shown: &dyn Display) {
        self.put(name, |cell| print(cell, format_args!("{shown}")), |json| json.named(name, value, shown));
    }

    fn string(&mut self, name: &'static str, value: &[u8]) {
        self.put(
            name,
            |cell| print(cell, format_args!("{}", Printable(value))),
            |json| json.string(name, value),
        );
    }

    fn blob(&mut self, name: &'static str, value: &[u8]) {
        self.put(name, |cell| super::escape::push_hex(cell, value), |json| json.blob(name, value));
    }
}

impl Sink for Columns<'_> {
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.put_json("read", |json| json.read(value));
    }

    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        let hex = |cell: &mut Vec<u8>| {
            for (index, word) in value.words().iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                print(cell, format_args!("{comma}{:#x}", word.get()));
            }
        };
        self.put("callchain", hex, |json| json.callchain(value));
    }

    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        self.put_json("branch_stack", |json| json.branch_stack(value));
    }

    fn regs<O: Endian>(&mut self, name: &'static str, value: &Regs<'_, O>) {
        self.put_json(name, |json| json.regs(name, value));
    }

    /// Each field under its own name, besides all of them together.
    fn tracepoint<O: Endian>(&mut self, format: &Format<'_>, raw: &[u8]) {
        self.put_json("tracepoint", |json| json.tracepoint::<O>(format, raw));
        for (field, value) in format.fields::<O>(raw) {
            if let Ok(name) = core::str::from_utf8(field.name) {
                self.put(
                    name,
                    |cell| push_field(cell, &value),
                    |json| json.tracepoint_field(field.name, &value),
                );
            }
        }
    }

    fn stack_user(&mut self, value: &StackUser<'_>) {
        self.put_json("stack_user", |json| json.stack_user(value));
    }

    fn readings(&mut self, value: &Readings) {
        self.put_json("readings", |json| json.readings(value));
    }

    fn object(&mut self, name: &'static str, fields: &dyn Fn(&mut dyn Scalars)) {
        self.put_json(name, |json| Sink::object(json, name, fields));
    }

    fn list(&mut self, name: &'static str, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        self.put_json(name, |json| json.list(name, count, item));
    }

    fn addresses(&mut self, name: &'static str, values: impl Iterator<Item = u64> + Clone) {
        self.put_json(name, |json| json.addresses(name, values.clone()));
    }
}
