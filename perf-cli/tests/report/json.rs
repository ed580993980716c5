//! The JSON document, against the text.

use serde_json::Value;

use crate::{CAPTURES, report};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![rows_are_those_of_the_text, call_graphs_are_those_of_the_text];

fn rows_are_those_of_the_text() {
    for capture in CAPTURES {
        let args = ["--no-children", "-g", "none", "--sort", "comm,dso", "-n", "--no-group", "--no-symbols"];
        let text = report(capture, &args).out;
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .map(|line| line.split_whitespace().collect())
            .collect();
        let document: Value =
            serde_json::from_str(&report(capture, &[&args[..], &["--format", "json"]].concat()).out).unwrap();
        let tables = document["tables"].as_array().unwrap();
        let of_json: Vec<_> = tables.iter().flat_map(|table| table["rows"].as_array().unwrap()).collect();
        assert_eq!(rows.len(), of_json.len(), "{capture}");
        assert!(!rows.is_empty(), "{capture}");
        for (text, row) in rows.iter().zip(of_json) {
            assert_eq!(text[0], format!("{:.2}%", row["self"][0]["percent"].as_f64().unwrap()));
            assert_eq!(text[1], row["self"][0]["samples"].to_string());
            assert_eq!(text[2], row["comm"], "{capture}");
            assert_eq!(text[3], row["dso"].as_str().unwrap_or("[unknown]"), "{capture}");
        }
        assert_eq!(document["account"]["bytes_skipped"], 0);
        let samples: u64 = tables.iter().map(|it| it["totals"][0]["samples"].as_u64().unwrap()).sum();
        let said = text.lines().find_map(|line| line.strip_prefix("# ")?.split_once(" samples: "));
        assert_eq!(said.map(|(number, _)| number.replace(',', "")), Some(samples.to_string()), "{capture}");
    }
}

fn call_graphs_are_those_of_the_text() {
    let args = ["--no-children", "--no-symbols", "-g", "flat,0"];
    let text = report("captures/callchain.data", &args).out;
    let document = report("captures/callchain.data", &[&args[..], &["--format", "json"]].concat()).out;
    let document: Value = serde_json::from_str(&document).unwrap();
    let mut ends = 0;
    for row in document["tables"][0]["rows"].as_array().unwrap() {
        let mut path: Vec<Vec<&str>> = Vec::new();
        for branch in row["callchain"].as_array().unwrap() {
            path.truncate(branch["depth"].as_u64().unwrap() as usize);
            path.push(
                branch["functions"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect(),
            );
            if branch["ending_samples"] != 0 {
                ends += 1;
                let lines: String =
                    path.concat().iter().map(|name| format!("                {name}\n")).collect();
                assert!(text.contains(&lines), "{lines}");
            }
        }
    }
    assert!(ends > 20, "{ends}");
}
