//! Options of perf that are refused, and wrong ones.

use crate::{folder, perfdata};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![refused_options_say_what_to_do, options_that_change_nothing, wrong_values];

fn refused_options_say_what_to_do() {
    let folder = folder();
    let options = [
        ("--tui", "the browser opens by itself"),
        ("--objdump=x", "the disassembler is built in"),
        ("-D", "perfdata dump"),
        ("--ignore-vmlinux", "--vmlinux"),
        ("--addr2line=x", "lines are found"),
        ("--data-type", "symbol_daddr"),
        ("--type-stat", "symbol_daddr"),
        ("--insn-stat", "symbol_daddr"),
        ("--gtk", "-o hot.html"),
        ("--demangle-kernel", "as the kernel has them"),
        ("--code-with-type", "symbol_daddr"),
    ];
    for (option, advice) in options {
        let run = perfdata(&folder, &["annotate", option, "--stdio"]);
        assert_eq!(run.status, 1, "{option}");
        assert!(
            run.err.contains("does not have this option") && run.err.contains(advice),
            "{option}: {}",
            run.err
        );
    }
}

fn options_that_change_nothing() {
    let folder = folder();
    let plain = perfdata(&folder, &["annotate", "--stdio"]);
    for option in ["-f", "-q", "-v", "-m", "--skip-empty", "--stdio2", "--skip-missing", "--no-source", "-P"]
    {
        let run = perfdata(&folder, &["annotate", "--stdio", option]);
        assert_eq!(run.status, 0, "{option}: {}", run.err);
        assert_eq!(run.out.lines().count(), plain.out.lines().count(), "{option}");
    }
}

fn wrong_values() {
    let folder = folder();
    for (args, what) in [
        (&["--percent-limit", "101"][..], "from 0 to 100"),
        (&["--percent-limit", "x"], "no percentage"),
        (&["-M", "gas"], "possible values"),
        (&["-n", "--show-total-period"], "cannot be used"),
        (&["--prefix-strip", "1"], "--prefix"),
        (&["first", "-s", "second"], "cannot be used"),
    ] {
        let run = perfdata(&folder, &[&["annotate", "--stdio"], args].concat());
        assert_eq!(run.status, 1, "{args:?}");
        assert!(run.err.contains(what), "{args:?}: {}", run.err);
    }
}
