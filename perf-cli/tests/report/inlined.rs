//! A sample in an inlined function is one of that function, in every verb; with `--no-inline`, of the function that it is
//! inlined into, as in perf.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::merge::lines;

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![own_samples_are_those_of_the_inlined_function, every_help_says_whose_samples_are];

/// The own share of each function, in tenths of a percent.
type Shares = BTreeMap<String, u64>;

fn run(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_perfdata")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn of_report(capture: &str, root: &str, more: &[&str]) -> Shares {
    let args = ["report", "--stdio", "--symfs", root, "--sort", "sym", "-g", "none", "-t", ";", capture];
    let text = run(&[&args[..], more].concat());
    let rows = text.lines().filter(|line| !line.starts_with('#') && line.contains("[.]"));
    let share = |row: &str| {
        let mut cells = row.rsplitn(2, "[.] ");
        let name = cells.next().unwrap().trim().trim_end_matches(" (inlined)").to_owned();
        let own = cells.next().unwrap().trim_end_matches(';').rsplit(';').next().unwrap().trim().to_owned();
        (name, (own.trim_end_matches('%').parse::<f64>().unwrap() * 10.0).round() as u64)
    };
    rows.map(share).filter(|(name, own)| *own > 0 && !name.starts_with("0x")).collect()
}

fn of_fold(capture: &str, root: &str, more: &[&str]) -> Shares {
    let text = run(&[&["fold", "--symfs", root, capture], more].concat());
    let mut counts = Shares::new();
    for line in text.lines() {
        let (stack, count) = line.rsplit_once(' ').unwrap();
        let leaf = stack.rsplit(';').next().unwrap();
        *counts.entry(leaf.to_owned()).or_default() += count.parse::<u64>().unwrap();
    }
    shares(counts)
}

fn of_diff(capture: &str, root: &str, more: &[&str]) -> Shares {
    let text =
        run(&[&["diff", "--symfs", root, "--min-delta", "0", "--format", "jsonl", capture, capture], more]
            .concat());
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let own = |row: &serde_json::Value| {
        Some((row["symbol"].as_str()?.to_owned(), (row["own"][0].as_f64()? * 10.0).round() as u64))
    };
    rows.filter_map(|row| own(&row)).filter(|(_, own)| *own > 0).collect()
}

fn shares(counts: Shares) -> Shares {
    let all: u64 = counts.values().sum();
    let share = |(name, count): (String, u64)| (name, (1000.0 * count as f64 / all as f64).round() as u64);
    counts.into_iter().map(share).filter(|(name, _)| !name.starts_with('[')).collect()
}

/// addr2line has these functions at the addresses of the samples, and their symbols.
fn own_samples_are_those_of_the_inlined_function() {
    let (capture, root) = lines();
    let (capture, root) = (capture.to_str().unwrap(), root.to_str().unwrap());
    let shares = |of: &[(&str, u64)]| -> Shares {
        of.iter().map(|&(name, samples)| (name.to_owned(), (10_000 * samples + 115) / 230)).collect()
    };
    let inlined = shares(&[("inner", 2), ("middle", 5), ("outer", 4), ("_start", 8)]);
    let outer = shares(&[("outer", 11), ("_start", 8)]);
    for of in [of_report, of_fold, of_diff] {
        for (more, expected) in [(&[][..], &inlined), (&["--no-inline"], &outer)] {
            let found = of(capture, root, more);
            for (name, share) in expected {
                assert_eq!(found.get(name), Some(share), "{name} {more:?}: {found:?}");
            }
            assert_eq!(found.contains_key("middle"), more.is_empty());
        }
    }
    let page = Path::new(root).join("page.svg");
    run(&["flamegraph", "--symfs", root, capture, "-o", page.to_str().unwrap()]);
    assert!(std::fs::read_to_string(page).unwrap().contains("inner"));
}

fn every_help_says_whose_samples_are() {
    for verb in ["report", "diff", "fold", "flamegraph", "export", "script"] {
        let help = run(&[verb, "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("a sample in an inlined function is one of that function"), "{verb}");
    }
}
