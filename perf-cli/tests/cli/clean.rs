//! All verbs agree on which captures are clean, and a repair makes a capture clean.

use std::fs;
use std::path::PathBuf;

use crate::{dump, jsonl, perfdata, scratch_folder};

/// Returns a capture of `testdata`, to be damaged.
fn capture(name: &str) -> Vec<u8> {
    fs::read(testdata::path(name)).unwrap()
}

/// Replaces the first `old` with `new`, which has the same length.
fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    bytes[at..at + new.len()].copy_from_slice(new);
}

/// Reads a damaged capture with every verb, repairs it, reads the result, and repairs that again. Returns the repaired
/// capture.
fn mended(test: &str, bytes: &[u8], fault: &str) -> PathBuf {
    let folder = scratch_folder(&format!("clean_{test}"));
    let [input, first, second] = ["input", "first", "second"].map(|name| folder.join(name));
    fs::write(&input, bytes).unwrap();
    for (file, status) in [(&input, 3), (&first, 0)] {
        let looks = [
            perfdata(["info".as_ref(), file.as_os_str()]),
            dump(file, &[]),
            dump(file, &["--order", "time"]),
            dump(file, &["--format", "jsonl"]),
            dump(file, &["--fields", "time,event"]),
        ];
        for (index, look) in looks.iter().enumerate() {
            assert_eq!(look.status, status, "{index}: {}", look.err);
            assert!(status == 0 || look.err.contains(fault), "{index}: {}", look.err);
        }
        if status != 0 {
            let repair = perfdata(["repair".as_ref(), input.as_os_str(), "-o".as_ref(), first.as_os_str()]);
            assert_eq!(repair.status, 3, "{}", repair.err);
            assert!(repair.err.contains(fault), "{}", repair.err);
        }
    }
    let again = perfdata(["repair".as_ref(), first.as_os_str(), "-o".as_ref(), second.as_os_str()]);
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap(), "a second repair changes the file");
    first
}

#[test]
fn tracing_data_without_its_magic_is_left_out() {
    let mut bytes = capture("raw.data");
    replace(&mut bytes, b"\x17\x08\x44tracing", b"\x17\x08\x44trading");
    let mended = mended("magic", &bytes, "magic");
    let header = dump(&mended, &["--format", "jsonl", "--limit", "1"]).out;
    assert!(!header.lines().next().unwrap().contains("TRACING_DATA"));
}

#[test]
fn a_format_that_cannot_be_parsed_is_left_out_and_the_others_are_kept() {
    let mut bytes = capture("raw.data");
    let fields = |bytes: &[u8]| bytes.windows(7).filter(|window| window == b"\tfield:").count();
    let before = fields(&bytes);
    replace(&mut bytes, b"offset:16;\tsize:48;", b"offset:xx;\tsize:48;");
    let after = fields(&fs::read(mended("format", &bytes, "offset")).unwrap());
    assert!(after + 2 < before && after > before / 3, "{after} of {before} fields are left");
}

#[test]
fn a_sample_whose_raw_data_ends_before_a_field_is_left_out() {
    let mut bytes = capture("raw.data");
    replace(&mut bytes, b"offset:16;\tsize:48;", b"offset:16;\tsize:98;");
    let before = jsonl(&testdata::path("raw.data"), &[]).records.len();
    let after = jsonl(&mended("raw", &bytes, "SAMPLE: raw: needs 114 bytes"), &[]).records.len();
    assert!(after < before && after > before / 8, "{after} of {before} records are left");
}

#[test]
fn a_feature_that_cannot_be_decoded_is_a_fault_to_every_verb() {
    let mut bytes = capture("plain.data");
    // The length of the string.
    let at = bytes.windows(7).position(|window| window == b"x86_64\0").unwrap();
    bytes[at - 1] = 0xff;
    let mended = mended("feature", &bytes, "ARCH: string");
    assert!(!dump(&mended, &["--format", "jsonl"]).out.lines().next().unwrap().contains("\"ARCH\""));
}

#[test]
fn an_event_that_asks_for_what_is_not_known_keeps_its_other_records() {
    let mut bytes = capture("plain.data");
    let attrs = u64::from_le_bytes(bytes[24..32].try_into().unwrap()) as usize;
    bytes[attrs + 31] |= 0x40;
    let before = jsonl(&testdata::path("plain.data"), &[]).records;
    let after = jsonl(&mended("attr", &bytes, "sample_type"), &[]).records;
    let others = |records: &[serde_json::Value]| records.iter().filter(|it| it["type"] != "SAMPLE").count();
    assert_eq!(others(&after), others(&before));
    assert_eq!(others(&after), after.len(), "no sample is left");
}

#[test]
fn an_update_that_comes_before_its_event_is_a_fault_and_names_it_once_and_for_all() {
    let name = "buildid.pipe.data";
    let mut bytes = capture(name);
    // Removes the update after the event. EVENT_DESC also has the name.
    let records = jsonl(&testdata::path(name), &[]).records;
    let update = records.iter().find(|record| record["type"] == "EVENT_UPDATE").unwrap();
    let [at, size] = ["offset", "size"].map(|field| update[field].as_u64().unwrap() as usize);
    let id: Vec<u8> = bytes.drain(at..at + size).skip(16).take(8).collect();
    let early = [b"\x4e\0\0\0\0\0\x20\0\x02\0\0\0\0\0\0\0", &*id, b"other\n\0\0"].concat();
    bytes.splice(16..16, early);
    let mended = mended("early", &bytes, "EVENT_UPDATE: id");
    let header = dump(&mended, &["--format", "jsonl", "--limit", "1"]).out;
    assert!(header.lines().next().unwrap().contains(r#""name":"other\n""#), "{header}");
}

#[test]
fn an_attr_of_a_stream_that_cannot_be_decoded_is_a_fault_to_every_verb() {
    let mut bytes = capture("tracing.pipe.data");
    // A HEADER_ATTR of 56 bytes, at the end.
    bytes.extend_from_slice(b"\x40\0\0\0\0\0\x40\0");
    bytes.extend_from_slice(&[0; 56]);
    mended("header_attr", &bytes, "HEADER_ATTR: attr: needs 64 bytes");
}

#[test]
fn tracing_data_among_the_records_of_a_stream_is_checked_too() {
    let mut bytes = capture("tracing.pipe.data");
    // A HEADER_TRACING_DATA, and 8 bytes after it that are not tracing data.
    bytes.extend_from_slice(b"\x42\0\0\0\0\0\x10\0\x08\0\0\0\0\0\0\0nonsense");
    mended("late_tracing", &bytes, "TRACING_DATA");
}
