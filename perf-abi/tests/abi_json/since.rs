//! Where history tells the first release of a constant, its documentation does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::{Facts, none};

/// The documentation of each constant of this crate's source, by its C name.
fn docs() -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                collect(&fs::read_to_string(path).unwrap(), &mut all);
            }
        }
    }
    all
}

/// Adds the documentation of the constants in one file: the lines of `///` above `NAME = value, "C_NAME";` or above
/// `#[doc(alias = "C_NAME")]`, and those of fields above `pub name:`.
fn collect(source: &str, all: &mut BTreeMap<String, String>) {
    let mut doc = String::new();
    for line in source.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            doc.push_str(text);
            continue;
        }
        if line.ends_with("\";") || line.starts_with("#[doc(alias") {
            for name in line.split('"').skip(1).step_by(2) {
                all.insert(name.to_owned(), doc.clone());
            }
        }
        let field = line.strip_prefix("pub ").and_then(|rest| rest.split_once(':'));
        if let Some((name, _)) = field.filter(|_| !doc.is_empty()) {
            all.entry(name.to_owned()).or_insert(doc.clone());
        }
        if !line.starts_with("#[") {
            doc.clear();
        }
    }
}

#[test]
fn the_documentation_says_since_when() {
    let facts = Facts::load();
    let docs = docs();
    let mut faults = Vec::new();
    let mut checked = 0;
    for (name, since) in facts.table("since") {
        let since = since.as_str().unwrap();
        let (name, since) = match name.strip_prefix("attr.") {
            // The fields of the first attr say it once, on the struct; the unions' other names stand beside the first.
            Some(_) if since == "2.6.31" => continue,
            Some(field) => (field, since),
            None => (name.as_str(), since),
        };
        let release =
            since.split([' ', '?']).find(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap();
        let whose = if since.starts_with("perf") { "perf" } else { "Linux" };
        let Some(doc) = docs.get(name) else {
            if facts.table("constants").contains_key(name) {
                faults.push(format!("{name} is not documented"));
            }
            continue;
        };
        checked += 1;
        if !doc.contains(&format!("ince {whose} {release}")) {
            faults.push(format!("{name} is there since {whose} {release}, but says:{doc}"));
        }
    }
    none(&faults);
    assert!(checked > 380, "only {checked} checked");
}
