//! The content of the published packages: licences, a README, and no references to files outside the package.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    every_package_says_what_it_is_and_under_which_licence,
    every_readme_names_the_promised_rust,
    no_package_holds_the_tests_of_the_repository,
    the_example_of_the_readme_is_that_of_perf_parse,
    the_captures_of_the_documentation_are_those_of_the_tests,
    the_commands_of_the_readme_of_perfdata_run,
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the manifests of the members that are published.
fn published() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| needs::skip("cargo", &format!("{}: {error}", env!("CARGO"))));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    // `publish = false` appears as an empty list of registries.
    packages.filter(|package| package["publish"].is_null()).cloned().collect()
}

/// Returns the folder of a package, and its name.
fn folder(package: &Value) -> (PathBuf, &str) {
    let manifest = Path::new(package["manifest_path"].as_str().unwrap());
    (manifest.parent().unwrap().to_owned(), package["name"].as_str().unwrap())
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn every_package_says_what_it_is_and_under_which_licence() {
    let packages = published();
    assert!(packages.len() >= 4, "{} packages", packages.len());
    for package in &packages {
        let (folder, name) = folder(package);
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            assert_eq!(text(&folder.join(licence)), text(&root().join(licence)), "{name}: {licence}");
        }
        assert_eq!(package["license"], "MIT OR Apache-2.0", "{name}");
        assert_eq!(package["readme"], "README.md", "{name}");
        for entry in ["description", "repository", "rust_version"] {
            assert!(package[entry].is_string(), "{name}: {entry}");
        }
        for entry in ["keywords", "categories"] {
            // The registry accepts at most five of each.
            assert!((1..=5).contains(&package[entry].as_array().unwrap().len()), "{name}: {entry}");
        }
        assert!(package["metadata"]["docs"]["rs"].is_object(), "{name}: package.metadata.docs.rs");
    }
}

fn every_readme_names_the_promised_rust() {
    for package in &published() {
        let (folder, name) = folder(package);
        let promised = format!("Rust {} or newer", package["rust_version"].as_str().unwrap());
        assert!(text(&folder.join("README.md")).contains(&promised), "{name}: README.md: {promised}");
        assert!(text(&root().join("README.md")).contains(&promised), "README.md: {promised}");
    }
}

fn no_package_holds_the_tests_of_the_repository() {
    for package in &published() {
        let (folder, name) = folder(package);
        let output = Command::new(env!("CARGO"))
            .args(["package", "--list", "--allow-dirty", "--offline"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let files = String::from_utf8(output.stdout).unwrap();
        let has = |file: &str| files.lines().any(|line| line == file);
        assert!(has("README.md") && has("LICENSE-MIT") && has("LICENSE-APACHE"), "{name}: {files}");
        assert!(!files.lines().any(|line| line.replace('\\', "/").starts_with("tests/")), "{name}: {files}");
    }
}

/// Returns the Rust block of a README.
fn example(readme: &Path) -> String {
    let text = text(readme);
    let block = text.split("```rust\n").nth(1).unwrap_or_else(|| panic!("{}: no example", readme.display()));
    block.split("```").next().unwrap().to_owned()
}

/// The documentation tests run the example of perf-parse.
fn the_example_of_the_readme_is_that_of_perf_parse() {
    assert_eq!(example(&root().join("README.md")), example(&root().join("perf-parse/README.md")));
}

fn the_captures_of_the_documentation_are_those_of_the_tests() {
    let folder = root().join("perf-parse/examples/captures");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        let original = ["captures", "synthetic"]
            .map(|folder| root().join("testdata").join(folder).join(name))
            .into_iter()
            .find(|original| original.exists());
        let original = original.unwrap_or_else(|| panic!("{}: no such capture in testdata", path.display()));
        assert!(fs::read(&path).unwrap() == fs::read(&original).unwrap(), "{}", path.display());
        count += 1;
    }
    assert!(count > 0);
}

/// Runs the commands in the README of perfdata that need no live events.
fn the_commands_of_the_readme_of_perfdata_run() {
    let readme = text(&root().join("perf-cli/README.md"));
    let commands = readme.split("```sh\n").nth(2).unwrap().split("```").next().unwrap();
    let folder = needs::folder();
    fs::copy(root().join("testdata/captures/plain.data"), folder.join("perf.data")).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_perfdata")).parent().unwrap();
    let path = std::env::join_paths(
        core::iter::once(program.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.unwrap();
    for command in commands.lines() {
        let output = Command::new("sh")
            .args(["-ec", command])
            .current_dir(&folder)
            .env("PATH", &path)
            .env("HOME", needs::home())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
        let is_silent = command.contains(" -o ")
            || ["index", "archive"].iter().any(|verb| command.starts_with(&format!("perfdata {verb}")));
        assert!(is_silent || !output.stdout.is_empty(), "{command}: prints nothing");
    }
}
