//! Damaged captures: everything decodable is decoded, and the account contains the rest.

use std::fs;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use serde_json::{Value, json};
use testdata::Bytes;
use testdata::file::Builder;

use crate::{Jsonl, dump, jsonl, perfdata, scratch};

/// Returns the diagnostics of a damaged capture, without the last line, which summarizes the account.
fn faults(dumped: &Jsonl) -> &str {
    let (faults, last) = dumped.run.err.trim_end().rsplit_once('\n').unwrap();
    let account = &dumped.account;
    let count = account["diagnostics"].as_array().unwrap().len();
    let (records, skipped) = (&account["records"], &account["bytes_skipped"]);
    let summary = format!("perfdata: records read: {records}, faults: {count}, bytes skipped: {skipped}");
    assert!(last.starts_with(&summary), "{last}");
    faults
}

/// A complete capture, to be damaged.
struct Whole {
    name: &'static str,
    bytes: Vec<u8>,
    /// The offsets of the start and the end of the records.
    data: (usize, usize),
    records: Vec<Value>,
}

impl Whole {
    fn of(name: &'static str) -> Self {
        let path = testdata::path(name);
        let bytes = fs::read(&path).unwrap();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        let data = (word(40), word(40) + word(48));
        let Jsonl { run, records, account } = jsonl(&path, &[]);
        assert_eq!(run.status, 0);
        assert_eq!(account["bytes"], data.1 - data.0);
        Self { name, bytes, data, records }
    }

    /// Returns the first record of a type.
    fn first(&self, kind: &str) -> (usize, &Value) {
        self.records.iter().enumerate().find(|(_, record)| record["type"] == kind).unwrap()
    }

    /// Returns the capture with `bytes` at `at`, and its dump.
    fn with(&self, test: &str, at: usize, bytes: &[u8]) -> (Vec<u8>, Jsonl) {
        let mut damaged = self.bytes.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        let path = scratch(&format!("{test}-{}", self.name), &damaged);
        let dumped = jsonl(&path, &[]);
        let shown = perfdata(["info".as_ref(), path.as_os_str()]);
        assert_eq!(
            (shown.status, shown.err.trim_end()),
            (dumped.run.status, faults(&dumped)),
            "info and dump agree"
        );
        let text = dump(&path, &[]);
        assert_eq!((text.status, &text.err), (dumped.run.status, &dumped.run.err), "both formats agree");
        (damaged, dumped)
    }

    /// Compares a dump in which the record `index` is not decodable with the dump of the complete capture.
    fn has_fault(
        &self,
        (bytes, dumped): &(Vec<u8>, Jsonl),
        index: usize,
        at: u64,
        field: &str,
        message: &str,
    ) {
        let kind = self.records[index]["type"].as_str().unwrap();
        let offset = self.records[index]["offset"].as_u64().unwrap() as usize;
        assert_eq!(dumped.run.status, 3);
        let fault = faults(dumped);
        assert_eq!(fault, format!("{at:#x}: {kind}: {field}: {message}"));
        assert_eq!(dumped.records.len(), self.records.len());
        for (other, (expected, actual)) in self.records.iter().zip(&dumped.records).enumerate() {
            assert!(other == index || expected == actual, "{actual}");
        }
        let faulty = &dumped.records[index];
        assert_eq!(faulty["error"], fault);
        let size = faulty["size"].as_u64().unwrap() as usize;
        let raw: String = bytes[offset + 8..offset + size].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(faulty["raw"], raw);
        let diagnostic = json!({"offset": at, "type": kind, "field": field, "message": message});
        let walked = self.data.1 - self.data.0;
        let expected = json!({
            "records": self.records.len(), "bytes": walked, "bytes_skipped": 0, "lost": 0, "lost_samples": 0,
            "diagnostics": [diagnostic],
        });
        let mut account = dumped.account.clone();
        let by_kind = account.as_object_mut().unwrap().remove("diagnostics_by_kind").unwrap();
        assert_eq!(by_kind.as_object().unwrap().values().collect::<Vec<_>>(), [1]);
        assert_eq!(account, expected);
    }
}

#[test]
fn an_update_of_an_unknown_event_is_printed() {
    let whole = Whole::of("callchain.data");
    let (_, update) = whole.first("EVENT_UPDATE");
    let at = update["offset"].as_u64().unwrap() as usize;
    let (_, dumped) = whole.with("update", at + 16, &7_u64.to_le_bytes());
    assert_eq!(faults(&dumped), format!("{at:#x}: EVENT_UPDATE: id: is 7, which no event of the file has"));
}

#[test]
fn a_string_without_an_end_costs_one_record() {
    let whole = Whole::of("plain.data");
    let (index, comm) = whole.first("COMM");
    let at = comm["offset"].as_u64().unwrap() + 16;
    // The name has 16 bytes. The trailer with pid, tid and time follows it.
    let dumped = whole.with("string", at as usize, &[b'x'; 16]);
    whole.has_fault(&dumped, index, at, "comm", "has no NUL before the record ends");
    assert_eq!(dumped.1.records[index]["sample_id"], comm["sample_id"]);
}

#[test]
fn a_count_beyond_the_record_costs_one_record() {
    let whole = Whole::of("callchain.data");
    let (index, sample) = whole.first("SAMPLE");
    // ip, pid and tid, time, period; then the count of the call chain.
    let at = sample["offset"].as_u64().unwrap() + 8 + 4 * 8;
    let dumped = whole.with("count", at as usize, &0xffff_ffff_u64.to_le_bytes());
    let left = sample["size"].as_u64().unwrap() - 8 - 5 * 8;
    let message = format!("needs {} bytes, {left} are left", 0xffff_ffff_u64 * 8);
    whole.has_fault(&dumped, index, at + 8, "callchain", &message);
    assert_eq!(dumped.1.records[index]["fields"]["time"], sample["fields"]["time"]);
}

#[test]
fn an_unknown_id_costs_one_record() {
    let whole = Whole::of("identifier.data");
    let (index, sample) = whole.first("SAMPLE");
    let at = sample["offset"].as_u64().unwrap();
    let dumped = whole.with("id", at as usize + 8, &987_654_321_u64.to_le_bytes());
    whole.has_fault(&dumped, index, at, "id", "is 987654321, which no event of the file has");
    assert!(dumped.1.records[index].get("event").is_none());
}

#[test]
fn a_size_that_cannot_be_costs_one_record() {
    let whole = Whole::of("plain.data");
    let (index, sample) = whole.first("SAMPLE");
    let [offset, bytes] = ["offset", "size"].map(|field| sample[field].as_u64().unwrap() as usize);
    let mut left = whole.records.clone();
    left.remove(index);
    for (size, field) in [(0_u16, "header.size"), (7, "header.size"), (u16::MAX, "payload")] {
        let (_, dumped) = whole.with("size", offset + 6, &size.to_le_bytes());
        assert_eq!(dumped.run.status, 3, "{size}");
        assert_eq!(dumped.records, left, "{size}");
        assert_eq!(dumped.account["records"], left.len(), "{size}");
        assert_eq!(dumped.account["bytes"], whole.data.1 - whole.data.0 - bytes, "{size}");
        assert_eq!(dumped.account["bytes_skipped"], bytes, "{size}");
        let at = offset + if field == "payload" { 8 } else { 6 };
        let diagnostics = dumped.account["diagnostics"].as_array().unwrap();
        let places: Vec<_> = diagnostics.iter().map(|it| (&it["offset"], &it["field"])).collect();
        assert_eq!(places, [(&json!(at), &json!(field)), (&json!(offset), &json!(""))], "{size}");
        let (first, second) = faults(&dumped).split_once('\n').unwrap();
        assert!(first.starts_with(&format!("{at:#x}: {field}: ")), "{first}");
        assert!(second.starts_with(&format!("{offset:#x}: {bytes} bytes skipped, ")), "{second}");
    }
}

#[test]
fn a_file_cut_anywhere_gives_what_is_left() {
    let whole = Whole::of("plain.data");
    let (start, end) = whole.data;
    let mut cuts: Vec<_> = (0..whole.bytes.len()).step_by(97).collect();
    cuts.extend([7, 8, 16, 103, 104, start - 1, start + 1, end - 1, end, whole.bytes.len() - 1]);
    for cut in cuts {
        let path = scratch("cut.data", &whole.bytes[..cut]);
        if cut < start {
            let run = dump(&path, &["--format", "jsonl"]);
            assert_eq!((run.status, &*run.out), (1, ""), "{cut}");
            assert!(run.err.contains("cut.data: 0x"), "{cut}: {}", run.err);
            continue;
        }
        let dumped = jsonl(&path, &[]);
        assert_eq!(dumped.run.status, 3, "{cut}");
        let is_whole = |record: &&Value| {
            let [offset, size] = ["offset", "size"].map(|field| record[field].as_u64().unwrap() as usize);
            offset + size <= cut
        };
        let left = whole.records.iter().take_while(is_whole).count();
        assert_eq!(dumped.records.len(), left, "{cut}");
        for (expected, actual) in whole.records.iter().zip(&dumped.records) {
            assert_eq!(expected, actual, "{cut}");
        }
        let account = |field: &str| dumped.account[field].as_u64().unwrap() as usize;
        assert_eq!(account("records"), left, "{cut}");
        assert_eq!(account("bytes") + account("bytes_skipped"), cut.min(end) - start, "{cut}");
        assert_eq!(account("bytes_skipped") == 0, cut >= end || account("bytes") == cut - start, "{cut}");
        let diagnostics = dumped.account["diagnostics"].as_array().unwrap();
        let lines: Vec<_> = faults(&dumped).lines().collect();
        assert_eq!(diagnostics.len(), lines.len(), "{cut}");
        for (diagnostic, line) in diagnostics.iter().zip(lines) {
            let [field, message] = ["field", "message"].map(|part| diagnostic[part].as_str().unwrap());
            let offset = diagnostic["offset"].as_u64().unwrap();
            let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
            assert_eq!(line, format!("{offset:#x}: {field}{message}"), "{cut}");
        }
    }
}

#[test]
fn a_recording_that_was_killed_is_read_to_its_end() {
    let path = testdata::path("killed.data");
    let dumped = jsonl(&path, &[]);
    let data_offset = 264;
    assert_eq!(dumped.run.status, 3);
    assert!(dumped.run.err.starts_with("0x30: header.data.size: is 0"), "{}", dumped.run.err);
    assert_eq!(dumped.account["bytes"], fs::metadata(path).unwrap().len() - data_offset);
    assert_eq!(dumped.account["bytes_skipped"], 0);
    assert_eq!(dumped.account["records"], dumped.records.len());
}

/// No damage: the kernel reserves too much for these records, and the trailer is in front of what it does not write.
#[test]
fn bytes_that_the_kernel_did_not_write() {
    let sample_type = SampleType::TID | SampleType::TIME;
    let attr = Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() };
    let program = Bytes::new(false).u16(1).u16(0).u32(77).raw(&[5; 8]).u32(7).u32(8).u64(1000);
    let data = program.raw(&[0xa5; 24]).record(RecordType::BPF_EVENT.0, 0);
    let path = scratch("stale.data", &Builder::new(false).event(attr, &[]).data(data).build().bytes);
    let dumped = jsonl(&path, &[]);
    assert_eq!((dumped.run.status, &dumped.account["bytes_skipped"]), (0, &json!(0)), "{}", dumped.run.err);
    let record = &dumped.records[0];
    assert_eq!((&record["fields"]["id"], &record["fields"]["stale_bytes"]), (&json!(77), &json!(24)));
    assert_eq!(record["sample_id"], json!({"pid": 7, "tid": 8, "time": 1000}));
    assert!(dump(&path, &[]).out.contains("stale_bytes=24"));
}

/// The verbs that do not list every fault say in words what is lost.
#[test]
fn a_file_that_is_cut_off_is_said_in_words() {
    let bytes = std::fs::read(testdata::path("everything.data")).unwrap();
    let path = scratch("cut-in-words.data", &bytes[..60_000]);
    for verb in ["info", "report", "script"] {
        let run = crate::perfdata([verb.as_ref(), path.as_os_str()]);
        assert_eq!(run.status, 3, "{verb}: {}", run.err);
        let first = run.err.lines().next().unwrap();
        assert!(
            first.starts_with("perfdata: the capture is cut off: it has 59,416 of 161,328 bytes"),
            "{verb}: {first}"
        );
        assert_eq!(run.err.matches("feature table: needs").count(), 1, "{verb}: {}", run.err);
    }
}
