//! Dumps of hardware traces, beside `perf script -D`.

use std::path::Path;
use std::process::Command;

use needs::Need;
use perf_aux::spe::{Packets, SpeText};
use testdata::amd_ibs::{self, IbsMachine};
use testdata::arm_spe::{Capture, RandomPackets};
use testdata::intel_pt;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![packets_of_intel_pt, packets_of_arm_spe, registers_of_ibs];

/// Returns the lines that start with one of `prefixes`: of perf, and of perfdata.
fn lines(name: &str, capture: &[u8], prefixes: &[&str]) -> [Vec<String>; 2] {
    let file = needs::folder().join(name);
    std::fs::write(&file, capture).unwrap();
    let run = |program: &str, args: &[&str], file: &Path| {
        let output = Command::new(program)
            .args(args)
            .arg(file)
            .envs([("LC_ALL", "C"), ("PERF_CONFIG", "/dev/null"), ("PERF_PAGER", "cat")])
            .env("HOME", needs::home())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let found = text.lines().filter(|line| prefixes.iter().any(|prefix| line.starts_with(prefix)));
        found.map(str::to_owned).collect::<Vec<_>>()
    };
    [run("perf", &["script", "-D", "-i"], &file), run(env!("CARGO_BIN_EXE_perfdata"), &["dump"], &file)]
}

/// Those of packets have offsets of 8 digits, those of records of 4.
fn is_packet(line: &str) -> bool {
    line.get(11..13) == Some(": ")
}

fn packets_of_intel_pt() {
    needs::all(&[Need::PERF]);
    let capture = intel_pt::capture(intel_pt::WITHOUT_BRANCHES, &[intel_pt::packets(51, 3000)]);
    let [mut theirs, ours] = lines("pt.data", &capture, &[".  "]);
    theirs.retain(|line| is_packet(line));
    if theirs.is_empty() {
        needs::skip("perf-intel-pt", "this perf does not decode Intel PT");
    }
    assert!(ours.len() > 3000, "{}", ours.len());
    assert_eq!(ours, theirs);
}

/// The texts of some packets differ between perf 6.1 and perf 7.2, whose text is printed.
fn packets_of_arm_spe() {
    needs::all(&[Need::PERF]);
    let capture = Capture { data: RandomPackets::new(52).records(500).out, ..Capture::default() };
    let [mut theirs, ours] = lines("spe.data", &capture.build(), &[".  "]);
    theirs.retain(|line| is_packet(line));
    assert_eq!(ours.len(), theirs.len());
    let same = Packets::new(0, &capture.data).map(|at| match at.packet {
        Ok(packet) => packet.text(SpeText::V6_1).to_string() == packet.text(SpeText::default()).to_string(),
        Err(_) => true,
    });
    let mut compared = 0;
    for (same, (ours, theirs)) in same.zip(ours.iter().zip(&theirs)) {
        // The offset and the bytes are always the same.
        assert_eq!(ours[..61], theirs[..61]);
        if same {
            assert_eq!(ours, theirs);
            compared += 1;
        }
    }
    assert!(compared > 2000, "{compared}");
}

/// The text is that of perf 6.1; that of newer ones has more fields.
fn registers_of_ibs() {
    needs::all(&[Need::PERF]);
    let version = Command::new("perf").arg("--version").output().unwrap().stdout;
    if !version.starts_with(b"perf version 6.1.") {
        needs::skip("perf", "the text of perf 6.1 is printed, and this is another one");
    }
    let machine = IbsMachine { family: 0x19, model: 0x11, caps: &["zen4_ibs_extensions"] };
    let mut random = intel_pt::Random::new(53);
    for (kind, registers, valid) in [(amd_ibs::FETCH_TYPE, 4, 0b11 << 48), (amd_ibs::OP_TYPE, 8, 0b11 << 17)]
    {
        let raws: Vec<_> = (0..300)
            .map(|_| {
                let mut words: Vec<_> = (0..registers).map(|_| random.word() & random.word()).collect();
                words[0] |= valid;
                amd_ibs::raw(1 << 5 | 1 << 9, &words)
            })
            .collect();
        let capture = amd_ibs::capture(&machine, kind, &raws);
        let [theirs, ours] = lines("ibs.data", &capture, &["ibs_", "ic_ibs_", "Ibs"]);
        assert!(ours.len() > 600, "{}", ours.len());
        assert_eq!(ours, theirs);
    }
}
