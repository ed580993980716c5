//! Completions and manual pages are complete: they contain every verb and option.

use std::fs;

use crate::{fails, perfdata, scratch, scratch_folder};

/// The verbs that `--help` lists.
fn verbs() -> Vec<String> {
    let help = perfdata(["--help"]).out;
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let verbs = commands.lines().map(|line| line.split_whitespace().next().unwrap().to_owned());
    verbs.filter(|verb| verb != "help").collect()
}

#[test]
fn completions_know_every_verb_in_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let run = perfdata(["completions", shell]);
        assert_eq!((run.status, &*run.err), (0, ""), "{shell}");
        for word in verbs().iter().map(String::as_str).chain(["no-mmap", "jsonl"]) {
            assert!(run.out.contains(word), "{shell}: {word}");
        }
    }
}

#[cfg(unix)]
#[test]
fn bash_completes_with_the_script() {
    use std::process::Command;

    let script = scratch("completions.bash", perfdata(["completions", "bash"]).out.as_bytes());
    let ask = "source \"$0\" && COMP_WORDS=(perfdata du) COMP_CWORD=1 && _perfdata perfdata du perfdata && \
        echo \"${COMPREPLY[@]}\"";
    match Command::new("bash").args(["--norc", "-c", ask]).arg(script).output() {
        Ok(output) => assert_eq!(String::from_utf8_lossy(&output.stdout), "dump\n", "{output:?}"),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "there may be no bash"),
    }
}

#[test]
fn a_shell_that_is_not_known_is_refused_with_those_that_are() {
    fails(&["completions", "tcsh"], "[possible values: bash, elvish, fish, powershell, zsh]");
    fails(&["completions"], "<SHELL>");
}

#[test]
fn the_manual_page_of_the_program_names_every_verb() {
    let run = perfdata(["man"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert!(run.out.contains(".TH perfdata 1"), "{}", run.out);
    for verb in verbs() {
        assert!(run.out.contains(&format!("perfdata\\-{verb}(1)")), "{verb}: {}", run.out);
    }
}

#[test]
fn a_folder_gets_a_page_of_every_verb() {
    let folder = scratch_folder("man").join("not/yet/there");
    for again in [false, true] {
        let run = perfdata(["man".as_ref(), folder.as_os_str()]);
        assert_eq!((run.status, &*run.out, &*run.err), (0, "", ""), "again: {again}");
    }
    let mut pages: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    pages.sort();
    let mut expected: Vec<_> = verbs().iter().map(|verb| format!("perfdata-{verb}.1")).collect();
    expected.push("perfdata.1".to_owned());
    expected.extend(["timehist", "latency", "map", "waits"].map(|verb| format!("perfdata-sched-{verb}.1")));
    expected.extend(["contention", "waits"].map(|verb| format!("perfdata-lock-{verb}.1")));
    expected.push("perfdata-c2c-report.1".to_owned());
    if cfg!(target_os = "linux") {
        expected.extend(["record", "report"].map(|verb| format!("perfdata-stat-{verb}.1")));
    }
    expected.sort();
    assert_eq!(pages, expected);
    let dump = fs::read_to_string(folder.join("perfdata-dump.1")).unwrap();
    assert!(dump.contains("\\-\\-format") && dump.contains("perfdata dump | less"), "{dump}");
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let file = scratch("man-file", b"");
    let below = file.join("pages");
    fails(&["man", below.to_str().unwrap()], "man-file/pages: ");
}
