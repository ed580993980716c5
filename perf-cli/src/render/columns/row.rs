//! The sink that puts the fields of a record into the selected columns.

use core::fmt::Display;

use perf_abi::endian::Endian;
use perf_parse::file::FileError;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, StackUser};

use super::super::digits::{push_decimal, push_hex, push_seconds, push_signed};
use super::super::escape::{push_hex as push_bytes, push_printable};
use super::super::json::{self, Json};
use super::super::name::{Name, name};
use super::super::record::{Header, RecordSink};
use super::super::tracepoint::Tracepoint;
use super::super::{Scalars, Sink, given, print, text};
use super::Columns;
use crate::args::Format;

/// The line of a record.
#[derive(Debug)]
pub(crate) struct Row<'b, 'a> {
    pub(crate) columns: &'b mut Columns<'a>,
    pub(crate) out: &'b mut Vec<u8>,
}

impl Row<'_, '_> {
    /// Sets a field, if it is selected. `json` appends it as a member of an object, and `text` appends its value.
    #[inline(always)]
    fn set(&mut self, name: &Name, json: impl FnOnce(&mut Json<'_>), text: impl FnOnce(&mut Vec<u8>)) {
        if self.columns.may_select(name.key.bit()) {
            match self.columns.format {
                Format::Text => self.columns.set(name.key, text),
                Format::Jsonl => self.columns.set(name.key, |out| json(&mut Json::members(out))),
            }
        }
    }

    /// Sets a field whose value is JSON in text too.
    #[inline(always)]
    fn set_json(&mut self, name: &Name, json: impl Fn(&mut Json<'_>)) {
        self.set(name, &json, |out| {
            let start = out.len();
            json(&mut Json::members(out));
            out.drain(start..out.len().min(start + name.member_len()));
        });
    }
}

impl RecordSink for Row<'_, '_> {
    #[inline]
    fn begin(&mut self, header: &Header<'_>) {
        let head = header.head;
        self.hex(name!("offset"), header.place.offset);
        let json = |json: &mut Json<'_>| json.string(name!("type"), &head.name);
        self.set(name!("type"), json, |out| out.extend_from_slice(&head.name));
        let json = |json: &mut Json<'_>| json.number(name!("misc"), u64::from(head.misc.0));
        self.set(name!("misc"), json, |out| out.extend_from_slice(&head.bits));
        self.number(name!("size"), u64::from(header.size));
        given(header.place.decompressed_offset, |offset| self.hex(name!("inner"), offset));
        given(header.event, |event| {
            let index = event.index as u64;
            self.set(name!("event"), |json| json.number(name!("event"), index), |out| match &event.name {
                Some(name) => out.extend_from_slice(name),
                None => push_decimal(out, index),
            });
        });
    }

    fn begin_sample_id(&mut self) {}

    fn end(&mut self, _: Option<(&FileError, &[u8])>) {
        let Columns { format, columns, values, .. } = &mut *self.columns;
        let start = self.out.len();
        for column in columns {
            let value = core::mem::take(&mut column.value);
            let is_missing = value.is_empty();
            self.out.extend_from_slice(&values[value]);
            if *format == Format::Text {
                self.out.extend_from_slice(if is_missing { b"-\t" } else { b"\t" });
            }
        }
        match format {
            // There is at least one column.
            Format::Text => self.out.truncate(self.out.len() - 1),
            Format::Jsonl => json::close(self.out, start),
        }
        self.out.push(b'\n');
        values.clear();
    }
}

impl Scalars for Row<'_, '_> {
    #[inline(always)]
    fn number(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.number(name, value), |out| push_decimal(out, value));
    }

    #[inline(always)]
    fn task(&mut self, name: &Name, value: i64) {
        self.set(name, |json| json.task(name, value), |out| push_signed(out, value));
    }

    #[inline(always)]
    fn hex(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.hex(name, value), |out| push_hex(out, value));
    }

    #[inline(always)]
    fn time(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.time(name, value), |out| push_seconds(out, value));
    }

    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display) {
        self.set(name, |json| json.number(name, value), |out| print(out, format_args!("{shown}")));
    }

    fn string(&mut self, name: &Name, value: &[u8]) {
        self.set(name, |json| json.string(name, value), |out| push_printable(out, value));
    }

    fn blob(&mut self, name: &Name, value: &[u8]) {
        self.set(name, |json| json.blob(name, value), |out| push_bytes(out, value));
    }
}

impl Sink for Row<'_, '_> {
    #[inline]
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.set_json(name!("read"), |json| json.read(value));
    }

    #[inline]
    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        let text = |out: &mut Vec<u8>| {
            let start = out.len();
            for word in value.words() {
                push_hex(out, word.get());
                out.push(b',');
            }
            out.truncate(start.max(out.len().saturating_sub(1)));
        };
        self.set(name!("callchain"), |json| json.callchain(value), text);
    }

    #[inline]
    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        self.set_json(name!("branch_stack"), |json| json.branch_stack(value));
    }

    #[inline]
    fn regs<O: Endian>(&mut self, name: &Name, value: &Regs<'_, O>) {
        self.set_json(name, |json| json.regs(name, value));
    }

    /// Sets each field under its own name, and all fields together as one.
    #[inline]
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.set_json(name!("tracepoint"), |json| json.tracepoint::<O>(tracepoint, raw));
        let columns = &mut *self.columns;
        if !columns.may_select(tracepoint.name_bits) {
            return;
        }
        let selected = columns.selected;
        let fields = tracepoint.fields().iter().filter(|field| selected & field.key.bit() != 0);
        for (field, value) in tracepoint.values::<O>(fields, raw) {
            match columns.format {
                Format::Text => columns.set(field.key, |out| text::push_value(out, &value)),
                Format::Jsonl => columns.set(field.key, |out| json::push_field(out, field, &value)),
            }
        }
    }

    #[inline]
    fn stack_user(&mut self, value: &StackUser<'_>) {
        self.set_json(name!("stack_user"), |json| json.stack_user(value));
    }

    #[inline]
    fn readings(&mut self, value: &Readings) {
        self.set_json(name!("readings"), |json| json.readings(value));
    }

    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars)) {
        self.set_json(name, |json| Sink::object(json, name, fields));
    }

    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        self.set_json(name, |json| json.list(name, count, item));
    }

    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone) {
        self.set_json(name, |json| json.addresses(name, values.clone()));
    }
}
