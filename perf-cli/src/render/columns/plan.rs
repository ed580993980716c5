//! Samples whose columns are all at known positions. They are printed from there, not field by field.

use perf_abi::endian::Endian;
use perf_abi::sample_type::SampleType;
use perf_parse::{RawRecord, Sample, SampleLayout};

use super::super::digits::{push_decimal, push_hex, push_signed};
use super::super::fields::{check_tail, has_tail};
use super::super::head::Heads;
use super::super::ready::Ready;
use super::super::tracepoint::Tracepoint;
use super::{Column, Columns};
use crate::args;

/// The sources of the columns of an event's samples.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// One source per column.
    sources: Vec<Source>,
    /// Whether the samples have fields after the leading ones, which must be checked for errors.
    has_tail: bool,
    /// Whether a sample was printed with this plan.
    used: bool,
}

/// The source of a column: common to all records, or a leading field of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The event does not record the field.
    Nowhere,
    Offset,
    Type,
    Misc,
    Size,
    Event,
    Identifier,
    Ip,
    Pid,
    Tid,
    Time,
    Addr,
    Id,
    StreamId,
    Cpu,
    Period,
}

/// For each field name, the `sample_type` bits that it needs and its source.
const SOURCES: [(&str, SampleType, Source); 15] = [
    ("offset", SampleType::NONE, Source::Offset),
    ("type", SampleType::NONE, Source::Type),
    ("misc", SampleType::NONE, Source::Misc),
    ("size", SampleType::NONE, Source::Size),
    ("event", SampleType::NONE, Source::Event),
    ("identifier", SampleType::IDENTIFIER, Source::Identifier),
    ("ip", SampleType::IP, Source::Ip),
    ("pid", SampleType::TID, Source::Pid),
    ("tid", SampleType::TID, Source::Tid),
    ("time", SampleType::TIME, Source::Time),
    ("addr", SampleType::ADDR, Source::Addr),
    ("id", SampleType::ID, Source::Id),
    ("stream_id", SampleType::STREAM_ID, Source::StreamId),
    ("cpu", SampleType::CPU, Source::Cpu),
    ("period", SampleType::PERIOD, Source::Period),
];

/// The parts of an event that its samples need for printing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleEvent<'e> {
    /// The index of the event in the capture.
    pub(crate) index: usize,
    pub(crate) layout: &'e SampleLayout,
    /// The name of the event, safe to print.
    pub(crate) shown: Option<&'e Ready>,
    /// The tracepoint that describes the samples' raw data.
    pub(crate) tracepoint: Option<&'e Tracepoint<'e>>,
}

impl Plan {
    /// Returns the plan for an event; `None` if a column may have another source.
    fn new(columns: &[Column<'_>], event: &SampleEvent<'_>) -> Option<Self> {
        let recorded = event.layout.sample_type();
        let source = |column: &Column<'_>| {
            let &(_, needed, source) = SOURCES.iter().find(|(name, ..)| *name == column.name)?;
            let is_field = event.tracepoint.is_some_and(|it| it.slots & column.key.bit() != 0);
            match recorded.contains(needed) {
                true => Some(source),
                // In the tail, only the raw data of a tracepoint may have a field of this name.
                false => (!is_field).then_some(Source::Nowhere),
            }
        };
        let sources = columns.iter().map(source).collect::<Option<_>>()?;
        Some(Self { sources, has_tail: has_tail(event.layout), used: false })
    }
}

impl Columns<'_> {
    /// Prepares for the samples of a batch. An item is `None` for an event whose samples cannot be decoded.
    pub(crate) fn plan<'e>(&mut self, events: impl Iterator<Item = Option<SampleEvent<'e>>>) {
        if self.format == args::Format::Text {
            self.plans.clear();
            self.plans.extend(events.map(|event| Plan::new(&self.columns, &event?)));
        }
    }

    /// Appends the line of a sample of the event at `place` in the batch. Returns the error of a part that could not be
    /// decoded. Returns `None`, and does nothing, if the sample must be printed field by field.
    #[inline]
    pub(crate) fn sample<O: Endian>(
        &mut self,
        place: usize,
        event: &SampleEvent<'_>,
        offset: u64,
        raw: &RawRecord<'_, O>,
        heads: &mut Heads,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), perf_parse::Error>> {
        let plan = self.plans.get_mut(place)?.as_mut()?;
        let sample = Sample::parse(event.layout, raw).ok()?;
        if !plan.used {
            plan.used = true;
            for (column, source) in self.columns.iter_mut().zip(&plan.sources) {
                column.seen |= *source != Source::Nowhere;
            }
        }
        for source in &plan.sources {
            let number = match source {
                Source::Nowhere => None,
                Source::Tid => sample.tid().map(|tid| Number::Task(i64::from(tid))),
                Source::Pid => sample.pid().map(|pid| Number::Task(i64::from(pid))),
                Source::Cpu => sample.cpu().map(|cpu| Number::Decimal(u64::from(cpu))),
                Source::Time => sample.time().map(Number::Time),
                Source::Ip => sample.ip().map(Number::Hex),
                Source::Addr => sample.addr().map(Number::Hex),
                Source::Offset => Some(Number::Hex(offset)),
                Source::Size => Some(Number::Decimal(u64::from(raw.size()))),
                Source::Identifier => sample.identifier().map(Number::Decimal),
                Source::Id => sample.id().map(Number::Decimal),
                Source::StreamId => sample.stream_id().map(Number::Decimal),
                Source::Period => sample.period().map(Number::Decimal),
                Source::Event => match event.shown {
                    Some(shown) => {
                        shown.push(out);
                        out.push(b'\t');
                        continue;
                    }
                    None => Some(Number::Decimal(event.index as u64)),
                },
                Source::Type | Source::Misc => {
                    let head = heads.of(raw.kind(), raw.misc());
                    let shown = if *source == Source::Type { &head.name } else { &head.bits };
                    shown.push(out);
                    if shown.len() == 0 {
                        out.push(b'-');
                    }
                    out.push(b'\t');
                    continue;
                }
            };
            match number {
                None => out.push(b'-'),
                Some(Number::Decimal(number)) => push_decimal(out, number),
                Some(Number::Task(number)) => push_signed(out, number),
                Some(Number::Hex(number)) => push_hex(out, number),
                Some(Number::Time(time)) => self.clock.push(out, time),
            }
            out.push(b'\t');
        }
        // There is at least one column.
        if let Some(last) = out.last_mut() {
            *last = b'\n';
        }
        Some(if plan.has_tail { check_tail(&sample, event.tracepoint) } else { Ok(()) })
    }
}

/// A number and its output format.
enum Number {
    Decimal(u64),
    Task(i64),
    Hex(u64),
    Time(u64),
}
