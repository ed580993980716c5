//! The sink that puts the fields of records into the selected columns.

use core::fmt::Display;
use perf_abi::endian::{ByteOrder, Endian};
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, StackUser};

use super::super::digits::push_hex;
use super::super::escape::{push_hex as push_bytes, push_json, push_printable};
use super::super::name::{Name, name};
use super::super::tracepoint::Tracepoint;
use super::super::{Scalars, Sink, json, print, text};
use super::{Cell, Columns};

impl Scalars for Columns<'_> {
    #[inline(always)]
    fn number(&mut self, name: &Name, value: u64) {
        self.put(name, Cell::Number(value));
    }

    #[inline(always)]
    fn task(&mut self, name: &Name, value: i64) {
        self.put(name, Cell::Task(value));
    }

    #[inline(always)]
    fn hex(&mut self, name: &Name, value: u64) {
        self.put(name, Cell::Hex(value));
    }

    #[inline(always)]
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
            self.text(name, |out| push_bytes(out, value));
        }
    }
}

impl Sink for Columns<'_> {
    #[inline]
    fn read<O: ByteOrder>(&mut self, value: &Read<'_, O>) {
        self.json(name!("read"), |json| json.read(value));
    }

    #[inline]
    fn callchain<O: ByteOrder>(&mut self, value: &Callchain<'_, O>) {
        if self.is_json() {
            return self.json(name!("callchain"), |json| json.callchain(value));
        }
        self.text(name!("callchain"), |out| {
            let start = out.len();
            for word in value.words() {
                push_hex(out, word);
                out.push(b',');
            }
            out.truncate(start.max(out.len().saturating_sub(1)));
        });
    }

    #[inline]
    fn branch_stack<O: ByteOrder>(&mut self, value: &BranchStack<'_, O>) {
        self.json(name!("branch_stack"), |json| json.branch_stack(value));
    }

    #[inline]
    fn regs<O: ByteOrder>(&mut self, name: &Name, value: &Regs<'_, O>) {
        self.json(name, |json| json.regs(name, value));
    }

    /// Puts each field under its own name, and all fields together as one.
    #[inline]
    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.json(name!("tracepoint"), |json| json.tracepoint::<O>(tracepoint, raw));
        if self.asked & tracepoint.slots == 0 {
            return;
        }
        let push = if self.is_json() { json::push_value } else { text::push_value };
        let asked = self.asked;
        let fields = tracepoint.fields().iter().filter(|field| asked & field.key.bit() != 0);
        for (field, value) in tracepoint.values::<O>(fields, raw) {
            self.print(field.key, 0, |out| push(out, &value));
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
