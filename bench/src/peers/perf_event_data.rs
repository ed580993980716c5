//! perf-event-data: decodes single records, into a record type or through a visitor.

use perf_event_data::endian::Little;
use perf_event_data::parse::{ParseConfig, Parser};
use perf_event_data::{Comm, Mmap, Mmap2, Record, RecordMetadata, Sample, Visitor};
use perf_event_open_sys::bindings::perf_event_attr;
use zerocopy::IntoBytes;

use super::{Known, each};
use crate::capture::Event;
use crate::sums::{Sums, add, add_some};

/// Returns the data of the events that it needs.
pub(crate) fn prepare(events: &[Event]) -> Option<Known<ParseConfig<Little>>> {
    Known::new(events, |event| Some(ParseConfig::from(attr(event))))
}

/// Returns the attr as the struct that it takes.
fn attr(event: &Event) -> perf_event_attr {
    const WORDS: usize = size_of::<perf_event_attr>() / 8;
    let mut words = [0_u64; WORDS];
    words.as_mut_bytes().iter_mut().zip(&event.attr).for_each(|(to, from)| *to = *from);
    // SAFETY: both have the same size, and any bytes are a valid `perf_event_attr`, which consists of
    // integers and unions of integers.
    unsafe { std::mem::transmute::<[u64; WORDS], perf_event_attr>(words) }
}

/// Reads all fields of all records; returns `None` if a record cannot be decoded.
#[inline(never)]
pub(crate) fn decode(known: &Known<ParseConfig<Little>>, records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    each(records, &known.ids, |record, event| {
        sums.records += 1;
        match Parser::new(record, known.of[event].clone()).parse().ok()? {
            Record::Sample(sample) => touch(&mut sums, event, &sample),
            Record::Mmap(mmap) => add(&mut sums.others, mmap.pid.into()),
            Record::Mmap2(mmap) => add(&mut sums.others, mmap.pid.into()),
            Record::Comm(comm) => add(&mut sums.others, comm.pid.into()),
            _ => {}
        }
        Some(())
    })?;
    Some(sums)
}

/// Reads the same fields through its visitor, which builds fewer values.
#[inline(never)]
pub(crate) fn visit(known: &Known<ParseConfig<Little>>, records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    each(records, &known.ids, |record, event| {
        sums.records += 1;
        let visit = Visit { sums: &mut sums, event };
        Parser::new(record, known.of[event].clone()).parse_record(visit).ok()
    })?;
    Some(sums)
}

/// The visitor that adds up the fields.
struct Visit<'s> {
    sums: &'s mut Sums,
    event: usize,
}

impl<'a> Visitor<'a> for Visit<'_> {
    type Output = ();

    fn visit_unimplemented(self, _: RecordMetadata) {}

    fn visit_sample(self, sample: Sample<'a>, _: RecordMetadata) {
        touch(self.sums, self.event, &sample);
    }

    fn visit_mmap(self, mmap: Mmap<'a>, _: RecordMetadata) {
        add(&mut self.sums.others, mmap.pid.into());
    }

    fn visit_mmap2(self, mmap: Mmap2<'a>, _: RecordMetadata) {
        add(&mut self.sums.others, mmap.pid.into());
    }

    fn visit_comm(self, comm: Comm<'a>, _: RecordMetadata) {
        add(&mut self.sums.others, comm.pid.into());
    }
}

/// Reads all fields of a sample.
#[inline(always)]
fn touch(sums: &mut Sums, event: usize, sample: &Sample<'_>) {
    sums.samples += 1;
    add(&mut sums.event, event as u64);
    add_some(&mut sums.ip, sample.ip());
    add_some(&mut sums.pid, sample.pid());
    add_some(&mut sums.tid, sample.tid());
    add_some(&mut sums.time, sample.time());
    add_some(&mut sums.addr, sample.addr());
    add_some(&mut sums.cpu, sample.cpu());
    add_some(&mut sums.period, sample.period());
    if let Some(chain) = sample.callchain() {
        add(&mut sums.frames, chain.len() as u64);
        chain.iter().for_each(|frame| add(&mut sums.callchain, *frame));
    }
    if let Some(raw) = sample.raw() {
        add(&mut sums.raw, raw.len() as u64);
    }
    if let Some(regs) = sample.regs_user() {
        regs.regs.iter().for_each(|value| add(&mut sums.regs_user, *value));
    }
    if let Some(copied) = sample.stack_user() {
        add(&mut sums.stack_user, copied.len() as u64);
        add_some(&mut sums.stack_first, copied.first().copied());
    }
}
