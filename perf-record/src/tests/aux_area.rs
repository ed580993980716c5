//! Hardware traces on made machines: the attrs, AUXTRACE_INFO, and the data.

mod attrs;
mod data;
mod info;
mod refusals;

use std::path::PathBuf;

use perf_open::EventGroup;
use perf_open::event::EventParser;
use perf_open::pmu::Pmus;
use perf_open::tracepoint::Tracefs;

use super::Folder;
use crate::aux_area::{Abilities, AuxPlan};
use crate::{Error, RecordOptions, Targets};

/// The PMUs of a Skylake machine, of one with BTS, and of an Arm machine.
const FILES: &[(&str, &str)] = &[
    ("intel_pt/type", "6\n"),
    ("intel_pt/format/pt", "config:0\n"),
    ("intel_pt/format/cyc", "config:1\n"),
    ("intel_pt/format/mtc", "config:9\n"),
    ("intel_pt/format/tsc", "config:10\n"),
    ("intel_pt/format/noretcomp", "config:11\n"),
    ("intel_pt/format/branch", "config:13\n"),
    ("intel_pt/format/mtc_period", "config:14-17\n"),
    ("intel_pt/format/cyc_thresh", "config:19-22\n"),
    ("intel_pt/format/psb_period", "config:24-27\n"),
    ("intel_pt/caps/mtc", "1\n"),
    ("intel_pt/caps/mtc_periods", "249\n"),
    ("intel_pt/caps/psb_cyc", "1\n"),
    ("intel_pt/caps/psb_periods", "3f\n"),
    ("intel_pt/caps/cycle_thresholds", "1fff\n"),
    ("intel_pt/max_nonturbo_ratio", "12\n"),
    ("intel_bts/type", "7\n"),
    ("arm_spe_0/type", "9\n"),
    ("arm_spe_0/cpumask", "0-1\n"),
    ("arm_spe_0/format/ts_enable", "config:0\n"),
    ("arm_spe_0/format/pa_enable", "config:1\n"),
    ("arm_spe_0/caps/min_interval", "1024\n"),
    ("arm_spe_1/type", "10\n"),
    ("arm_spe_1/format/ts_enable", "config:0\n"),
    ("hisi_ptt0_2/type", "11\n"),
    ("cs_etm/type", "12\n"),
];

/// A made machine.
struct AuxMachine {
    root: PathBuf,
    _folder: Folder,
    abilities: Abilities,
}

impl AuxMachine {
    fn new() -> Self {
        let folder = Folder::with(FILES);
        let abilities = Abilities { privileged: true, cpu_wide: true, text_poke: false, guests_trace: false };
        Self { root: folder.0.clone(), _folder: folder, abilities }
    }

    fn parse(&self, list: &str) -> Vec<EventGroup> {
        EventParser::at(Pmus::at(&self.root), Tracefs::at(self.root.join("none"))).parse(list).unwrap()
    }

    /// Returns the plan for a list of events, and the completed groups.
    fn plan(
        &self,
        list: &str,
        targets: &Targets,
        options: &RecordOptions,
    ) -> Result<(AuxPlan, Vec<EventGroup>), Error> {
        let mut groups = self.parse(list);
        let pmus = Pmus::at(&self.root);
        let plan = AuxPlan::of(&mut groups, targets, options, &pmus, || self.abilities)?;
        Ok((plan.expect("an event that writes to an AUX area"), groups))
    }
}
