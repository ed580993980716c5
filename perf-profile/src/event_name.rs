//! The names of events.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;
use perf_parse::event::Event;

/// perf: `evsel__hw_names`, `tools/perf/util/evsel.c`.
const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// perf: `evsel__sw_names`.
const SOFTWARE: [&str; 10] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
];

/// The caches by their numbers, and which of the operations of [`OPERATIONS`] perf accepts for them.
///
/// perf: `evsel__hw_cache`, `evsel__hw_cache_stat`.
const CACHES: [(&str, [bool; 3]); 7] = [
    ("L1-dcache", [true, true, true]),
    ("L1-icache", [true, false, true]),
    ("LLC", [true, true, true]),
    ("dTLB", [true, true, true]),
    ("iTLB", [true, false, false]),
    ("branch", [true, false, false]),
    ("node", [true, true, true]),
];

/// The names of an operation: with a result, and alone.
const OPERATIONS: [(&str, &str); 3] = [("load", "loads"), ("store", "stores"), ("prefetch", "prefetches")];

/// perf: `__evsel__hw_cache_name`.
fn of_cache(config: u64) -> String {
    let [cache, operation, result, ..] = config.to_le_bytes();
    let Some((cache, accepted)) = CACHES.get(usize::from(cache)) else {
        return "unknown-ext-hardware-cache-type".to_owned();
    };
    let number = usize::from(operation);
    match (OPERATIONS.get(number), accepted.get(number), result) {
        (None, ..) => "unknown-ext-hardware-cache-op".to_owned(),
        (_, _, 2..) => "unknown-ext-hardware-cache-result".to_owned(),
        (_, Some(false) | None, _) => "invalid-cache".to_owned(),
        (Some((_, alone)), _, 0) => format!("{cache}-{alone}"),
        (Some((operation, _)), ..) => format!("{cache}-{operation}-misses"),
    }
}

/// Returns the modifiers of an event, with a colon before them.
///
/// perf: `evsel__add_modifiers`.
fn modifiers(attr: &Attr) -> String {
    let flags = attr.flags;
    let mut letters = String::new();
    let push = |letters: &mut String, excluding: &[(AttrFlags, char)]| {
        letters.extend(excluding.iter().filter(|(flag, _)| !flags.contains(*flag)).map(|(_, letter)| letter));
    };
    let modes =
        [(AttrFlags::EXCLUDE_KERNEL, 'k'), (AttrFlags::EXCLUDE_USER, 'u'), (AttrFlags::EXCLUDE_HV, 'h')];
    let is_of_some_modes = modes.iter().any(|(flag, _)| flags.contains(*flag));
    if is_of_some_modes {
        push(&mut letters, &modes);
    }
    let precision = usize::from(flags.precise_ip());
    // perf excludes guests if anything else was asked for.
    let excludes_guests = is_of_some_modes || precision > 0;
    let machines = [(AttrFlags::EXCLUDE_HOST, 'H'), (AttrFlags::EXCLUDE_GUEST, 'G')];
    letters.extend(core::iter::repeat_n('p', precision));
    if flags.contains(AttrFlags::EXCLUDE_HOST) || flags.contains(AttrFlags::EXCLUDE_GUEST) == excludes_guests
    {
        push(&mut letters, &machines);
    }
    if letters.is_empty() { letters } else { format!(":{letters}") }
}

/// perf: `__evsel__bp_name`.
fn of_breakpoint(attr: &Attr) -> String {
    let accesses = [(BreakpointType::R, 'r'), (BreakpointType::W, 'w'), (BreakpointType::X, 'x')];
    let letters: String = accesses
        .iter()
        .filter(|(access, _)| attr.bp_type.contains(*access))
        .map(|(_, letter)| letter)
        .collect();
    format!("mem:{:#x}:{letters}", attr.config1)
}

/// Returns the name that perf gives an event by its attr.
///
/// perf: `evsel__name`.
fn of_attr(attr: &Attr) -> String {
    let of = |names: &[&str], unknown: &str| {
        let name = usize::try_from(attr.config).ok().and_then(|number| names.get(number).copied());
        name.unwrap_or(unknown).to_owned()
    };
    let name = match attr.kind {
        EventType::HARDWARE => of(&HARDWARE, "unknown-hardware"),
        EventType::SOFTWARE => of(&SOFTWARE, "unknown-software"),
        EventType::BREAKPOINT => of_breakpoint(attr),
        EventType::RAW => format!("raw {:#x}", attr.config),
        EventType::HW_CACHE => of_cache(attr.config),
        EventType::TRACEPOINT => return "unknown tracepoint".to_owned(),
        kind => return format!("unknown attr type: {}", kind.0.cast_signed()),
    };
    name + &modifiers(attr)
}

/// Returns the name of an event: that in the capture, or the one that perf makes from the attr, for example `cycles:u`.
///
/// perf: `evsel__name`, `tools/perf/util/evsel.c`.
#[must_use]
pub fn event_name(event: &Event) -> Vec<u8> {
    event.name.clone().unwrap_or_else(|| of_attr(&event.attr).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventType, config: u64, flags: AttrFlags) -> String {
        of_attr(&Attr { kind, config, flags, ..Attr::default() })
    }

    /// As perf 6.1 prints them.
    #[test]
    fn modifiers_follow_the_name() {
        let none = AttrFlags::default();
        let cases = [
            (none, ":HG"),
            (AttrFlags::EXCLUDE_GUEST, ""),
            (AttrFlags::EXCLUDE_HOST | AttrFlags::EXCLUDE_GUEST, ""),
            (AttrFlags::EXCLUDE_HOST, ":G"),
            (AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV, ":u"),
            (AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_GUEST, ":uhH"),
            (AttrFlags::EXCLUDE_USER, ":kh"),
            (none.with_precise_ip(2), ":pp"),
            (AttrFlags::EXCLUDE_GUEST.with_precise_ip(3), ":pppH"),
        ];
        for (flags, expected) in cases {
            assert_eq!(event(EventType::HARDWARE, 0, flags), format!("cycles{expected}"));
        }
        assert_eq!(event(EventType::TRACEPOINT, 0, none), "unknown tracepoint");
        assert_eq!(event(EventType(u32::MAX), 0, none), "unknown attr type: -1");
    }

    #[test]
    fn caches_and_breakpoints() {
        let of = |config| event(EventType::HW_CACHE, config, AttrFlags::EXCLUDE_GUEST);
        assert_eq!(of(0), "L1-dcache-loads");
        assert_eq!(of(0x1_0103), "dTLB-store-misses");
        assert_eq!(of(0x0201), "L1-icache-prefetches");
        assert_eq!(of(0x0105), "invalid-cache");
        assert_eq!(of(7), "unknown-ext-hardware-cache-type");
        assert_eq!(of(0x0300), "unknown-ext-hardware-cache-op");
        assert_eq!(of(0x2_0000), "unknown-ext-hardware-cache-result");
        let (kind, flags) = (EventType::BREAKPOINT, AttrFlags::EXCLUDE_GUEST);
        let attr = Attr { kind, flags, config1: 0x1000, bp_type: BreakpointType::RW, ..Attr::default() };
        assert_eq!(of_attr(&attr), "mem:0x1000:rw");
    }
}
