//! The walk over a capture that finds its traces.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::aux_area::AuxFlags;
use perf_abi::auxtrace::{AuxtraceType, IntelPtWord};
use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::error::{Error, ErrorKind};
use perf_parse::event::{Event, Events, RecordPosition};
use perf_parse::file::{FileErrorKind, Section};
use perf_parse::record::user::{Auxtrace, UserRecord};
use perf_parse::record::{Aux, SwitchCpuWide};
use perf_parse::{EventRecord, FileError, RawRecord, Reader, Record};

use super::aux_time::AuxTimes;
use super::overlap::OverlapRule;
use super::switches::ContextSwitch;
use super::{
    AuxAccount, AuxBuffer, AuxInfo, AuxQueue, AuxRange, AuxTrace, BufferSource, ContextSwitches, HardwareId,
    TraceError,
};

/// The types of the records that say something about a trace. Samples only if an event has trace data or context switches.
const TYPES: &[RecordType] = &[
    RecordType::AUXTRACE_INFO,
    RecordType::AUXTRACE,
    RecordType::AUXTRACE_ERROR,
    RecordType::ID_INDEX,
    RecordType::TIME_CONV,
    RecordType::AUX,
    RecordType::ITRACE_START,
    RecordType::AUX_OUTPUT_HW_ID,
    RecordType::SWITCH,
    RecordType::SWITCH_CPU_WIDE,
    RecordType::SAMPLE,
];

/// Bytes of an AUXTRACE record.
const AUXTRACE_SIZE: u64 = 48;

/// Index, CPU and thread id of an AUX area, as the records have them.
type QueueKey = (u32, i32, i32);

/// Finds the traces of a capture.
pub(super) fn run(reader: &Reader<'_>) -> AuxTrace {
    let mut pass =
        Pass { room: reader.limits().held_records, held: reader.limits().held_bytes, ..Pass::new(reader) };
    let has_samples = reader.events().iter().any(|event| records_aux(event) || is_sched_switch(event));
    let types = if has_samples { TYPES } else { TYPES.split_last().map_or(TYPES, |(_, types)| types) };
    let mut records = reader.records().only(types);
    while let Some(item) = records.next() {
        match item {
            Ok(record) => pass.take(&record),
            Err(error) => pass.damage(&error, records.reached()),
        }
    }
    // Its sizes are those of compressed data.
    let is_simpleperf = records.feature(Feature::META_INFO).is_some();
    let capture = records.account().clone();
    pass.finish(records.events(), is_simpleperf, AuxAccount { capture, ..AuxAccount::default() })
}

/// Whether the samples of an event have trace data.
fn records_aux(event: &Event) -> bool {
    event.attr.sample_type.contains(SampleType::AUX)
}

fn is_sched_switch(event: &Event) -> bool {
    event.name.as_deref() == Some(b"sched:sched_switch")
}

/// An AUX record, before it is known to which queue it belongs.
#[derive(Debug)]
struct UnattachedRange {
    cpu: Option<u32>,
    range: AuxRange,
}

/// The data of a sample, before it is known to which queue it belongs.
#[derive(Debug)]
struct SampledBuffer {
    id: Option<u64>,
    cpu: Option<u32>,
    tid: Option<i32>,
    buffer: AuxBuffer,
}

/// An AUXTRACE record whose data the capture does not have as a whole.
#[derive(Debug)]
struct CutBuffer {
    place: RecordPosition,
    key: QueueKey,
    buffer: AuxBuffer,
    /// The size in the record.
    announced: u64,
}

#[derive(Debug)]
struct Pass<'r, 'a> {
    reader: &'r Reader<'a>,
    info: Option<AuxInfo>,
    times: Option<AuxTimes>,
    queues: BTreeMap<QueueKey, AuxQueue>,
    ranges: Vec<UnattachedRange>,
    /// The area of each event id.
    ids: BTreeMap<u64, QueueKey>,
    sampled: Vec<SampledBuffer>,
    cut: Option<CutBuffer>,
    cut_off: u64,
    switches: Vec<ContextSwitch>,
    /// The process ids of threads, from records that have both.
    pids: BTreeMap<i32, i32>,
    hardware_ids: Vec<HardwareId>,
    errors: Vec<TraceError>,
    /// Number of items of compressed records, and of bytes, that may still be kept.
    room: usize,
    held: usize,
    omitted: u64,
}

impl<'r, 'a> Pass<'r, 'a> {
    fn new(reader: &'r Reader<'a>) -> Self {
        Self {
            reader,
            info: None,
            times: None,
            queues: BTreeMap::new(),
            ranges: Vec::new(),
            ids: BTreeMap::new(),
            sampled: Vec::new(),
            cut: None,
            cut_off: 0,
            switches: Vec::new(),
            pids: BTreeMap::new(),
            hardware_ids: Vec::new(),
            errors: Vec::new(),
            room: 0,
            held: 0,
            omitted: 0,
        }
    }

    /// Returns whether an item of a record may be kept, and counts it.
    fn may_keep(&mut self, record: &EventRecord<'_>) -> bool {
        if record.position().decompressed.is_none() {
            return true;
        }
        let room = self.room.checked_sub(1);
        self.room = room.unwrap_or(0);
        self.omitted = self.omitted.saturating_add(u64::from(room.is_none()));
        room.is_some()
    }

    /// Takes a record. One that cannot be decoded is left out; the walk's account has it only if its boundary is lost.
    fn take(&mut self, record: &EventRecord<'_>) {
        if record.kind() == RecordType::SAMPLE {
            return self.take_sample(record);
        }
        match record.decode() {
            Ok(Record::User(user, _)) => self.take_user(record, &user),
            Ok(Record::Aux(aux)) if self.may_keep(record) => self.take_aux(record, aux),
            Ok(Record::ItraceStart(start)) if self.may_keep(record) => {
                let after = Some((start.pid, start.tid));
                self.pids.insert(start.tid, start.pid);
                self.take_switch(record, None, after);
            }
            Ok(Record::AuxOutputHwId(id)) if self.may_keep(record) => self.hardware_ids.push(HardwareId {
                id: id.hw_id,
                event_index: record.event_index(),
                cpu: record.cpu(),
                tid: record.pid_tid().map(|(_, tid)| tid),
                time: record.time(),
            }),
            Ok(Record::Switch) if self.may_keep(record) => {
                let own = record.pid_tid();
                let is_out = record.misc().contains(Misc::SWITCH_OUT);
                let (before, after) = if is_out { (own, None) } else { (None, own) };
                self.take_switch(record, before, after);
            }
            Ok(Record::SwitchCpuWide(other)) if self.may_keep(record) => {
                let SwitchCpuWide { next_prev_pid, next_prev_tid } = other;
                let (own, other) = (record.pid_tid(), Some((next_prev_pid, next_prev_tid)));
                let is_out = record.misc().contains(Misc::SWITCH_OUT);
                let (before, after) = if is_out { (own, other) } else { (other, own) };
                self.take_switch(record, before, after);
            }
            _ => {}
        }
    }

    fn take_user(&mut self, record: &EventRecord<'_>, user: &UserRecord<'_>) {
        match user {
            UserRecord::AuxtraceInfo(info) if self.info.is_none() => {
                self.info = Some(AuxInfo::of(info, self.reader.endianness()));
            }
            UserRecord::TimeConv(conv) => self.times = Some(AuxTimes::of_record(conv)),
            UserRecord::Auxtrace(piece) => {
                let data = Section {
                    offset: record.offset().saturating_add(u64::from(record.raw().size())),
                    size: record.trailing_size(),
                };
                let buffer = area_buffer(piece, record.position().data_file, data);
                self.queue(key_of(piece)).buffers.push(buffer);
            }
            UserRecord::IdIndex(index) => {
                for entry in index.entries.iter() {
                    if !self.may_keep(record) {
                        break;
                    }
                    let number = |value: i64| i32::try_from(value).unwrap_or(-1);
                    if let Ok(idx) = u32::try_from(entry.idx) {
                        self.ids.insert(entry.id, (idx, number(entry.cpu), number(entry.tid)));
                    }
                }
            }
            UserRecord::AuxtraceError(error) if self.may_keep(record) => self.errors.push(TraceError {
                kind: error.kind,
                code: error.code,
                cpu: u32::try_from(error.cpu).ok(),
                tid: Some(error.tid).filter(|&tid| tid >= 0),
                ip: error.ip,
                time: error.time,
                message: error.msg.into(),
            }),
            _ => {}
        }
    }

    fn take_aux(&mut self, record: &EventRecord<'_>, Aux { aux_offset, aux_size, flags }: Aux) {
        let (start, end) = if flags.contains(AuxFlags::OVERWRITE) {
            (aux_offset.saturating_sub(aux_size), aux_offset)
        } else {
            (aux_offset, aux_offset.saturating_add(aux_size))
        };
        let pid_tid = record.pid_tid();
        if let Some((pid, tid)) = pid_tid {
            self.pids.insert(tid, pid);
        }
        let range = AuxRange { start, end, flags, time: record.time(), pid_tid };
        self.ranges.push(UnattachedRange { cpu: record.cpu(), range });
    }

    fn take_switch(
        &mut self,
        record: &EventRecord<'_>,
        before: Option<(i32, i32)>,
        after: Option<(i32, i32)>,
    ) {
        if let Some((cpu, time)) = record.cpu().zip(record.time()) {
            self.switches.push(ContextSwitch { cpu, time, before, after });
        }
    }

    fn take_sample(&mut self, record: &EventRecord<'_>) {
        let Some(event) = record.event() else { return };
        if is_sched_switch(event) && self.may_keep(record) {
            self.take_switch(record, record.pid_tid(), None);
        }
        if !records_aux(event) {
            return;
        }
        let Ok(Some(tail)) = record.tail() else { return };
        let Some(data) = tail.aux.filter(|data| !data.is_empty()) else { return };
        let place = record.position();
        let source = if place.decompressed.is_none() && self.reader.can_walk_again() {
            let within = data.as_ptr().addr().saturating_sub(record.raw().as_bytes().as_ptr().addr());
            let offset = place.offset.saturating_add(within as u64);
            BufferSource::Sample {
                data_file: place.data_file,
                data: Section { offset, size: data.len() as u64 },
            }
        } else {
            let Some(held) = self.held.checked_sub(data.len()) else {
                self.omitted = self.omitted.saturating_add(1);
                return;
            };
            self.held = held;
            BufferSource::Copy(Box::from(data))
        };
        let size = data.len() as u64;
        let buffer = AuxBuffer { offset: 0, size, reference: 0, time: record.time(), cut_off: 0, source };
        let sample = record.sample();
        self.sampled.push(SampledBuffer {
            id: sample.and_then(|sample| sample.id().or(sample.identifier())),
            cpu: record.cpu(),
            tid: record.pid_tid().map(|(_, tid)| tid),
            buffer,
        });
    }

    fn queue(&mut self, key: QueueKey) -> &mut AuxQueue {
        self.queues.entry(key).or_insert_with(|| AuxQueue::new(key))
    }

    /// Takes an error of the walk, which goes on at `reached`. An AUXTRACE record whose data is cut off has no boundary after it: the
    /// walk reports it, and then how far the next boundary is.
    fn damage(&mut self, error: &FileError, reached: RecordPosition) {
        match error.kind {
            FileErrorKind::Boundary(Error {
                kind: ErrorKind::Truncated { field: "auxtrace.size", available, .. },
                offset,
            }) => {
                let offset = error.offset.saturating_sub(u64::from(offset));
                self.cut = self.cut_buffer(RecordPosition { offset, ..reached }, available);
            }
            FileErrorKind::Skipped { bytes } => {
                let cut = self.cut.take().filter(|cut| cut.place.offset == error.offset);
                if let Some(CutBuffer { key, mut buffer, place, announced }) = cut {
                    // The data ends where the next record begins.
                    let end = place.offset.saturating_add(bytes);
                    if let BufferSource::Area { data, .. } = &mut buffer.source {
                        data.size = data.size.min(end.saturating_sub(data.offset));
                        buffer.size = data.size;
                        buffer.cut_off = announced.saturating_sub(data.size);
                    }
                    self.cut_off = self.cut_off.saturating_add(buffer.cut_off);
                    self.queue(key).buffers.push(buffer);
                }
            }
            _ => {}
        }
    }

    /// Reads an AUXTRACE record of which `available` bytes of data are left in the file.
    fn cut_buffer(&self, place: RecordPosition, available: u64) -> Option<CutBuffer> {
        let section = Section { offset: place.offset, size: AUXTRACE_SIZE };
        let bytes = self.reader.bytes_in(place.data_file, section).ok()?;
        let (raw, _) = RawRecord::<Endianness>::parse_in(self.reader.endianness(), &bytes).ok()?;
        let Ok(Record::User(UserRecord::Auxtrace(piece), _)) = raw.decode_user() else { return None };
        let offset = place.offset.saturating_add(u64::from(raw.size()));
        let buffer = area_buffer(&piece, place.data_file, Section { offset, size: available });
        Some(CutBuffer { place, key: key_of(&piece), buffer, announced: piece.size })
    }

    fn finish(mut self, events: &Events, is_simpleperf: bool, mut account: AuxAccount) -> AuxTrace {
        let is_sampled = !self.sampled.is_empty();
        for SampledBuffer { id, cpu, tid, buffer } in core::mem::take(&mut self.sampled) {
            let listed = id.and_then(|id| self.ids.get(&id)).copied();
            let key = listed.unwrap_or_else(|| match cpu.and_then(|cpu| i32::try_from(cpu).ok()) {
                Some(cpu) => (cpu.unsigned_abs(), cpu, -1),
                None => (0, -1, tid.unwrap_or(-1)),
            });
            self.queue(key).buffers.push(buffer);
        }
        let overlap = overlap_rule(self.info.as_ref(), events, is_sampled);
        let mut queues: Vec<AuxQueue> = core::mem::take(&mut self.queues).into_values().collect();
        account.unattached = attach(&mut queues, core::mem::take(&mut self.ranges), &mut account);
        let shared = queues.windows(2).filter(|pair| matches!(pair, [one, next] if one.idx == next.idx));
        account.conflicts = shared.count() as u64;
        for queue in &mut queues {
            queue.pid = queue.tid.and_then(|tid| self.pids.get(&tid)).copied();
            queue.ranges.sort_by_key(AuxRange::key);
            account.count(queue, overlap == OverlapRule::Positions && !is_simpleperf);
        }
        account.cut_off = self.cut_off;
        account.omitted = self.omitted;
        AuxTrace {
            times: AuxTimes::of(self.info.as_ref(), self.times),
            info: self.info,
            queues,
            switches: ContextSwitches::new(self.switches),
            hardware_ids: self.hardware_ids,
            errors: self.errors,
            overlap,
            account,
        }
    }
}

fn key_of(piece: &Auxtrace<'_>) -> QueueKey {
    (piece.idx, piece.cpu, piece.tid)
}

fn area_buffer(piece: &Auxtrace<'_>, data_file: usize, data: Section) -> AuxBuffer {
    AuxBuffer {
        offset: piece.offset,
        size: data.size,
        reference: piece.reference,
        time: None,
        cut_off: 0,
        source: BufferSource::Area { data_file, data },
    }
}

/// Returns the rule for repeated bytes.
///
/// perf: `intel_pt_have_tsc` and `intel_pt_sampling_mode`, `tools/perf/util/intel-pt.c`.
fn overlap_rule(info: Option<&AuxInfo>, events: &Events, is_sampled: bool) -> OverlapRule {
    let other = if is_sampled { OverlapRule::Unknown } else { OverlapRule::Positions };
    let Some(info) = info else { return other };
    match info.kind {
        AuxtraceType::INTEL_PT if info.is_snapshot() || is_sampled => {
            let pmu = info.pmu_type();
            let bit = info.word(IntelPtWord::TSC_BIT.0).unwrap_or(0);
            let mut own = events.iter().filter(|event| Some(event.attr.kind.0) == pmu).peekable();
            let has_tsc = own.peek().is_some() && own.all(|event| event.attr.config & bit != 0);
            OverlapRule::IntelPt { has_tsc }
        }
        AuxtraceType::INTEL_BTS if info.is_snapshot() => OverlapRule::IntelBts,
        _ => other,
    }
}

/// Gives the AUX records to the queue of their CPU, or of their thread, and counts their flags. Returns the number of records
/// that belong to none.
fn attach(queues: &mut [AuxQueue], ranges: Vec<UnattachedRange>, account: &mut AuxAccount) -> u64 {
    let (mut of_cpus, mut of_threads) = (BTreeMap::new(), BTreeMap::new());
    for (index, queue) in queues.iter().enumerate() {
        match (queue.cpu, queue.tid) {
            (Some(cpu), _) => drop(of_cpus.entry(cpu).or_insert(index)),
            (None, Some(tid)) => drop(of_threads.entry(tid).or_insert(index)),
            (None, None) => {}
        }
    }
    let only = (queues.len() == 1).then_some(0);
    let mut unattached = 0_u64;
    for UnattachedRange { cpu, range } in ranges {
        let flag = |flag| u64::from(range.flags.contains(flag));
        account.truncated = account.truncated.saturating_add(flag(AuxFlags::TRUNCATED));
        account.partial = account.partial.saturating_add(flag(AuxFlags::PARTIAL));
        account.collisions = account.collisions.saturating_add(flag(AuxFlags::COLLISION));
        let of_cpu = cpu.and_then(|cpu| of_cpus.get(&cpu));
        let of_thread = range.pid_tid.and_then(|(_, tid)| of_threads.get(&tid));
        let is_unknown = cpu.is_none() && range.pid_tid.is_none();
        let queue = of_cpu.or(of_thread).copied().or(only.filter(|_| is_unknown));
        match queue.and_then(|queue| queues.get_mut(queue)) {
            Some(queue) => queue.ranges.push(range),
            None => unattached = unattached.saturating_add(1),
        }
    }
    unattached
}
