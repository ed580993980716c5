//! Checks of the repository's files: every system can check them out, and tests follow the rules of CONTRIBUTING.md.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the paths of all files, with `/` as the separator: the files that git tracks, or all files if git cannot
/// list them.
fn files() -> Vec<String> {
    let git = Command::new("git").arg("-C").arg(root()).args(["ls-files", "-z"]).output();
    let tracked = git.ok().filter(|output| output.status.success());
    let tracked = tracked.map(|output| String::from_utf8(output.stdout).unwrap()).unwrap_or_default();
    let mut files: Vec<_> = tracked.split_terminator('\0').map(str::to_owned).collect();
    if files.is_empty() {
        walk(&root(), "", &mut files);
    }
    assert!(files.len() > 1000, "{} files in {}", files.len(), root().display());
    files
}

fn walk(folder: &Path, under: &str, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if under.is_empty() && [".git", "target"].contains(&&*name) {
            continue;
        }
        let path = format!("{under}{name}");
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{path}/"), files);
        } else {
            files.push(path);
        }
    }
}

/// Returns the reason why Windows refuses a name of a file or folder; `None` if it accepts the name.
fn refused(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_numbered = ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device).is_some_and(|number| number.len() == 1 && "123456789".contains(number))
    });
    if ["con", "prn", "aux", "nul"].contains(&&*stem) || is_numbered {
        return Some("it is the name of a device, whatever follows the first dot");
    }
    if name.ends_with(['.', ' ']) {
        return Some("it ends in a dot or a blank");
    }
    let is_bad = |it: char| it.is_control() || "<>:\"|?*\\".contains(it);
    name.contains(is_bad).then_some("it has a character that no name may have")
}

#[test]
fn windows_takes_every_name() {
    for file in files() {
        for name in file.split('/') {
            assert_eq!(refused(name), None, "{file}: Windows refuses the name {name:?}; choose another");
        }
    }
}

#[test]
fn no_two_names_differ_in_case_alone() {
    let mut seen = HashMap::new();
    for file in files() {
        if let Some(other) = seen.insert(file.to_lowercase(), file.clone()) {
            assert_eq!(file, other, "one of them is lost where case does not matter; choose another name");
        }
    }
}

#[test]
fn names_that_windows_refuses() {
    for name in [
        "aux",
        "aux.rs",
        "AUX.tar.gz",
        "con .txt",
        "Nul",
        "prn.",
        "com1.c",
        "LPT9",
        "a.",
        "b ",
        "a:b",
        "c?",
        "\t",
    ] {
        assert!(refused(name).is_some(), "{name:?}");
    }
    for name in [
        "auxiliary.rs",
        "aux_area.rs",
        "com0",
        "com10",
        "lpt",
        "console",
        "a.aux",
        ".gitignore",
        "a b",
        "a..b",
    ] {
        assert_eq!(refused(name), None, "{name:?}");
    }
}

/// Returns the path and the text of every Rust file of the tests.
fn tests() -> impl Iterator<Item = (String, String)> {
    let is_test =
        |file: &String| file.ends_with(".rs") && (file.contains("/tests/") || file.ends_with("/tests.rs"));
    files().into_iter().filter(is_test).map(|file| {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        (file, text)
    })
}

/// Texts that a test must not contain, and why. Each is in two parts, so that this file does not contain it.
const FORBIDDEN: [([&str; 2], &str); 4] = [
    (
        ["CARGO_TARGET", "_TMPDIR"],
        "some users may not write there, and concurrent tests share it; use needs::folder()",
    ),
    (["env::temp", "_dir"], "concurrent tests share it; use needs::folder()"),
    (
        ["eprintln!(\"", "skipped"],
        "the message is not shown; use needs::all or needs::skip in the program `live`",
    ),
    (["/../../", "shared"], "a clone of the repository does not have this folder"),
];

#[test]
fn tests_write_nowhere_else_and_are_not_skipped_unseen() {
    for (file, text) in tests() {
        for (parts, why) in FORBIDDEN {
            assert!(!text.contains(&parts.concat()), "{file}: {}: {why}", parts.concat());
        }
    }
}

/// The programs `live` list their tests. A function with the attribute `#[test]` would not be run.
#[test]
fn live_tests_are_listed() {
    let mut count = 0;
    for (file, text) in tests().filter(|(file, _)| file.contains("/tests/live/")) {
        count += 1;
        assert!(!text.contains("#[test]"), "{file}: name the test in the list TESTS of the module instead");
    }
    assert!(count > 10, "{count} files of live tests");
}

/// Returns whether a line has a format string with a width that is not a constant, such as `{name:width$}`.
fn has_variable_width(line: &str) -> bool {
    let is_name = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let fields = line.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(field, _)| field);
    let formats = fields.filter_map(|field| field.split_once(':')).map(|(_, format)| format);
    formats.flat_map(|format| format.match_indices('$').map(move |(at, _)| &format[..at])).any(|width| {
        let name = &width[width.rfind(|it| !is_name(it)).map_or(0, |at| at + 1)..];
        !name.is_empty()
    })
}

/// Rust's format strings panic for a width above 65,535, and a name of a capture can be longer.
#[test]
fn widths_of_format_strings_are_constants() {
    for line in ["{:width$}", "{it:>1$} ", "{:.*} {percent:>width$.2}%", "{heading:WIDE$.width$}"] {
        assert!(has_variable_width(line), "{line}");
    }
    for line in ["{name:<NAME$}", "{:>12}", "$name: {x}", "{text:?} costs 5$"] {
        assert!(!has_variable_width(line), "{line}");
    }
    // The tables of `bench` are of its own names.
    let is_code =
        |file: &&String| file.ends_with(".rs") && file.contains("/src/") && !file.starts_with("bench/");
    for file in files().iter().filter(is_code) {
        let text = fs::read_to_string(root().join(file)).unwrap();
        for line in text.lines() {
            assert!(
                !has_variable_width(line),
                "{file}: {line}: pad by crate::column, not by a format string"
            );
        }
    }
}
