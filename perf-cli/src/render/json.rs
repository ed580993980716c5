//! Fields as members of a JSON object.

use core::fmt::Display;

use perf_abi::branch::{BranchEntry, BranchFlags};
use perf_abi::endian::Endian;
use perf_parse::sample::{BranchStack, Callchain, Read, ReadValue, Reading, Readings, Regs, StackUser};
use perf_parse::tracepoint::{Array, Value};

use super::digits::{push_decimal, push_signed};
use super::escape::{push_hex, push_json, push_json_shown, push_json_value};
use super::name::{Name, name};
use super::ready::Ready;
use super::tracepoint::Tracepoint;
use super::{Scalars, Sink, given};

/// Appends fields to a JSON object, without allocations.
///
/// Every member starts with a comma. At the end, the comma of the first member is replaced by the opening brace.
#[derive(Debug)]
pub(crate) struct Json<'b> {
    out: &'b mut Vec<u8>,
}

impl<'b> Json<'b> {
    /// Appends an object with the members that `members` appends.
    #[inline]
    pub(crate) fn object(out: &'b mut Vec<u8>, members: impl FnOnce(&mut Self)) {
        let start = out.len();
        let mut json = Self { out };
        members(&mut json);
        match json.out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => json.out.push(b'{'),
        }
        json.out.push(b'}');
    }

    /// Appends members without an enclosing object.
    #[inline]
    pub(crate) fn members(out: &'b mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Appends the name of a member. Returns the buffer, for its value.
    #[inline(always)]
    pub(crate) fn member(&mut self, name: &Name) -> &mut Vec<u8> {
        name.push_member(self.out);
        self.out
    }

    /// Appends the prepared text before the value of a member. Returns the buffer, for the value.
    #[inline]
    pub(crate) fn ready(&mut self, member: &Ready) -> &mut Vec<u8> {
        member.push(self.out);
        self.out
    }

    /// Appends a member that is an object.
    fn nested(&mut self, name: &Name, members: impl FnOnce(&mut Json<'_>)) {
        Json::object(self.member(name), members);
    }

    #[inline(never)]
    fn other_readings(&mut self, value: &Readings) {
        let others = || value.iter().filter(|&(_, reading)| reading == Reading::Other);
        if others().next().is_some() {
            push_array(self.member(name!("readings")), others(), |out, (field, _)| {
                push_json(out, field.as_bytes());
            });
        }
    }

    /// Appends a member that is a text of this program.
    pub(crate) fn text(&mut self, name: &Name, value: &dyn Display) {
        push_json_shown(self.member(name), value);
    }

    /// Appends a member that is a list of objects.
    pub(crate) fn objects<T>(
        &mut self,
        name: &Name,
        items: impl Iterator<Item = T>,
        members: impl Fn(&mut Json<'_>, T),
    ) {
        push_array(self.member(name), items, |out, item| Json::object(out, |json| members(json, item)));
    }

    /// Appends a member that is already a JSON value.
    pub(crate) fn serialized(&mut self, name: &Name, value: &serde_json::Value) {
        push_json_value(self.member(name), value);
    }
}

pub(super) fn push_blob(out: &mut Vec<u8>, value: &[u8]) {
    out.push(b'"');
    push_hex(out, value);
    out.push(b'"');
}

/// Appends the value of a tracepoint's field.
#[inline]
pub(super) fn push_value<O: Endian>(out: &mut Vec<u8>, value: &Value<'_, O>) {
    match value {
        Value::Unsigned(number) | Value::Pointer(number) => push_decimal(out, *number),
        Value::Signed(number) => push_signed(out, *number),
        Value::Bool(bool) => out.extend_from_slice(if *bool { b"true" } else { b"false" }),
        Value::Str(text) => push_json(out, text),
        Value::Bytes(bytes) => push_blob(out, bytes),
        Value::Array(array) => push_elements(out, array),
    }
}

#[inline(never)]
fn push_elements<O: Endian>(out: &mut Vec<u8>, array: &Array<'_, O>) {
    match array.unsigned_words() {
        Some(words) => push_array(out, words.iter(), |out, word| push_decimal(out, word.get())),
        None => push_array(out, array.values(), |out, value| push_value(out, &value)),
    }
}

/// Appends an array. A comma follows each item; the last comma is replaced by the closing bracket.
#[inline]
fn push_array<T>(out: &mut Vec<u8>, items: impl Iterator<Item = T>, push: impl Fn(&mut Vec<u8>, T)) {
    out.push(b'[');
    let start = out.len();
    for item in items {
        push(out, item);
        out.push(b',');
    }
    if out.len() > start {
        out.truncate(out.len() - 1);
    }
    out.push(b']');
}

impl Scalars for Json<'_> {
    #[inline(always)]
    fn number(&mut self, name: &Name, value: u64) {
        push_decimal(self.member(name), value);
    }

    #[inline(always)]
    fn task(&mut self, name: &Name, value: i64) {
        push_signed(self.member(name), value);
    }

    #[inline(always)]
    fn hex(&mut self, name: &Name, value: u64) {
        self.number(name, value);
    }

    #[inline(always)]
    fn time(&mut self, name: &Name, value: u64) {
        self.number(name, value);
    }

    #[inline(always)]
    fn named(&mut self, name: &Name, value: u64, _: &dyn Display) {
        self.number(name, value);
    }

    #[inline(always)]
    fn string(&mut self, name: &Name, value: &[u8]) {
        push_json(self.member(name), value);
    }

    #[inline(always)]
    fn blob(&mut self, name: &Name, value: &[u8]) {
        push_blob(self.member(name), value);
    }
}

impl Sink for Json<'_> {
    fn read<O: Endian>(&mut self, value: &Read<'_, O>) {
        self.nested(name!("read"), |json| {
            if value.is_group() {
                json.number(name!("nr"), value.nr() as u64);
            } else {
                value.values().for_each(|of| read_value(json, of));
            }
            given(value.time_enabled(), |time| json.number(name!("time_enabled"), time));
            given(value.time_running(), |time| json.number(name!("time_running"), time));
            if value.is_group() {
                json.objects(name!("values"), value.values(), read_value);
            }
        });
    }

    fn callchain<O: Endian>(&mut self, value: &Callchain<'_, O>) {
        self.addresses(name!("callchain"), value.words().iter().map(|word| word.get()));
    }

    fn branch_stack<O: Endian>(&mut self, value: &BranchStack<'_, O>) {
        self.nested(name!("branch_stack"), |json| {
            given(value.hw_idx, |index| json.number(name!("hw_idx"), index));
            json.objects(name!("entries"), value.entries.iter(), branch);
            given(value.counters, |counters| {
                json.addresses(name!("counters"), counters.iter().map(|word| word.get()))
            });
        });
    }

    fn regs<O: Endian>(&mut self, name: &Name, value: &Regs<'_, O>) {
        self.nested(name, |json| {
            json.number(name!("abi"), value.abi.0);
            json.addresses(name!("values"), value.values.iter().map(|word| word.get()));
        });
    }

    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.nested(name!("tracepoint"), |json| {
            for (field, value) in tracepoint.values::<O>(tracepoint.fields().iter(), raw) {
                push_value(json.ready(&field.member), &value);
            }
        });
    }

    fn stack_user(&mut self, value: &StackUser<'_>) {
        self.nested(name!("stack_user"), |json| {
            json.number(name!("size"), value.data.len() as u64);
            given(value.dyn_size, |size| json.number(name!("dyn_size"), size));
            json.blob(name!("data"), value.data);
        });
    }

    #[inline(always)]
    fn readings(&mut self, value: &Readings) {
        if *value != Readings::default() {
            self.other_readings(value);
        }
    }

    fn object(&mut self, name: &Name, fields: &dyn Fn(&mut dyn Scalars)) {
        self.nested(name, |json| fields(json));
    }

    fn list(&mut self, name: &Name, count: usize, item: &dyn Fn(usize, &mut dyn Scalars)) {
        self.objects(name, 0..count, |json, index| item(index, json));
    }

    fn addresses(&mut self, name: &Name, values: impl Iterator<Item = u64> + Clone) {
        push_array(self.member(name), values, push_decimal);
    }
}

fn read_value(json: &mut Json<'_>, of: ReadValue) {
    json.number(name!("value"), of.value);
    given(of.id, |id| json.number(name!("id"), id));
    given(of.lost, |lost| json.number(name!("lost"), lost));
}

fn branch<O: Endian>(json: &mut Json<'_>, entry: &BranchEntry<O>) {
    let flags = entry.flags();
    json.number(name!("from"), entry.from.get());
    json.number(name!("to"), entry.to.get());
    json.number(name!("mispred"), u64::from(flags.contains(BranchFlags::MISPRED)));
    json.number(name!("predicted"), u64::from(flags.contains(BranchFlags::PREDICTED)));
    json.number(name!("in_tx"), u64::from(flags.contains(BranchFlags::IN_TX)));
    json.number(name!("abort"), u64::from(flags.contains(BranchFlags::ABORT)));
    json.number(name!("cycles"), u64::from(flags.cycles()));
    json.number(name!("type"), u64::from(flags.kind().0));
    json.number(name!("spec"), u64::from(flags.spec().0));
    json.number(name!("new_type"), u64::from(flags.new_type().0));
    json.number(name!("priv"), u64::from(flags.privilege().0));
    if flags.unknown() != 0 {
        json.number(name!("reserved"), flags.unknown() >> BranchFlags::INFO_BITS_MAX);
    }
}
