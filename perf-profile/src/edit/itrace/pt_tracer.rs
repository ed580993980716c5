//! Makes the samples of Intel PT.

use perf_abi::aux_area::AuxFlags;
use perf_abi::record::{CpuMode, Misc};
use perf_aux::trace::{AuxQueue, AuxTrace};
use perf_parse::write::SampleFields;
use perf_parse::{EventRecord, Reader, Record};

use super::TraceAccount;
use super::area::{AreaData, Owner, time};
use super::pt_events::PtEvents;
use super::pt_queue::{PtItem, PtQueue};
use super::pt_sample::{PtContent, PtError};
use super::sample_writer::SampleWriter;
use super::threads::Threads;
use crate::tid_field::TidField;

/// The lowest address of the kernel.
const KERNEL: u64 = 1 << 63;

/// The decoders of the areas of Intel PT.
pub(super) struct PtTracer<'r, 'a> {
    trace: &'r AuxTrace,
    events: &'r PtEvents,
    queues: Vec<PtQueue<'r, 'a>>,
    switches: SwitchRecords,
}

/// The records by which a capture has its context switches.
///
/// perf: `have_sched_switch`, `intel_pt_context_switch`.
enum SwitchRecords {
    None,
    /// Samples of `sched:sched_switch`; without the field if the capture does not have its place.
    Tracepoint(Option<TidField>),
    /// SWITCH records of the threads that come.
    OfThreads,
    /// SWITCH_CPU_WIDE records.
    OfCpus,
}

impl<'r, 'a> PtTracer<'r, 'a> {
    pub(super) fn new(reader: &'r Reader<'a>, trace: &'r AuxTrace, events: &'r PtEvents) -> Self {
        let queue = |queue: &'r AuxQueue| {
            let data = AreaData::new(reader, trace, queue);
            PtQueue::new(data, Owner::of(queue), events.state.clone())
        };
        let switches = match events.have_sched_switch {
            0 => SwitchRecords::None,
            1 => SwitchRecords::Tracepoint(next_tid(reader)),
            2 => SwitchRecords::OfThreads,
            _ => SwitchRecords::OfCpus,
        };
        let queues = trace.queues().iter().map(queue).collect();
        Self { trace, events, queues, switches }
    }

    pub(super) fn areas(&self) -> usize {
        self.queues.len()
    }

    pub(super) fn advance(&mut self, area: usize) -> Option<Option<u64>> {
        let item = self.queues.get_mut(area)?.advance()?;
        // perf reports an error as soon as it has found it.
        let is_error = matches!(item.content, PtContent::Error(_));
        Some(item.tsc.filter(|_| !is_error))
    }

    /// perf: `intel_pt_set_pid_tid_cpu`.
    pub(super) fn find_owner(&mut self, area: usize, threads: &Threads) {
        let Some(queue) = self.queues.get_mut(area) else { return };
        let owner = &mut queue.owner;
        let is_switched = owner.area_tid == -1 || !matches!(self.switches, SwitchRecords::None);
        owner.tid = if is_switched { threads.on_cpu(owner.cpu).unwrap_or(-1) } else { owner.area_tid };
        if owner.tid == -1 {
            owner.pid = -1;
        } else if let Some(pid) = threads.process(owner.tid) {
            owner.pid = pid;
        }
    }

    /// Takes a record that puts a thread on a CPU, or that reports lost data.
    pub(super) fn take(
        &self,
        record: &EventRecord<'_>,
        threads: &mut Threads,
        writer: &SampleWriter,
        out: &mut Vec<u8>,
    ) {
        let own = record.pid_tid();
        let next = match (record.decode(), &self.switches) {
            (Ok(Record::Aux(aux)), _) => {
                if aux.flags.contains(AuxFlags::TRUNCATED) && self.events.errors.lost_data {
                    self.push_lost(record, writer, out);
                }
                None
            }
            (Ok(Record::ItraceStart(it)), _) => Some((it.pid, it.tid)).filter(|_| self.events.per_cpu_mmaps),
            (Ok(Record::Sample(_)), SwitchRecords::Tracepoint(field)) => {
                field.as_ref().and_then(|field| field.of_record(record)).map(|tid| (-1, tid))
            }
            (Ok(Record::Switch), SwitchRecords::OfThreads) => own.filter(|_| !is_out(record)),
            (Ok(Record::SwitchCpuWide(_)), SwitchRecords::OfThreads) => own.filter(|_| !is_out(record)),
            (Ok(Record::SwitchCpuWide(it)), SwitchRecords::OfCpus) => {
                if is_out(record) {
                    Some((it.next_prev_pid, it.next_prev_tid))
                } else {
                    own
                }
            }
            _ => None,
        };
        let cpu = record.cpu().and_then(|cpu| i32::try_from(cpu).ok());
        if let Some((cpu, (pid, tid))) = cpu.zip(next) {
            threads.switch(cpu, pid, tid);
        }
    }

    /// perf: `intel_pt_lost`.
    fn push_lost(&self, record: &EventRecord<'_>, writer: &SampleWriter, out: &mut Vec<u8>) {
        let (pid, tid) = record.pid_tid().unwrap_or((-1, -1));
        let cpu = record.cpu().and_then(|cpu| i32::try_from(cpu).ok()).unwrap_or(-1);
        let owner = Owner { pid, tid, cpu, area_tid: -1 };
        writer.push_error(out, PtError::LostData, owner, record.time().unwrap_or(0));
    }

    pub(super) fn add_to(&self, account: &mut TraceAccount) {
        for queue in &self.queues {
            account.add_pt(queue.counts);
            account.unreadable = account.unreadable.saturating_add(queue.unreadable());
        }
    }

    /// Makes the sample of the event of an area.
    ///
    /// perf: `intel_pt_sample`, `intel_ptq_synth_error`.
    pub(super) fn make(&mut self, area: usize, writer: &mut SampleWriter, out: &mut Vec<u8>) {
        let Some(queue) = self.queues.get_mut(area) else { return };
        let Some(PtItem { tsc, ip, content }) = queue.item.take() else { return };
        let time = tsc.filter(|_| self.events.are_timed()).map_or(0, |tsc| time(self.trace, tsc));
        match content {
            PtContent::Sample(id, raw) => {
                let Some(event) = self.events.of_kind(id) else { return };
                let mode = if ip >= KERNEL { CpuMode::KERNEL } else { CpuMode::USER };
                let fields = SampleFields { raw: Some(raw), ..event.common_fields(ip, queue.owner, time) };
                writer.push(out, event, Misc(mode.0.into()), &fields);
            }
            PtContent::Error(error) => {
                let is_selected = match error {
                    PtError::BadPacket => self.events.errors.bad_packets,
                    PtError::Overflow => self.events.errors.overflows,
                    PtError::LostData => self.events.errors.lost_data,
                };
                if is_selected {
                    writer.push_error(out, error, queue.owner, time);
                }
            }
            PtContent::Other => {}
        }
    }
}

/// Returns the field with the thread that comes.
fn next_tid(reader: &Reader<'_>) -> Option<TidField> {
    TidField::find(reader.into(), &[(b"sched_switch", b"next_pid")]).map(|(_, field)| field)
}

fn is_out(record: &EventRecord<'_>) -> bool {
    record.misc().contains(Misc::SWITCH_OUT)
}
