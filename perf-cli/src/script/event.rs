//! The events of the capture, prepared for printing.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::sync::Arc;

use perf_abi::attr::Attr;
use perf_abi::branch::BranchSampleType;
use perf_abi::event::{EventType, HwId, SwId, SynthId};
use perf_abi::feature::Feature;
use perf_abi::record::CpuMode;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;
use perf_parse::feature::{BuildId, ClockData, Features};
use perf_parse::file::{Mode, Reader};
use perf_parse::record::user::{IdIndex, IdIndexGuest};
use perf_profile::samples::pass::WalkContext;
use perf_profile::tracepoints::TracepointTexts;
use perf_profile::{event_name, machine_of};

use super::choice::{CaptureFacts, Choice, type_of};
use super::fields::Fields;
use crate::outcome::Failure;
use crate::perf_text::print::{OneLine, push_name};
use crate::render::simd_regs::SimdRegNames;

/// What is known of an event.
#[derive(Debug)]
pub(super) struct ScriptEvent {
    pub(super) event: Arc<Event>,
    /// The name, safe to print.
    pub(super) name: Vec<u8>,
    /// The width of the longest name of all events, in bytes.
    pub(super) name_width: usize,
    pub(super) fields: Fields,
    pub(super) has_callchain: bool,
    /// Whether the address of its samples is one of data or code that can be looked up.
    pub(super) has_data_address: bool,
    pub(super) needs_tail: bool,
    /// The index of the format of its raw data.
    pub(super) trace: Option<usize>,
    pub(super) is_bpf_output: bool,
    /// What its samples were made of, if a decoder of processor traces made them.
    pub(super) synth: Option<SynthId>,
    /// Whether its samples are the branches that a processor recorded one by one.
    pub(super) is_branch_trace: bool,
    /// Whether the user chose its fields.
    pub(super) is_chosen: bool,
    /// Whether addresses in user code are printed as offsets in their files, as perf 6.1 does. perf 7.2 prints the recorded ones.
    /// Not for an address alone in a pipe, to which perf adds the function: an offset without function and file says nothing.
    pub(super) shows_offsets: bool,
    /// The architecture that names the registers.
    pub(super) arch: Option<Arch>,
    /// What names vector and predicate registers.
    pub(super) simd_names: SimdRegNames,
    /// The paths of the modules whose build ids the capture lists.
    pub(super) modules: Arc<BTreeSet<Vec<u8>>>,
    /// One moment on the wall clock and on the clock of the samples.
    pub(super) clock: Option<ClockData>,
}

/// The events of the capture, prepared for printing.
#[derive(Debug)]
pub(super) struct ScriptEvents<'a> {
    pub(super) traces: TracepointTexts<'a>,
    pub(super) choice: Choice,
    /// The types whose first event was checked.
    pub(super) checked: Vec<usize>,
    /// By the index of the event.
    pub(super) known: Vec<Option<Arc<ScriptEvent>>>,
    /// The width of the longest name, in bytes.
    pub(super) name_width: usize,
    /// The virtual machines, by the ids of the events in them.
    pub(super) guests: BTreeMap<u64, IdIndexGuest>,
    /// The paths of the modules whose build ids the capture lists.
    pub(super) modules: Arc<BTreeSet<Vec<u8>>>,
    is_pipe: bool,
}

impl<'a> ScriptEvents<'a> {
    /// Returns what is known of the events. `shows_chains` is whether call chains are printed, `is_made` whether the samples were made
    /// of AUX data that the capture no longer has.
    pub(super) fn new(
        choice: Choice,
        shows_chains: bool,
        reader: &'a Reader<'_>,
        is_made: bool,
    ) -> Result<Self, Failure> {
        let traces = TracepointTexts::new(reader);
        let mut events = Self {
            traces,
            choice,
            checked: Vec::new(),
            known: Vec::new(),
            name_width: 0,
            guests: BTreeMap::new(),
            modules: Arc::new(modules_of(reader.features())),
            is_pipe: matches!(reader.mode(), Mode::Pipe),
        };
        events.check(reader.events(), shows_chains, (reader, is_made))?;
        let is_complete = !events.is_pipe;
        let is_missing =
            |kind| is_complete && !reader.events().iter().any(|event| type_of(event.attr.kind) == kind);
        let shows_tod = || {
            reader
                .events()
                .iter()
                .any(|event| events.choice.of(event).has(Fields::TOD) && !is_dummy(&event.attr))
        };
        if is_complete && matches!(reader.features().clock_data(), Ok(None)) && shows_tod() {
            let what = "the capture does not have the time of day; record with --clockid, or leave tod out";
            return Err(Failure(format!("-F tod: {what}")));
        }
        if let Some((name, _)) = events.choice.required().find(|&(_, kind)| is_missing(kind)) {
            return Err(Failure(format!("-F {name}: the capture has no events of this type; leave it out")));
        }
        Ok(events)
    }

    /// Adapts the fields to the first event of each type.
    fn check(
        &mut self,
        list: &[Arc<Event>],
        shows_chains: bool,
        (reader, is_made): (&Reader<'_>, bool),
    ) -> Result<(), Failure> {
        let records_all = |event: &Arc<Event>| event.attr.branch_sample_type.contains(BranchSampleType::ANY);
        let capture = CaptureFacts {
            has_aux: is_made || reader.feature(Feature::AUXTRACE).is_some(),
            has_all_branches: list.iter().any(records_all),
        };
        let is_counted = reader.feature(Feature::STAT).is_some();
        let stacks = list.iter().fold(0, |all, event| all | event.attr.sample_type.0);
        let of_registers = SampleType::REGS_USER.0 | SampleType::STACK_USER.0;
        let has_stacks = stacks & (SampleType::CALLCHAIN.0 | SampleType::BRANCH_STACK.0) != 0
            || stacks & of_registers == of_registers;
        for event in list.iter().filter(|event| !is_dummy(&event.attr)) {
            let kind = type_of(event.attr.kind);
            if self.checked.contains(&kind) {
                continue;
            }
            self.checked.push(kind);
            if !is_counted {
                self.choice.check(event, &OneLine(&event_name(event)).to_string(), capture)?;
            }
            if self.is_pipe && has_stacks && shows_chains {
                self.choice.add_addresses_to_pipes(event);
            }
        }
        let is_traced =
            |event: &Arc<Event>| event.attr.kind == EventType::TRACEPOINT && has_callchain(&event.attr);
        if list.iter().any(is_traced) {
            self.choice.add_addresses_to_tracepoints();
        }
        Ok(())
    }

    /// Returns what is known of an event.
    pub(super) fn known(&mut self, event: &Arc<Event>, context: &WalkContext<'_>) -> Arc<ScriptEvent> {
        match self.known.get(event.index) {
            Some(Some(known)) if Arc::ptr_eq(&known.event, event) => Arc::clone(known),
            _ => self.add(event, context),
        }
    }

    #[cold]
    fn add(&mut self, event: &Arc<Event>, context: &WalkContext<'_>) -> Arc<ScriptEvent> {
        if self.name_width == 0 {
            self.name_width = context.events().iter().map(|event| event_name(event).len()).max().unwrap_or(0);
        }
        let fields = self.choice.of(event);
        let mut name = Vec::new();
        push_name(&mut name, &event_name(event));
        let is_bpf_output = event.attr.kind == EventType::SOFTWARE && event.attr.config == SwId::BPF_OUTPUT.0;
        let needs_tail = fields.has(Fields::OF_TAIL) || is_bpf_output && fields.has(Fields::BPF_OUTPUT);
        let features = context.features();
        let arch = Arch::from_machine(&machine_of(features));
        let known = Arc::new(ScriptEvent {
            event: Arc::clone(event),
            name,
            name_width: self.name_width,
            fields,
            has_callchain: has_callchain(&event.attr),
            has_data_address: has_data_address(&event.attr),
            needs_tail,
            trace: self.traces.of(event),
            is_bpf_output,
            synth: (event.attr.kind == EventType::SYNTH).then_some(SynthId(event.attr.config)),
            is_branch_trace: is_branch_trace(&event.attr),
            is_chosen: self.choice.is_chosen(event),
            shows_offsets: !self.is_pipe || fields.has(Fields::SYM.with(Fields::DSO)),
            arch,
            simd_names: SimdRegNames::new(arch, event, features.endianness()),
            modules: Arc::clone(&self.modules),
            clock: features.clock_data().ok().flatten(),
        });
        if self.known.len() <= event.index {
            self.known.resize_with(event.index + 1, || None);
        }
        self.known[event.index] = Some(Arc::clone(&known));
        known
    }

    /// Notes the virtual machines of events.
    pub(super) fn add_guests(&mut self, index: &IdIndex<'_>) {
        let guests = index.guests.iter().flat_map(|guests| guests.iter());
        let of_guests = index.entries.iter().zip(guests).filter(|(_, guest)| guest.machine_pid != 0);
        self.guests.extend(of_guests.map(|(entry, guest)| (entry.id, guest)));
    }

    /// Returns the virtual machine of an event, by its id.
    #[inline]
    pub(super) fn guest_of(&self, id: Option<u64>) -> Option<IdIndexGuest> {
        if self.guests.is_empty() { None } else { self.guests.get(&id?).copied() }
    }
}

/// Returns the paths of the modules whose build ids the capture lists.
fn modules_of(features: &Features<'_>) -> BTreeSet<Vec<u8>> {
    let ids = features.build_ids().ok().flatten();
    let of_kernel = |id: &BuildId<'_>| id.cpumode() == CpuMode::KERNEL;
    ids.iter().flat_map(|ids| ids.iter()).filter(of_kernel).map(|id| id.filename.to_vec()).collect()
}

/// perf: `is_bts_event`, `tools/perf/util/event.h`.
fn is_branch_trace(attr: &Attr) -> bool {
    attr.kind == EventType::HARDWARE
        && attr.config & u64::from(HwId::BRANCH_INSTRUCTIONS.0) != 0
        && attr.sample_period == 1
}

fn has_callchain(attr: &Attr) -> bool {
    attr.sample_type.contains(SampleType::CALLCHAIN)
}

/// perf: `evsel__is_dummy_event`.
fn is_dummy(attr: &Attr) -> bool {
    attr.kind == EventType::SOFTWARE && attr.config == SwId::DUMMY.0
}

/// perf: `sample_addr_correlates_sym`, `tools/perf/util/event.c`.
fn has_data_address(attr: &Attr) -> bool {
    let faults = [SwId::PAGE_FAULTS.0, SwId::PAGE_FAULTS_MIN.0, SwId::PAGE_FAULTS_MAJ.0];
    attr.kind == EventType::SOFTWARE && faults.contains(&attr.config) || is_branch_trace(attr)
}
