//! The texts that perf 6.1 and 7.2 print of a capture, and the same as JSON.

use serde_json::Value;

use crate::{CONTENTION, json, lock, perfdata};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    perfs_texts_are_printed,
    json_has_the_rows_of_the_text,
    columns_are_those_that_are_wanted,
    types_and_locks_are_selected,
    waits_are_whole,
    profiles_have_the_waits,
];

fn perfs_texts_are_printed() {
    let cases: [(&str, &str, &[&str]); 5] = [
        ("callers", "6.1", &["-v"]),
        ("callers", "7.2", &["-v", "-S", "_"]),
        ("threads", "6.1", &["-t"]),
        ("threads", "7.2", &["-t"]),
        ("locks", "7.2", &["-l", "-x", ","]),
    ];
    for (name, version, options) in cases {
        let file = testdata::path("").parent().unwrap().join(format!("lock/{name}.perf-{version}.txt"));
        let theirs = std::fs::read_to_string(file).unwrap();
        let run = lock("contention", &[options, &["--perf-version", version]].concat());
        assert_eq!(run.status, 0, "{run:?}");
        assert!(run.out.lines().count() > 15, "{}", run.out);
        for (ours, theirs) in run.out.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{name} {version}");
        }
        assert_eq!(run.out, theirs, "{name} {version}");
    }
}

fn number(row: &Value, name: &str) -> u64 {
    row[name].as_u64().unwrap_or_else(|| panic!("{name}: {row}"))
}

fn json_has_the_rows_of_the_text() {
    let text = lock("contention", &["-x", ";", "-F", "contended,wait_total,wait_max,wait_min,avg_wait"]).out;
    let document = json("contention", CONTENTION, &[]);
    let rows = document["rows"].as_array().unwrap();
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines.len() == rows.len() && rows.len() > 20, "{} {}", lines.len(), rows.len());
    for (line, row) in lines.iter().zip(rows) {
        let columns: Vec<_> = line.split("; ").collect();
        let names = ["contended", "wait_total", "wait_max", "wait_min", "avg_wait"];
        for (column, name) in columns.iter().zip(names) {
            assert_eq!(*column, number(row, name).to_string(), "{line} {row}");
        }
        assert_eq!(
            (columns[5], columns[6]),
            (row["type"].as_str().unwrap(), row["caller"].as_str().unwrap())
        );
        let (p50, p99, max) = (number(row, "p50"), number(row, "p99"), number(row, "wait_max"));
        assert!(number(row, "wait_min") <= p50 && p50 <= p99 && p99 <= max, "{row}");
        assert!(!row["stack"].as_array().unwrap().is_empty(), "{row}");
    }
    let faults = &document["faults"];
    // Those that were made.
    assert_eq!(number(faults, "rows_with_two_ends"), 2);
    assert!(number(faults, "unfinished") >= 2 && number(faults, "unmatched") >= 2, "{faults}");
    let threads = json("contention", CONTENTION, &["-t"]);
    assert!(threads["rows"].as_array().unwrap().iter().any(|row| row["comm"] == "files"), "{threads}");
}

fn columns_are_those_that_are_wanted() {
    let out = lock("contention", &["-F", "wait_min", "-k", "contended", "-E", "2"]).out;
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[0], "    min wait  contended         type   caller");
    let counts: Vec<u64> = lines[2..4].iter().map(|line| line[13..23].trim().parse().unwrap()).collect();
    assert!(counts[0] >= counts[1] && counts[1] > 1, "{out}");
}

fn types_and_locks_are_selected() {
    let types = |args: &[&str]| -> Vec<String> {
        let document = json("contention", CONTENTION, args);
        let mut all: Vec<_> =
            document["rows"].as_array().unwrap().iter().map(|row| row["type"].clone()).collect();
        all.dedup();
        all.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(types(&["-l", "-Y", "semaphore"]), ["semaphore"]);
    assert_eq!(types(&["-l", "-Y", "rwlock:R,rwlock:W"]), ["rwlock"]);
    let first = json("contention", CONTENTION, &["-l"])["rows"][0].clone();
    let address = first["address"].as_str().unwrap();
    for lock in [address, &address[2..]] {
        let document = json("contention", CONTENTION, &["-l", "-L", lock]);
        assert_eq!(document["rows"][0]["wait_total"], first["wait_total"]);
        assert_eq!(document["rows"].as_array().unwrap().len(), 1);
    }
    let run = lock("contention", &["-L", "no_such_lock"]);
    assert!(run.err.contains("no_such_lock") && run.out.lines().count() > 20, "{run:?}");
    let with_rename = json("contention", CONTENTION, &["-S", "renameat"]);
    for row in with_rename["rows"].as_array().unwrap() {
        let stack = row["stack"].as_array().unwrap();
        assert!(stack.iter().any(|it| it["function"].as_str().unwrap().contains("renameat")), "{row}");
    }
}

/// Each wait is in one row, whatever rows are of.
fn waits_are_whole() {
    let sums = |by: &str| -> (u64, u64) {
        let document = json("waits", CONTENTION, &["--by", by, "--limit", "1000", "--details"]);
        let groups = document["groups"].as_array().unwrap();
        for group in groups {
            for list in ["threads", "locks", "stacks"] {
                let times = group[list].as_array().unwrap().iter().map(|it| number(it, "time"));
                assert_eq!(times.sum::<u64>(), number(group, "total"), "{list} {group}");
            }
        }
        let sum = |name| groups.iter().map(|group| number(group, name)).sum::<u64>();
        assert_eq!((number(&document, "dropped"), document["account"].is_null()), (0, false));
        (sum("count"), sum("total"))
    };
    let callers = sums("caller");
    assert!(callers.0 > 100);
    for by in ["thread", "process", "lock", "kind"] {
        assert_eq!(sums(by), callers, "{by}");
    }
    let text = lock("waits", &["--details", "--limit", "3"]).out;
    assert!(text.contains("more rows; --limit prints them") && text.contains(" <- do_syscall_64"), "{text}");
    // perf's rows have most of them: a wait whose end has another stack may be in none.
    let document = json("contention", CONTENTION, &["-l"]);
    let total: u64 = document["rows"].as_array().unwrap().iter().map(|row| number(row, "wait_total")).sum();
    assert_eq!(total, callers.1);
    let long = json("waits", CONTENTION, &["--at-least", "1000", "--by", "kind", "--kind", "semaphore"]);
    assert_eq!(long["groups"].as_array().unwrap().len(), 1);
    assert!(number(&long["groups"][0], "min") >= 1_000_000, "{long}");
}

fn profiles_have_the_waits() {
    let waits = json("waits", CONTENTION, &["--by", "kind"]);
    let total: u64 = waits["groups"].as_array().unwrap().iter().map(|group| number(group, "total")).sum();
    for threads in ["1", "4"] {
        let run = perfdata(&["fold"], CONTENTION, &["--lock-waits", "--threads", threads]);
        assert_eq!(run.status, 0, "{run:?}");
        let weight = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
        assert_eq!(run.out.lines().map(weight).sum::<u64>(), total, "{threads}");
        assert!(run.out.lines().any(|line| line.contains(";do_renameat2 ")), "{}", run.out);
        assert!(!run.out.contains("rwsem_down_write_slowpath"), "{}", run.out);
    }
}
