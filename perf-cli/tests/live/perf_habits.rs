//! Texts and options of perf against the installed perf; what a terminal is told.

use std::path::PathBuf;
use std::process::Command;

use needs::Need;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    Events:
    every_option_of_perf_is_known,
    every_verb_of_perf_is_known,
    the_lists_are_perfs,
    a_terminal_is_told_what_is_not_recorded,
    the_date_is_recorded,
];

fn out(program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.current_dir(needs::folder()).env("PERF_CONFIG", "/dev/null").args(args);
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

const PERFDATA: &str = env!("CARGO_BIN_EXE_perfdata");

/// Returns the long options of a help text of perf.
fn options(help: &str) -> Vec<String> {
    let name = |line: &str| {
        let line = line.strip_prefix("    ").filter(|line| !line.starts_with("                "))?;
        let (_, name) = line.split_once("--")?;
        Some(name.split([' ', '[', '=']).next()?.to_owned())
    };
    help.lines()
        .filter(|line| line.starts_with("    -") || line.starts_with("        --"))
        .filter_map(name)
        .collect()
}

/// Of whatever version: done, accepted, or refused by name.
fn every_option_of_perf_is_known() {
    needs::all(&[Need::PERF]);
    for verb in ["report", "script"] {
        let options = options(&out("perf", &[verb, "-h"]));
        assert!(options.len() > 40, "{options:?}");
        for option in options {
            let answer = out(PERFDATA, &[verb, &format!("--{option}"), "/nonexistent"]);
            assert!(!answer.contains("unexpected argument"), "{verb} --{option}: {answer}");
        }
    }
}

fn every_verb_of_perf_is_known() {
    needs::all(&[Need::PERF]);
    let help = out("perf", &["--help"]);
    let verbs: Vec<_> =
        help.lines().filter_map(|line| line.strip_prefix("   ")?.split_whitespace().next()).collect();
    assert!(verbs.len() > 20, "{verbs:?}");
    for verb in verbs {
        let answer = out(PERFDATA, &[verb, "--help"]);
        assert!(!answer.contains("unrecognized subcommand"), "{verb}: {answer}");
    }
}

/// The events and build ids of captures, as perf 6.1 prints them.
fn the_lists_are_perfs() {
    needs::all(&[Need::PERF]);
    let version = out("perf", &["--version"]);
    if !version.starts_with("perf version 6.1.") {
        needs::skip("perf 6.1", &format!("this is {version}"));
    }
    let captures = [
        "plain",
        "callchain",
        "group_read",
        "everything",
        "raw",
        "system_wide",
        "identifier",
        "buildid_mmap",
    ];
    for name in captures {
        let path: PathBuf = testdata::path(&format!("{name}.data"));
        let path = path.to_str().unwrap();
        for args in [
            &["evlist"][..],
            &["evlist", "-v"],
            &["evlist", "-F"],
            &["evlist", "-g"],
            &["evlist", "--trace-fields"],
            &["evlist", "-v", "--trace-fields"],
            &["buildid-list"],
            &["buildid-list", "-H"],
        ] {
            let args = [args, &["-i", path]].concat();
            let [ours, perfs] = [PERFDATA, "perf"].map(|program| {
                let mut command = Command::new(program);
                command.current_dir(needs::folder()).env("PERF_CONFIG", "/dev/null").args(&args);
                String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
            });
            assert_eq!(ours, perfs, "{args:?}");
        }
    }
}

/// Runs a shell's words on a terminal.
fn on_a_terminal(words: &str) -> String {
    needs::all(&[Need::Runs(&["script", "--version"])]);
    out("script", &["-qec", &format!("{PERFDATA} {words}"), "/dev/null"])
}

fn a_terminal_is_told_what_is_not_recorded() {
    let (stacks, machine) =
        ("recording without call stacks; -g adds them", "recording the whole machine until Ctrl-C");
    let event = "-e page-faults:u -o t.data";
    for (options, has_hint) in
        [("", true), ("-g", false), ("-q", false), ("--call-graph dwarf", false), ("-n", false)]
    {
        let text = on_a_terminal(&format!("record {event} {options} -- true"));
        assert_eq!(text.contains(stacks), has_hint, "{options}: {text}");
        assert!(!text.contains(machine), "{text}");
    }
    let text = on_a_terminal("record -e page-faults/call-graph=fp/u -o t.data -- true");
    assert!(!text.contains(stacks), "{text}");
    // Nothing of it in a script.
    let text = out(PERFDATA, &["record", "-e", "page-faults:u", "-o", "t.data", "--", "true"]);
    assert!(!text.contains(stacks), "{text}");
}

fn the_date_is_recorded() {
    let event = ["record", "-q", "-e", "page-faults:u", "-o", "t.data"];
    let recorded = |options: &[&str]| {
        out(PERFDATA, &[&event[..], options, &["--", "true"]].concat());
        let attr = out(PERFDATA, &["evlist", "-v", "t.data"]);
        let info = out(PERFDATA, &["info", "--header-only", "t.data"]);
        (attr.contains("use_clockid: 1"), attr.contains("clockid: 1\n"), info.contains("CLOCK_DATA"))
    };
    assert_eq!(recorded(&[]), (true, true, true));
    assert_eq!(recorded(&["--no-clockid"]), (false, false, false));
    assert_eq!(recorded(&["--no-clockid", "-k", "mono"]), (true, true, true));
    assert_eq!(recorded(&["-k", "raw"]), (true, false, true));
}
