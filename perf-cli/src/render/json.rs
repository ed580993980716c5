//! Fields as members of a JSON object.

mod value;

use core::fmt::Display;

use perf_abi::branch::BranchFlags;
use perf_abi::endian::Endian;
use perf_parse::Sample;
use perf_parse::file::FileError;
use perf_parse::list::{Branch, List};
use perf_parse::sample::{
    BranchStack, Callchain, Read, ReadValue, Reading, Readings, Regs, SimdRegs, StackUser,
};

use super::digits::{push_decimal, push_signed};
use super::head::Heads;
use super::ibs::IbsSample;
use super::name::{Name, name};
use super::record::{PrintedRecord, RecordSink};
use super::simd_regs::Side;
use super::tracepoint::Tracepoint;
use super::{Scalars, Sink, given};
use crate::escape::{push_json, push_json_shown, push_json_value};
use value::push_array;
pub(super) use value::{push_blob, push_field};

/// Appends fields to a JSON object, without allocations.
///
/// Every member starts with a comma. At the end, the comma of the first member is replaced by the opening brace.
#[derive(Debug)]
pub(crate) struct Json<'b> {
    out: &'b mut Vec<u8>,
    /// For a record, the positions at which its object and the object inside it begin.
    record: usize,
    inside: usize,
}

/// Closes the object that begins at `start`.
#[inline]
pub(super) fn close(out: &mut Vec<u8>, start: usize) {
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// Removes the end of the last line, a record, so that members can be appended to its object. [`close_line`] ends it again.
pub(crate) fn reopen_line(out: &mut Vec<u8>) {
    out.truncate(out.len().saturating_sub(LINE_END.len()));
}

/// Ends the line of an object.
pub(crate) fn close_line(out: &mut Vec<u8>) {
    out.extend_from_slice(LINE_END);
}

/// The end of the object of a record, and of its line.
const LINE_END: &[u8] = b"}\n";

impl<'b> Json<'b> {
    /// Appends an object with the members that `members` appends.
    #[inline]
    pub(crate) fn object(out: &mut Vec<u8>, members: impl FnOnce(&mut Json<'_>)) {
        let start = out.len();
        members(&mut Json::members(out));
        close(out, start);
    }

    /// Appends members without an enclosing object.
    #[inline]
    pub(crate) fn members(out: &'b mut Vec<u8>) -> Self {
        Self { out, record: 0, inside: 0 }
    }

    /// Appends the name of a member. Returns the buffer, for its value.
    #[inline(always)]
    pub(crate) fn member(&mut self, name: &Name) -> &mut Vec<u8> {
        name.push_member(self.out);
        self.out
    }

    /// Appends a member that is an object.
    fn nested(&mut self, name: &Name, members: impl FnOnce(&mut Json<'_>)) {
        Json::object(self.member(name), members);
    }

    /// Appends a member with the fields that a tracepoint describes in raw data.
    pub(crate) fn described<O: Endian>(&mut self, name: &Name, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.nested(name, |json| {
            for (field, value) in tracepoint.values::<O>(tracepoint.fields().iter(), raw) {
                push_field(json.out, field, &value);
            }
        });
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

impl RecordSink for Json<'_> {
    fn begin(&mut self, it: &PrintedRecord<'_>, heads: &mut Heads) {
        self.record = self.out.len();
        let (place, raw) = (it.record.position(), it.record.raw());
        self.number(name!("offset"), it.offset);
        given(place.decompressed, |offset| self.number(name!("inner"), offset));
        if place.data_file > 0 {
            self.number(name!("data_file"), place.data_file as u64);
        }
        self.out.extend_from_slice(&heads.of(&raw).members);
        self.number(name!("size"), u64::from(raw.size()));
        given(it.event, |event| self.number(name!("event"), event.index as u64));
        self.inside = self.member(name!("fields")).len();
    }

    fn begin_sample_id(&mut self) {
        close(self.out, self.inside);
        self.inside = self.member(name!("sample_id")).len();
    }

    fn end(
        &mut self,
        it: &PrintedRecord<'_>,
        _: &mut Heads,
        _: Option<&Sample<'_>>,
        error: Option<&FileError>,
    ) {
        close(self.out, self.inside);
        if let Some(error) = error {
            self.text(name!("error"), error);
            self.blob(name!("raw"), it.record.raw().payload());
        }
        close(self.out, self.record);
        self.out.push(b'\n');
    }
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
    fn labeled(&mut self, name: &Name, value: u64, _: &[u8]) {
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

    fn guessed(&mut self) {
        self.member(name!("guessed")).extend_from_slice(b"true");
    }
}

impl Sink for Json<'_> {
    fn read(&mut self, value: &Read<'_>) {
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

    fn callchain(&mut self, value: &Callchain<'_>) {
        self.addresses(name!("callchain"), value.words().iter());
    }

    fn branch_stack(&mut self, value: &BranchStack<'_>) {
        self.nested(name!("branch_stack"), |json| {
            given(value.hw_idx, |index| json.number(name!("hw_idx"), index));
            json.objects(name!("entries"), value.entries.iter(), branch);
            given(value.counters, |counters| json.addresses(name!("counters"), counters.iter()));
        });
    }

    fn regs(&mut self, name: &Name, value: &Regs<'_>) {
        self.nested(name, |json| {
            json.number(name!("abi"), value.abi.0);
            json.addresses(name!("values"), value.values.iter());
        });
    }

    fn simd_regs(&mut self, name: &Name, _: Side, value: &SimdRegs<'_>) {
        self.nested(name, |json| {
            let words = |out: &mut Vec<u8>, words: List<'_, u64>| push_array(out, words.iter(), push_decimal);
            json.number(name!("vector_qwords"), u64::from(value.vector_qwords));
            push_array(json.member(name!("vectors")), value.vectors(), words);
            json.number(name!("pred_qwords"), u64::from(value.pred_qwords));
            push_array(json.member(name!("preds")), value.predicates(), words);
        });
    }

    fn tracepoint<O: Endian>(&mut self, tracepoint: &Tracepoint<'_>, raw: &[u8]) {
        self.described::<O>(name!("tracepoint"), tracepoint, raw);
    }

    fn ibs(&mut self, sample: &IbsSample<'_>) {
        self.nested(name!("ibs"), |json| sample.registers(json));
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

fn branch(json: &mut Json<'_>, Branch { from, to, flags, .. }: Branch) {
    json.number(name!("from"), from);
    json.number(name!("to"), to);
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
