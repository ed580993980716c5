//! linux-perf-event-reader: decodes single records.

use byteorder::LittleEndian;
use linux_perf_event_reader::{
    Endianness, EventRecord, PerfEventAttr, RawData, RawEventRecord, RecordParseInfo, RecordType,
    SampleRecord,
};

use super::{Known, each};
use crate::capture::{Event, HEADER, kind};
use crate::sums::{Sums, add, add_some};

/// Returns the data of the events that it needs; `None` if it cannot read an attr.
pub(crate) fn prepare(events: &[Event]) -> Option<Known<RecordParseInfo>> {
    Known::new(events, |event| {
        let (attr, _) = PerfEventAttr::parse::<_, LittleEndian>(&*event.attr).ok()?;
        Some(RecordParseInfo::new(&attr, Endianness::LittleEndian))
    })
}

/// Reads all fields of all records; returns `None` if a record cannot be decoded.
#[inline(never)]
pub(crate) fn decode(known: &Known<RecordParseInfo>, records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    each(records, &known.ids, |record, event| {
        let info = known.of[event];
        let misc = u16::from_le_bytes([record[4], record[5]]);
        let data = RawData::Single(&record[HEADER..]);
        let raw = RawEventRecord::new(RecordType(kind(record)), misc, data, info);
        touch(&mut sums, event, &raw.parse().ok()?, info.sample_regs_user)
    })?;
    Some(sums)
}

/// Reads all fields of a record of an event with these user registers.
#[inline(always)]
pub(super) fn touch(sums: &mut Sums, event: usize, record: &EventRecord<'_>, regs_user: u64) -> Option<()> {
    sums.records += 1;
    match record {
        EventRecord::Sample(sample) => return touch_sample(sums, event, sample, regs_user),
        EventRecord::Mmap(mmap) => add(&mut sums.others, mmap.pid as u32 as u64),
        EventRecord::Mmap2(mmap) => add(&mut sums.others, mmap.pid as u32 as u64),
        EventRecord::Comm(comm) => add(&mut sums.others, comm.pid as u32 as u64),
        _ => {}
    }
    Some(())
}

#[inline(always)]
fn touch_sample(sums: &mut Sums, event: usize, sample: &SampleRecord<'_>, regs_user: u64) -> Option<()> {
    sums.samples += 1;
    add(&mut sums.event, event as u64);
    add_some(&mut sums.ip, sample.ip);
    add_some(&mut sums.pid, sample.pid.map(|pid| pid as u32));
    add_some(&mut sums.tid, sample.tid.map(|tid| tid as u32));
    add_some(&mut sums.time, sample.timestamp);
    add_some(&mut sums.addr, sample.addr);
    add_some(&mut sums.cpu, sample.cpu);
    add_some(&mut sums.period, sample.period);
    if let Some(chain) = sample.callchain {
        add(&mut sums.frames, chain.len() as u64);
        (0..chain.len()).for_each(|at| add(&mut sums.callchain, chain.get(at).unwrap_or_default()));
    }
    if let Some(raw) = sample.raw {
        add(&mut sums.raw, raw.len() as u64);
    }
    if let Some(regs) = &sample.user_regs {
        let mut left = regs_user;
        while left != 0 {
            add_some(&mut sums.regs_user, regs.get(left.trailing_zeros().into()));
            left &= left - 1;
        }
    }
    if let Some((mut stack, copied)) = sample.user_stack {
        add(&mut sums.stack_user, copied);
        if copied != 0 {
            add(&mut sums.stack_first, stack.read_u8().ok()?.into());
        }
    }
    Some(())
}
