//! Compares the output of the program for each capture with the goldens in `testdata/goldens`.
//!
//! `BLESS=1` writes the goldens. `testdata/README.md` lists the checks to make first.

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};
use core::str;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Captures for which only the first records are kept, with their number.
const LIMITED: &[(&str, &str)] = &[
    ("compressed", "150"),
    ("dwarf", "40"),
    ("everything", "40"),
    ("killed", "150"),
    ("lost", "150"),
    ("system_wide", "200"),
    ("touch", "150"),
];

/// Captures that are not complete.
const DAMAGED: &[&str] = &["killed.data"];

/// The goldens of a capture: the suffix of the file name, and the arguments that print it.
const KINDS: [(&str, &[&str]); 3] =
    [("info.txt", &["info"]), ("txt", &["dump"]), ("jsonl", &["dump", "--format", "jsonl"])];

fn testdata(folder: &str) -> PathBuf {
    testdata::path("").parent().unwrap().join(folder)
}

/// Returns the files in a folder whose name ends in `end`, each with the part of the name before the first dot.
fn files(folder: &str, end: &str) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(testdata(folder)).unwrap().map(|entry| entry.unwrap());
    let named = entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.path()));
    let wanted = named.filter(|(name, _)| name.ends_with(end));
    wanted.map(|(name, path)| (name.split('.').next().unwrap().to_owned(), path)).collect()
}

/// Returns the captures that have goldens, by name: the recorded ones, and the little-endian ones of the handmade.
fn captures() -> BTreeMap<String, PathBuf> {
    let mut recorded = files("captures", ".data");
    recorded.extend(files("captures", ".dir"));
    let count = recorded.len();
    let all: BTreeMap<_, _> = recorded.into_iter().chain(files("synthetic", ".le.data")).collect();
    let synthetic = files("synthetic", ".le.data").len();
    assert!(count > 20 && synthetic > 20, "captures are missing");
    assert_eq!(all.len(), count + synthetic, "two have one name");
    all
}

/// Returns the standard output of the program for a capture. If the capture is complete, checks that standard error is
/// empty.
fn perfdata(capture: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    // The output contains the file name as given.
    command.current_dir(capture.parent().unwrap()).args(args).arg(capture.file_name().unwrap());
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_damaged = DAMAGED.iter().any(|name| capture.ends_with(name));
    let status = if is_damaged { 3 } else { 0 };
    assert_eq!(
        (output.status.code(), errors.is_empty()),
        (Some(status), !is_damaged),
        "{args:?} of {}: {errors}",
        capture.display()
    );
    String::from_utf8(output.stdout).unwrap()
}

fn dump(name: &str, capture: &Path, args: &[&str]) -> String {
    let limited = LIMITED.iter().find(|(limited, _)| *limited == name && args[0] == "dump");
    match limited {
        Some((_, limit)) => perfdata(capture, &[args, &["--limit", limit]].concat()),
        None => perfdata(capture, args),
    }
}

/// Returns the recorded rings that can be read: the name of the golden, and the arguments that print it.
fn rings() -> BTreeMap<String, Vec<String>> {
    let mut rings = BTreeMap::new();
    for (name, path) in files("rings", ".attr") {
        // It was overwritten; the tests of rings check its messages.
        if name == "forward-overwritten" {
            continue;
        }
        let mut args = vec![format!("{name}.ring"), "--attr".to_owned(), format!("{name}.attr")];
        if let Ok(more) = fs::read_to_string(path.with_extension("args")) {
            args.extend(more.split_whitespace().map(str::to_owned));
        }
        rings.insert(format!("{name}.ring.jsonl"), args);
    }
    let pair = ["pair-0.ring", "pair-1.ring", "--attr", "pair.attr.data"];
    rings.insert("pair.ring.jsonl".to_owned(), pair.map(str::to_owned).to_vec());
    assert_eq!(rings.len(), 6, "rings are missing: {rings:?}");
    rings
}

/// Returns the JSON lines that the program prints for a ring.
fn ring(args: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(testdata("rings")).arg("ring").args(args).args(["--format", "jsonl"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the first difference of two texts; `None` if they are equal.
fn difference(expected: &str, actual: &str) -> Option<String> {
    /// The number of lines to show.
    const SHOWN: usize = 3;
    if expected == actual {
        return None;
    }
    let (expected, actual): (Vec<_>, Vec<_>) = (expected.lines().collect(), actual.lines().collect());
    let same = expected.iter().zip(&actual).take_while(|(expected, actual)| expected == actual).count();
    let shown = |sign: char, lines: &[&str]| {
        let lines = lines.iter().skip(same).take(SHOWN);
        lines
            .map(|line| format!("  {sign} {}\n", line.chars().take(400).collect::<String>()))
            .collect::<String>()
    };
    Some(format!("from line {}:\n{}{}", same.saturating_add(1), shown('-', &expected), shown('+', &actual)))
}

/// Returns the difference between a golden and the current output. With `BLESS=1`, writes the golden.
fn compare(file: &str, actual: &str) -> String {
    let golden = testdata("goldens").join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, actual).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    let difference = difference(&expected, actual);
    difference.map(|difference| format!("{file}: {difference}")).unwrap_or_default()
}

#[test]
fn output_is_as_it_was() {
    let mut differences = String::new();
    for (name, capture) in captures() {
        for (end, args) in KINDS {
            differences += &compare(&format!("{name}.{end}"), &dump(&name, &capture, args));
        }
    }
    assert!(differences.is_empty(), "- golden, + now; write the goldens with BLESS=1:\n{differences}");
}

#[test]
fn rings_are_as_they_were() {
    let differences: String = rings().iter().map(|(file, args)| compare(file, &ring(args))).collect();
    assert!(differences.is_empty(), "- golden, + now; write the goldens with BLESS=1:\n{differences}");
}

#[test]
fn every_golden_is_of_a_capture() {
    let names = |(name, _)| KINDS.map(|(end, _)| format!("{name}.{end}"));
    let expected: BTreeSet<_> = captures().into_iter().flat_map(names).chain(rings().into_keys()).collect();
    let entries = fs::read_dir(testdata("goldens")).unwrap().map(|entry| entry.unwrap());
    // The test of `perfdata script` has those in the folder.
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let kept: BTreeSet<_> = files.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let strays: Vec<_> = kept.difference(&expected).collect();
    assert!(strays.is_empty(), "goldens of no capture: {strays:?}");
}

/// Returns the field of a perf tool's own record that prints unchanged from the file: a payload that is not decoded, or
/// a feature, which the header line decodes.
fn opaque(record: &Value) -> Option<&'static str> {
    let kind = record["type_id"].as_u64()?;
    let fields = [("raw", (64..87).contains(&kind)), ("data", kind == 80)];
    let known = fields.into_iter().find(|(field, is_own)| *is_own && record["fields"][field].is_string());
    known.map(|(field, _)| field)
}

/// A big-endian capture prints the same as the little-endian one with the same content, except for the byte order and
/// for payloads that are not decoded.
#[test]
fn byte_order_makes_no_difference() {
    let captures = captures();
    let twins = files("synthetic", ".be.data");
    assert!(twins.len() > 20, "twins are missing");
    for (name, twin) in twins {
        let little = &captures[&name];
        let jsonl = [little, &twin].map(|file| {
            let lines = perfdata(file, &["dump", "--format", "jsonl"]);
            lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        });
        let [mut expected, actual] = jsonl;
        let endian = &mut expected[0]["header"]["endian"];
        assert_eq!(*endian, "little", "{name}");
        *endian = "big".into();
        assert_eq!(expected.len(), actual.len(), "{name}");
        let mut types = BTreeSet::new();
        for (mut expected, mut actual) in expected.into_iter().zip(actual) {
            if let Some(field) = opaque(&expected) {
                // The same bytes in another order.
                for record in [&mut expected, &mut actual] {
                    record["fields"][field] = sorted_bytes(&record["fields"][field]);
                }
            } else {
                types.extend(expected["type_id"].as_u64());
            }
            assert_eq!(expected, actual, "{name}");
        }
        if types.is_empty() {
            continue;
        }
        let types = types.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let [expected, actual] = [little, &twin].map(|file| perfdata(file, &["dump", "--type", &types]));
        if let Some(difference) = difference(&expected, &actual) {
            panic!("{name}: - little-endian, + big-endian, {difference}");
        }
    }
}

/// Returns the bytes of a payload independent of their order, and of the order of their bits, because an attr has
/// bit-fields.
fn sorted_bytes(hex: &Value) -> Value {
    let digits = hex.as_str().unwrap().as_bytes().chunks(2);
    let bytes = digits.map(|byte| u8::from_str_radix(str::from_utf8(byte).unwrap(), 16).unwrap());
    let mut bytes: Vec<_> = bytes.map(|byte| byte.min(byte.reverse_bits())).collect();
    bytes.sort_unstable();
    bytes.into()
}
