//! The samples of all AUX areas, before the records of the capture that are later.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use perf_abi::branch::BranchFlags;
use perf_abi::endian::Endianness;
use perf_abi::record::{Header, Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_abi::zerocopy::IntoBytes;
use perf_aux::spe::{SpeInfo, SpeSample, Synthesis};
use perf_aux::trace::{AuxQueue, AuxTrace};
use perf_parse::write::{BranchFields, BranchStackFields, RecordEncoder, SampleFields};
use perf_parse::{EventRecord, Reader};

use super::spe_events::{SpeEvent, SpeEvents};
use super::spe_queue::{Owner, SpeQueue};
use super::threads::Threads;
use super::{TraceAccount, TraceRecord};

/// Number of bytes of samples after which they are written.
const AT_ONCE: usize = 1 << 18;
/// Number of samples between two marks for readers that order records: they hold as many.
const ROUND: u64 = 16384;
/// Bit of a branch that was not taken, which is perf's own.
const NOT_TAKEN: u64 = 1 << 33;

/// A walk over the AUX areas of a capture, in step with one over its records.
pub(super) struct SpeWalk<'r, 'a> {
    trace: &'r AuxTrace,
    events: &'r SpeEvents,
    endianness: Endianness,
    queues: Vec<SpeQueue<'r, 'a>>,
    /// The queues by the ticks of their next records.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    threads: Threads,
    /// Whether records name their threads, so that context switches are not needed.
    has_contexts: bool,
    /// Index of the next queue of a capture without times, and whether the queue was begun.
    next: (usize, bool),
    samples: u64,
    /// Takes the records of the trace.
    each: Option<&'r mut dyn FnMut(&TraceRecord)>,
}

impl<'r, 'a> SpeWalk<'r, 'a> {
    pub(super) fn new(
        reader: &'r Reader<'a>,
        trace: &'r AuxTrace,
        events: &'r SpeEvents,
        each: Option<&'r mut dyn FnMut(&TraceRecord)>,
    ) -> Self {
        let info = events.info().ok();
        let cpuid = reader.features().cpu_id().ok().flatten();
        let queue = |queue: &'r AuxQueue| {
            let cpu = queue.cpu.and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
            let of_cpu = info.map(|info: SpeInfo<'_>| info.cpu(cpu, cpuid.map(|it| it.as_bytes())));
            let area = (cpu, queue.tid.unwrap_or(-1));
            let synthesis = Synthesis::new(events.options);
            SpeQueue::new(trace.slices(reader, queue), area, of_cpu.unwrap_or_default(), synthesis)
        };
        let mut queues: Vec<_> = trace.queues().iter().map(queue).collect();
        let mut waiting = BinaryHeap::new();
        if events.are_timed() {
            for (index, queue) in queues.iter_mut().enumerate() {
                // perf makes no samples of the damaged records before the first whole one.
                while let Some(record) = queue.advance() {
                    if !record.is_damaged() {
                        queue.ticks = record.timestamp;
                        waiting.push(Reverse((queue.ticks, index)));
                        break;
                    }
                }
            }
        }
        Self {
            trace,
            events,
            endianness: reader.endianness(),
            queues,
            waiting,
            threads: Threads::default(),
            has_contexts: false,
            next: (0, false),
            samples: 0,
            each,
        }
    }

    /// Makes the samples that are earlier than a record, or all that are left at the end; returns whether there are more.
    pub(super) fn before(&mut self, record: Option<&EventRecord<'_>>, out: &mut Vec<u8>) -> bool {
        let is_timed = self.events.are_timed();
        let has_more = match record {
            Some(record) => {
                let time = record.time().filter(|&time| is_timed && time != 0 && time != u64::MAX);
                time.is_some_and(|time| self.until(Some(time), out))
            }
            None if is_timed => self.until(None, out),
            None => self.without_times(out),
        };
        if let Some(record) = record.filter(|_| !has_more) {
            self.threads.update(record, !self.has_contexts);
        }
        has_more
    }

    /// Returns what was decoded so far.
    pub(super) fn account(&self) -> TraceAccount {
        let mut account = TraceAccount::of_areas(self.trace.account());
        account.samples = self.samples;
        for queue in &self.queues {
            account.add(queue.account());
            account.unreadable = account.unreadable.saturating_add(queue.unreadable);
        }
        account
    }

    /// Makes the samples of records that are earlier than `end`.
    ///
    /// perf: `arm_spe_process_queues`.
    fn until(&mut self, end: Option<u64>, out: &mut Vec<u8>) -> bool {
        let is_earlier = |trace: &AuxTrace, ticks| end.is_none_or(|end| time(trace, ticks) < end);
        while let Some(&Reverse((ticks, index))) = self.waiting.peek() {
            if !is_earlier(self.trace, ticks) {
                return false;
            }
            self.waiting.pop();
            if !self.has_contexts {
                self.find_owner(index);
            }
            let next = self.waiting.peek().map(|&Reverse((ticks, _))| ticks);
            loop {
                self.make(index, true, out);
                let Some(queue) = self.queues.get_mut(index) else { break };
                let Some(record) = queue.advance() else { break };
                let (is_damaged, timestamp) = (record.is_damaged(), record.timestamp);
                // A damaged record belongs to the one before it.
                if is_damaged && out.len() < AT_ONCE {
                    continue;
                }
                if !is_damaged {
                    queue.ticks = queue.ticks.max(timestamp);
                }
                let ticks = queue.ticks;
                let is_next = next.is_none_or(|next| ticks <= next) && is_earlier(self.trace, ticks);
                if !is_next || out.len() >= AT_ONCE {
                    self.waiting.push(Reverse((ticks, index)));
                    break;
                }
            }
            if out.len() >= AT_ONCE {
                return true;
            }
        }
        false
    }

    /// Makes the samples of a capture without times: area by area, each with a first record without packets.
    ///
    /// perf: `arm_spe_process_timeless_queues`.
    fn without_times(&mut self, out: &mut Vec<u8>) -> bool {
        loop {
            let (index, is_begun) = self.next;
            if index >= self.queues.len() {
                return false;
            }
            if !is_begun {
                self.find_owner(index);
                self.make(index, false, out);
                self.next.1 = true;
            }
            while self.queues.get_mut(index).is_some_and(|queue| queue.advance().is_some()) {
                self.make(index, false, out);
                if out.len() >= AT_ONCE {
                    return true;
                }
            }
            self.next = (index.saturating_add(1), false);
        }
    }

    /// Finds the thread that samples of a queue are of.
    ///
    /// perf: `arm_spe_set_pid_tid_cpu`.
    fn find_owner(&mut self, index: usize) {
        let Some(queue) = self.queues.get_mut(index) else { return };
        let on_cpu = self.threads.on_cpu(queue.owner.cpu);
        let tid = on_cpu.unwrap_or_else(|| queue.area_tid());
        queue.owner.tid = tid;
        if let Some(pid) = self.threads.process(tid) {
            queue.owner.pid = pid;
        }
    }

    /// Makes the samples of the record of a queue.
    ///
    /// perf: `arm_spe_run_decoder`, `arm_spe_sample`.
    fn make(&mut self, index: usize, is_timed: bool, out: &mut Vec<u8>) {
        let Some(queue) = self.queues.get_mut(index) else { return };
        if let Some(tid) = queue.record.context_id.filter(|_| is_timed) {
            let tid = tid.cast_signed();
            self.has_contexts = true;
            match queue.owner.cpu {
                // perf stops here.
                -1 => self.threads.add(-1, tid),
                cpu => self.threads.switch(cpu, -1, tid),
            }
            queue.owner.tid = tid;
            queue.owner.pid = self.threads.process(tid).unwrap_or(-1);
        }
        let (record, owner) = (queue.record, queue.owner);
        if let Some(each) = self.each.as_mut().filter(|_| queue.is_begun) {
            each(&TraceRecord {
                record,
                pid: owner.pid,
                tid: owner.tid,
                cpu: u32::try_from(owner.cpu).ok(),
                time: if is_timed { self.trace.time_at(record.timestamp) } else { None },
            });
        }
        for sample in queue.synthesis.samples(&record, &queue.spe_cpu) {
            let Some(event) = self.events.of_kind(sample.kind) else { continue };
            let time = time(self.trace, sample.timestamp);
            let encoder = RecordEncoder::new_in(self.endianness, &event.layout);
            let misc = Misc(sample.cpumode.0.into());
            if encoder.sample(out, misc, &fields(event, &sample, owner, time)).is_ok() {
                self.samples = self.samples.saturating_add(1);
                if is_timed && self.samples.is_multiple_of(ROUND) {
                    end_round(self.endianness, out);
                }
            }
        }
    }
}

/// Returns the time of a record of the trace in nanoseconds; 0 if no record converts it.
fn time(trace: &AuxTrace, ticks: u64) -> u64 {
    trace.time_at(ticks).unwrap_or_default()
}

/// Returns the fields of a sample.
fn fields(event: &SpeEvent, sample: &SpeSample, owner: Owner, time: u64) -> SampleFields {
    let recorded = event.layout.sample_type();
    let has = |field| recorded.contains(field);
    let entries = sample.branches.iter().map(|it| BranchFields {
        from: it.from,
        to: it.to,
        flags: BranchFlags(it.flags.0 | if it.not_taken { NOT_TAKEN } else { 0 }),
    });
    let branch_stack =
        || BranchStackFields { hw_idx: Some(u64::MAX), entries: entries.collect(), counters: None };
    SampleFields {
        identifier: has(SampleType::IDENTIFIER).then_some(event.id),
        ip: Some(sample.ip),
        pid_tid: Some((owner.pid, owner.tid)),
        time: has(SampleType::TIME).then_some(time),
        addr: Some(sample.addr),
        id: has(SampleType::ID).then_some(event.id),
        stream_id: has(SampleType::STREAM_ID).then_some(event.id),
        cpu: has(SampleType::CPU).then_some(owner.cpu.cast_unsigned()),
        period: Some(sample.period),
        branch_stack: has(SampleType::BRANCH_STACK).then(branch_stack),
        weight: Some(sample.weight),
        data_src: Some(sample.data_src),
        phys_addr: has(SampleType::PHYS_ADDR).then_some(sample.phys_addr),
        ..SampleFields::default()
    }
}

/// Appends FINISHED_ROUND.
fn end_round(endianness: Endianness, out: &mut Vec<u8>) {
    use perf_abi::endian::{BigEndian, LittleEndian};
    let (kind, misc) = (RecordType::FINISHED_ROUND, Misc(0));
    match endianness {
        Endianness::Little => out.extend_from_slice(Header::<LittleEndian>::new(kind, misc, 8).as_bytes()),
        Endianness::Big => out.extend_from_slice(Header::<BigEndian>::new(kind, misc, 8).as_bytes()),
    }
}
