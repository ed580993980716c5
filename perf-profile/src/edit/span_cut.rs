//! A cut at a span of time: the records of processes and mappings outside of it, and the state at its start in their place.

use core::ops::RangeInclusive;

use hashbrown::{HashMap, HashSet};
use perf_abi::attr::AttrFlags;
use perf_abi::ksymbol::{BpfEventType, KsymbolFlags};
use perf_abi::record::{CpuMode, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::event::RecordPosition;
use perf_parse::file::EventRecords;
use perf_parse::rewrite::{AddedRecord, EditedRecord};
use perf_parse::{EventRecord, Reader, Record};
use perf_session::Session;

use super::state_records::{PastThreads, state_records};

/// Leaves out side-band of times outside of a span.
#[derive(Debug)]
pub(super) struct SpanCut {
    span: RangeInclusive<u64>,
    /// The records before the span that stay in their places.
    alive: HashSet<RecordPosition>,
    /// Number of records of time 0, which readers take at once, that the state at the start of the span has.
    untimed: u64,
}

/// The kinds of records that describe nothing outside of a span but the state at its start.
const SIDE_BAND: &[RecordType] = &[
    RecordType::MMAP,
    RecordType::MMAP2,
    RecordType::COMM,
    RecordType::FORK,
    RecordType::EXIT,
    RecordType::NAMESPACES,
    RecordType::KSYMBOL,
    RecordType::BPF_EVENT,
    RecordType::TEXT_POKE,
    RecordType::CGROUP,
    RecordType::THROTTLE,
    RecordType::UNTHROTTLE,
    RecordType::READ,
    RecordType::SWITCH,
    RecordType::SWITCH_CPU_WIDE,
    RecordType::CALLCHAIN_DEFERRED,
];

/// The kinds of records of AUX areas, whose decoders need all side-band.
const AUX_AREA: &[RecordType] = &[
    RecordType::AUX,
    RecordType::ITRACE_START,
    RecordType::AUX_OUTPUT_HW_ID,
    RecordType::AUXTRACE_INFO,
    RecordType::AUXTRACE,
];

impl SpanCut {
    /// Walks to the start of a span, and returns the cut and the records of the state there. `None` if all side-band has to stay:
    /// the capture has AUX areas, or records without times. `records` are those of the capture, in its order; samples may be
    /// missing.
    pub(super) fn new(
        reader: &Reader<'_>,
        records: EventRecords<'_>,
        span: RangeInclusive<u64>,
    ) -> Option<(Self, Vec<AddedRecord>)> {
        let mut records = records.in_time_order();
        let mut session = Session::new();
        session.add_features(records.features());
        let mut past = PastRecords::default();
        for record in records.by_ref() {
            // The walk of the edit reports faults.
            let Ok(record) = record else { continue };
            if AUX_AREA.contains(&record.kind()) {
                return None;
            }
            let time = record.time();
            if time.is_some_and(|time| time > 0 && time >= *span.start()) {
                break;
            }
            let is_side_band = record.kind() != RecordType::SAMPLE && time.is_some();
            if is_side_band {
                past.pass(&record, time.unwrap_or_default());
            }
            let _: Result<(), _> = session.update(&record);
        }
        if !records.events().iter().all(|event| {
            event.attr.flags.contains(AttrFlags::SAMPLE_ID_ALL)
                && event.attr.sample_type.contains(SampleType::TIME)
        }) {
            return None;
        }
        let PastRecords { alive, untimed, threads } = past;
        let state = if *span.start() == 0 {
            Vec::new()
        } else {
            state_records(&session, &threads, records.events(), reader.endianness(), *span.start())
        };
        // Without a state, what has no time stays.
        let untimed = if *span.start() == 0 { 0 } else { untimed };
        Some((Self { span, alive: alive.into_values().collect(), untimed }, state))
    }

    /// Decides about the next record in the order of the capture that is not a sample.
    pub(super) fn decide(&mut self, record: &EventRecord<'_>) -> EditedRecord {
        let kind = record.kind();
        let Some(time) = record.time().filter(|_| SIDE_BAND.contains(&kind)) else {
            return EditedRecord::Kept;
        };
        let is_kept = if time == 0 {
            let is_of_state = self.untimed > 0;
            self.untimed = self.untimed.saturating_sub(1);
            !is_of_state || self.stays(record)
        } else if time > *self.span.end() {
            // The chain of a sample comes after it.
            kind == RecordType::CALLCHAIN_DEFERRED
        } else {
            time >= *self.span.start() || self.stays(record)
        };
        if is_kept { EditedRecord::Kept } else { EditedRecord::LeftOut }
    }

    /// Returns whether a record before the span stays in its place.
    fn stays(&self, record: &EventRecord<'_>) -> bool {
        match record.kind() {
            RecordType::KSYMBOL | RecordType::BPF_EVENT | RecordType::TEXT_POKE | RecordType::CGROUP => {
                self.alive.contains(&record.position())
            }
            RecordType::MMAP | RecordType::MMAP2 => record.misc().cpumode() != CpuMode::USER,
            RecordType::COMM | RecordType::FORK | RecordType::EXIT => {
                matches!(record.misc().cpumode(), CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER)
            }
            _ => false,
        }
    }
}

/// What a record describes that a later one changes or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum RecordSubject {
    Symbol(u64),
    Program(u32),
    Text(u64),
    Cgroup(u64),
}

/// The side-band before a span.
#[derive(Debug, Default)]
struct PastRecords {
    /// The records that still hold.
    alive: HashMap<RecordSubject, RecordPosition>,
    untimed: u64,
    threads: PastThreads,
}

impl PastRecords {
    fn pass(&mut self, record: &EventRecord<'_>, time: u64) {
        if time == 0 && SIDE_BAND.contains(&record.kind()) {
            self.untimed = self.untimed.saturating_add(1);
        }
        let Ok(decoded) = record.decode() else { return };
        let (subject, holds) = match decoded {
            Record::Ksymbol(it) => {
                (RecordSubject::Symbol(it.addr), !it.flags.contains(KsymbolFlags::UNREGISTER))
            }
            Record::BpfEvent(it) => (RecordSubject::Program(it.id), it.kind != BpfEventType::PROG_UNLOAD),
            Record::TextPoke(it) => (RecordSubject::Text(it.addr), true),
            Record::Cgroup(it) => (RecordSubject::Cgroup(it.id), true),
            _ => return self.threads.pass(record, &decoded, time),
        };
        if holds {
            self.alive.insert(subject, record.position());
        } else {
            self.alive.remove(&subject);
        }
    }
}
