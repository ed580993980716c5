//! Where a recording goes to, and what stands behind its records.

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::workload::command;
use crate::{
    Running, agrees_with_perf, dump, folder, has, has_sample, may_record, perf, perf_says, perfdata, record,
    recorded, run, shown, succeeds, until,
};

#[test]
fn a_stream_is_read_as_it_comes() {
    if !may_record() {
        return;
    }
    let folder = folder("stream");
    let options = ["-q", "-g", "-e", "page-faults", "-c", "1", "-o", "-"];
    let mut recorder = record(&folder, &options, &command("touch", 100));
    let mut recorder = Running(recorder.stdout(Stdio::piped()).spawn().unwrap());
    let dump = shown(perfdata().args(["dump", "-"]).stdin(recorder.0.stdout.take().unwrap()));
    assert_eq!((recorder.ends(), dump.status, &*dump.err), (0, 0, ""));
    assert_eq!(dump.header["mode"], "pipe");
    assert!(dump.samples().len() >= 100);
    assert!(!folder.join("perf.data").exists());
}

#[test]
fn a_stream_is_what_perf_reads() {
    if !may_record() || !has("perf", "what it reads of streams") {
        return;
    }
    let folder = folder("stream-perf");
    let capture = folder.join("stream.data");
    let mut recorder =
        record(&folder, &["-q", "-e", "page-faults", "-c", "1", "-o", "-"], &command("touch", 100));
    let status = recorder.stdout(fs::File::create(&capture).unwrap()).status().unwrap();
    assert!(status.success());
    agrees_with_perf(&capture);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    if !may_record() {
        return;
    }
    let folder = folder("stream-ends");
    let mut recorder =
        record(&folder, &["-q", "-e", "cpu-clock", "-F", "20000", "-g", "-o", "-"], &command("twins", 1));
    let mut recorder = Running(recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    drop(recorder.0.stdout.take());
    recorder.ends();
    let mut err = String::new();
    std::io::Read::read_to_string(recorder.0.stderr.as_mut().unwrap(), &mut err).unwrap();
    assert_eq!(err, "");
}

#[test]
fn what_a_killed_recorder_leaves_can_be_mended() {
    if !may_record() {
        return;
    }
    let folder = folder("killed");
    let (capture, mended) = (folder.join("perf.data"), folder.join("mended.data"));
    let mut recorder =
        Running::start(&mut record(&folder, &["-q", "-g", "-e", "cpu-clock"], &command("twins", 1)));
    until("there is a sample", || has_sample(&capture));
    recorder.0.kill().unwrap();
    recorder.0.wait().unwrap();

    let left = dump(&capture);
    assert_eq!(left.status, 3, "the file is not whole");
    assert!(left.err.starts_with("0x30: header.data.size: is 0"), "{}", left.err);
    let (status, _, err) = run(perfdata().arg("repair").arg(&capture).arg("-o").arg(&mended));
    assert_eq!(status, 3, "{err}");
    let whole = dump(&mended);
    assert_eq!((whole.status, &*whole.err), (0, ""));
    assert_eq!(whole.samples(), left.samples());
    agrees_with_perf(&mended);
}

#[test]
fn what_was_there_becomes_old() {
    if !may_record() {
        return;
    }
    let folder = folder("old");
    let [capture, old] = ["perf.data", "perf.data.old"].map(|name| folder.join(name));
    recorded(&folder, &["-e", "page-faults"], &command("touch", 10));
    let first = fs::read(&capture).unwrap();
    assert!(!old.exists());
    recorded(&folder, &["-e", "page-faults"], &command("touch", 10));
    let second = fs::read(&capture).unwrap();
    assert!(fs::read(&old).unwrap() == first && second != first);
    recorded(&folder, &["-e", "page-faults"], &command("touch", 10));
    assert!(fs::read(&old).unwrap() == second);
}

/// The build ids and files of a capture, by perf.
fn build_ids(capture: &Path) -> Option<BTreeSet<(String, String)>> {
    let listed = perf_says(&["buildid-list"], capture)?;
    let pairs = listed.lines().map(|line| line.trim().split_once(' ').unwrap());
    Some(pairs.map(|(id, file)| (id.to_owned(), file.to_owned())).collect())
}

/// Holds the build ids that we find against those that perf does, for the same program.
fn build_ids_are_perfs(name: &str, options: &[&str]) {
    if !may_record() || !has("perf", "its build ids") {
        return;
    }
    let folder = folder(name);
    let [ours, perfs] = ["perf.data", "perfs.data"].map(|name| folder.join(name));
    let (command, options) = (command("touch", 200), [&["-e", "page-faults", "-c", "1"], options].concat());
    recorded(&folder, &options, &command);
    let mut perf = perf(&["record", "-q", "-N", "-o"]);
    perf.arg(&perfs).args(&options).arg("--").args(&command);
    assert_eq!(run(&mut perf).0, 0);
    let [ours, perfs] = [&ours, &perfs].map(|capture| build_ids(capture).unwrap());
    let program = Path::new(&command[0]).file_name().unwrap().to_str().unwrap();
    assert!(ours.iter().any(|(_, file)| file.ends_with(program)), "{ours:?}");
    assert_eq!(ours, perfs);
}

#[test]
fn build_ids_of_files_that_were_hit() {
    build_ids_are_perfs("build-ids", &[]);
}

#[test]
fn build_ids_of_all_files() {
    build_ids_are_perfs("build-ids-all", &["--buildid-all"]);
}

#[test]
fn no_build_ids() {
    if !may_record() {
        return;
    }
    let dump = recorded(&folder("no-build-ids"), &["-B", "-e", "page-faults"], &command("touch", 10));
    assert!(dump.header["features"]["BUILD_ID"].is_null());
}

#[test]
fn lost_samples_are_counted() {
    if !may_record() {
        return;
    }
    if Command::new("taskset").arg("--version").output().is_err()
        || Command::new("chrt").arg("--version").output().is_err()
    {
        eprintln!("skipped: without taskset and chrt, lost samples are not tested");
        return;
    }
    // One cpu, a ring of one page, and a writer beside which the recorder may not run.
    let folder = folder("lost");
    let recorder = record(
        &folder,
        &["-m", "1", "-e", "page-faults", "-c", "1"],
        &[&["chrt", "-f", "1"].map(str::to_owned)[..], &command("touch", 2000)].concat(),
    );
    let mut pinned = Command::new("taskset");
    pinned.args(["-c", "0"]).arg(recorder.get_program()).args(recorder.get_args()).current_dir(&folder);
    let (status, _, err) = run(&mut pinned);
    assert_eq!(status, 0, "{err}");
    let dump = dump(&folder.join("perf.data"));
    let sum = |kind| -> u64 {
        dump.of_type(kind).iter().map(|record| record["fields"]["lost"].as_u64().unwrap()).sum()
    };
    let (samples, records) = (sum("LOST_SAMPLES"), sum("LOST"));
    assert!(samples > 0, "the ring of a page held it all");
    let said = format!("{} records lost", samples.max(records));
    assert!(err.contains(&said) && err.contains("--mmap-pages"), "{said}: {err}");
}

#[test]
fn what_is_no_file_is_not_moved_away() {
    if !may_record() {
        return;
    }
    let folder = folder("device");
    succeeds(&mut record(&folder, &["-q", "-e", "page-faults", "-o", "/dev/null"], &command("touch", 10)));
    assert!(!Path::new("/dev/null").is_file() && !Path::new("/dev/null.old").exists());
}
