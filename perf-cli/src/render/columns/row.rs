//! The sink that puts the fields of a record into the selected columns.

use core::fmt::Display;

use perf_abi::endian::Endian;
use perf_parse::Sample;
use perf_parse::file::FileError;
use perf_parse::sample::{BranchStack, Callchain, Read, Readings, Regs, SimdRegs, StackUser};

use super::super::digits::push_hex;
use super::super::head::Heads;
use super::super::ibs::IbsSample;
use super::super::json::{self, Json};
use super::super::name::{Name, name};
use super::super::record::{PrintedRecord, RecordSink};
use super::super::simd_regs::Side;
use super::super::text::{self, Value};
use super::super::tracepoint::Tracepoint;
use super::super::{Scalars, Sink, given};
use super::{Columns, Source};
use crate::args::Format;

/// The line of a record.
#[derive(Debug)]
pub(crate) struct ColumnsLine<'b, 'a> {
    pub(crate) columns: &'b mut Columns<'a>,
    pub(crate) out: &'b mut Vec<u8>,
}

impl ColumnsLine<'_, '_> {
    /// Collects a field, if it is selected. `json` appends it as a member of an object, and `text` appends its value.
    #[inline(always)]
    fn set(&mut self, name: &Name, json: impl FnOnce(&mut Json<'_>), text: impl FnOnce(&mut Value<'_>)) {
        if self.columns.may_select(name.key.bit()) {
            match self.columns.format {
                Format::Text => self.columns.set(name.key, |out| text(&mut Value(out))),
                Format::Jsonl => self.columns.set(name.key, |out| json(&mut Json::members(out))),
            }
        }
    }

    /// Collects a field whose value is JSON in text too.
    #[inline(always)]
    fn set_json(&mut self, name: &Name, json: impl Fn(&mut Json<'_>)) {
        self.set(name, &json, |Value(out)| {
            let start = out.len();
            json(&mut Json::members(out));
            out.drain(start..out.len().min(start + name.member_len()));
        });
    }
}

impl RecordSink for ColumnsLine<'_, '_> {
    fn begin(&mut self, it: &PrintedRecord<'_>, _: &mut Heads) {
        given(it.record.position().decompressed, |offset| self.hex(name!("inner"), offset));
    }

    fn begin_sample_id(&mut self) {}

    #[inline]
    fn end(
        &mut self,
        it: &PrintedRecord<'_>,
        heads: &mut Heads,
        sample: Option<&Sample<'_>>,
        _: Option<&FileError>,
    ) {
        let Columns { format, columns, values, .. } = &mut *self.columns;
        let out = &mut *self.out;
        match format {
            Format::Text => {
                for column in &mut *columns {
                    if print_known(column.source, it, heads, sample, &mut Value(out)) {
                        column.seen = true;
                    } else if column.value.is_empty() {
                        out.push(b'-');
                    } else {
                        out.extend_from_slice(&values[column.value.clone()]);
                    }
                    out.push(b'\t');
                }
                // There is at least one column.
                out.truncate(out.len() - 1);
            }
            Format::Jsonl => {
                let start = out.len();
                for column in &mut *columns {
                    if print_known(column.source, it, heads, sample, &mut Json::members(out)) {
                        column.seen = true;
                    } else {
                        out.extend_from_slice(&values[column.value.clone()]);
                    }
                }
                json::close(out, start);
            }
        }
        out.push(b'\n');
        if !values.is_empty() {
            values.clear();
            columns.iter_mut().for_each(|column| column.value = 0..0);
        }
    }
}

/// Passes the value of a column to `sink`, unless it must be collected. Returns whether it did.
#[inline(always)]
fn print_known(
    source: Source,
    it: &PrintedRecord<'_>,
    heads: &mut Heads,
    sample: Option<&Sample<'_>>,
    sink: &mut impl Scalars,
) -> bool {
    match source {
        Source::Leading(field) => return sample.is_some_and(|sample| field.print(sample, sink)),
        Source::Collected => return false,
        Source::Offset => sink.hex(name!("offset"), it.offset),
        Source::Type => sink.string(name!("type"), &heads.of(&it.record.raw()).name),
        Source::Misc => {
            sink.labeled(name!("misc"), u64::from(it.record.misc().0), &heads.of(&it.record.raw()).bits)
        }
        Source::Size => sink.number(name!("size"), u64::from(it.record.raw().size())),
        Source::Event => {
            let Some(event) = it.event else { return false };
            match event.name {
                Some(name) => sink.labeled(name!("event"), event.index as u64, name),
                None => sink.number(name!("event"), event.index as u64),
            }
        }
    }
    true
}

impl Scalars for ColumnsLine<'_, '_> {
    #[inline(always)]
    fn number(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.number(name, value), |text| text.number(name, value));
    }

    #[inline(always)]
    fn task(&mut self, name: &Name, value: i64) {
        self.set(name, |json| json.task(name, value), |text| text.task(name, value));
    }

    #[inline(always)]
    fn hex(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.hex(name, value), |text| text.hex(name, value));
    }

    #[inline(always)]
    fn time(&mut self, name: &Name, value: u64) {
        self.set(name, |json| json.time(name, value), |text| text.time(name, value));
    }

    fn labeled(&mut self, name: &Name, value: u64, label: &[u8]) {
        self.set(name, |json| json.labeled(name, value, label), |text| text.labeled(name, value, label));
    }

    fn named(&mut self, name: &Name, value: u64, shown: &dyn Display) {
        self.set(name, |json| json.named(name, value, shown), |text| text.named(name, value, shown));
    }

    fn string(&mut self, name: &Name, value: &[u8]) {
        self.set(name, |json| json.string(name, value), |text| text.string(name, value));
    }

    fn blob(&mut self, name: &Name, value: &[u8]) {
        self.set(name, |json| json.blob(name, value), |text| text.blob(name, value));
    }

    fn guessed(&mut self) {
        self.set(name!("guessed"), |json| json.guessed(), |text| text.guessed());
    }
}

impl Sink for ColumnsLine<'_, '_> {
    /// Does nothing: [`end`](RecordSink::end) gets the sample and prints its leading fields.
    #[inline(always)]
    fn leading(&mut self, _: &Sample<'_>) {}

    #[inline(always)]
    fn wants_sections(&self) -> bool {
        self.columns.collects
    }

    #[inline]
    fn read(&mut self, value: &Read<'_>) {
        self.set_json(name!("read"), |json| json.read(value));
    }

    #[inline]
    fn callchain(&mut self, value: &Callchain<'_>) {
        let text = |Value(out): &mut Value<'_>| {
            let start = out.len();
            for word in value.words() {
                push_hex(out, word);
                out.push(b',');
            }
            out.truncate(start.max(out.len().saturating_sub(1)));
        };
        self.set(name!("callchain"), |json| json.callchain(value), text);
    }

    #[inline]
    fn branch_stack(&mut self, value: &BranchStack<'_>) {
        self.set_json(name!("branch_stack"), |json| json.branch_stack(value));
    }

    #[inline]
    fn regs(&mut self, name: &Name, value: &Regs<'_>) {
        self.set_json(name, |json| json.regs(name, value));
    }

    #[inline]
    fn simd_regs(&mut self, name: &Name, side: Side, value: &SimdRegs<'_>) {
        self.set_json(name, |json| json.simd_regs(name, side, value));
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

    fn ibs(&mut self, sample: &IbsSample<'_>) {
        self.set_json(name!("ibs"), |json| json.ibs(sample));
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
