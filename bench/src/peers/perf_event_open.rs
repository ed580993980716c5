//! perf-event-open: decodes single records into a record type that owns its data.

use perf_abi::callchain::CallchainContext;
use perf_event_open::sample::record::sample::{CallChain, Sample};
use perf_event_open::sample::record::{Parser, Record};

use super::{Known, each};
use crate::capture::Event;
use crate::sums::{Sums, add, add_some};

/// The reason why it cannot read perf's captures of several events.
pub(crate) const NO_IDENTIFIER: &str =
    "it reads the IDENTIFIER, which is the first field of a sample, as the next field";

/// Returns the data of the events that it needs; `None` if it cannot read their samples.
pub(crate) fn prepare(events: &[Event]) -> Option<Known<Parser>> {
    const IDENTIFIER: u64 = 1 << 16;
    Known::new(events, |event| {
        (event.sample_type & IDENTIFIER == 0).then(|| Parser {
            sample_id_all: event.sample_id_all,
            sample_type: event.sample_type,
            read_format: event.read_format,
            user_regs: event.regs_user.count_ones() as usize,
            intr_regs: event.regs_intr.count_ones() as usize,
            branch_sample_type: 0,
        })
    })
}

/// Reads all fields of all records; returns `None` if the event of a record is unknown.
#[inline(never)]
pub(crate) fn decode(known: &Known<Parser>, records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    each(records, &known.ids, |record, event| {
        // SAFETY: the kernel wrote the record for this event; the records of a `Capture` have 8-aligned
        // addresses and sizes.
        let (_, record, _) = unsafe { known.of[event].parse(record) };
        sums.records += 1;
        match &record {
            Record::Sample(sample) => touch(&mut sums, event, sample),
            Record::Mmap(mmap) => add(&mut sums.others, mmap.task.pid.into()),
            Record::Comm(comm) => add(&mut sums.others, comm.task.pid.into()),
            _ => {}
        }
        Some(())
    })?;
    Some(sums)
}

/// Reads all fields of a sample.
#[inline(always)]
pub(crate) fn touch(sums: &mut Sums, event: usize, sample: &Sample) {
    sums.samples += 1;
    add(&mut sums.event, event as u64);
    add_some(&mut sums.ip, sample.code_addr.map(|(ip, _)| ip));
    if let Some(task) = &sample.record_id.task {
        add(&mut sums.pid, task.pid.into());
        add(&mut sums.tid, task.tid.into());
    }
    add_some(&mut sums.time, sample.record_id.time);
    add_some(&mut sums.addr, sample.data_addr);
    add_some(&mut sums.cpu, sample.record_id.cpu);
    add_some(&mut sums.period, sample.period);
    for part in sample.call_chain.iter().flatten() {
        let (context, frames) = frames(part);
        add(&mut sums.frames, 1 + frames.len() as u64);
        add(&mut sums.callchain, context.0);
        frames.iter().for_each(|frame| add(&mut sums.callchain, *frame));
    }
    if let Some(raw) = &sample.raw {
        add(&mut sums.raw, raw.len() as u64);
    }
    if let Some((regs, _)) = &sample.user_regs {
        regs.iter().for_each(|value| add(&mut sums.regs_user, *value));
    }
    if let Some(copied) = &sample.user_stack {
        add(&mut sums.stack_user, copied.len() as u64);
        add_some(&mut sums.stack_first, copied.first().copied());
    }
}

/// Returns the context marker that the peer removed from a part of a call chain, and the part's frames.
#[inline(always)]
fn frames(part: &CallChain) -> (CallchainContext, &[u64]) {
    match part {
        CallChain::Hv(frames) => (CallchainContext::HV, frames),
        CallChain::Kernel(frames) => (CallchainContext::KERNEL, frames),
        CallChain::User(frames) => (CallchainContext::USER, frames),
        CallChain::Guest(frames) => (CallchainContext::GUEST, frames),
        CallChain::GuestKernel(frames) => (CallchainContext::GUEST_KERNEL, frames),
        CallChain::GuestUser(frames) => (CallchainContext::GUEST_USER, frames),
        CallChain::Unknown(frames) => (CallchainContext(0), frames),
        _ => (CallchainContext(0), &[]),
    }
}
