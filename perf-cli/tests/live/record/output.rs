//! The destination of a recording, and the content after its records.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::workload::command;
use super::{
    OWN_MOUNTS, Running, dump, has_sample, in_own_mounts, perfdata, record, recorded, run, shown, succeeds,
    until,
};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    a_stream_is_read_as_it_comes,
    a_reader_that_goes_away_ends_it,
    what_a_killed_recorder_leaves_can_be_mended,
    perf_reads_what_was_mended,
    killed_at_any_moment,
    what_was_there_becomes_old,
    no_build_ids,
    lost_samples_are_counted,
    what_is_no_file_is_not_moved_away,
    a_full_disk_leaves_a_readable_file,
    a_file_that_has_its_size_ends_it,
    a_late_start,
    options_that_scripts_carry,
    several_files_one_after_the_other,
    files_of_a_size_or_with_a_time,
];

fn a_stream_is_read_as_it_comes() {
    let folder = needs::folder();
    let options = ["-q", "-g", "-e", "page-faults", "-c", "1", "-o", "-"];
    let mut recorder = record(&folder, &options, &command("touch", 100));
    let mut recorder = Running(recorder.stdout(Stdio::piped()).spawn().unwrap());
    let dump = shown(perfdata().args(["dump", "-"]).stdin(recorder.0.stdout.take().unwrap()));
    assert_eq!((recorder.ends(), dump.status, &*dump.err), (0, 0, ""));
    assert_eq!(dump.header["mode"], "pipe");
    assert!(dump.samples().len() >= 100);
    assert!(!folder.join("perf.data").exists());
}

fn a_reader_that_goes_away_ends_it() {
    let folder = needs::folder();
    let mut recorder =
        record(&folder, &["-q", "-e", "cpu-clock", "-F", "20000", "-g", "-o", "-"], &command("twins", 1));
    let mut recorder = Running(recorder.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    drop(recorder.0.stdout.take());
    recorder.ends();
    let mut err = String::new();
    std::io::Read::read_to_string(recorder.0.stderr.as_mut().unwrap(), &mut err).unwrap();
    assert_eq!(err, "");
}

/// Kills a recorder and repairs its file. Returns the repaired capture.
fn mended() -> PathBuf {
    let folder = needs::folder();
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
    assert!(err.contains("an unknown number of records is missing at its end\n"), "{err}");
    let (status, out, _) = run(perfdata().arg("info").arg(&capture));
    let at_end = ", and an unknown number at the end, because the recorder did not finish the file\n";
    assert!(status == 3 && out.contains(at_end), "{out}");
    let whole = dump(&mended);
    assert_eq!((whole.status, &*whole.err), (0, ""));
    assert_eq!(whole.samples(), left.samples());
    mended
}

fn what_a_killed_recorder_leaves_can_be_mended() {
    mended();
}

/// Whatever the recorder does when it is killed, all records that are in the file are repaired: those that it had written
/// are whole, and at most one is cut. Without a file, it had not begun.
fn killed_at_any_moment() {
    let folder = needs::folder();
    let (capture, mended) = (folder.join("perf.data"), folder.join("mended.data"));
    let (mut unfinished, mut cut) = (0, 0);
    for step in 0..24 {
        let _ = fs::remove_file(&capture);
        let mut options = vec!["-q", "-N", "-g", "-e", "cpu-clock", "-F", "20000", "-m", "4", "-P"];
        options.extend((step % 2 == 0).then_some("-z"));
        // Computes until it is killed: however fast this machine is, the recorder does not end by itself.
        let mut recorder = Running::start(record(&folder, &options, &command("twins", 1)).process_group(0));
        // Half of them after the recording began, which takes longest.
        if step % 4 > 1 {
            until("it begins", || capture.exists());
        }
        std::thread::sleep(core::time::Duration::from_millis(9 * step));
        recorder.0.kill().unwrap();
        recorder.0.wait().unwrap();
        // A program that just started has not yet asked the kernel to end with the recorder.
        recorder.kill_group();
        if !capture.exists() {
            continue;
        }
        let left = dump(&capture);
        let (status, _, err) = run(perfdata().arg("repair").arg(&capture).arg("-o").arg(&mended));
        assert_eq!(status, 3, "{err}");
        assert!(err.contains("an unknown number of records is missing at its end\n"), "{err}");
        let whole = dump(&mended);
        assert_eq!((whole.status, &*whole.err), (0, ""));
        assert_eq!(whole.samples(), left.samples());
        unfinished += usize::from(!left.samples().is_empty());
        cut += usize::from(left.err.lines().count() > 1);
    }
    assert!(unfinished > 3, "{unfinished} of 24 had samples, {cut} ended inside a record");
}

fn perf_reads_what_was_mended() {
    needs::all(&[needs::Need::PERF]);
    super::perf::agrees(&mended());
}

fn what_was_there_becomes_old() {
    let folder = needs::folder();
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

fn no_build_ids() {
    let dump = recorded(&needs::folder(), &["-B", "-e", "page-faults"], &command("touch", 10));
    assert!(dump.header["features"]["BUILD_ID"].is_null());
}

fn lost_samples_are_counted() {
    needs::all(&[
        needs::Need::Runs(&["taskset", "-c", "0", "true"]),
        needs::Need::Runs(&["chrt", "-f", "1", "true"]),
    ]);
    // One CPU, a ring of one page, and a writer that keeps the recorder from running.
    let folder = needs::folder();
    let recorder = record(
        &folder,
        &["-m", "1", "-e", "page-faults", "-c", "1"],
        &[&["chrt", "-f", "1"].map(str::to_owned)[..], &command("touch", 2000)].concat(),
    );
    let mut pinned = Command::new("taskset");
    pinned.env("HOME", needs::home());
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

fn what_is_no_file_is_not_moved_away() {
    let folder = needs::folder();
    succeeds(&mut record(&folder, &["-q", "-e", "page-faults", "-o", "/dev/null"], &command("touch", 10)));
    assert!(!Path::new("/dev/null").is_file() && !Path::new("/dev/null.old").exists());
}

/// The file on a full disk has the records that were written.
fn a_full_disk_leaves_a_readable_file() {
    needs::all(&[OWN_MOUNTS]);
    let folder = needs::folder();
    let workload = command("touch", 4000).join(" ");
    let script = format!(
        "mkdir disk && mount -t tmpfs -o size=128k none disk && cd disk || exit 99
         \"$0\" record -q -g -e page-faults:u -c 1 -- {workload}
         status=$?; cp perf.data ..; exit $status"
    );
    let (status, _, err) = run(&mut in_own_mounts(&folder, &script));
    assert_eq!(status, 1, "{err}");
    assert_eq!(err, "perfdata: perf.data: No space left on device (os error 28)\n");
    let left = dump(&folder.join("perf.data"));
    assert!(left.status == 3 && !left.samples().is_empty(), "{}", left.err);
    let mended = folder.join("mended.data");
    let (status, _, err) = run(perfdata().arg("repair").arg(folder.join("perf.data")).arg("-o").arg(&mended));
    assert_eq!(status, 3, "{err}");
    assert_eq!(dump(&mended).samples(), left.samples());
}

fn a_file_that_has_its_size_ends_it() {
    let folder = needs::folder();
    let options = ["-e", "cpu-clock", "-F", "20000", "-m", "1", "--max-size", "20K"];
    let (status, _, err) = run(&mut record(&folder, &options, &command("twins", 1)));
    assert_eq!(status, 128 + 15, "the command is ended: {err}");
    assert!(err.contains("reached --max-size"), "{err}");
    let dump = dump(&folder.join("perf.data"));
    assert_eq!((dump.status, &*dump.err), (0, ""));
    let size = fs::metadata(folder.join("perf.data")).unwrap().len();
    assert!((20 << 10..2 << 20).contains(&size), "{size}");
}

fn a_late_start() {
    let folder = needs::folder();
    let words = super::workload::words(&["sh", "-c", "true; sleep 1; /bin/true; /bin/true"]);
    let dump = recorded(&folder, &["-D", "500", "-e", "page-faults", "-c", "1"], &words);
    let time = |record: &&serde_json::Value| record["sample_id"]["time"].as_u64().filter(|time| *time > 0);
    let exec = dump.of_type("COMM").iter().filter_map(time).min().unwrap();
    let samples: Vec<_> = dump.samples().iter().map(|sample| sample["time"].as_u64().unwrap()).collect();
    assert!(samples.iter().all(|time| time - exec > 400_000_000), "{exec}: {samples:?}");
    assert!(!samples.is_empty() && !dump.of_type("MMAP2").is_empty());
}

fn options_that_scripts_carry() {
    let folder = needs::folder();
    let carried =
        ["-N", "-T", "--timestamp-boundary", "-v", "-P", "--sample-identifier", "--no-buffering", "-R"];
    let more = [
        "-m",
        "64K",
        "-k",
        "CLOCK_MONOTONIC",
        "--no-bpf-event",
        "-s",
        "--all-user",
        "-e",
        "page-faults",
        "-c",
        "1",
    ];
    let dump = recorded(&folder, &[&carried[..], &more].concat(), &command("touch", 20));
    let attr = &dump.header["attrs"][0];
    assert_eq!((attr["clockid"].as_i64(), attr["inherit_stat"].as_i64()), (Some(1), Some(1)), "{attr}");
    assert!(dump.samples().iter().all(|sample| sample["period"] == 1 && sample["identifier"].is_number()));
    // A grouping, and a recording of nothing but tasks and mappings.
    let dump =
        recorded(&folder, &["--group", "-n", "-e", "page-faults", "-e", "cpu-clock"], &command("touch", 20));
    assert!(dump.samples().is_empty() && !dump.of_type("MMAP2").is_empty());
    assert!(!dump.header["features"]["GROUP_DESC"].is_null());
    let mut dry = perfdata();
    dry.current_dir(needs::folder()).args(["record", "--dry-run", "-e", "page-faults", "--", "true"]);
    succeeds(&mut dry);
    let too_fast = ["record", "-F", "99999999", "--strict-freq", "--", "true"];
    let (status, _, err) = run(perfdata().current_dir(&folder).args(too_fast));
    assert!(status == 1 && err.contains("perf_event_max_sample_rate"), "{err}");
    let lowered = ["-F", "99999999", "-e", "cpu-clock"];
    let (status, _, err) = run(&mut record(&folder, &lowered, &command("touch", 20)));
    assert!(status == 0 && err.contains("is lowered to"), "{err}");
}

/// Returns the names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// Records a command, and asks three times for another file with SIGUSR2. Returns the names of the files.
fn switched(folder: &Path, options: &[&str]) -> Vec<String> {
    let options = [&["--switch-output", "-e", "cpu-clock", "-F", "5000"], options].concat();
    let mut recorder = record(folder, &options, &command("twins", 1));
    let mut recorder = Running(recorder.stderr(Stdio::piped()).spawn().unwrap());
    let mut said = std::io::BufRead::lines(std::io::BufReader::new(recorder.0.stderr.take().unwrap()));
    let capture = folder.join("perf.data");
    for _ in 0..3 {
        until("there is a sample", || has_sample(&capture));
        recorder.signal("USR2");
        let line = said.find(|line| line.as_ref().unwrap().contains(" samples, ")).unwrap().unwrap();
        assert!(line.starts_with("perfdata: perf.data.2"), "{line}");
    }
    until("there is a sample", || has_sample(&capture));
    recorder.signal("INT");
    assert_eq!(recorder.ends(), 128 + 15);
    names(folder)
}

/// Each file of a recording is whole, and has the tasks and mappings that its samples need.
fn several_files_one_after_the_other() {
    let folder = needs::folder();
    let files = switched(&folder, &[]);
    assert!(
        files.len() == 4 && files.iter().all(|name| name.len() == "perf.data.2024022913070142".len()),
        "{files:?}"
    );
    let mut last = 0;
    for name in &files {
        let dump = dump(&folder.join(name));
        assert_eq!((dump.status, &*dump.err), (0, ""), "{name}");
        let times: Vec<_> = dump.samples().iter().map(|sample| sample["time"].as_u64().unwrap()).collect();
        assert!(!times.is_empty() && times.iter().min() > Some(&last), "{name}");
        last = *times.iter().max().unwrap();
        assert!(!dump.of_type("COMM").is_empty() && !dump.of_type("MMAP2").is_empty(), "{name}");
    }
    let folder = folder.join("newest");
    fs::create_dir(&folder).unwrap();
    assert_eq!(switched(&folder, &["--switch-max-files", "2"]).len(), 2);
}

fn files_of_a_size_or_with_a_time() {
    let folder = needs::folder();
    let options = ["--switch-output=1K", "-e", "page-faults", "-c", "1"];
    let (status, _, err) = run(&mut record(&folder, &options, &command("touch", 30_000)));
    assert_eq!(status, 0, "{err}");
    assert!(names(&folder).len() > 1, "{err}");
    let folder = folder.join("time");
    fs::create_dir(&folder).unwrap();
    let (status, _, err) = run(&mut record(&folder, &["-q", "--timestamp-filename"], &command("touch", 8)));
    assert_eq!(status, 0, "{err}");
    let names = names(&folder);
    assert!(names.len() == 1 && names[0].starts_with("perf.data.2"), "{names:?}");
}
