//! `perfdata info --format json`: what the dump of the same capture says.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{jsonl, perfdata};

fn info(file: &std::path::Path, args: &[&str]) -> (i32, Value) {
    let words = ["info", "--format", "json"].iter().chain(args).map(std::ffi::OsStr::new);
    let run = perfdata(words.chain([file.as_os_str()]));
    (run.status, serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{}: {error}", run.out)))
}

#[test]
fn it_has_what_the_dump_has() {
    for capture in ["plain.data", "everything.data", "tracing.pipe.data", "threads.dir"] {
        let path = testdata::path(capture);
        let (status, document) = info(&path, &[]);
        let dumped = jsonl(&path, &[]);
        assert_eq!(status, dumped.run.status, "{capture}");
        let header: Value = serde_json::from_str(dumped.run.out.lines().next().unwrap()).unwrap();
        // A stream may have more features after its first records.
        assert_eq!(document["header"]["attrs"], header["header"]["attrs"], "{capture}");
        assert_eq!(document["account"]["records"], dumped.account["records"], "{capture}");
        let mut types: BTreeMap<String, u64> = BTreeMap::new();
        for record in &dumped.records {
            *types.entry(record["type"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert_eq!(document["records"], json!(types), "{capture}");
    }
}

#[test]
fn the_header_alone_reads_no_records() {
    let (status, document) = info(&testdata::path("plain.data"), &["--header-only"]);
    assert_eq!(status, 0);
    assert_eq!(document.as_object().unwrap().keys().collect::<Vec<_>>(), ["header"]);
}

#[test]
fn faults_are_in_the_account() {
    let bytes = std::fs::read(testdata::path("plain.data")).unwrap();
    let path = crate::scratch("cut-info.data", &bytes[..3000]);
    let (status, document) = info(&path, &[]);
    assert_eq!(status, 3);
    assert!(!document["account"]["diagnostics"].as_array().unwrap().is_empty(), "{document}");
}
