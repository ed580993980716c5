//! `perfdata fold`: what all stacks together count, for all captures of `testdata`; the number of threads; several captures;
//! names that are no names. `testdata/check/fold.sh` compares its output to that of inferno.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use perf_parse::Reader;

struct Run {
    status: i32,
    out: String,
    err: String,
}

fn fold(args: &[&str], captures: &[&Path]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.arg("fold").args(args).args(captures).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// The stacks with what they count. No stack is there twice.
fn stacks(text: &str) -> BTreeMap<&str, u64> {
    let stacks: BTreeMap<_, _> = text
        .lines()
        .map(|line| {
            let (stack, weight) = line.rsplit_once(' ').unwrap();
            (stack, weight.parse().unwrap())
        })
        .collect();
    assert_eq!(stacks.len(), text.lines().count());
    stacks
}

/// Without symbols of this machine.
const ALONE: [&str; 2] = ["--symfs", "/nonexistent"];

/// The number of samples of each event, as `perfdata script` prints them.
fn samples_of(capture: &Path) -> BTreeMap<String, u64> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["script", "--format", "jsonl", "--no-symbols"]).arg(capture).output().unwrap();
    let mut samples = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(name) = sample["event_name"].as_str() {
            *samples.entry(name.to_owned()).or_default() += 1;
        }
    }
    samples
}

#[test]
fn the_weights_are_those_of_the_samples() {
    let mut folded = 0;
    for capture in testdata::captures() {
        let run = fold(&[&ALONE[..], &["--weight", "samples"]].concat(), &[&capture]);
        assert!([0, 1, 3].contains(&run.status), "{}: {}", capture.display(), run.err);
        let sum: u64 = stacks(&run.out).values().sum();
        let samples = samples_of(&capture);
        // One event is folded; of the first sample, if several have samples.
        let names_one = run.err.contains("are folded; --event");
        if names_one {
            let (_, rest) = run.err.split_once("only the samples of ").unwrap();
            let (first, _) = rest.split_once(" are folded").unwrap();
            assert_eq!(sum, samples[first], "{}", capture.display());
        } else {
            assert_eq!(sum, samples.values().sum::<u64>(), "{}", capture.display());
        }
        folded += sum;
    }
    assert!(folded > 1000, "{folded}");
}

#[test]
fn each_event_can_be_folded() {
    let capture = testdata::path("group_read.data");
    let samples = samples_of(&capture);
    assert!(samples.len() > 1);
    for (event, count) in samples {
        let run = fold(&["--weight", "samples", "--event", &event], &[&capture]);
        assert_eq!(stacks(&run.out).values().sum::<u64>(), count, "{event}: {}", run.err);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let captures: Vec<PathBuf> =
        ["callchain.data", "everything.data", "system_wide.data"].map(testdata::path).into();
    let captures: Vec<&Path> = captures.iter().map(PathBuf::as_path).collect();
    let one = fold(&["--threads", "1", "--mark", "all"], &captures);
    let four = fold(&["--threads", "4", "--mark", "all"], &captures);
    assert!(!one.out.is_empty());
    assert_eq!((one.out, one.err), (four.out, four.err));
}

#[test]
fn captures_add_up() {
    let (one, other) = (testdata::path("callchain.data"), testdata::path("system_wide.data"));
    let event = |capture: &Path| {
        let reader = Reader::open(capture).unwrap();
        reader.events()[0].name.clone().unwrap()
    };
    assert_eq!(event(&one), event(&other), "both have this event");
    let together = fold(&ALONE, &[&one, &other]);
    let (one, other) = (fold(&ALONE, &[&one]), fold(&ALONE, &[&other]));
    let mut sum = stacks(&one.out);
    for (stack, weight) in stacks(&other.out) {
        *sum.entry(stack).or_default() += weight;
    }
    assert_eq!(stacks(&together.out), sum);
}

#[test]
fn roots_have_the_ids_that_are_asked_for() {
    let capture = testdata::path("callchain.data");
    let by = |root: &str| fold(&[&ALONE[..], &["--root", root]].concat(), &[&capture]).out;
    let root_of = |text: &str| text.split(';').next().unwrap().to_owned();
    let (comm, pid, tid) = (root_of(&by("comm")), root_of(&by("pid")), root_of(&by("tid")));
    let id = pid.strip_prefix(&format!("{comm}-")).unwrap();
    assert!(id.parse::<u32>().is_ok(), "{pid}");
    assert!(tid.starts_with(&format!("{comm}-{id}/")), "{tid}");
}

#[test]
fn marks_follow_the_frames_of_their_kind() {
    let capture = testdata::path("callchain.data");
    let marked = |mark: &str| fold(&[&ALONE[..], &["--mark", mark]].concat(), &[&capture]).out;
    let plain = fold(&ALONE, &[&capture]).out;
    let kernel = marked("kernel");
    assert_eq!(kernel.replace("_[k]", ""), plain);
    assert_eq!(kernel.matches("_[k]").count(), plain.matches(";[[kernel.kallsyms]]").count());
    assert!(kernel.contains("_[k]"));
    assert_eq!(marked("all"), kernel);
    assert_eq!(marked("jit"), plain);
}
