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
    explained_among(list, why, &Pmus::new().names().unwrap_or_default())
}

fn explained_among(list: &str, why: &str, pmus: &[String]) -> String {
    let words = || list.split([',', '{', '}']).filter_map(|event| event.split_once('/').map(|(pmu, _)| pmu));
    let lacks = |start: &str| words().any(|pmu| pmu.starts_with(start) && !pmus.iter().any(|it| it == pmu));
    let names = TRACERS.iter().map(|(start, has)| (start.trim_end_matches('_'), has));
    let Some((name, has)) = names.into_iter().find(|(name, _)| lacks(name)) else { return why.to_owned() };
    let alike: Vec<_> = pmus.iter().filter(|pmu| pmu.starts_with(name)).map(String::as_str).collect();
    if alike.is_empty() {
        format!("{why}\nthis machine has no PMU {name}: {has}; perfdata list shows the PMUs of this machine")
    } else {
        format!("{why}\nthe PMUs of this machine with such names are {}; use one of these", alike.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::{explained, explained_among};

    #[test]
    fn only_pmus_that_trace() {
        assert_eq!(explained("cycle,faults/x/", "no"), "no");
        let both = ["faults,{arm_spe_99/ts_enable=1/}", "intel_pt_99//u"]
            .map(|list| explained_among(list, "no", &[]));
        assert!(both[0].starts_with("no\nthis machine has no PMU arm_spe: Arm's"), "{both:?}");
        assert!(both[1].contains("no PMU intel_pt: Intel's"), "{both:?}");
        assert!(
            explained_among("arm_spe//", "no", &[]).starts_with("no\nthis machine has no PMU arm_spe: Arm's")
        );
    }

    /// The PMUs of Arm SPE are numbered.
    #[test]
    fn names_like_it() {
        let pmus = ["arm_spe_0", "arm_spe_1", "cpu"].map(String::from);
        let why = explained_among("arm_spe//u", "no", &pmus);
        assert_eq!(
            why,
            "no\nthe PMUs of this machine with such names are arm_spe_0, arm_spe_1; use one of these"
        );
        assert_eq!(explained_among("arm_spe_1//", "no", &pmus), "no");
    }
}
