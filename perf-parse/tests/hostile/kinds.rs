//! Every kind of error is in the table of its documentation and is reached by a test.

use std::fs;
use std::path::Path;

use testdata::files_below;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

/// The enums: their source, the place of their table, and the name that tests use.
const ENUMS: [(&str, &str, &str); 5] = [
    ("error.rs", "lib.rs", "ErrorKind"),
    ("error/file.rs", "error/file.rs", "FileErrorKind"),
    ("tracepoint/error.rs", "tracepoint/error.rs", "TracingErrorKind"),
    ("file/write/error.rs", "file/write/error.rs", "WriteFileError"),
    ("file/write/error.rs", "file/write/error.rs", "RecordFault"),
];

/// The kinds that tests identify by the text of the error.
const BY_TEXT: [(&str, &str); 4] = [
    ("WriteFileError::Option", "zstd.level: must be 1 to 22"),
    ("WriteFileError::Attr", "attr.clockid: is set, but needs an attr of at least 96 bytes, not 80"),
    ("WriteFileError::Event", "event 1: attr_tail: must be at most"),
    ("WriteFileError::Feature", "feature ARCH: string: must be free of NULs"),
];

/// Returns the variants of an enum from its source.
fn variants(source: &str, name: &str) -> Vec<String> {
    let body = source.split(&format!("pub enum {name} {{")).nth(1).unwrap();
    let body = body.split("\n}").next().unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()));
    names.map(|line| line.split([' ', '(', ',']).next().unwrap().to_owned()).collect()
}

#[test]
fn every_kind_of_error_is_documented_and_reached() {
    let tests: Vec<String> = files_below(Path::new(TESTS))
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "rs") && !path.ends_with("kinds.rs"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let mut missing = Vec::new();
    for (file, table, name) in ENUMS {
        let source = fs::read_to_string(Path::new(SOURCE).join(file)).unwrap();
        let variants = variants(&source, name);
        assert!(variants.len() > 2, "{name}: {variants:?}");
        for variant in variants {
            let reached = format!("{name}::{variant}");
            let by_text = BY_TEXT.iter().find(|(kind, _)| *kind == reached).map(|&(_, text)| text);
            if !tests.iter().any(|test| test.contains(by_text.unwrap_or(&reached))) {
                missing.push(format!("{reached}: no test names it"));
            }
            let row = format!("`{variant}`");
            if !fs::read_to_string(Path::new(SOURCE).join(table)).unwrap().contains(&row) {
                missing.push(format!("{reached}: not in the table of {table}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
