//! What is wrong with a command line is said, and nothing is run.

use super::*;

fn fails(args: &[&str], why: &str) {
    let run = stat(args);
    assert_eq!((run.status, &*run.out), (1, ""), "{args:?}: {}", run.err);
    assert!(run.err.contains(why), "{args:?}: {:?} does not say {why:?}", run.err);
}

#[test]
fn an_unknown_event_is_told_with_the_closest() {
    fails(&["-e", "page-fauts", "true"], "perfdata: at byte 0: no event `page-fauts`; closest: page-faults");
    fails(&["-e", "cycles:u,nosuch:event", "true"], "cycles:u,nosuch:event\n         ^");
    fails(&["-e", "{cycles,faults", "true"], "expected");
    fails(&["-e", "cycles:b", "true"], "the modifier b is not supported");
}

#[test]
fn what_cannot_be_counted_is_told() {
    fails(&["no-such-command-anywhere"], "no-such-command-anywhere is in no folder of PATH");
    fails(&["-p", "4194305"], "process 4194305: No such file");
    fails(&["-t", "4194305", "-e", "faults"], "there is no such thread");
    fails(&["-C", "65000", "true"], "there is no cpu 65000");
    fails(&["-C", "x", "true"], "--cpu x: ");
    fails(&["-o", "/no-such-folder/file", "true"], "/no-such-folder/file: ");
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    fails(&["-A", "true"], "--no-aggr is for cpus");
    fails(&["--per-thread", "true"], "--per-thread is for threads");
    fails(&["-a", "-p", "1"], "cannot be used with");
    fails(&["-I", "100", "-r", "3", "true"], "cannot be used with");
    fails(&["-x,", "--json", "true"], "cannot be used with");
    fails(&["-I", "0", "true"], "'0'");
    fails(&["-r", "2", "-a"], "<COMMAND>");
}

#[test]
fn options_behind_the_command_are_its_own() {
    let run = stat(["sh", "-c", "echo $1", "sh", "-a", "--json"]);
    assert_eq!((run.status, &*run.out), (0, "-a\n"), "{run:?}");
}
