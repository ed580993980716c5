//! Folders that several threads write: `--threads`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::perf::perf;
use super::workload::command;
use super::{
    OWN_MOUNTS, Running, dump, has_sample, here, in_own_mounts, perfdata, record, recorded, run, succeeds,
    until,
};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_folder_with_a_file_for_each_ring,
    layouts_and_masks,
    compressed,
    a_process_until_ctrl_c,
    a_killed_recorder_leaves_what_it_wrote,
    a_command_until_the_folder_has_its_size,
    perf_reads_every_sample,
    perf_reads_compressed_folders,
    the_whole_machine,
    what_was_there_becomes_old,
    what_threads_cannot_do,
    a_full_disk,
];

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn a_folder_with_a_file_for_each_ring() {
    let folder = needs::folder();
    let dump = recorded(&folder, &["--threads", "-e", "page-faults", "-c", "1"], &command("touch", 300));
    assert!(dump.samples().len() >= 300);
    assert_eq!(dump.header["features"]["DIR_FORMAT"]["version"], 1);
    assert!(dump.of_type("FINISHED_ROUND").is_empty(), "the records of each ring are in order");
    let capture = folder.join("perf.data");
    let mut expected = vec!["data".to_owned()];
    expected.extend((0..perf_record::online().unwrap().len()).map(|ring| format!("data.{ring}")));
    assert_eq!(names(&capture), expected);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&capture), 0o700);
    assert!(expected.iter().all(|name| mode(&capture.join(name)) == 0o600));
    // The samples are in the files of the rings.
    let info = succeeds(perfdata().arg("info").arg(&capture));
    assert!(info.contains("account: clean"), "{info}");
    let main = super::dump(&capture.join("data"));
    assert!(main.samples().is_empty());
    assert_eq!(names(&folder), ["perf.data"], "nothing else is left");
}

fn layouts_and_masks() {
    needs::all(&[needs::Need::Sysfs]);
    for layout in ["--threads=core", "--threads=package", "--threads=0/0", "--threads=CPU"] {
        let dump = recorded(&needs::folder(), &[layout, "-i", "-e", "page-faults"], &command("touch", 300));
        assert!(!dump.of_type("COMM").is_empty(), "{layout}");
    }
}

fn compressed() {
    let folder = needs::folder();
    let options = ["--threads", "-z", "-e", "page-faults", "-c", "1"];
    let dump = recorded(&folder, &options, &command("touch", 300));
    assert!(dump.samples().len() >= 300);
    assert!(!dump.header["features"]["COMPRESSED"].is_null());
}

/// Starts a recording of a process. Returns the process and the recorder, which has written a sample.
fn of_a_process(folder: &Path) -> (Running, Running) {
    let twins = command("twins", 1);
    let task = Running::start(Command::new(&twins[0]).args(&twins[1..]));
    let pid = task.0.id().to_string();
    let mut recorder = perfdata();
    let options = ["-q", "--threads", "-e", "cpu-clock", "-F", "500", "-p", &pid];
    recorder.current_dir(folder).arg("record").args(here(&options));
    let recorder = Running::start(&mut recorder);
    until("there is a sample", || has_sample(&folder.join("perf.data")));
    (task, recorder)
}

fn a_process_until_ctrl_c() {
    let folder = needs::folder();
    let (mut task, mut recorder) = of_a_process(&folder);
    recorder.signal("INT");
    assert_eq!(recorder.ends(), 0);
    assert!(task.0.try_wait().unwrap().is_none());
    let dump = dump(&folder.join("perf.data"));
    assert_eq!((dump.status, &*dump.err), (0, ""));
    let pid = task.0.id();
    assert!(dump.samples().iter().all(|sample| sample["pid"] == pid));

    // The end of the process ends the recording. A sample of the first one would say too early that it runs.
    fs::remove_dir_all(folder.join("perf.data")).unwrap();
    let (mut task, mut recorder) = of_a_process(&folder);
    task.0.kill().unwrap();
    task.0.wait().unwrap();
    assert_eq!(recorder.ends(), 0);
}

fn a_killed_recorder_leaves_what_it_wrote() {
    let folder = needs::folder();
    let (_task, mut recorder) = of_a_process(&folder);
    recorder.0.kill().unwrap();
    recorder.0.wait().unwrap();
    let left = dump(&folder.join("perf.data"));
    assert_eq!(left.status, 3, "the folder is not whole");
    assert!(!left.samples().is_empty());
    let mended = folder.join("mended.data");
    let (status, _, err) = run(perfdata().arg("repair").arg(folder.join("perf.data")).arg("-o").arg(&mended));
    assert_eq!(status, 3, "{err}");
    assert_eq!(dump(&mended).samples().len(), left.samples().len());
}

fn a_command_until_the_folder_has_its_size() {
    let folder = needs::folder();
    let options = ["--threads", "-e", "cpu-clock", "-F", "20000", "-m", "1", "--max-size", "100K"];
    let (status, _, err) = run(&mut record(&folder, &options, &command("twins", 1)));
    assert_eq!(status, 128 + 15, "the command is ended: {err}");
    assert!(err.contains("reached --max-size"), "{err}");
    let dump = dump(&folder.join("perf.data"));
    assert_eq!((dump.status, &*dump.err), (0, ""));
}

/// Checks that perf prints every sample of a folder, and no warning.
fn perf_reads(options: &[&str], command: &[String]) {
    needs::all(&[needs::Need::PERF]);
    let folder = needs::folder();
    let dump = recorded(&folder, options, command);
    let capture = folder.join("perf.data");
    // Without sysfs, perf warns that it does not know the CPUs.
    let (status, script, err) = run(perf(&["script", "-F", "tid,time", "-i"]).arg(&capture));
    assert_eq!(status, 0, "{err}");
    assert_eq!(script.lines().count(), dump.samples().len());
    let (status, report, err) = run(perf(&["report", "--stats", "-i"]).arg(&capture));
    assert_eq!(status, 0, "{err}");
    let counted = report.lines().find(|line| line.trim().starts_with("SAMPLE events:")).unwrap();
    assert_eq!(counted.split_whitespace().nth(2).unwrap(), dump.samples().len().to_string());
    let (status, header, err) = run(perf(&["report", "--header-only", "-i"]).arg(&capture));
    assert_eq!(status, 0, "{err}");
    assert!(header.contains("# directory data version : 1"), "{header}");
}

fn perf_reads_every_sample() {
    perf_reads(&["--threads", "-g", "-e", "cpu-clock", "-F", "5000"], &command("threads", 4));
    perf_reads(&["--threads", "-e", "page-faults", "-e", "cpu-clock", "-F", "5000"], &command("threads", 2));
}

fn perf_reads_compressed_folders() {
    perf_reads(&["--threads", "-z", "-e", "page-faults", "-c", "1"], &command("touch", 300));
}

fn the_whole_machine() {
    needs::all(&[needs::Need::CpuEvents]);
    let folder = needs::folder();
    let options = ["--threads=0/0", "-a", "-e", "cpu-clock", "-F", "1000"];
    let dump = recorded(&folder, &options, &command("threads", 2));
    let samples = dump.samples();
    assert!(
        !samples.is_empty() && samples.iter().all(|sample| sample["cpu"] == 0),
        "of the cpus in the mask"
    );
    let script = succeeds(perfdata().args(["script", "-F", "comm"]).current_dir(&folder));
    assert_eq!(script.lines().count(), samples.len());
    assert!(!script.lines().any(|line| line.trim().starts_with(":-")), "all tasks have names");
}

/// A folder, a file, and again a folder replace each other.
fn what_was_there_becomes_old() {
    let folder = needs::folder();
    let [capture, old] = ["perf.data", "perf.data.old"].map(|name| folder.join(name));
    let is_folder = [false, true, true, false, false, true];
    for (round, threads) in is_folder.into_iter().enumerate() {
        let options = ["--threads", "-e", "page-faults"];
        recorded(&folder, if threads { &options } else { &options[1..] }, &command("touch", 10));
        assert_eq!(capture.is_dir(), threads);
        if let Some(before) = round.checked_sub(1) {
            assert_eq!(old.is_dir(), is_folder[before], "round {round}");
            assert_eq!(dump(&old).status, 0);
        }
    }
    assert_eq!(names(&folder), ["perf.data", "perf.data.old"]);

    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("notes"), "").unwrap();
    for options in [&["--threads", "-o", "other"][..], &["-o", "other"]] {
        let (status, _, err) = run(&mut record(&folder, options, &command("touch", 10)));
        assert_eq!(status, 1);
        assert!(err.starts_with("perfdata: other: is "), "{err}");
    }
    assert_eq!(names(&other), ["notes"]);
}

fn what_threads_cannot_do() {
    let folder = needs::folder();
    for (options, hint) in [
        (&["-o", "-"][..], "give --output its name"),
        (&["--per-thread"], "leave one of them out"),
        (&["--switch-output"], "leave --switch-output"),
        (&["--switch-output-event", "page-faults/period=1/"], "leave --switch-output"),
        (&["--timestamp-filename"], "--timestamp-filename out"),
        (&["--overwrite"], "leave --overwrite out"),
        (&["--dump-rings", "rings"], "leave --dump-rings out"),
        (&["--threads=0/0:0/0"], "mask 2: another mask reads CPU 0 too"),
    ] {
        let mut all = vec!["-e", "page-faults"];
        if !options[0].starts_with("--threads") {
            all.push("--threads");
        }
        all.extend(options);
        let (status, out, err) = run(&mut record(&folder, &all, &command("touch", 10)));
        assert_eq!((status, &*out), (1, ""), "{options:?}: {err}");
        assert!(err.contains(hint), "{options:?}: {err}");
    }
    assert!(names(&folder).is_empty());
}

fn a_full_disk() {
    needs::all(&[OWN_MOUNTS]);
    let folder = needs::folder();
    let workload = command("touch", 4000).join(" ");
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=256k none disk && cd disk || exit 99
         exec \"$0\" record -q --threads -g -e page-faults:u -c 1 -- {workload}"
    );
    let (status, _, err) = run(&mut in_own_mounts(&folder, &script));
    assert_eq!((status, &*err), (1, "perfdata: perf.data: No space left on device (os error 28)\n"));
}
