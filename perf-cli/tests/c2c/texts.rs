//! The texts that perf 6.1 and 7.2 print of a capture, and the same as JSON.

use serde_json::Value;

use crate::{ACCESSES, c2c};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![perfs_texts_are_printed, json_has_the_numbers_of_the_text, statistics_are_the_first_tables];

fn perfs_texts_are_printed() {
    let cases: [(&str, &str, &[&str]); 7] = [
        ("total", "6.1", &[]),
        ("total", "7.2", &["--stdio"]),
        ("threads", "6.1", &["-d", "lcl", "-c", "pid,tid,iaddr", "-N", "--no-source"]),
        ("threads", "7.2", &["-d", "lcl", "-c", "pid,tid,iaddr", "-N", "--no-source"]),
        ("peers", "6.1", &["-d", "peer", "-c", "dso", "-NN", "--show-all"]),
        ("peers", "7.2", &["-d", "peer", "-c", "dso", "-NN", "--show-all"]),
        ("double", "7.2", &["-d", "rmt", "--double-cl", "--full-symbols"]),
    ];
    for (name, version, options) in cases {
        let file = testdata::path("").parent().unwrap().join(format!("c2c/{name}.perf-{version}.txt"));
        let theirs = std::fs::read_to_string(file).unwrap();
        let run = c2c(ACCESSES, &[options, &["--perf-version", version]].concat());
        assert_eq!(run.status, 0, "{run:?}");
        for (ours, theirs) in run.out.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "{name} {version}");
        }
        assert_eq!(run.out, theirs, "{name} {version}");
    }
}

fn json(args: &[&str]) -> Value {
    let run = c2c(ACCESSES, &[&["--format", "json"], args].concat());
    assert_eq!(run.status, 0, "{run:?}");
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

fn number(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or(0)
}

fn json_has_the_numbers_of_the_text() {
    let text = c2c(ACCESSES, &[]).out;
    let document = json(&[]);
    let in_text = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(number(&document["counts"], "records"), in_text("Total records"));
    assert_eq!(number(&document["counts"], "local_hitm"), in_text("Load Local HITM"));
    assert_eq!(number(&document["shared"], "lines"), in_text("Total Shared Cache Lines"));
    assert_eq!((&document["display"], &document["coalesce"][0]), (&"tot".into(), &"iaddr".into()));
    assert_eq!(document["events"][0], "cpu/mem-loads,ldlat=30/P");

    let lines = document["lines"].as_array().unwrap();
    let table = text.split("Shared Data Cache Line Table").nth(1).unwrap();
    let table = table.split("Shared Cache Line Distribution").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.contains(" 0x"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(rows.len() == lines.len() && lines.len() > 8, "{} {}", rows.len(), lines.len());
    for (line, row) in lines.iter().zip(rows) {
        let counts = &line["counts"];
        assert_eq!(line["address"], row[1]);
        assert_eq!(number(line, "physical_addresses").to_string(), row[3]);
        assert_eq!(number(counts, "local_hitm").to_string(), row[6]);
        assert_eq!(number(counts, "remote_hitm").to_string(), row[7]);
        assert_eq!(number(counts, "stores").to_string(), row[10]);
        let accesses = line["accesses"].as_array().unwrap();
        let sum: u64 = accesses.iter().map(|it| number(&it["counts"], "records")).sum();
        assert_eq!(sum, number(counts, "records"), "{line}");
        for it in accesses {
            assert!(!it["threads"].as_array().unwrap().is_empty() && it["cpus"][0].is_u64(), "{it}");
            assert!(it["symbol"].is_string() || it["dso"].is_null(), "{it}");
        }
    }
    assert_eq!((number(&document, "dropped"), document["account"].is_object()), (0, true));
}

fn statistics_are_the_first_tables() {
    let (stats, whole) = (c2c(ACCESSES, &["--stats"]).out, c2c(ACCESSES, &[]).out);
    assert!(whole.starts_with(&stats) && whole.len() > 2 * stats.len(), "{stats}");
    assert!(json(&["--stats"])["lines"].is_null());
}
