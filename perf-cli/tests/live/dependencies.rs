//! The dependencies: their licences, their sources, and that there is one version of each.

#![cfg(target_os = "linux")]

use alloc::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    licences_are_read_as_they_are_written,
    no_dependency_has_a_stronger_licence,
    dependencies_come_from_the_registry_alone,
    there_are_no_two_versions_of_a_dependency,
];

/// The licences that a dependency may have: nothing stronger.
const LICENCES: [&str; 8] =
    ["MIT", "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib", "Unicode-3.0", "Unlicense"];

/// The licence of bzip2, which asks for no more than BSD's.
const BZIP2: &str = "bzip2-1.0.6";

/// Crates of the feature `https`, which is off by default. Their licence, ISC, is no stronger than MIT.
const ISC: [&str; 3] = ["ring", "rustls-webpki", "untrusted"];

/// The licence of a crate that Arrow's hasher needs on WebAssembly alone, where cargo lists it for every platform. It asks for
/// nothing.
const CC0: &str = "CC0-1.0";

/// Crates with two versions, and the reason.
const TWICE: [(&str, &str); 6] = [
    (
        "syn",
        "derives of zerocopy and ratatui are not yet on syn 3, which clap's is; neither is in what is built",
    ),
    ("hashbrown", "ratatui's cache is not yet on 0.17, which its layouts are"),
    ("signal-hook", "crossterm is not yet on 0.4; both share the crate that has the handlers"),
    ("getrandom", "of ring, which only the feature https uses"),
    ("zstd", "parquet's reader is not yet on 0.14; only tests use it"),
    ("zstd-safe", "of zstd 0.13"),
];

/// Returns the packages in the lock file for this platform: dependencies and our own. Skips the test if the cargo that
/// built it cannot be run, or if crates of features that were never built are not on this machine.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--all-features"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .output()
        .unwrap_or_else(|error| needs::skip("cargo", &format!("{}: {error}", env!("CARGO"))));
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("--offline was specified") {
        needs::skip("crates", "`cargo fetch` gets those that the tests do not build");
    }
    assert!(output.status.success(), "{error}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The resolved packages; the list of packages also has those of other platforms.
    let resolved: Vec<_> =
        metadata["resolve"]["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.filter(|package| resolved.contains(&&package["id"])).cloned().collect()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().unwrap()
}

/// Returns whether a licence expression allows the choice of one of [`LICENCES`].
fn is_allowed(expression: &str) -> bool {
    // `A OR B`, or `A/B` in older crates. `AND` has a higher precedence.
    expression.replace('/', " OR ").split(" OR ").any(|choice| {
        choice.split(" AND ").all(|licence| LICENCES.contains(&licence.trim_matches(['(', ')', ' '])))
    })
}

fn licences_are_read_as_they_are_written() {
    assert!(is_allowed("MIT OR GPL-3.0"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(is_allowed("Unlicense/MIT"));
    assert!(!is_allowed("GPL-3.0"));
    assert!(!is_allowed("MIT AND GPL-3.0"));
}

fn no_dependency_has_a_stronger_licence() {
    let packages = packages();
    assert!(packages.len() > 20, "{} packages", packages.len());
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or_else(|| panic!("{} has none", name(package)));
        let licence = match name(package) {
            name if ISC.contains(&name) => licence.replace("ISC", "MIT"),
            "tiny-keccak" => licence.replace(CC0, "Unlicense"),
            "libbz2-rs-sys" => licence.replace(BZIP2, "BSD-3-Clause"),
            _ => licence.to_owned(),
        };
        assert!(is_allowed(&licence), "{}: {licence}", name(package));
    }
}

fn dependencies_come_from_the_registry_alone() {
    for package in &packages() {
        let source = package["source"].as_str();
        let registry = "registry+https://github.com/rust-lang/crates.io-index";
        assert!(source.is_none_or(|source| source == registry), "{}: {source:?}", name(package));
    }
}

fn there_are_no_two_versions_of_a_dependency() {
    let packages = packages();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in &packages {
        versions.entry(name(package)).or_default().push(package["version"].as_str().unwrap());
    }
    for (name, versions) in versions {
        let why = TWICE.iter().find(|(twice, _)| *twice == name);
        assert!(versions.len() == 1 || why.is_some(), "{name}: {versions:?}");
    }
}
