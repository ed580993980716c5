//! Names that are longer than the widest column: of a thread, of a file, and of a function.

use std::fs;
use std::process::Command;

use crate::{path, report};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![long_names_are_cut, widths_are_bounded, verbs_end_for_long_names];

/// Each has 11,000 escape characters in one name.
const CAPTURES: [&str; 3] = ["hostile/comm_esc.data", "hostile/dso_esc.data", "hostile/ksym_esc.data"];

/// What a column has of the name, and the mark of the cut.
const SHOWN: usize = 4096;

fn long_names_are_cut() {
    // After the letter that marks whose code it is, a symbol has less of its name.
    for (capture, key, before) in
        [(CAPTURES[0], "comm", ""), (CAPTURES[1], "dso", ""), (CAPTURES[2], "sym", "[k] ")]
    {
        let run = report(capture, &["--stdio", "--sort", key]);
        assert_eq!(run.status, 0, "{capture}: {}", run.err);
        let row = run.out.lines().find(|line| line.contains(r"\u{1b}")).expect("the name is shown");
        let (_, shown) = row.rsplit_once("%  ").unwrap();
        let name = r"\u{1b}".repeat(SHOWN);
        let expected = format!("{before}{}...", &name[..SHOWN - 3 - before.len()]);
        assert!(shown.trim_end() == expected, "{capture}: {} letters", shown.trim_end().len());
    }
}

/// A width of a format string above 65,535 would panic.
fn widths_are_bounded() {
    for width in ["4096", "65535", "65536", "18446744073709551615"] {
        let run = report("captures/plain.data", &["--stdio", "-w", width, "--sort", "sym,comm"]);
        assert_eq!(run.status, 0, "-w {width}: {}", run.err);
        let longest = run.out.lines().map(str::len).max().unwrap();
        assert!(longest < 2 * SHOWN, "-w {width}: {longest}");
    }
}

fn verbs_end_for_long_names() {
    for capture in CAPTURES {
        let file = path(capture);
        let file = file.to_str().unwrap();
        let folder = needs::folder();
        let written = folder.join("out.html");
        let page = written.to_str().unwrap();
        for args in [
            &["report", "--stdio", file][..],
            &["report", "--stdio", "--sort", "pid,tid,tgid,comm,dso,sym,parent", "-p", ".*", file],
            &["report", "--stdio", "-t", ";", file],
            &["report", "--format", "json", file],
            &["report", "--timeline", file],
            &["diff", file, file],
            &["script", file],
            &["fold", file],
            &["dump", file],
            &["info", file],
            &["flamegraph", file, "-o", page],
            &["diff", file, file, "-o", page],
        ] {
            let _ = fs::remove_file(&written);
            let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).args(args).output().unwrap();
            assert_eq!(
                output.status.code(),
                Some(0),
                "{args:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}
