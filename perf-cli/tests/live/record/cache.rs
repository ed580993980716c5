//! The build-ID cache: what a recording adds to `~/.debug`, and who finds it there.

use alloc::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::perf::perf;
use super::workload::command;
use super::{perfdata, record, recorded, run, succeeds};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events: what_perf_adds_is_added,
    a_program_that_is_gone_is_found,
    nothing_if_it_is_not_wanted,
    a_home_that_cannot_be_written,
    an_archive,
];

const OPTIONS: [&str; 4] = ["-e", "page-faults", "-c", "1"];

/// Returns the build ids and names in the cache of a home, according to perf.
fn listed(home: &Path) -> BTreeSet<String> {
    let (status, out, err) = run(perf(&["buildid-cache", "-l"]).env("HOME", home));
    assert_eq!((status, &*err), (0, ""));
    out.lines().map(str::to_owned).collect()
}

/// Copies a program to the test's folder. Returns the command that runs the copy.
fn copied(words: &[String], name: &str) -> Vec<String> {
    let copy = needs::folder().join(name);
    fs::copy(&words[0], &copy).unwrap();
    let mut words = words.to_vec();
    words[0] = copy.to_str().unwrap().to_owned();
    words
}

/// perf adds the files that samples hit. We add all that were mapped.
fn what_perf_adds_is_added() {
    let (folder, home, command) = (needs::folder(), needs::home(), command("touch", 200));
    recorded(&folder, &OPTIONS, &command);
    let mut recorder = perf(&["record", "-q", "-o"]);
    recorder.current_dir(&folder).arg("perfs.data").args(super::here(&OPTIONS)).arg("--").args(&command);
    assert_eq!(run(&mut recorder).0, 0);
    // The home of `perf` is the folder.
    // perf also adds symbols of the kernel whose addresses are hidden, as zeros.
    let is_shown = |line: &str| needs::modifier().is_empty() || !line.contains("[kernel.kallsyms]");
    let (ours, mut perfs) = (listed(&home), listed(&folder));
    perfs.retain(|line| is_shown(line));
    assert!(
        perfs.iter().any(|line| line.ends_with(&command[0])) && ours.is_superset(&perfs),
        "{ours:?} {perfs:?}"
    );
    let lines = |home: &Path| {
        let find =
            "find .debug \\( -name elf -o -name debug -o -name vdso -o -type l \\) -printf '%p %l\\n' | sort";
        succeeds(Command::new("sh").current_dir(home).args(["-c", find]))
    };
    let (ours, perfs) = (lines(&home), lines(&folder));
    for line in perfs.lines().filter(|line| is_shown(line)) {
        assert!(ours.lines().any(|it| it == line), "{line} is not in {ours}");
    }
}

/// Both perf and perfdata find the program that was recorded, although another one is at its path.
fn a_program_that_is_gone_is_found() {
    needs::all(&[needs::Need::Runs(&["cc", "--version"])]);
    let (folder, home) = (needs::folder(), needs::home());
    let command = copied(&command("touch", 300), "moved");
    recorded(&folder, &OPTIONS, &command);
    fs::remove_file(&command[0]).unwrap();
    fs::copy("/bin/true", &command[0]).unwrap();
    let capture = folder.join("perf.data");
    let named = |out: &str| {
        out.lines().any(|line| line.contains(" moved") && line.split_whitespace().any(|word| word == "touch"))
    };
    let mut names = perf(&["report", "--stdio", "--sort", "dso,symbol", "-i"]);
    let (status, perfs, err) = run(names.arg(&capture).env("HOME", &home));
    assert_eq!(status, 0, "{err}");
    let mut report = perfdata();
    let ours = succeeds(report.args(["report", "--stdio", "--sort", "dso,symbol", "-i"]).arg(&capture));
    assert!(named(&perfs) && named(&ours), "{perfs}{ours}");
    let mut annotate = perf(&["annotate", "--stdio", "-s", "touch", "-i"]);
    let (status, out, err) = run(annotate.arg(&capture).env("HOME", &home));
    assert!(status == 0 && out.contains("Disassembly"), "{out}{err}");
}

fn nothing_if_it_is_not_wanted() {
    let (folder, command) = (needs::folder(), command("touch", 2));
    for options in [&["-N"][..], &["-B"], &["--buildid-mmap"], &["--switch-output=1G"]] {
        succeeds(&mut record(&folder, &[&["-q"], options, &OPTIONS].concat(), &command));
        assert!(!needs::home().join(".debug").exists(), "{options:?}");
    }
    let mut stream = record(&folder, &[&["-q", "-o", "-"][..], &OPTIONS].concat(), &command);
    assert!(stream.output().unwrap().status.success());
    assert!(!needs::home().join(".debug").exists());
}

/// The recording is complete. -v says why the cache is not.
fn a_home_that_cannot_be_written() {
    needs::all(&[needs::Need::OrdinaryUser]);
    let folder = needs::folder();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    for (options, says) in [(&[][..], false), (&["-v"], true)] {
        let mut recorder = needs::as_ordinary_user(env!("CARGO_BIN_EXE_perfdata").as_ref());
        recorder.current_dir(&folder).env("HOME", "/proc").arg("record").args(options);
        let (status, _, err) = run(recorder.args(["-e", "page-faults:u", "--", "true"]));
        assert_eq!(status, 0, "{err}");
        assert_eq!(err.contains("build-ID cache /proc/.debug: "), says, "{err}");
    }
}

/// `perf archive` packs the files of the cache.
fn an_archive() {
    needs::all(&[needs::Need::Runs(&["bzip2", "--version"])]);
    let (folder, home, command) = (needs::folder(), needs::home(), command("touch", 200));
    recorded(&folder, &OPTIONS, &command);
    let mut archive = perf(&["archive", "perf.data"]);
    let (status, out, err) = run(archive.current_dir(&folder).env("HOME", &home));
    // tar says so of a library to which another test makes a hard link in the meantime.
    let is_linked = |line: &str| line.ends_with(": file changed as we read it");
    assert!(status == 0 && err.lines().all(is_linked), "{out}{err}");
    let packed = succeeds(Command::new("tar").args(["tjf", "perf.data.tar.bz2"]).current_dir(&folder));
    let program = command[0].trim_start_matches('/');
    assert!(packed.lines().any(|line| line.starts_with(program) && line.ends_with("/elf")), "{packed}");
}
