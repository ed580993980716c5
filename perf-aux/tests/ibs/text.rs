//! The text of samples is what perf prints.

use std::process::Command;

use needs::Need;
use perf_aux::ibs::{AmdCpu, FetchSample, IbsCaps, IbsText, OpSample};
use perf_aux::perf_text::PerfText;
use testdata::amd_ibs::{self, FETCH_TYPE, IbsMachine, OP_TYPE};

pub(crate) const TESTS: &[needs::Test] = needs::tests![perf_prints_the_same];

/// Machines for which perf prints each field and leaves out each field.
const MACHINES: &[IbsMachine<'_>] = &[
    IbsMachine { family: 0x17, model: 0x31, caps: &[] },
    IbsMachine { family: 0x19, model: 0x0f, caps: &[] },
    IbsMachine { family: 0x19, model: 0x10, caps: &["zen4_ibs_extensions"] },
    IbsMachine { family: 0x1a, model: 0x4f, caps: &["zen4_ibs_extensions", "ldlat", "dtlb_pgsize"] },
    IbsMachine {
        family: 0x1a,
        model: 0x50,
        caps: &["zen4_ibs_extensions", "ldlat", "dtlb_pgsize", "strmst", "rmtsocket"],
    },
    IbsMachine { family: 0x1b, model: 0, caps: &["dtlb_pgsize", "rmtsocket", "strmst"] },
];

/// The registers that perf reads of every sample.
const CAPS: u32 = IbsCaps::BRNTRGT.0 | IbsCaps::FETCHCTLEXTD.0;

/// Each bit alone and each bit missing, and registers without order, of valid samples. `valid` is the bits that make it valid.
fn samples(registers: usize, valid: u64) -> Vec<Vec<u8>> {
    let mut state = 1;
    let mut random = || {
        state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    let mut samples = Vec::new();
    for register in 0..registers {
        for bit in 0..64 {
            for value in [1 << bit, !(1 << bit)] {
                let mut words = vec![if value == 1 << bit { 0 } else { u64::MAX }; registers];
                words[register] = value;
                words[0] |= valid;
                samples.push(amd_ibs::raw(CAPS, &words));
            }
        }
    }
    for _ in 0..500 {
        let mut words: Vec<_> = (0..registers).map(|_| random() & random()).collect();
        words[0] |= valid;
        samples.push(amd_ibs::raw(CAPS, &words));
    }
    // perf prints nothing of a sample that is not valid.
    samples.push(amd_ibs::raw(CAPS, &vec![0; registers]));
    samples
}

fn perf_prints_the_same() {
    needs::all(&[Need::PERF]);
    let version = Command::new("perf").arg("--version").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let release = match version.trim_start_matches("perf version ") {
        it if it.starts_with("6.1.") => PerfText::V6_1,
        it if it.starts_with("7.2.") => PerfText::V7_2,
        other => needs::skip("perf", &format!("its texts of 6.1 and 7.2 are known, not those of {other}")),
    };
    let path = needs::folder().join("ibs.data");
    for machine in MACHINES {
        let cpu = AmdCpu { family: machine.family, model: machine.model };
        let caps = IbsCaps::of_names(machine.caps.iter().map(|name| name.as_bytes()));
        let text = IbsText { cpu, caps, release };
        for (kind, registers, valid) in [(FETCH_TYPE, 4, 0b11 << 48), (OP_TYPE, 8, 0b11 << 17)] {
            let samples = samples(registers, valid);
            std::fs::write(&path, amd_ibs::capture(machine, kind, &samples)).unwrap();
            let ours = samples.iter().filter_map(|raw| {
                if kind == FETCH_TYPE {
                    let sample = FetchSample::parse(raw).unwrap();
                    sample.is_valid().then(|| sample.text(text).to_string())
                } else {
                    let sample = OpSample::parse(raw).unwrap();
                    sample.is_valid().then(|| sample.text(text).to_string())
                }
            });
            let ours: Vec<_> = ours.collect();
            let ours: Vec<_> = ours.iter().flat_map(|text| text.lines()).collect();
            let perf = Command::new("perf").args(["script", "-D", "-i"]).arg(&path).output().unwrap();
            let perf = String::from_utf8_lossy(&perf.stdout);
            let is_ours = |line: &&str| ["ibs_", "ic_ibs_", "Ibs"].iter().any(|it| line.starts_with(it));
            let theirs: Vec<_> = perf.lines().filter(is_ours).collect();
            let difference = ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs);
            assert_eq!(difference, None, "{machine:?}");
            assert_eq!(ours.len(), theirs.len(), "{machine:?}");
            assert!(ours.len() > 2000);
        }
    }
}
