//! `--type`, `--event`, `--time`, `--limit`, `--fields`.

use std::path::Path;

use serde_json::Value;

use crate::{Run, dump, fails, jsonl};

/// Compares the records that `args` select with those of the full dump that `wanted` selects.
fn lets_through(capture: &str, args: &[&str], wanted: impl Fn(&Value) -> bool) {
    let path = testdata::path(capture);
    let all = jsonl(&path, &[]);
    let wanted: Vec<_> = all.records.iter().filter(|record| wanted(record)).cloned().collect();
    assert!(!wanted.is_empty() && wanted.len() < all.records.len(), "{args:?} is no test of {capture}");
    let filtered = jsonl(&path, args);
    assert_eq!((filtered.run.status, &*filtered.run.err), (0, ""), "{args:?}");
    assert_eq!(filtered.records, wanted, "{args:?}");
    assert_eq!(filtered.account, all.account, "{args:?}: the account is of the whole capture");
    let text = dump(&path, args);
    let lines = text.out.lines().filter(|line| line.starts_with("0x")).count();
    assert_eq!((text.status, lines), (0, wanted.len()), "{args:?}");
}

#[test]
fn types_go_by_name_and_number() {
    let is = |kinds: &'static [&str]| move |record: &Value| kinds.contains(&record["type"].as_str().unwrap());
    lets_through("plain.data", &["--type", "MMAP2"], is(&["MMAP2"]));
    lets_through("plain.data", &["--type", "mmap2,COMM"], is(&["MMAP2", "COMM"]));
    lets_through(
        "plain.data",
        &["--type", "3", "--type", "PERF_RECORD_EXIT,68"],
        is(&["COMM", "EXIT", "FINISHED_ROUND"]),
    );
}

#[test]
fn events_go_by_index_and_name() {
    let names = events("raw.data");
    assert!(names.len() > 1);
    for (index, name) in names.iter().enumerate() {
        let is = |record: &Value| record["event"] == index;
        lets_through("raw.data", &["--event", &index.to_string()], is);
        lets_through("raw.data", &["--event", name], is);
    }
}

/// Returns the names of a capture's events.
fn events(capture: &str) -> Vec<String> {
    let run = dump(&testdata::path(capture), &["--format", "jsonl"]);
    let header: Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let attrs = header["header"]["attrs"].as_array().unwrap();
    attrs.iter().map(|attr| attr["name"].as_str().unwrap().to_owned()).collect()
}

/// Returns the time of a record.
fn time(record: &Value) -> Option<u64> {
    let own = if record["type"] == "SAMPLE" { &record["fields"] } else { &record["sample_id"] };
    own["time"].as_u64()
}

fn seconds(time: u64) -> String {
    format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000)
}

#[test]
fn times_are_to_the_nanosecond() {
    let all = jsonl(&testdata::path("plain.data"), &[]);
    let times: Vec<_> = all.records.iter().filter_map(time).collect();
    let (first, last) = (times[times.len() / 3], times[times.len() / 2]);
    let between = |first: u64, last: u64| {
        move |record: &Value| time(record).is_some_and(|time| time >= first && time <= last)
    };
    let [from, to] = [first, last].map(seconds);
    lets_through("plain.data", &["--time", &format!("{from},{to}")], between(first, last));
    lets_through("plain.data", &["--time", &format!("{from},")], between(first, u64::MAX));
    lets_through("plain.data", &["--time", &format!(",{to}")], between(0, last));
    let after = seconds(first + 1);
    lets_through("plain.data", &["--time", &format!("{after},{to}")], between(first + 1, last));
    let two = move |record: &Value| time(record).is_some_and(|time| time <= first || time >= last);
    lets_through("plain.data", &["--time", &format!(",{from} {to},")], two);
}

#[test]
fn percents_are_of_the_time_of_samples() {
    let all = jsonl(&testdata::path("plain.data"), &[]);
    let samples = all.records.iter().filter(|record| record["type"] == "SAMPLE");
    let times: Vec<_> = samples.filter_map(time).collect();
    let (first, last) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    let at = |share: f64| first + ((last - first) as f64 * share).round() as u64;
    let in_part =
        |from: u64, to: u64| move |record: &Value| time(record).is_some_and(|it| it >= from && it < to);
    lets_through("plain.data", &["--time", "25%-75%"], in_part(at(0.25), at(0.75)));
    lets_through("plain.data", &["--time", "40%/2"], in_part(at(0.4), at(0.8)));
    lets_through("plain.data", &["--time", "90%-100%"], in_part(at(0.9), last + 1));
}

#[test]
fn spans_are_between_samples_of_events() {
    let all = jsonl(&testdata::path("raw.data"), &[]);
    let of = |event: u64| {
        let is = move |record: &&Value| record["type"] == "SAMPLE" && record["event"] == event;
        all.records.iter().filter(is).filter_map(time)
    };
    let begin = of(1).min().unwrap();
    let later = move |record: &Value| time(record).is_some_and(|time| time >= begin);
    lets_through("raw.data", &["--time", &format!("{}..", events("raw.data")[1])], later);
}

#[test]
fn filters_go_together() {
    let is = |record: &Value| record["type"] == "SAMPLE" && record["event"] == 1;
    lets_through("raw.data", &["--type", "SAMPLE", "--event", "1"], is);
}

#[test]
fn the_limit_counts_what_is_printed() {
    let path = testdata::path("plain.data");
    let all = jsonl(&path, &["--type", "SAMPLE"]);
    for limit in [0, 1, 7, all.records.len(), all.records.len() + 1] {
        let some = jsonl(&path, &["--type", "SAMPLE", "--limit", &limit.to_string()]);
        assert_eq!(some.run.status, 0, "{limit}");
        assert_eq!(some.records, all.records[..limit.min(all.records.len())], "{limit}");
    }
}

fn fields(path: &Path, args: &[&str]) -> (Vec<Vec<String>>, Run) {
    let run = dump(path, args);
    let rows = run.out.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    (rows, run)
}

#[test]
fn fields_are_columns() {
    let path = testdata::path("plain.data");
    let all = jsonl(&path, &[]);
    let (rows, run) = fields(&path, &["--fields", "type,offset,size,pid,ip,time,comm"]);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert_eq!(rows.len(), all.records.len());
    for (row, record) in rows.iter().zip(&all.records) {
        let own = |field: &str| {
            [&record["fields"][field], &record["sample_id"][field]].into_iter().find(|value| !value.is_null())
        };
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let number =
            |field, print: fn(u64) -> String| or_none(own(field).map(|value| print(value.as_u64().unwrap())));
        let expected = [
            record["type"].as_str().unwrap().to_owned(),
            format!("{:#x}", record["offset"].as_u64().unwrap()),
            record["size"].to_string(),
            or_none(own("pid").map(Value::to_string)),
            number("ip", |ip| format!("{ip:#x}")),
            number("time", seconds),
            or_none(own("comm").map(|comm| comm.as_str().unwrap().to_owned())),
        ];
        assert_eq!(*row, expected);
    }
}

/// If all selected fields have fixed positions in the samples, they are printed directly from these positions. With any
/// other field, each line is printed field by field. Both ways must print the same, for complete and damaged captures.
#[test]
fn fields_at_known_places_are_those_that_are_told() {
    let names =
        "offset,type,misc,size,event,identifier,id,ip,pid,tid,cpu,time,addr,stream_id,period,pid,common_pid";
    for capture in std::fs::read_dir(testdata::path("")).unwrap() {
        let path = capture.unwrap().path();
        if !path.is_file() || path.extension().is_none_or(|extension| extension != "data") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        for damaged in [false, true] {
            for at in (1000..bytes.len()).step_by(997).filter(|_| damaged) {
                bytes[at] ^= 0x41;
            }
            let copy = crate::scratch("known-places.data", &bytes);
            let known = names.strip_suffix(",common_pid").unwrap();
            let (known, run) = fields(&copy, &["--fields", known]);
            let (mut told, other) = fields(&copy, &["--fields", names]);
            told.iter_mut().for_each(|row| drop(row.pop()));
            assert_eq!(known, told, "{path:?}");
            assert_eq!(run.status, other.status, "{path:?}");
            let in_vain = |line: &&str| !line.contains("--fields common_pid");
            assert!(run.err.lines().eq(other.err.lines().filter(in_vain)), "{path:?}: {}", run.err);
        }
    }
}

#[test]
fn fields_as_json_are_numbers_and_objects() {
    let path = testdata::path("group_read.data");
    let all = jsonl(&path, &["--type", "SAMPLE"]);
    let some = jsonl(&path, &["--type", "SAMPLE", "--fields", "ip,read,event"]);
    assert_eq!(some.records.len(), all.records.len());
    for (some, record) in some.records.iter().zip(&all.records) {
        let expected = [&record["fields"]["ip"], &record["fields"]["read"], &record["event"]];
        assert_eq!(["ip", "read", "event"].map(|field| &some[field]), expected);
        assert_eq!(some.as_object().unwrap().len(), 3);
    }
}

#[test]
fn a_field_that_no_record_has_is_said() {
    let path = testdata::path("plain.data");
    let (rows, run) = fields(&path, &["--type", "COMM", "--fields", "comm,frob,ip"]);
    assert_eq!(rows, [["perf-exec", "-", "-"], ["workload", "-", "-"]]);
    assert_eq!(run.status, 0);
    let lines: Vec<_> = run.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", run.err);
    assert!(lines[0].contains("--fields frob: ") && lines[1].contains("--fields ip: "), "{}", run.err);
}

#[test]
fn what_is_not_known_is_said_with_what_is() {
    let plain = testdata::path("plain.data");
    let plain = plain.to_str().unwrap();
    fails(&["dump", plain, "--type", "SAMPEL"], "--type SAMPEL: ");
    fails(&["dump", plain, "--type", "SAMPEL"], " SAMPLE ");
    fails(&["dump", plain, "--event", "cycles"], "--event cycles: ");
    fails(&["dump", plain, "--event", "cycles"], "0 (page-faults)");
    fails(&["dump", plain, "--event", "1"], "0 (page-faults)");
    for range in ["1", "1;2", "a,b", "1.0000000001,2", "-1,2", ""] {
        fails(&["dump", plain, "--time", range], &format!("--time {range}: must be A,B in seconds"));
    }
}

#[test]
fn a_time_range_that_ends_before_it_begins_is_1() {
    let plain = testdata::path("plain.data");
    fails(&["dump", plain.to_str().unwrap(), "--time", "5,3"], "--time 5,3: ");
}

#[test]
fn a_misc_without_a_bit_is_a_dash() {
    let path = testdata::path("plain.data");
    let all = jsonl(&path, &["--type", "ID_INDEX"]);
    assert_eq!(all.records[0]["misc"], 0);
    let line = dump(&path, &["--type", "ID_INDEX"]).out;
    assert_eq!(line.split_whitespace().take(4).skip(1).collect::<Vec<_>>(), ["ID_INDEX", "80", "-"]);
}
