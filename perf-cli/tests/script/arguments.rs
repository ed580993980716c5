//! Messages about arguments that cannot be used.

use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    fields_that_cannot_be_printed,
    spans_that_are_none,
    cpus_that_are_none,
    arguments_that_are_none,
    fields_of_one_type,
    the_help_has_all_fields,
];

/// Runs the program on captures; checks that it fails with one line that has `said`.
fn fails(file: &str, cases: &[(&[&str], &str)]) {
    for (args, said) in cases {
        let run = perfdata("script", file, args);
        assert_eq!((run.status, &*run.out), (1, ""), "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

fn fields_that_cannot_be_printed() {
    fails(
        "captures/plain.data",
        &[
            (&["-F", "nope"], "-F nope: there is no field nope; the fields are comm tid pid"),
            (&["-F", "xx:comm"], "the types of events are hw, sw, trace, raw, break and synth"),
            (&["-F", "comm,+ip"], "use either +FIELD and -FIELD, or a list without them"),
            (&["-F", "ipc"], "ipc needs processor traces or counters"),
            (&["-F", "+brstackinsn"], "-F brstackinsn: no event records all branches"),
            (&["-F", ""], "there must be a field for some events"),
            (&["-F", "sw:trace"], "this field does not exist for events of this type"),
            (&["-F", "weight"], "the samples of page-faults do not have WEIGHT|WEIGHT_STRUCT"),
            (&["-F", "comm,uregs"], "do not have REGS_USER, so uregs cannot be printed"),
            (&["-F", "tod"], "the capture does not have the time of day"),
            (&["-F", "ip,symoff"], "offsets are printed after symbols; add sym"),
        ],
    );
}

fn spans_that_are_none() {
    const SECONDS: &str = "must be A,B in seconds, with A not greater than B";
    const PERCENTS: &str = "a part of the capture is written as 10%/2 or as 10%-20%";
    fails(
        "captures/plain.data",
        &[
            (&["--time", "x"], SECONDS),
            (&["--time", ""], SECONDS),
            (&["--time", "12"], SECONDS),
            (&["--time", "2,1"], SECONDS),
            (&["--time", "-1,2"], SECONDS),
            (&["--time", "1.2.3,4"], SECONDS),
            (&["--time", "1,1.0000000001"], SECONDS),
            (&["--time", "1,2 3"], SECONDS),
            (&["--time", "99999999999999999999,"], SECONDS),
            (&["--time", "10%/0"], PERCENTS),
            (&["--time", "0%/1"], PERCENTS),
            (&["--time", "10%/x"], PERCENTS),
            (&["--time", "50%/3"], PERCENTS),
            (&["--time", "110%"], PERCENTS),
            (&["--time", "10%-"], PERCENTS),
            (&["--time", "10%-20"], PERCENTS),
            (&["--time", "10%,x"], PERCENTS),
            (&["--time", ".."], "name an event before or after the dots"),
            (&["--time", "none..page-faults"], "--time none: no such event"),
            (&["--time", "page-faults..7"], "--time 7: no such event"),
        ],
    );
}

fn cpus_that_are_none() {
    const MUST: &str = "must be numbers and ranges of CPUs, for example 0,2-3";
    fails(
        "captures/everything.data",
        &[
            (&["--cpu", "x"], MUST),
            (&["--cpu", ""], MUST),
            (&["--cpu", "3-1"], MUST),
            (&["--cpu", "1-"], MUST),
            (&["--cpu", "0,,1"], MUST),
            (&["--cpu", "4294967296"], MUST),
        ],
    );
    fails("captures/plain.data", &[(&["--cpu", "0"], "the samples of page-faults do not have the CPU")]);
}

fn arguments_that_are_none() {
    for args in [&["--reltime", "--deltatime"][..], &["--max-stack", "x"], &["--pid", "x"], &["--tid", ""]] {
        let run = perfdata("script", "captures/plain.data", args);
        assert_eq!((run.status, &*run.out), (1, ""), "{args:?}");
        assert!(run.err.starts_with("error: "), "{args:?}: {}", run.err);
    }
}

fn fields_of_one_type() {
    let run = perfdata("script", "captures/everything.data", &["-F", "-trace", "-F", "sw:tid"]);
    let lines = || run.out.lines();
    assert!(lines().any(|line| line.trim() == "8815"), "software events have the field alone");
    assert!(lines().any(|line| line.contains("raw_syscalls:sys_exit: ")), "tracepoints have the default");
}

/// Those that are printed, as an error lists them, and those that are refused.
fn the_help_has_all_fields() {
    let command =
        std::process::Command::new(env!("CARGO_BIN_EXE_perfdata")).args(["script", "--help"]).output();
    let help = String::from_utf8(command.unwrap().stdout).unwrap();
    let words: Vec<_> =
        help.split(|letter: char| !(letter.is_alphanumeric() || "_-".contains(letter))).collect();
    let error = perfdata("script", "captures/plain.data", &["-F", "nope"]).err;
    let (_, printed) = error.trim_end().split_once("the fields are ").unwrap();
    assert!(printed.split(' ').count() > 30, "{printed}");
    let missing: Vec<_> = printed.split(' ').filter(|name| !words.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let (_, refused) = help.split_once("These fields of perf are refused:").unwrap();
    let refused = refused.split("\n\n").next().unwrap();
    let refused: Vec<_> = refused.split_whitespace().map(|word| word.trim_end_matches([',', '.'])).collect();
    for name in "ipc metric callindent brcntr srccode".split(' ') {
        assert!(refused.contains(&name), "{name}");
        let error = perfdata("script", "captures/plain.data", &["-F", name]).err;
        assert!(error.contains(&format!("{name} needs ")), "{error}");
    }
}
