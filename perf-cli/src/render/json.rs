//! Fields as members of a JSON object.

use core::fmt::Display;

use perf_abi::branch::{BranchEntry, BranchFlags};
use perf_abi::endian::Endian;
use perf_parse::sample::{BranchStack, Callchain, Read, ReadValue, Reading, Readings, Regs, StackUser};
use perf_parse::tracepoint::{FieldError, Format, Value};

use super::escape::{Lossy, push_hex};
use super::{Scalars, Sink, given};

/// Appends fields to a JSON object, without an allocation.
#[derive(Debug)]
pub(crate) struct Json<'b> {
    out: &'b mut Vec<u8>,
    /// What stands before the next member.
    next: Next,
}

/// What stands before a member.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// Its name: it is the object's first.
    First,
    /// A comma and its name.
    Following,
    /// Nothing: it is a value by itself.
    Bare,
}

impl<'b> Json<'b> {
    /// Appends an object whose members `members` names.
    pub(crate) fn object(out: &'b mut Vec<u8>, members: impl FnOnce(&mut Self)) {
        out.push(b'{');
        let mut json = Self { out, next: Next::First };
        members(&mut json);
        json.out.push(b'}');
    }

    /// Appends the value of the one member that `member` names, without the name.
    pub(crate) fn value(out: &'b mut Vec<u8>, member: impl FnOnce(&mut Self)) {
        member(&mut Self { out, next: Next::Bare });
    }

    /// The buffer, to append a member's value. The name is one of ours, which needs no escapes.
    pub(crate) fn member(&mut self, name: &str) -> &mut Vec<u8> {
        self.named_by(|out| {
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.push(b'"');
        })
    }

    fn named_by(&mut self, name: impl FnOnce(&mut Vec<u8>)) -> &mut Vec<u8> {
        if let Next::Following = self.next {
            self.out.push(b',');
        }
        if !matches!(self.next, Next::Bare) {
            self.next = Next::Following;
            name(self.out);
            self.out.push(b':');
        }
        self.out
    }

    /// A member that is a field of a tracepoint, or an object that says why there is none.
    pub(crate) fn tracepoint_field<O: Endian>(
        &mut self,
        name: &[u8],
        value: &Result<Value<'_, O>, FieldError<'_>>,
    ) {
        let out = self.named_by(|out| push_string(out, &Lossy(name)));
        match value {
            Ok(value) => push_value(out, value),
            Err(error) => Json::object(out, |json| json.text("error", error)),
        }
    }

    /// A member that is an object.
    fn nested(&mut self, name: &str, members: impl FnOnce(&mut Json<'_>)) {
        Json::object(self.member(name), members);
    }

    /// A member that is a text of ours.
    pub(crate) fn text(&mut self, name: &str, value: &dyn Display) {
        push_string(self.member(name), value);
    }

    /// A member that is a list of objects.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        items: impl Iterator<Item = T>,
        members: impl Fn(&mut Json<'_>, T),
    ) {
        self.array(name, items, |out, item| Json::object(out, |json| members(json, item)));
    }

    /// A member that is a JSON value already; writing to memory cannot fail.
    pub(crate) fn serialized(&mut self, name: &str, value: &serde_json::Value) {
        let _ = serde_json::to_writer(self.member(name), value);
    }

    fn array<T>(&mut self, name: &str, items: impl Iterator<Item = T>, push: impl Fn(&mut Vec<u8>, T)) {
        push_array(self.member(name), items, push);
    }
}

fn push_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn push_blob(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    push_hex(out, value);
    out.push(b'"');
}

fn push_value<O: Endian>(out: &mut Vec<u8>, value: &Value<'_, O>) {
    match value {
        Value::Unsigned(number) | Value::Pointer(number) => push_number(out, *number),
        Value::Signed(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        Value::Str(text) => push_string(out, &Lossy(text)),
        Value::Bytes(bytes) => push_blob(out, bytes),
        Value::Array(array) => push_array(out, array.values(), |out, value| push_value(out, &value)),
    }
}

fn push_array<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, push: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    let start = out.len();
    for item in items {
        if out.len() > start {
            out.push(b',');
        }
        push(out, item);
    }
    out.push(b']');
}

/// Appends a string; a text that fails to print ends where it failed.
fn push_string(out: &mut Vec<u8>, value: &dyn Display) {
    let mut serializer = serde_json::Serializer::new(out);
    let _ = serde::Serializer::collect_str(&mut serializer, value);
}

impl Scalars for Json<'_> {
    fn number(&mut self, name: &'static str, value: u64) {
        push_number(self.member(name), value);
    }

    fn task(&mut self, name: &'static str, value: i64) {
        self.member(name).extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        self.number(name, value);
    }

    fn time(&mut self, name: &'static str, value: u64) {
        self.number(name, value);
    }

    fn named(&mut self, name: &'static str, value: u64, _: &dyn Display) {
        self.number(name, value);
    }

    fn string(&mut self, name: &'static str, value: &[u8]) {
        push_string(self.member(name), &Lossy(value));
    }

    fn blob(&mut self, name: &'static str, value: &[u8]) {
        push_blob(self.member(name), value);
    }
}

impl Sink for Json<'_> {
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.nested("read", |json| {
            if value.is_group() {
                json.number("nr", value.nr() as u64);
            } else {
                value.values().for_each(|of| read_value(json, of));
            }
            given(value.time_enabled(), |time| json.number("time_enabled", time));
            given(value.time_running(), |time| json.number("time_running", time));
            if value.is_group() {
                json.objects("values", value.values(), read_value);
            }
        });
    }

    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        self.addresses("callchain", value.words().iter().map(|word| word.get()));
    }

    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        self.nested("branch_stack", |json| {
            given(value.hw_idx, |index| json.number("hw_idx", index));
            json.objects("entries", value.entries.iter(), branch);
            given(value.counters, |counters| {
                json.addresses("counters", counters.iter().map(|word| word.get()))
            });
        });
    }

    fn regs<O: Endian>(&mut self, name: &'static str, value: &Regs<'_, O>) {
        self.nested(name, |json| {
            json.number("abi", value.abi.0);
            json.addresses("values", value.values.iter().map(|word| word.get()));
        });
    }

    fn tracepoint<O: Endian>(&mut self, format: &Format<'_>, raw: &[u8]) {
        self.nested("tracepoint", |json| {
            for (field, value) in format.fields::<O>(raw) {
                json.tracepoint_field(field.name, &value);
            }
        });
    }

    fn stack_user(&mut self, value: &StackUser<'_>) {
        self.nested("stack_user", |json| {
            json.number("size", value.data.len() as u64);
            given(value.dyn_size, |size| json.number("dyn_size", size));
            json.blob("data", value.data);
        });
    }

    fn readings(&mut self, value: &Readings) {
        let others = || value.iter().filter(|&(_, reading)| reading == Reading::Other);
        if others().next().is_some() {
            self.array("readings", others(), |out, (field, _)| push_string(out, &field));
        }
    }

    fn object(&mut self, name: &'static str, fields: &dyn Fn(&mut dyn Scalars)) {
        self.nested(name, |json| fields(json));
    }

    fn list(&mut self, name: &'static str, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        self.objects(name, 0..count, |json, index| item(index, json));
    }

    fn addresses(&mut self, name: &'static str, values: impl Iterator<Item = u64> + Clone) {
        self.array(name, values, push_number);
    }
}

fn read_value(json: &mut Json<'_>, of: ReadValue) {
    json.number("value", of.value);
    given(of.id, |id| json.number("id", id));
    given(of.lost, |lost| json.number("lost", lost));
}

fn branch<O: Endian>(json: &mut Json<'_>, entry: &BranchEntry<O>) {
    let flags = entry.flags();
    json.number("from", entry.from.get());
    json.number("to", entry.to.get());
    json.number("mispred", u64::from(flags.contains(BranchFlags::MISPRED)));
    json.number("predicted", u64::from(flags.contains(BranchFlags::PREDICTED)));
    json.number("in_tx", u64::from(flags.contains(BranchFlags::IN_TX)));
    json.number("abort", u64::from(flags.contains(BranchFlags::ABORT)));
    json.number("cycles", u64::from(flags.cycles()));
    json.number("type", u64::from(flags.kind().0));
    json.number("spec", u64::from(flags.spec().0));
    json.number("new_type", u64::from(flags.new_type().0));
    json.number("priv", u64::from(flags.privilege().0));
    if flags.unknown() != 0 {
        json.number("reserved", flags.unknown() >> BranchFlags::INFO_BITS_MAX);
    }
}
