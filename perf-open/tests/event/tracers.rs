//! PMUs that write to AUX areas: their defaults, and the terms about AUX areas.

use perf_abi::attr::{AttrFlags, AuxAction};
use perf_abi::sample_type::SampleType;
use perf_open::Builder;
use perf_open::pmu::Pmu;

use crate::fake::{ARM, INTEL, parser, pmus_of};

/// Intel PT as `/sys` of a Skylake machine has it.
const INTEL_PT: &[(&str, &str)] = &[
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
];

/// Returns the PMU `intel_pt` with other contents of some files; without a file that has none.
fn intel_pt(changes: &[(&str, Option<&str>)]) -> Pmu {
    let change = |path: &str| changes.iter().find(|(changed, _)| path.ends_with(changed));
    let files: Vec<_> = INTEL_PT
        .iter()
        .filter_map(|&(path, text)| Some((path, change(path).map_or(Some(text), |(_, text)| *text)?)))
        .collect();
    pmus_of(&files).get("intel_pt").unwrap()
}

/// perf: `intel_pt_default_config`. The first is the config of a capture by perf on such a machine.
#[test]
fn the_default_config_of_intel_pt() {
    let of = |changes: &[(&str, Option<&str>)]| intel_pt(changes).default_config();
    assert_eq!(of(&[]), 0x300_e601);
    assert_eq!(of(&[("caps/mtc", Some("0"))]), 0x2401, "no MTC, and so no period of PSB");
    assert_eq!(of(&[("caps/mtc", None)]), 0x300_e601);
    assert_eq!(of(&[("caps/mtc_periods", Some("0"))]), 0x2401);
    assert_eq!(of(&[("caps/mtc_periods", None)]), 0x2401);
    assert_eq!(of(&[("caps/mtc_periods", Some("0x240"))]), 0x301_a601, "6 is the lowest");
    assert_eq!(of(&[("caps/psb_cyc", Some("0"))]), 0xe601);
    assert_eq!(of(&[("caps/psb_periods", Some("1"))]), 0xe601, "the period 0");
    assert_eq!(of(&[("format/branch", None)]), 0x300_c600, "old kernels have neither");
    assert_eq!(of(&[("format/tsc", None)]), 0);
    assert_eq!(of(&[("caps/mtc_periods", Some("many"))]), 0x2401);
    assert_eq!(pmus_of(INTEL).get("cpu").unwrap().default_config(), 0);
    assert_eq!(pmus_of(ARM).get("arm_spe_0").unwrap().default_config(), 0);
}

#[test]
fn terms_replace_the_default() {
    let pmu = intel_pt(&[]);
    let of = |terms| {
        let event = pmu.event(terms).unwrap();
        (event.attr.config, event.config_set)
    };
    assert_eq!(of(""), (0x300_e601, 0));
    assert_eq!(of("psb_period=0"), (0xe601, 0xf00_0000));
    assert_eq!(of("tsc=0,cyc=1"), (0x300_e203, 0x402));
    assert_eq!(of("config=0x401"), (0x401, u64::MAX));
    let parser = parser(INTEL_PT);
    assert_eq!(parser.parse("intel_pt//u").unwrap()[0].events[0].attr.config, 0x300_e601);
}

#[test]
fn terms_about_aux_areas() {
    let list = "{cycles,faults/aux-sample-size=8192/,faults/aux-output/,faults/aux-action=pause/}";
    let groups = parser(INTEL).parse(list).unwrap();
    let [_, sampled, output, pauses] = groups[0].events.as_slice() else { panic!("{groups:?}") };
    assert!(sampled.terms.names().eq(["aux-sample-size"]));
    assert!(pauses.terms.names().eq(["aux-action"]) && output.terms.names().eq(["aux-output"]));
    assert_eq!(pauses.terms.aux_action, Some(AuxAction::PAUSE));
    let attr = |event: &perf_open::EventSpec| *Builder::new(event.clone()).attr();
    assert_eq!(attr(sampled).aux_sample_size, 8192);
    assert!(attr(sampled).sample_type.contains(SampleType::AUX));
    assert!(attr(output).flags.contains(AttrFlags::AUX_OUTPUT));
    assert_eq!(attr(pauses).aux_action, AuxAction::PAUSE);
    let action = |text: &str| {
        let groups = parser(INTEL).parse(&format!("faults/aux-action={text}/")).unwrap();
        groups[0].events[0].terms.aux_action
    };
    assert_eq!(action("resume"), Some(AuxAction::RESUME));
    assert_eq!(action("start-paused"), Some(AuxAction::START_PAUSED));
}
