//! The fields of each type of event.

use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;
use perf_parse::event::Event;

use super::fields::{Fields, field_of, first_name};
use crate::outcome::Failure;

/// The types of events, as perf numbers their sets of fields.
const TYPES: usize = 8;
const HARDWARE: usize = 0;
const SOFTWARE: usize = 1;
const TRACEPOINT: usize = 2;
const RAW: usize = 4;
const BREAKPOINT: usize = 5;
const SYNTH: usize = 6;
const OTHER: usize = 7;

const TYPE_NAMES: [(&str, usize); 6] = [
    ("hw", HARDWARE),
    ("sw", SOFTWARE),
    ("trace", TRACEPOINT),
    ("raw", RAW),
    ("break", BREAKPOINT),
    ("synth", SYNTH),
];

/// Returns the type whose fields an event has.
///
/// perf: `output_type`, `tools/perf/builtin-script.c`.
pub(super) fn type_of(kind: EventType) -> usize {
    match kind.0 {
        0..6 => kind.0 as usize,
        0x8000_0000 => SYNTH,
        _ => OTHER,
    }
}

const COMMON: Fields =
    Fields::COMM.with(Fields::TID).with(Fields::CPU).with(Fields::TIME).with(Fields::EVENT);
const ADDRESS: Fields = Fields::IP.with(Fields::SYM).with(Fields::SYMOFF).with(Fields::DSO);
const MEMORY: Fields = Fields::ADDR
    .with(Fields::DATA_SRC)
    .with(Fields::WEIGHT)
    .with(Fields::PHYS_ADDR)
    .with(Fields::DATA_PAGE_SIZE)
    .with(Fields::CODE_PAGE_SIZE)
    .with(Fields::INS_LAT);

/// The fields of one type.
#[derive(Clone, Copy, Debug, Default)]
struct Set {
    fields: Fields,
    /// Those that the user asked for, and those that the user removed, by name.
    added: Fields,
    removed: Fields,
    /// Whether the user set the fields, and whether for all types at once.
    is_set: bool,
    is_for_all: bool,
}

/// What fields need of the capture.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaptureFacts {
    /// Whether it has traces of processors.
    pub(super) has_aux: bool,
    /// Whether an event records branches of all types.
    pub(super) has_all_branches: bool,
}

/// The fields of all types.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    sets: [Set; TYPES],
}

impl Choice {
    /// Applies the arguments of `-F`, in their order.
    ///
    /// perf: `parse_output_fields`.
    pub(super) fn new(arguments: &[String]) -> Result<Self, Failure> {
        let mut sets = [Set::default(); TYPES];
        for (kind, set) in sets.iter_mut().enumerate() {
            set.fields = match kind {
                TRACEPOINT => COMMON.with(Fields::TRACE),
                SOFTWARE => COMMON.with(ADDRESS).with(Fields::PERIOD).with(Fields::BPF_OUTPUT),
                RAW => COMMON.with(ADDRESS).with(Fields::PERIOD).with(MEMORY),
                SYNTH => COMMON.with(ADDRESS).with(Fields::SYNTH),
                _ => COMMON.with(ADDRESS).with(Fields::PERIOD),
            };
        }
        let mut choice = Self { sets };
        arguments.iter().try_for_each(|argument| choice.apply(argument))?;
        Ok(choice)
    }

    /// Returns whether a field is printed of any event.
    pub(super) fn has(&self, field: Fields) -> bool {
        self.sets.iter().any(|set| set.fields.has(field))
    }

    fn apply(&mut self, argument: &str) -> Result<(), Failure> {
        let fault = |what: &str| Failure(format!("-F {argument}: {what}"));
        let (kind, list) = match argument.split_once(':') {
            None => (None, argument),
            Some((name, list)) => {
                let Some(&(_, kind)) = TYPE_NAMES.iter().find(|(known, _)| *known == name) else {
                    return Err(fault("the types of events are hw, sw, trace, raw, break and synth"));
                };
                (Some(kind), list)
            }
        };
        if list.is_empty() && kind.is_none() {
            return Err(fault("there must be a field for some events; name one"));
        }
        let is_change = |field: &str| field.starts_with(['+', '-']);
        let names: Vec<_> = list.split(',').filter(|name| !name.is_empty()).collect();
        let changes = names.iter().filter(|name| is_change(name)).count();
        if changes != 0 && changes != names.len() {
            return Err(fault("use either +FIELD and -FIELD, or a list without them"));
        }
        let kinds = kind.map_or(0..TYPES, |kind| kind..kind + 1);
        if changes == 0 {
            for set in &mut self.sets[kinds.clone()] {
                *set = Set { is_set: true, is_for_all: kind.is_none(), ..Set::default() };
            }
        }
        for name in names {
            let is_removed = name.starts_with('-');
            let field = field_of(name.trim_start_matches(['+', '-'])).map_err(|why| fault(&why))?;
            for number in kinds.clone() {
                if is_invalid(field, number) {
                    if kind.is_some() {
                        return Err(fault("this field does not exist for events of this type"));
                    }
                    continue;
                }
                let set = &mut self.sets[number];
                (set.is_set, set.is_for_all) = (true, true);
                if is_removed {
                    set.fields = set.fields.without(field);
                    (set.added, set.removed) = (set.added.without(field), set.removed.with(field));
                } else {
                    set.fields = set.fields.with(field);
                    // As in perf, what samples do not have is left out quietly if it is for one type.
                    let added = if kind.is_none() { set.added.with(field) } else { set.added };
                    (set.added, set.removed) = (added, set.removed.without(field));
                }
            }
        }
        Ok(())
    }

    /// Removes the fields that the samples of an event do not have, and that nobody asked for. Call it with the first
    /// event of each type.
    ///
    /// perf: `evsel__check_attr`.
    pub(super) fn check(&mut self, event: &Event, name: &str, capture: CaptureFacts) -> Result<(), Failure> {
        let CaptureFacts { has_aux, has_all_branches } = capture;
        let sample_type = event.attr.sample_type;
        let set = &mut self.sets[type_of(event.attr.kind)];
        let weights = SampleType::WEIGHT.union(SampleType::WEIGHT_STRUCT);
        // A field, what it needs, and whether that may come from a processor trace instead.
        let needs = [
            (Fields::IP, SampleType::IP, false),
            (Fields::ADDR, SampleType::ADDR, true),
            (Fields::DATA_SRC, SampleType::DATA_SRC, true),
            (Fields::WEIGHT, weights, true),
            (Fields::PID.with(Fields::TID), SampleType::TID, false),
            (Fields::TIME, SampleType::TIME, false),
            (Fields::CPU, SampleType::CPU, true),
            (Fields::IREGS, SampleType::REGS_INTR, true),
            (Fields::UREGS, SampleType::REGS_USER, false),
            (Fields::PHYS_ADDR, SampleType::PHYS_ADDR, true),
            (Fields::DATA_PAGE_SIZE, SampleType::DATA_PAGE_SIZE, false),
            (Fields::CODE_PAGE_SIZE, SampleType::CODE_PAGE_SIZE, false),
            (Fields::INS_LAT, SampleType::WEIGHT_STRUCT, false),
            (Fields::CGROUP, SampleType::CGROUP, false),
            (Fields::RETIRE_LAT, SampleType::WEIGHT_STRUCT, false),
        ];
        for (field, needed, is_traced) in needs {
            if !set.fields.has(field) || sample_type.0 & needed.0 != 0 {
                continue;
            }
            if !set.added.has(field) {
                set.fields = set.fields.without(field);
            } else if !(is_traced && has_aux) {
                let (field, needed) = (first_name(field), needed);
                let what =
                    format!("the samples of {name} do not have {needed}, so {field} cannot be printed");
                return Err(Failure(format!("-F {field}: {what}; leave {field} out, or record it")));
            }
        }
        let blocks = set.fields.only(Fields::BLOCKS);
        if blocks != Fields::default() && !has_all_branches && !has_aux {
            let field = first_name(blocks);
            let what =
                "no event records all branches, so the code between them is not known; use perf record -b";
            return Err(Failure(format!("-F {field}: {what}")));
        }
        if set.fields.has(Fields::SYMOFF) && !set.fields.has(Fields::SYM) {
            if set.added.has(Fields::SYMOFF) {
                return Err(Failure("-F symoff: offsets are printed after symbols; add sym".into()));
            }
            set.fields = set.fields.without(Fields::SYMOFF);
        }
        Ok(())
    }

    /// Adds the fields of addresses to tracepoints that have call chains, unless the user chose.
    pub(super) fn add_addresses_to_tracepoints(&mut self) {
        let set = &mut self.sets[TRACEPOINT];
        if !set.is_set {
            set.fields = set.fields.with(ADDRESS);
        }
    }

    /// Adds address and symbol, which perf adds for the events of a pipe that have stacks. An address that the user chose without
    /// its file stays alone, as for files; perf adds the symbol.
    ///
    /// perf: `process_attr`.
    pub(super) fn add_addresses_to_pipes(&mut self, event: &Event) {
        let set = &mut self.sets[type_of(event.attr.kind)];
        let is_alone = set.fields.has(Fields::IP) && !set.fields.has(Fields::SYM.with(Fields::DSO));
        if !set.is_set || !is_alone {
            set.fields = set.fields.with(Fields::IP.with(Fields::SYM).without(set.removed));
        }
    }

    /// Returns the types that the user chose fields for; the capture must have an event of each.
    pub(super) fn required(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let is_required = |kind: usize| self.sets[kind].is_set && !self.sets[kind].is_for_all;
        TYPE_NAMES.iter().copied().filter(move |&(_, kind)| kind != SYNTH && is_required(kind))
    }

    pub(super) fn of(&self, event: &Event) -> Fields {
        self.sets[type_of(event.attr.kind)].fields
    }

    /// Returns whether the user chose the fields of an event.
    pub(super) fn is_chosen(&self, event: &Event) -> bool {
        self.sets[type_of(event.attr.kind)].is_set
    }
}

/// Returns whether events of a type never have a field.
fn is_invalid(field: Fields, kind: usize) -> bool {
    match kind {
        TRACEPOINT => false,
        SOFTWARE => field.has(Fields::TRACE),
        _ => field.has(Fields::TRACE) || field.has(Fields::BPF_OUTPUT),
    }
}
