//! The name of an event that the capture does not name.

use perf_abi::attr::Attr;
use perf_abi::event::EventType;

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

/// Returns the name that perf gives an event by its attr.
///
/// perf: `evsel__name`.
pub(super) fn of_attr(attr: &Attr) -> String {
    let of = |names: &[&str], unknown: &str| {
        let name = usize::try_from(attr.config).ok().and_then(|number| names.get(number).copied());
        name.unwrap_or(unknown).to_owned()
    };
    match attr.kind {
        EventType::HARDWARE => of(&HARDWARE, "unknown-hardware"),
        EventType::SOFTWARE => of(&SOFTWARE, "unknown-software"),
        EventType::TRACEPOINT => "unknown tracepoint".to_owned(),
        EventType::BREAKPOINT => format!("mem:{:#x}", attr.config1),
        EventType::RAW => format!("raw {:#x}", attr.config),
        EventType::HW_CACHE => format!("unknown-ext-hardware-cache-type {:#x}", attr.config),
        kind => format!("unknown attr type: {}", kind.0),
    }
}
