//! Messages about arguments that cannot be used.

use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    keys_that_are_none,
    call_graphs_that_are_none,
    numbers_that_are_none,
    options_of_perf_that_are_refused,
    the_help_has_all_keys,
    the_file_after_g,
];

/// Checks that the program fails with one line that has `said`.
pub(crate) fn fails(file: &str, cases: &[(&[&str], &str)]) {
    for (args, said) in cases {
        let run = report(file, args);
        assert_eq!((run.status, &*run.out), (1, ""), "{args:?}");
        assert!(run.err.contains(said), "{args:?}: {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

fn keys_that_are_none() {
    fails(
        "captures/callchain.data",
        &[
            (
                &["--sort", "nope"],
                "--sort nope: there is no such key, and no tracepoint of the capture has such a field; the keys are pid",
            ),
            (&["--sort", "+"], "there must be a key"),
            (&["--fields", ","], "there must be a key"),
            (&["-F", "comm,x_"], "--fields x_: there is no such key"),
            (&["--sort", "mem"], "--sort mem: mem is a key of memory accesses; add --mem-mode"),
            (&["-F", "dcache"], "--fields dcache: dcacheline is a key of memory accesses; add --mem-mode"),
            (&["--sort", "ipc_null"], "has no key ipc_null; instructions per cycle need"),
            (&["--sort", "ipc_lbr"], "has no key ipc_lbr; instructions per cycle need"),
            (&["--sort", "addr_from"], "addr_from is a key of branches"),
            (&["--mem-mode"], "--mem-mode: the samples do not tell where data was found"),
            (&["--sort", "symbol_from"], "symbol_from is a key of branches"),
        ],
    );
    fails("captures/plain.data", &[(&["--sort", "parent"], "the samples have no stacks")]);
    fails("captures/callchain.data", &[(&["-p", "("], "--parent (: ")]);
}

fn call_graphs_that_are_none() {
    fails(
        "captures/callchain.data",
        &[
            (&["--call-graph=x"], "x is none of graph, flat"),
            (&["--call-graph=graph,101"], "101 is none of"),
            (&["--call-graph=branch"], "call graphs do not include branches; drop 'branch'"),
        ],
    );
    fails("captures/plain.data", &[(&["-g", "caller"], "the samples have no stacks; leave it out")]);
    assert_eq!(report("captures/plain.data", &["-g", "none"]).status, 0);
}

fn numbers_that_are_none() {
    fails(
        "captures/callchain.data",
        &[
            (&["--percent-limit", "101"], "must be a percentage from 0 to 100"),
            (&["--percent-limit", "NaN"], "must be a percentage from 0 to 100"),
            (&["--time-quantum", "0ms"], "must be a number with ns, us, ms or s"),
            (&["--time-quantum", "5h"], "must be a number with ns, us, ms or s"),
            (&["--time-quantum", "99999999999999999999s"], "must be a number with"),
            (&["--event", "nope"], "no such event; the file has"),
            (&["--branch-stack"], "the samples have no branches"),
        ],
    );
    for args in [
        &["--max-stack", "x"][..],
        &["--threads", "0"],
        &["-w", "x"],
        &["-t", "ab"],
        &["--percentage", "x"],
        &["--mem-mode", "-b"],
        &["--mem-mode", "--off-cpu"],
    ] {
        let run = report("captures/callchain.data", args);
        assert_eq!((run.status, &*run.out), (1, ""), "{args:?}");
        assert!(run.err.starts_with("error: "), "{args:?}: {}", run.err);
    }
}

fn options_of_perf_that_are_refused() {
    let options = "--tui --gtk --branch-history --hierarchy --stats --tasks --mmaps -T --show-info \
        --dump-raw-trace --total-cycles --raw-trace --ignore-callees=x --group-sort-idx=1 --socket-filter=0 \
        --symbol-filter=x --full-source-path";
    for option in options.split_whitespace() {
        fails("captures/plain.data", &[(&[option], "perfdata report does not have this option; ")]);
    }
}

/// Those that an error lists.
fn the_help_has_all_keys() {
    let command =
        std::process::Command::new(env!("CARGO_BIN_EXE_perfdata")).args(["report", "--help"]).output();
    let help = String::from_utf8(command.unwrap().stdout).unwrap();
    let words: Vec<_> = help.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).collect();
    let error = report("captures/plain.data", &["--sort", "nope"]).err;
    let (_, keys) = error.trim_end().split_once("the keys are ").unwrap();
    assert!(keys.split(' ').count() > 25, "{keys}");
    let missing: Vec<_> = keys.split(' ').filter(|key| !words.contains(key)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn the_file_after_g() {
    // The name of the capture is no argument of -g.
    let run = report("captures/callchain.data", &["--no-symbols", "-g"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert_eq!(run.out, report("captures/callchain.data", &["--no-symbols"]).out);
}
