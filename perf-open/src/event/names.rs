//! perf's names of generalised events.

use perf_abi::event::{EventType, HwCacheEvent, HwCacheId, HwCacheOpId, HwCacheOpResultId, HwId, SwId};

/// A value that event strings have names for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedValue {
    /// The names. perf prints the first.
    pub names: &'static [&'static str],
    /// The code: an [`HwId`], [`SwId`], [`HwCacheId`], [`HwCacheOpId`] or [`HwCacheOpResultId`].
    pub value: u64,
}

const fn known(names: &'static [&'static str], value: u64) -> NamedValue {
    NamedValue { names, value }
}

/// Hardware events.
///
/// perf: `event_symbols_hw`, `tools/perf/util/parse-events.c`.
pub const HARDWARE: &[NamedValue] = &[
    known(&["cpu-cycles", "cycles"], HwId::CPU_CYCLES.0 as u64),
    known(&["instructions"], HwId::INSTRUCTIONS.0 as u64),
    known(&["cache-references"], HwId::CACHE_REFERENCES.0 as u64),
    known(&["cache-misses"], HwId::CACHE_MISSES.0 as u64),
    known(&["branch-instructions", "branches"], HwId::BRANCH_INSTRUCTIONS.0 as u64),
    known(&["branch-misses"], HwId::BRANCH_MISSES.0 as u64),
    known(&["bus-cycles"], HwId::BUS_CYCLES.0 as u64),
    known(&["stalled-cycles-frontend", "idle-cycles-frontend"], HwId::STALLED_CYCLES_FRONTEND.0 as u64),
    known(&["stalled-cycles-backend", "idle-cycles-backend"], HwId::STALLED_CYCLES_BACKEND.0 as u64),
    known(&["ref-cycles"], HwId::REF_CPU_CYCLES.0 as u64),
];

/// Software events.
///
/// perf: `event_symbols_sw`, `tools/perf/util/parse-events.c`.
pub const SOFTWARE: &[NamedValue] = &[
    known(&["cpu-clock"], SwId::CPU_CLOCK.0),
    known(&["task-clock"], SwId::TASK_CLOCK.0),
    known(&["page-faults", "faults"], SwId::PAGE_FAULTS.0),
    known(&["context-switches", "cs"], SwId::CONTEXT_SWITCHES.0),
    known(&["cpu-migrations", "migrations"], SwId::CPU_MIGRATIONS.0),
    known(&["minor-faults"], SwId::PAGE_FAULTS_MIN.0),
    known(&["major-faults"], SwId::PAGE_FAULTS_MAJ.0),
    known(&["alignment-faults"], SwId::ALIGNMENT_FAULTS.0),
    known(&["emulation-faults"], SwId::EMULATION_FAULTS.0),
    known(&["dummy"], SwId::DUMMY.0),
    known(&["bpf-output"], SwId::BPF_OUTPUT.0),
    known(&["cgroup-switches"], SwId::CGROUP_SWITCHES.0),
];

/// Caches, the first part of a cache event's name.
///
/// perf: `evsel__hw_cache`, `tools/perf/util/evsel.c`.
pub const CACHES: &[NamedValue] = &[
    known(&["L1-dcache", "l1-d", "l1d", "L1-data"], HwCacheId::L1D.0 as u64),
    known(&["L1-icache", "l1-i", "l1i", "L1-instruction"], HwCacheId::L1I.0 as u64),
    known(&["LLC", "L2"], HwCacheId::LL.0 as u64),
    known(&["dTLB", "d-tlb", "Data-TLB"], HwCacheId::DTLB.0 as u64),
    known(&["iTLB", "i-tlb", "Instruction-TLB"], HwCacheId::ITLB.0 as u64),
    known(&["branch", "branches", "bpu", "btb", "bpc"], HwCacheId::BPU.0 as u64),
    known(&["node"], HwCacheId::NODE.0 as u64),
];

/// Accesses to a cache. The first name is used before an outcome, the second without one. A cache's name alone means
/// reads.
///
/// perf: `evsel__hw_cache_op`, `tools/perf/util/evsel.c`.
pub const OPERATIONS: &[NamedValue] = &[
    known(&["load", "loads", "read"], HwCacheOpId::READ.0 as u64),
    known(&["store", "stores", "write"], HwCacheOpId::WRITE.0 as u64),
    known(
        &["prefetch", "prefetches", "speculative-read", "speculative-load"],
        HwCacheOpId::PREFETCH.0 as u64,
    ),
];

/// Outcomes of an access to a cache.
///
/// perf: `evsel__hw_cache_result`, `tools/perf/util/evsel.c`.
pub const OUTCOMES: &[NamedValue] = &[
    known(&["refs", "Reference", "ops", "access"], HwCacheOpResultId::ACCESS.0 as u64),
    known(&["misses", "miss"], HwCacheOpResultId::MISS.0 as u64),
];

/// Returns the value of `name` in `table`.
pub(super) fn find(table: &[NamedValue], name: &str) -> Option<u64> {
    table.iter().find(|known| known.names.contains(&name)).map(|known| known.value)
}

/// Returns perf's name of `value` in `table`.
pub(super) fn name_of(table: &[NamedValue], value: u64) -> Option<&'static str> {
    table.iter().find(|known| known.value == value)?.names.first().copied()
}

/// Returns whether perf has a name for this access to this cache. For example, it has none for a write to the
/// instruction cache.
///
/// perf: `evsel__hw_cache_stat`, `tools/perf/util/evsel.c`.
pub(super) fn exists(cache: HwCacheId, op: HwCacheOpId) -> bool {
    match cache {
        HwCacheId::L1I => op != HwCacheOpId::WRITE,
        HwCacheId::ITLB | HwCacheId::BPU => op == HwCacheOpId::READ,
        _ => true,
    }
}

/// Returns the name of a cache event: `L1-dcache-loads`, `LLC-store-misses`. `None` if perf has none.
pub(super) fn cache_name(event: HwCacheEvent) -> Option<String> {
    let cache = name_of(CACHES, event.cache.0.into())?;
    let [single, plural, ..] = OPERATIONS.iter().find(|known| known.value == event.op.0.into())?.names else {
        return None;
    };
    exists(event.cache, event.op).then_some(())?;
    match event.result {
        HwCacheOpResultId::ACCESS => Some(format!("{cache}-{plural}")),
        result => Some(format!("{cache}-{single}-{}", name_of(OUTCOMES, result.0.into())?)),
    }
}

/// Parses the name of a cache event: a cache, then an access, an outcome, both or none.
///
/// perf: `parse_events_add_cache`, `tools/perf/util/parse-events.c`.
pub(super) fn find_cache(name: &str) -> Option<HwCacheEvent> {
    let aliases = CACHES.iter().flat_map(|known| known.names.iter().map(move |alias| (known.value, *alias)));
    for (cache, alias) in aliases {
        let Some(rest) = name.strip_prefix(alias) else { continue };
        let Some((op, result)) = find_access(rest) else { continue };
        let event = HwCacheEvent { cache: HwCacheId(byte(cache)), op, result, pmu: 0 };
        return exists(event.cache, event.op).then_some(event);
    }
    None
}

/// Parses the access and outcome after a cache's name: nothing, `-loads`, `-misses`, `-load-misses`.
fn find_access(rest: &str) -> Option<(HwCacheOpId, HwCacheOpResultId)> {
    if rest.is_empty() {
        return Some((HwCacheOpId::READ, HwCacheOpResultId::ACCESS));
    }
    let rest = rest.strip_prefix('-')?;
    let op = |name| Some(HwCacheOpId(byte(find(OPERATIONS, name)?)));
    let outcome = |name| Some(HwCacheOpResultId(byte(find(OUTCOMES, name)?)));
    if let Some(op) = op(rest) {
        return Some((op, HwCacheOpResultId::ACCESS));
    }
    if let Some(result) = outcome(rest) {
        return Some((HwCacheOpId::READ, result));
    }
    rest.match_indices('-').find_map(|(dash, _)| {
        let (first, second) = (rest.get(..dash)?, rest.get(dash.saturating_add(1)..)?);
        op(first).zip(outcome(second)).or_else(|| op(second).zip(outcome(first)))
    })
}

/// Converts a code of the tables. All of them fit in a byte.
fn byte(value: u64) -> u8 {
    let [byte, ..] = value.to_le_bytes();
    byte
}

/// Iterates over every cache event that perf has a name for, with that name: `L1-dcache-loads`.
pub fn cache_events() -> impl Iterator<Item = (String, HwCacheEvent)> {
    let caches = (0..HwCacheId::MAX).map(HwCacheId);
    let accesses = |cache| {
        (0..HwCacheOpId::MAX).map(HwCacheOpId).filter(move |&op| exists(cache, op)).map(move |op| (cache, op))
    };
    let events = caches.flat_map(accesses).flat_map(|(cache, op)| {
        (0..HwCacheOpResultId::MAX).map(HwCacheOpResultId).map(move |result| HwCacheEvent {
            cache,
            op,
            result,
            pmu: 0,
        })
    });
    events.filter_map(|event| Some((cache_name(event)?, event)))
}

/// Returns the type and `config` of a hardware, software or cache event.
pub(crate) fn known_event(name: &str) -> Option<(EventType, u64)> {
    let hardware = || Some((EventType::HARDWARE, find(HARDWARE, name)?));
    let software = || Some((EventType::SOFTWARE, find(SOFTWARE, name)?));
    let cache = || Some((EventType::HW_CACHE, find_cache(name)?.config()));
    hardware().or_else(software).or_else(cache)
}

/// Returns the `config` of a raw event: `r1a8`, `r0x1a8`.
pub(crate) fn raw_config(name: &str) -> Option<u64> {
    let digits = name.strip_prefix('r')?;
    let digits = digits.strip_prefix("0x").unwrap_or(digits);
    // `from_str_radix` would accept a sign.
    u64::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns every name of a hardware, software or cache event.
pub(super) fn all_names() -> Vec<String> {
    let known = HARDWARE.iter().chain(SOFTWARE).flat_map(|known| known.names).map(|&name| name.to_owned());
    known.chain(cache_events().map(|(name, _)| name)).collect()
}
