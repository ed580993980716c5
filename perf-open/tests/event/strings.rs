//! The meaning of event strings.

use perf_abi::attr::AttrFlags;
use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::{EventType, HwCacheId, HwCacheOpId, HwCacheOpResultId, HwId, SwId};
use perf_abi::sample_type::SampleType;
use perf_open::event::{
    CACHES, CallGraphTerm, DefaultSampling, EventGroup, EventSpec, HARDWARE, OPERATIONS, OUTCOMES, SOFTWARE,
    ToolEvent, cache_events, parse,
};
use proptest::prelude::*;

use crate::fake::{ARM, HYBRID, INTEL, parser};

/// Parses a string on an Intel machine and returns its groups.
fn groups(list: &str) -> Vec<EventGroup> {
    parser(INTEL).parse(list).unwrap_or_else(|error| panic!("{error:#}"))
}

/// Returns the only event of a string that needs no information from the machine.
fn event(list: &str) -> EventSpec {
    let mut groups = parse(list).unwrap_or_else(|error| panic!("{error:#}"));
    assert_eq!((groups.len(), groups[0].events.len()), (1, 1), "{list}");
    groups.remove(0).events.remove(0)
}

fn flags(list: &str) -> AttrFlags {
    event(list).attr.flags
}

#[test]
fn every_name_of_a_generalised_event() {
    for (table, kind) in [(HARDWARE, EventType::HARDWARE), (SOFTWARE, EventType::SOFTWARE)] {
        for known in table {
            for name in known.names {
                let event = event(name);
                assert_eq!((event.attr.kind, event.attr.config & 0xffff_ffff), (kind, known.value), "{name}");
                assert_eq!(event.name, *name);
            }
        }
    }
    assert_eq!(EventSpec::hardware(HwId::BRANCH_INSTRUCTIONS).name, "branch-instructions");
    assert_eq!(EventSpec::hardware(HwId(77)).name, "hardware/config=0x4d/");
    assert_eq!(EventSpec::software(SwId(77)).attr.config, 77);
}

#[test]
fn what_a_tool_measures_is_accepted_on_request() {
    let names = ["duration_time", "user_time", "system_time", "has_pmem", "num_cores", "num_cpus"];
    let fake = parser(INTEL);
    let with = |list: &str| fake.clone().with_tools().parse(list);
    for (name, tool) in names.into_iter().zip(ToolEvent::ALL) {
        assert!(fake.parse(name).is_err());
        let groups = with(&format!("faults,{name}")).unwrap();
        let event = &groups[1].events[0];
        assert_eq!((event.tool, &*event.name, event.attr.config), (Some(tool), name, SwId::DUMMY.0));
        assert_eq!(groups[0].events[0].tool, None);
    }
    assert_eq!(with("duration_time:u").unwrap()[0].events[0].name, "duration_time:u");
    assert_eq!(with("duration_time/name=t/").unwrap()[0].events[0].name, "t");
    assert!(with("duration_tim").is_err());
}

#[test]
fn default_sampling_is_that_of_perf() {
    let of = |list: &str| groups(list)[0].events[0].default_sampling();
    let raw = SampleType::RAW | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    for every in ["sched:sched_switch", "bpf-output"] {
        assert_eq!((of(every).period, of(every).sample_type), (Some(1), raw), "{every}");
    }
    assert_eq!((of("mem:0x1000:w").period, of("mem:0x1000:w").sample_type), (Some(1), SampleType::NONE));
    for by_frequency in ["cycles", "cpu-clock", "faults", "cpu/event=1/", "r1", "L1-dcache-loads"] {
        assert_eq!(of(by_frequency), DefaultSampling::default(), "{by_frequency}");
    }
}

#[test]
fn terms_have_names() {
    let names = |list: &str| groups(list)[0].events[0].terms.names().collect::<Vec<_>>();
    let all = "faults/freq=5,time=0,call-graph=fp,stack-size=8,no-inherit,max-stack=3,no-overwrite/";
    assert_eq!(names(all), ["freq", "time", "call-graph", "stack-size", "inherit", "max-stack", "overwrite"]);
    assert_eq!(names("faults/period=5,name=x,config1=2/"), ["period"]);
    assert_eq!(names("faults"), [""; 0]);
}

#[test]
fn a_value_with_a_slash_needs_quotes() {
    let event = &groups("uprobe/path='/bin/a,b=c',offset=0x10/")[0].events[0];
    assert_eq!(event.string.as_deref(), Some(c"/bin/a,b=c"));
    assert!(parser(INTEL).parse("uprobe/path=/bin/ls,offset=0x10/").is_err());
}

#[test]
fn every_name_of_a_cache_event() {
    let of = |name: &str| {
        let attr = event(name).attr;
        assert_eq!(attr.kind, EventType::HW_CACHE, "{name}");
        attr.config
    };
    for cache in CACHES.iter().filter(|cache| cache.value != u64::from(HwCacheId::BPU.0)) {
        for name in cache.names {
            assert_eq!(of(name), cache.value, "{name}");
            for outcome in OUTCOMES {
                for outcome_name in outcome.names {
                    assert_eq!(of(&format!("{name}-{outcome_name}")), outcome.value << 16 | cache.value);
                    for op in OPERATIONS[0].names {
                        assert_eq!(
                            of(&format!("{name}-{op}-{outcome_name}")),
                            outcome.value << 16 | cache.value
                        );
                        assert_eq!(
                            of(&format!("{name}-{outcome_name}-{op}")),
                            outcome.value << 16 | cache.value
                        );
                    }
                }
            }
        }
    }
    for (name, config) in [
        ("L1-dcache-load-misses", 0x1_0000),
        ("L1-dcache-stores", 0x100),
        ("LLC-prefetch-misses", 0x1_0202),
        ("LLC-speculative-read", 0x202),
        ("L1-icache-prefetches", 0x201),
        ("branch-load-misses", 0x1_0005),
        ("branch", 5),
        ("node-store-misses", 0x1_0106),
    ] {
        assert_eq!(of(name), config, "{name}");
    }
    for (name, cache) in cache_events() {
        assert_eq!(of(&name), cache.config(), "{name}");
        assert_eq!(EventSpec::cache(cache.cache, cache.op, cache.result).name, name);
    }
    assert_eq!(cache_events().count(), 32);
    let unknown = EventSpec::cache(HwCacheId(9), HwCacheOpId::READ, HwCacheOpResultId::MISS);
    assert_eq!((unknown.name.as_str(), unknown.attr.config), ("9-READ-MISS", 0x1_0009));
    for none in [
        "L1-icache-stores",
        "iTLB-prefetches",
        "branch-stores",
        "LLC-",
        "LLC-load-loads",
        "LLC-load-misses-x",
    ] {
        assert!(parse(none).is_err(), "{none}");
    }
}

#[test]
fn raw_and_numeric() {
    assert_eq!((event("r1a8").attr.kind, event("r1a8").attr.config), (EventType::RAW, 0x1a8));
    assert_eq!(event("r0xffffffffffffffff").attr.config, u64::MAX);
    assert_eq!(EventSpec::raw(0x1a8).name, "r1a8");
    let numeric = event("7:0x1234:k");
    assert_eq!((numeric.attr.kind, numeric.attr.config), (EventType(7), 0x1234));
    assert!(numeric.attr.flags.contains(AttrFlags::EXCLUDE_USER));
}

#[test]
fn modifiers() {
    use AttrFlags as F;
    let rings = F::EXCLUDE_USER | F::EXCLUDE_KERNEL | F::EXCLUDE_HV;
    for (modifiers, expected) in [
        ("", F::EXCLUDE_GUEST),
        ("u", F::EXCLUDE_KERNEL | F::EXCLUDE_HV | F::EXCLUDE_GUEST),
        ("k", F::EXCLUDE_USER | F::EXCLUDE_HV),
        ("h", F::EXCLUDE_USER | F::EXCLUDE_KERNEL),
        ("uk", F::EXCLUDE_HV | F::EXCLUDE_GUEST),
        ("ukh", F::EXCLUDE_GUEST),
        ("G", F::EXCLUDE_HOST),
        ("H", F::EXCLUDE_GUEST),
        ("GH", F::NONE),
        ("Gu", rings.without(F::EXCLUDE_USER) | F::EXCLUDE_HOST),
        ("uG", rings.without(F::EXCLUDE_USER) | F::EXCLUDE_HOST),
        ("I", F::EXCLUDE_IDLE),
        ("p", F::EXCLUDE_GUEST.with_precise_ip(1)),
        ("pp", F::EXCLUDE_GUEST.with_precise_ip(2)),
        ("ppp", F::EXCLUDE_GUEST.with_precise_ip(3)),
        ("pG", F::EXCLUDE_HOST.with_precise_ip(1)),
        ("D", F::PINNED),
        ("e", F::EXCLUSIVE),
        ("De", F::PINNED | F::EXCLUSIVE),
        ("P", F::NONE),
    ] {
        assert_eq!(flags(&format!("task-clock:{modifiers}")), expected, "{modifiers}");
        assert_eq!(flags(&format!("task-clock//{modifiers}")), expected, "{modifiers}");
        assert_eq!(flags(&format!("task-clock/time=1/:{modifiers}")), expected, "{modifiers}");
    }
    assert!(event("task-clock:P").precise_max && event("task-clock:b").bpf_counter);
    let group = &parse("task-clock:SW").unwrap()[0];
    assert!(group.sample_leader_only && group.weak);
}

#[test]
fn groups_and_their_modifiers() {
    use AttrFlags as F;
    let groups = groups(" cycles:u , mem { faults:p , cs:G }:DeSWpu ,{dummy}");
    let names: Vec<Vec<&str>> =
        groups.iter().map(|group| group.events.iter().map(|event| event.name.as_str()).collect()).collect();
    assert_eq!(names, [vec!["cycles:u"], vec!["faults:p", "cs:G"], vec!["dummy"]]);
    let group = &groups[1];
    assert_eq!((group.name.as_deref(), group.sample_leader_only, group.weak), (Some("mem"), true, true));
    let rings = F::EXCLUDE_KERNEL | F::EXCLUDE_HV;
    let leader = rings | F::EXCLUDE_GUEST | F::PINNED | F::EXCLUSIVE;
    assert_eq!(group.events[0].attr.flags, leader.with_precise_ip(2));
    assert_eq!(group.events[1].attr.flags, (rings | F::EXCLUDE_HOST).with_precise_ip(1));
    assert_eq!((groups[2].name.as_deref(), groups[2].sample_leader_only), (None, false));
    assert!(parse("{faults:S,cs}").unwrap()[0].sample_leader_only);
    assert!(!parse("{faults,cs:S}").unwrap()[0].sample_leader_only);
}

#[test]
fn terms_of_every_event() {
    let event = event(
        "faults/name='a,b/c',period=5,freq=99,time=0,call-graph=dwarf,stack-size=8192,max-stack=5,inherit,no-overwrite/u",
    );
    let terms = event.terms;
    assert_eq!((event.name.as_str(), terms.period, terms.freq), ("a,b/c", None, Some(99)));
    assert_eq!((terms.time, terms.call_graph), (Some(false), Some(CallGraphTerm::Dwarf)));
    assert_eq!((terms.stack_size, terms.max_stack), (Some(8192), Some(5)));
    assert_eq!((terms.inherit, terms.overwrite), (Some(true), Some(false)));
    for (text, chain) in [("fp", CallGraphTerm::Fp), ("lbr", CallGraphTerm::Lbr), ("no", CallGraphTerm::No)] {
        assert_eq!(self::event(&format!("faults/call-graph={text}/")).terms.call_graph, Some(chain));
    }
    let terms = self::event("cs/freq=1,period=2,no-inherit,overwrite=1/").terms;
    assert_eq!((terms.period, terms.freq), (Some(2), None));
    assert_eq!((terms.inherit, terms.overwrite), (Some(false), Some(true)));
    assert_eq!(self::event("cs/inherit=0/").terms.inherit, Some(false));
    assert_eq!(self::event("cs/config=7/").attr.config, 7);
}

#[test]
fn breakpoints() {
    let of = |list| {
        let attr = event(list).attr;
        assert_eq!(attr.kind, EventType::BREAKPOINT);
        (attr.config1, attr.config2, attr.bp_type)
    };
    assert_eq!(of("mem:0x1000"), (0x1000, 4, BreakpointType::RW));
    assert_eq!(of("mem:0x1000/8"), (0x1000, 8, BreakpointType::RW));
    assert_eq!(of("mem:0x1000/2:w"), (0x1000, 2, BreakpointType::W));
    assert_eq!(of("mem:4096:wr:u"), (0x1000, 4, BreakpointType::RW));
    assert_eq!(of("mem:0x1000:x"), (0x1000, size_of::<usize>() as u64, BreakpointType::X));
    assert_eq!(of("mem:0x1000/1:r/name=watched/k"), (0x1000, 1, BreakpointType::R));
    assert_eq!(event("mem:0x1000/name=watched/").name, "watched");
    assert!(flags("mem:0x1000:u").contains(AttrFlags::EXCLUDE_KERNEL));
    assert!(flags("mem:0x1000/1:r:k").contains(AttrFlags::EXCLUDE_USER));
    assert_eq!(event("mem:0x1000/4:rw:u").name, "mem:0x1000/4:rw:u");
}

#[test]
fn tracepoints() {
    let groups = groups("sched:sched_switch:u,sched:sched_*,{*:sched_w?keup,s*:*_switch}");
    let told: Vec<Vec<(&str, u64)>> = groups
        .iter()
        .map(|group| group.events.iter().map(|event| (event.name.as_str(), event.attr.config)).collect())
        .collect();
    let (exit, switch, wakeup) =
        (("sched:sched_process_exit", 312), ("sched:sched_switch", 316), ("sched:sched_wakeup", 319));
    assert_eq!(told, [vec![switch], vec![exit], vec![switch], vec![wakeup], vec![wakeup, switch]]);
    assert!(groups[0].events[0].attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    assert_eq!(groups[0].events[0].attr.kind, EventType::TRACEPOINT);
}

#[test]
fn pmus() {
    let told = |list: &str| -> Vec<(String, u32, u64)> {
        let events = groups(list).into_iter().flat_map(|group| group.events);
        events.map(|event| (event.pmu.unwrap(), event.attr.kind.0, event.attr.config)).collect()
    };
    let of = |pmu: &str, kind, config| (pmu.to_owned(), kind, config);
    assert_eq!(told("cpu/event=0x3c,umask=1/pp"), [of("cpu", 4, 0x13c)]);
    assert_eq!(told("mem-loads:u"), [of("cpu", 4, 0x1cd)]);
    let both = [of("uncore_imc_0", 13, 0x304), of("uncore_imc_1", 14, 0x304)];
    for like in ["uncore_imc", "imc", "uncore_imc_?", "imc_*[0-9]", "cas"] {
        let list = format!("{like}/event=4,umask=3/");
        match like {
            "cas" | "imc_*[0-9]" => assert!(parser(INTEL).parse(&list).is_err(), "{like}"),
            _ => assert_eq!(told(&list), both, "{like}"),
        }
    }
    assert_eq!(told("uncore_imc_1/cas_count_read/"), both[1..]);
    assert_eq!(told("cas_count_read:k"), both);
    assert_eq!(told("{mem-loads/ldlat=7/,energy-pkg}"), [of("cpu", 4, 0x1cd), of("power", 20, 2)]);
    let events = groups("power/energy-pkg/,imc/cas_count_read,name=read/");
    assert_eq!(events[0].events[0].name, "power/energy-pkg/");
    assert_eq!(events[0].events[0].unit.as_deref(), Some("Joules"));
    assert_eq!((events.len(), events[2].events[0].name.as_str()), (3, "read"));
    assert_eq!(events[2].events[0].cpus, [0, 18]);
}

#[test]
fn cpus_of_several_kinds() {
    let events = |list| {
        let groups = parser(HYBRID).parse(list).unwrap();
        let events = groups.into_iter().flat_map(|group| group.events);
        events.map(|event| (event.attr.kind.0, event.attr.config, event.cpus.len())).collect::<Vec<_>>()
    };
    assert_eq!(events("instructions:u"), [(0, 0xa_0000_0001, 4), (0, 0x4_0000_0001, 4)]);
    assert_eq!(events("{LLC-loads}"), [(3, 0xa_0000_0002, 4), (3, 0x4_0000_0002, 4)]);
    assert_eq!(events("r1a8"), [(10, 0x1a8, 4), (4, 0x1a8, 4)]);
    assert_eq!(events("0:0x400000001"), [(0, 0x4_0000_0001, 0)]);
    assert_eq!(events("faults"), [(1, 2, 0)]);
    assert_eq!(events("cpu_atom/cycles/"), [(0, 0xa_0000_0000, 4)]);
    let arm = parser(ARM).parse("cycles,l1d_cache,arm_spe_0/ts_enable,min_latency=10/u").unwrap();
    let configs: Vec<u64> = arm.iter().map(|group| group.events[0].attr.config).collect();
    assert_eq!(configs, [0, 4, 1]);
}

#[test]
fn no_string_panics() {
    let parser = parser(INTEL);
    proptest!(|(text in ".{0,60}")| {
        let _ = parser.parse(&text);
    });
}

#[test]
fn faults_are_within_the_string() {
    let parser = parser(INTEL);
    let texts = "(cycles|faults|LLC-loads|mem:|cpu|msr|sched:|sched_switch|r1a8|name|period|config|[0-9:,/{}='ukhpGHSDWe* ]){0,14}";
    proptest!(|(text in texts)| {
        if let Err(error) = parser.parse(&text) {
            prop_assert!(error.offset() <= text.len() && text.is_char_boundary(error.offset()), "{error:#}");
            prop_assert!(!error.to_string().contains('\n') || text.contains('\n'));
        }
    });
}
