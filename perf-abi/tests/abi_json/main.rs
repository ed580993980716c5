//! Holds every constant, struct and table of this crate against `testdata/abi.json`: facts taken from the kernel's
//! and the perf tool's headers by a C compiler, and from their history.

mod bits;
mod constants;
mod ioctl;
mod regs;
mod since;
mod structs;
mod versions;

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Map, Value};

/// The facts.
struct Facts(Map<String, Value>);

impl Facts {
    fn load() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/abi.json");
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        match serde_json::from_str(&text).expect("abi.json is JSON") {
            Value::Object(map) => Self(map),
            other => panic!("abi.json is {other}, not an object"),
        }
    }

    /// A table by its name.
    fn table(&self, name: &str) -> &Map<String, Value> {
        self.0[name].as_object().unwrap_or_else(|| panic!("{name} is not an object"))
    }

    /// A table of numbers by its name.
    fn numbers(&self, name: &str) -> BTreeMap<&str, u64> {
        numbers(self.table(name))
    }
}

fn numbers(table: &Map<String, Value>) -> BTreeMap<&str, u64> {
    table.iter().map(|(name, value)| (name.as_str(), value.as_u64().expect(name))).collect()
}

/// Fails with all of `faults`, one a line.
#[track_caller]
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
