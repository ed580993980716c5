//! Traces that are refused, with their reasons.

use super::AuxMachine;
use crate::{RecordOptions, Targets};

fn refusal(list: &str, targets: &Targets, options: &RecordOptions) -> String {
    let refused = AuxMachine::new().plan(list, targets, options).err();
    refused.unwrap_or_else(|| panic!("{list} is not refused")).to_string()
}

#[test]
fn events() {
    for (list, why) in [
        ("intel_pt//,intel_pt//u", "only one event"),
        ("arm_spe_0//,arm_spe_1//", "only one event"),
        (
            "cs_etm//u",
            "cs_etm//u: its trace is described by registers of each CPU, which are not recorded; perf record",
        ),
        ("intel_bts//", "give --per-thread"),
        ("intel_pt/mtc_period=1/", "mtc_period=1: the PMU supports 0, 3, 6, 9"),
        ("intel_pt/psb_period=6/", "psb_period=6: the PMU supports 0, 1, 2, 3, 4, 5"),
        ("intel_pt/overwrite/", "take snapshots"),
        ("intel_pt/aux-sample-size=1/", "it writes to the AUX area"),
        ("intel_pt/aux-action=pause/", "it writes to the AUX area"),
        ("cycles/aux-sample-size=1/,intel_pt//", "need a group whose leader"),
        ("intel_pt//,{cycles,faults/aux-output/}", "need a group whose leader"),
        ("{intel_pt//,cycles/aux-sample-size=61441/}", "61440"),
        ("{intel_pt//,cycles/aux-output/,faults/aux-output/}", "only one event can have the term aux-output"),
        ("intel_pt//,cycles/aux-action=start-paused/", "is for the event that writes"),
        ("{arm_spe_0//,cycles/aux-sample-size=1/}", "cannot sample the AUX area"),
    ] {
        let refused = refusal(list, &Targets::Command, &RecordOptions::default());
        assert!(refused.contains(why), "{list}: {refused}");
    }
}

#[test]
fn options() {
    let pt = "intel_pt//";
    let default = RecordOptions::default;
    for (list, options, why) in [
        (pt, RecordOptions { clockid: Some(1), ..default() }, "leave out the other clock"),
        (pt, RecordOptions { overwrite: true, ..default() }, "take snapshots"),
        (pt, RecordOptions { aux_pages: Some(1), ..default() }, "at least 8 KiB"),
        (pt, RecordOptions { aux_pages: Some(24), ..default() }, "a power of two"),
        (pt, RecordOptions { aux_pages: Some(usize::MAX), ..default() }, "address space"),
        (pt, RecordOptions { aux_snapshot: Some(usize::MAX), ..default() }, "address space"),
        (
            pt,
            RecordOptions { aux_snapshot: Some(1 << 30), aux_pages: Some(16), ..default() },
            "take a larger area",
        ),
        (pt, RecordOptions { aux_sample: Some(0), ..default() }, "{intel_pt//,cycles}"),
        ("hisi_ptt0_2//", RecordOptions { aux_snapshot: Some(0), ..default() }, "no snapshots"),
        (
            "{intel_pt//,faults}",
            RecordOptions { aux_sample: Some(0), aux_snapshot: Some(0), ..default() },
            "combined",
        ),
    ] {
        let refused = refusal(list, &Targets::Command, &options);
        assert!(refused.contains(why), "{options:?}: {refused}");
    }
}

#[test]
fn areas_without_an_event_that_writes_to_one() {
    let machine = AuxMachine::new();
    let plan = |list: &str, options: &RecordOptions| {
        let mut groups = machine.parse(list);
        let pmus = perf_open::pmu::Pmus::at(&machine.root);
        let plan = crate::aux_area::AuxPlan::of(&mut groups, &Targets::Command, options, &pmus, || {
            machine.abilities
        });
        plan.map(|plan| plan.is_some()).map_err(|error| error.to_string())
    };
    assert_eq!(plan("faults", &RecordOptions::default()), Ok(false));
    let why = "needs an event that writes to an AUX area, such as intel_pt// or arm_spe_0//; no event does";
    for options in [
        RecordOptions { aux_snapshot: Some(0), ..RecordOptions::default() },
        RecordOptions { aux_sample: Some(0), ..RecordOptions::default() },
        RecordOptions { aux_pages: Some(64), ..RecordOptions::default() },
    ] {
        assert!(plan("faults", &options).unwrap_err().ends_with(why));
    }
    assert!(plan("faults/aux-output/", &RecordOptions::default()).unwrap_err().ends_with(why));
}
