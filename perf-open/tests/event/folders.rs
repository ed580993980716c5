//! Folders of PMUs: those of other machines, and that of this machine.

use perf_abi::event::EventType;
use perf_open::event::{LookupError, ParseErrorKind};
use perf_open::pmu::{Pmu, Pmus};

use crate::fake::{ARM, Fake, HYBRID, INTEL, pmus_of};

fn intel() -> Fake<Pmus> {
    pmus_of(INTEL)
}

fn config(pmu: &Pmu, terms: &str) -> u64 {
    pmu.event(terms).unwrap_or_else(|error| panic!("{error:#}")).attr.config
}

#[test]
fn what_a_folder_holds() {
    let pmus = intel();
    let power = pmus.get("power").unwrap();
    assert_eq!((power.kind, power.core, power.cpus.as_slice()), (EventType(20), false, &[0][..]));
    let [energy] = power.events.as_slice() else { panic!("{:?}", power.events) };
    assert_eq!((energy.name.as_str(), energy.text.as_str()), ("energy-pkg", "event=0x02"));
    assert_eq!((energy.unit.as_deref(), energy.per_package, energy.snapshot), (Some("Joules"), true, true));
    assert_eq!(energy.scale.unwrap().to_bits(), 2.0_f64.powi(-32).to_bits());
    let cpu = pmus.get("cpu").unwrap();
    assert!(cpu.core && cpu.cpus.is_empty());
    assert_eq!(cpu.caps[0], ("branches".to_owned(), "32".to_owned()));
    assert_eq!(pmus.all().unwrap().len(), 8);
    assert!(pmus.all().unwrap().iter().all(Result::is_ok));
}

#[test]
fn terms_become_words() {
    let cpu = intel().get("cpu").unwrap();
    assert_eq!(config(&cpu, "event=0x3c,umask=1"), 0x13c);
    assert_eq!(config(&cpu, "event=0xc0,inv,edge=1,cmask=0xff"), 0xff84_00c0);
    assert_eq!(config(&cpu, "spread=0x1fff"), 0xf_0020_00ff);
    assert_eq!(config(&cpu, "spread=0x1a5a"), 0xd_0000_005a);
    assert_eq!(config(&cpu, "r1a8"), 0x1a8);
    assert_eq!(config(&cpu, ""), 0);
    let event = cpu.event("config=1,config1=2,config2=3,config3=4,config4=5,name=foo,period=1000").unwrap();
    let attr = event.attr;
    assert_eq!((attr.config, attr.config1, attr.config2, attr.config3, attr.config4), (1, 2, 3, 4, 5));
    assert_eq!((attr.kind, event.name.as_str(), event.terms.period), (EventType::RAW, "foo", Some(1000)));
    let attr = cpu.event("acr=0xffffffffffffffff,newest=3").unwrap().attr;
    assert_eq!((attr.config3, attr.config4), (u64::MAX, 6));
    let spe = pmus_of(ARM).get("arm_spe_0").unwrap();
    let event = spe.event("ts_enable,load_filter=1,event_filter=0x2a,min_latency=100").unwrap();
    assert_eq!((event.attr.config, event.attr.config1, event.attr.config2), (0x2_0000_0001, 0x2a, 100));
    assert_eq!(
        (event.cpus.as_slice(), event.name.as_str()),
        (&[0, 1][..], "arm_spe_0/ts_enable,load_filter=1,event_filter=0x2a,min_latency=100/")
    );
}

#[test]
fn named_events_and_what_is_written_beside_them() {
    let pmus = intel();
    let cpu = pmus.get("cpu").unwrap();
    let loads = |terms| {
        let attr = cpu.event(terms).unwrap().attr;
        (attr.config, attr.config1)
    };
    assert_eq!(loads("mem-loads"), (0x1cd, 3));
    assert_eq!(loads("mem-loads,ldlat=30"), (0x1cd, 30));
    assert_eq!(loads("ldlat=30,mem-loads"), (0x1cd, 30));
    assert_eq!(loads("event=mem-loads"), (0x1cd, 3));
    assert_eq!(config(&cpu, "parametrised,umask=2"), 0x210);
    let event = pmus.get("uncore_imc_1").unwrap().event("cas_count_read").unwrap();
    assert_eq!((event.attr.kind, event.attr.config), (EventType(14), 0x304));
    assert_eq!((event.unit.as_deref(), event.cpus.as_slice()), (Some("MiB"), &[0, 18][..]));
    assert_eq!(event.scale.unwrap().to_bits(), 2.0_f64.powi(-14).to_bits());
    assert_eq!(event.pmu.as_deref(), Some("uncore_imc_1"));
}

#[test]
fn generalised_events_of_a_core() {
    let cpu = intel().get("cpu").unwrap();
    let event = cpu.event("cycles").unwrap();
    assert_eq!((event.attr.kind, event.attr.config), (EventType::HARDWARE, 0));
    let atom = pmus_of(HYBRID).get("cpu_atom").unwrap();
    let event = atom.event("LLC-load-misses").unwrap();
    assert_eq!((event.attr.kind, event.attr.config), (EventType::HW_CACHE, 0xa_0001_0002));
    assert_eq!(event.cpus, [4, 5, 6, 7]);
    assert!(atom.event("page-faults").is_err());
}

fn fault(pmu: &Pmu, terms: &str) -> (usize, String) {
    let error = pmu.event(terms).unwrap_err();
    (error.offset(), error.kind().to_string())
}

#[test]
fn terms_that_do_not_fit() {
    let cpu = intel().get("cpu").unwrap();
    for (terms, offset, message) in [
        ("event=0x100", 6, "event: 0x100 is larger than 0xff"),
        ("event=1,inv=2", 12, "inv: 0x2 is larger than 0x1"),
        ("event", 5, "expected `=` and a number"),
        ("event=1,umask=x", 14, "expected a number"),
        ("event=1,umask=?", 14, "expected a number"),
        ("event=1,umaks=2", 8, "no term `umaks`; closest: umask"),
        ("memloads", 0, "no term `memloads`; closest: mem-loads"),
        ("event=1,event=2", 8, "`event` occurs too often"),
        ("parametrised", 0, "the event needs a value for `umask=`"),
        ("config", 6, "expected `=` and a number"),
        ("max-stack=65536", 10, "max-stack: 0x10000 is larger than 0xffff"),
        ("time=2", 5, "time: 0x2 is larger than 0x1"),
        ("call-graph=frame", 11, "expected `fp`, `dwarf`, `lbr` or `no`"),
        ("name", 4, "expected a name"),
        ("event=1,", 8, "expected the name of a term"),
        ("percore", 0, "`percore` is not supported: perf adds up the counts of a core's threads itself"),
        ("inv,aux-action=stop", 15, "expected `pause`, `resume` or `start-paused`"),
        ("aux-sample-size=0x100000000", 16, "aux-sample-size: 0x100000000 is larger than 0xffffffff"),
    ] {
        assert_eq!(fault(&cpu, terms), (offset, message.to_owned()), "{terms}");
    }
    for refused in ["branch_type=any", "nr=1", "metric-id=x"] {
        let error = cpu.event(refused).unwrap_err();
        assert!(matches!(error.kind(), ParseErrorKind::Unsupported { .. }), "{refused}: {error}");
    }
}

#[test]
fn files_that_are_wrong_are_told_by_their_path() {
    let cpu = intel().get("cpu").unwrap();
    for (event, message) in [
        ("wrong", "/cpu/events/wrong: at byte 0: expected a term of the PMU, with a value that fits"),
        ("broken", "/cpu/events/broken: at byte 6: expected a value"),
    ] {
        let (offset, told) = fault(&cpu, event);
        assert!(offset == 0 && told.ends_with(message), "{told}");
    }
    let pmus = pmus_of(&[
        ("a/type", "x"),
        ("b/type", "4294967296"),
        ("c/type", "1"),
        ("c/format/f", "config:64"),
        ("d/type", "1"),
        ("d/cpumask", "0-"),
        ("e/type", "1"),
        ("e/events/v", "x=1"),
        ("e/events/v.scale", "1,5"),
        ("good/type", "1"),
    ]);
    let all = pmus.all().unwrap();
    let told: Vec<String> = all.iter().filter_map(|pmu| Some(pmu.as_ref().err()?.to_string())).collect();
    let ends = [
        "/a/type: at byte 0: expected a number of 32 bits",
        "/b/type: at byte 0: expected a number of 32 bits",
        "/c/format/f: at byte 7: expected a bit below 64",
        "/d/cpumask: at byte 2: expected a cpu below 65536",
        "/e/events/v.scale: at byte 0: expected a finite number",
    ];
    assert_eq!(told.len(), ends.len());
    for (told, end) in told.iter().zip(ends) {
        assert!(told.ends_with(end), "{told}");
    }
    assert_eq!(all.last().unwrap().as_ref().unwrap().name, "good");
}

#[test]
fn pmus_that_are_not_there() {
    let pmus = intel();
    let Err(LookupError::Unknown { what, name, close }) = pmus.get("uncore_imc_2") else { panic!() };
    assert_eq!((what, name.as_str(), close.len()), ("PMU", "uncore_imc_2", 2));
    let own = pmus.root().file_name().unwrap().to_str().unwrap();
    for hostile in ["", ".", "..", &*format!("../{own}/cpu"), "cpu/..", "cpu/", "/etc", "a\0b"] {
        assert!(matches!(pmus.get(hostile), Err(LookupError::Unknown { .. })), "{hostile}");
    }
    assert!(matches!(Pmus::at("/nowhere").names(), Err(LookupError::Read { .. })));
}
