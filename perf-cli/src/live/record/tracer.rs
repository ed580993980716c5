//! Events of hardware traces on a machine that has no PMU for them.

use perf_open::pmu::Pmus;

/// The PMUs that trace, by the starts of their names, with what has them.
const TRACERS: [(&str, &str); 5] = [
    ("intel_pt", "Intel's CPUs since Broadwell have it, and virtual machines if the hypervisor passes it on"),
    ("intel_bts", "Intel's CPUs have it, and virtual machines usually do not"),
    (
        "arm_spe_",
        "Arm's CPUs with the Statistical Profiling Extension have it, if the firmware enables it and the driver \
                  arm_spe_pmu is loaded",
    ),
    ("cs_etm", "machines with Arm CoreSight have it, if the drivers are loaded"),
    ("hisi_ptt", "HiSilicon's machines with PCIe trace have it, if the driver hisi_ptt is loaded"),
];

/// Returns why a list of events is refused: with what has the PMU, if it is one that traces and this machine lacks it.
pub(super) fn explained(list: &str, why: &str) -> String {
    let pmus = Pmus::new();
    let lacks = |start: &str| {
        let mut words =
            list.split([',', '{', '}']).filter_map(|event| event.split_once('/').map(|(pmu, _)| pmu));
        words.any(|pmu| pmu.starts_with(start) && !pmus.has(pmu))
    };
    match TRACERS.iter().find(|(start, _)| lacks(start)) {
        Some((name, has)) => {
            let name = name.trim_end_matches('_');
            format!(
                "{why}\nthis machine has no PMU {name}: {has}; perfdata list shows the PMUs of this machine"
            )
        }
        None => why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::explained;

    #[test]
    fn only_pmus_that_trace() {
        assert_eq!(explained("cycle,faults/x/", "no"), "no");
        // No machine has all of these.
        let both = [explained("faults,{arm_spe_99/ts_enable=1/}", "no"), explained("intel_pt_99//u", "no")];
        assert!(both[0].starts_with("no\nthis machine has no PMU arm_spe: Arm's"), "{both:?}");
        assert!(both[1].contains("no PMU intel_pt: Intel's"), "{both:?}");
    }
}
