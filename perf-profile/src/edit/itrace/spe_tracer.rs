//! Makes the samples of Arm SPE.

use perf_abi::branch::BranchFlags;
use perf_abi::endian::Endianness;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_aux::spe::{SpeInfo, SpeSample, Synthesis};
use perf_aux::trace::{AuxQueue, AuxTrace};
use perf_parse::write::{BranchFields, BranchStackFields, SampleFields};
use perf_parse::{EventRecord, Reader, Record};

use super::area::{AreaData, Owner, time};
use super::made_event::MadeEvent;
use super::sample_writer::SampleWriter;
use super::spe_events::SpeEvents;
use super::spe_queue::SpeQueue;
use super::threads::Threads;
use super::{TraceAccount, TraceRecord};

/// The decoders of the areas of Arm SPE.
pub(super) struct SpeTracer<'r, 'a> {
    trace: &'r AuxTrace,
    events: &'r SpeEvents,
    queues: Vec<SpeQueue<'r, 'a>>,
    /// Whether records name their threads, so that context switches are not needed.
    has_contexts: bool,
    /// Takes the records of the trace.
    each: Option<&'r mut dyn FnMut(&TraceRecord)>,
}

impl<'r, 'a> SpeTracer<'r, 'a> {
    pub(super) fn new(
        reader: &'r Reader<'a>,
        trace: &'r AuxTrace,
        events: &'r SpeEvents,
        each: Option<&'r mut dyn FnMut(&TraceRecord)>,
    ) -> Self {
        let info = events.info().ok();
        let cpuid = reader.features().cpu_id().ok().flatten();
        let queue = |queue: &'r AuxQueue| {
            let owner = Owner::of(queue);
            let of_cpu = info.map(|info: SpeInfo<'_>| info.cpu(owner.cpu, cpuid.map(|it| it.as_bytes())));
            let synthesis = Synthesis::new(events.options);
            SpeQueue::new(AreaData::new(reader, trace, queue), owner, of_cpu.unwrap_or_default(), synthesis)
        };
        let queues = trace.queues().iter().map(queue).collect();
        Self { trace, events, queues, has_contexts: false, each }
    }

    pub(super) fn areas(&self) -> usize {
        self.queues.len()
    }

    pub(super) fn advance(&mut self, area: usize) -> Option<Option<u64>> {
        let record = self.queues.get_mut(area)?.advance()?;
        Some((!record.is_damaged()).then_some(record.timestamp))
    }

    /// perf: `arm_spe_set_pid_tid_cpu`.
    pub(super) fn find_owner(&mut self, area: usize, threads: &Threads) {
        let Some(queue) = self.queues.get_mut(area) else { return };
        if self.has_contexts {
            return;
        }
        let owner = &mut queue.owner;
        owner.tid = threads.on_cpu(owner.cpu).unwrap_or(owner.area_tid);
        if let Some(pid) = threads.process(owner.tid) {
            owner.pid = pid;
        }
    }

    pub(super) fn take(&self, record: &EventRecord<'_>, threads: &mut Threads) {
        if self.has_contexts || !record.misc().contains(Misc::SWITCH_OUT) {
            return;
        }
        if let Ok(Record::SwitchCpuWide(it)) = record.decode()
            && let Some(cpu) = record.cpu().and_then(|cpu| i32::try_from(cpu).ok())
        {
            threads.switch(cpu, it.next_prev_pid, it.next_prev_tid);
        }
    }

    pub(super) fn add_to(&self, account: &mut TraceAccount) {
        for queue in &self.queues {
            account.add(queue.account());
            account.unreadable = account.unreadable.saturating_add(queue.unreadable());
        }
    }

    /// Makes the samples of the record of an area.
    ///
    /// perf: `arm_spe_run_decoder`, `arm_spe_sample`.
    pub(super) fn make(
        &mut self,
        area: usize,
        threads: &mut Threads,
        writer: &mut SampleWriter,
        out: &mut Vec<u8>,
    ) {
        let is_timed = self.events.are_timed();
        let Some(queue) = self.queues.get_mut(area) else { return };
        if let Some(tid) = queue.record.context_id.filter(|_| is_timed) {
            let tid = tid.cast_signed();
            self.has_contexts = true;
            match queue.owner.cpu {
                // perf stops here.
                -1 => threads.add(-1, tid),
                cpu => threads.switch(cpu, -1, tid),
            }
            queue.owner.tid = tid;
            queue.owner.pid = threads.process(tid).unwrap_or(-1);
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
            let fields = fields(event, &sample, owner, time, writer.endianness());
            writer.push(out, event, Misc(sample.cpumode.0.into()), &fields);
        }
    }
}

/// Returns the flag of a branch that was not taken. It is the first bit of perf's own after those of the kernel, whose field
/// a big-endian machine fills from its highest bit.
///
/// perf: `not_taken` of `struct branch_flags`, `tools/perf/util/branch.h`; see
/// [`BranchEntry::not_taken`](perf_abi::branch::BranchEntry::not_taken).
const fn not_taken(endianness: Endianness) -> BranchFlags {
    BranchFlags(match endianness {
        Endianness::Little => 1 << BranchFlags::INFO_BITS_MAX,
        Endianness::Big => 1 << 63,
    })
}

/// Returns the fields of a sample.
fn fields(
    event: &MadeEvent,
    sample: &SpeSample,
    owner: Owner,
    time: u64,
    endianness: Endianness,
) -> SampleFields {
    let recorded = event.layout.sample_type();
    let has = |field| recorded.contains(field);
    let entries = sample.branches.iter().map(|it| BranchFields {
        from: it.from,
        to: it.to,
        flags: if it.not_taken { it.flags | not_taken(endianness) } else { it.flags },
    });
    let branch_stack =
        || BranchStackFields { hw_idx: Some(u64::MAX), entries: entries.collect(), counters: None };
    SampleFields {
        addr: Some(sample.addr),
        period: Some(sample.period),
        branch_stack: has(SampleType::BRANCH_STACK).then(branch_stack),
        weight: Some(sample.weight),
        data_src: Some(sample.data_src),
        phys_addr: has(SampleType::PHYS_ADDR).then_some(sample.phys_addr),
        ..event.common_fields(sample.ip, owner, time)
    }
}
