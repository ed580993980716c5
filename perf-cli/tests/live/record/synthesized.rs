//! Records that are synthesized for what existed before the recording, and their order.

use std::process::Command;

use super::workload::{command, words};
use super::{Dump, Running, perfdata, recorded, run};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    kinds_of_records_of_a_process,
    at_the_end,
    cgroups_that_exist,
];

/// Records a process that runs already.
fn of_process(options: &[&str]) -> Dump {
    let twins = command("twins", 1);
    let task = Running::start(Command::new(&twins[0]).args(&twins[1..]));
    let pid = task.0.id().to_string();
    let options = [&["-e", "cpu-clock", "-F", "500", "-p", &pid], options].concat();
    recorded(&needs::folder(), &options, &words(&["sleep", "0.3"]))
}

/// Returns the numbers of COMM and MMAP2 records that were synthesized for user space.
fn synthesized(dump: &Dump) -> (usize, usize) {
    let of = |kind| {
        let is_synthesized = |record: &&&serde_json::Value| record["sample_id"]["time"] == 0;
        dump.of_type(kind).iter().filter(is_synthesized).count()
    };
    (of("COMM"), of("MMAP2"))
}

fn kinds_of_records_of_a_process() {
    let (comms, maps) = synthesized(&of_process(&[]));
    assert!(comms > 0 && maps > 0, "{comms}, {maps}");
    assert_eq!(synthesized(&of_process(&["--synth", "no"])), (0, 0));
    let (comms, maps) = synthesized(&of_process(&["--synth", "task"]));
    assert!(comms > 0 && maps == 0, "{comms}, {maps}");
    let (comms, maps) = synthesized(&of_process(&["--synth=mmap", "--num-thread-synthesize", "2"]));
    assert!(comms > 0 && maps > 0, "{comms}, {maps}");
}

fn at_the_end() {
    let dump = of_process(&["--tail-synthesize"]);
    let place = |kind: &str| dump.records.iter().position(|record| record["type"] == kind);
    let first = |kind| place(kind).unwrap_or_else(|| panic!("no {kind}"));
    assert!(synthesized(&dump).1 > 0);
    assert!(dump.samples().is_empty() || first("SAMPLE") < first("MMAP2"));
    // Rings that overwrite keep the records of the start.
    assert!(synthesized(&of_process(&["--overwrite", "--tail-synthesize"])).1 > 0);
    let (status, out, _) = run(perfdata().args(["record", "--synth", "maps", "true"]));
    assert_eq!((status, &*out), (1, ""));
}

fn cgroups_that_exist() {
    let options = ["--all-cgroups", "-e", "page-faults", "-c", "1"];
    let dump = recorded(&needs::folder(), &options, &command("touch", 20));
    let cgroups = dump.of_type("CGROUP");
    let ids: Vec<_> = cgroups.iter().map(|record| &record["fields"]["id"]).collect();
    if ids.is_empty() {
        needs::skip("cgroup", "no cgroup hierarchy is mounted");
    }
    // The kernel's ids do not fit into the numbers of inodes of 32 bits.
    if cfg!(target_pointer_width = "64") {
        let mut samples = dump.samples().into_iter().map(|sample| &sample["cgroup"]);
        assert!(samples.any(|id| ids.contains(&id)), "{ids:?}");
    }
    let without = ["--all-cgroups", "--synth", "task", "-e", "page-faults", "-c", "1"];
    assert!(recorded(&needs::folder(), &without, &command("touch", 20)).of_type("CGROUP").is_empty());
}
