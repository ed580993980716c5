//! The formats of call graphs and rows, held against folded stacks and the samples of the profile, over all captures.

#![cfg(all(feature = "callgrind", feature = "chrome", feature = "csv", feature = "dot", feature = "fold"))]

use std::collections::HashMap;

use perf_export::{callgrind, chrome, csv, dot, fold};
use perf_parse::Reader;
use perf_profile::call_graph::CallGraph;
use perf_profile::{Profile, ProfileOptions, SampleDetail, Samples, Symbols, TimeDetail, Weight, event_name};

/// Returns the profile of a capture, without names from files: those of this machine are not the capture's.
fn profile(capture: &str) -> Profile {
    let reader = Reader::open(testdata::path(capture)).unwrap();
    let symbols = Symbols::of(&reader).without_names();
    let detail = SampleDetail { times: TimeDetail::Each, cpus: true, ..SampleDetail::default() };
    let mut options = ProfileOptions::default();
    options.detail = detail;
    Samples::of(&reader).profile_with(&symbols, &options, &mut ()).unwrap()
}

const CAPTURES: [&str; 7] = [
    "callchain.data",
    "dwarf.data",
    "everything.data",
    "group_read.data",
    "system_wide.data",
    "switch.data",
    "raw.data",
];

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// The sum of the folded stacks of an event.
fn folded(profile: &Profile, event: &[u8]) -> u64 {
    let mut options = fold::Options::default();
    options.event = Some(event.to_vec());
    let text = text(|out| fold::write(std::slice::from_ref(profile), &options, out).unwrap());
    text.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
}

#[test]
fn the_costs_of_callgrind_are_those_of_the_folded_stacks() {
    for capture in CAPTURES {
        let profile = profile(capture);
        let mut options = callgrind::Options::default();
        for event in profile.events().iter().map(|it| event_name(&it.event)) {
            options.event = Some(event.clone());
            let text = text(|out| callgrind::write(std::slice::from_ref(&profile), &options, out).unwrap());
            let total: u64 =
                text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap().parse().unwrap();
            assert_eq!(total, folded(&profile, &event), "{capture}");
            // A line after `calls=` has the costs of the call; all others are of the function itself.
            let (mut own, mut is_call) = (0, false);
            for line in text.lines() {
                if line.starts_with(|first: char| first.is_ascii_digit()) && !is_call {
                    own += line.split_once(' ').unwrap().1.parse::<u64>().unwrap();
                }
                is_call = line.starts_with("calls=");
            }
            assert_eq!(own, total, "{capture}");
        }
    }
}

#[test]
fn a_call_costs_at_most_what_both_of_its_functions_do() {
    for capture in CAPTURES {
        let profile = profile(capture);
        let events: Vec<_> = profile.events().iter().map(|it| event_name(&it.event)).collect();
        let graph = CallGraph::of(std::slice::from_ref(&profile), Weight::Period, &events);
        for function in &graph.functions {
            let mut of_pairs: HashMap<usize, Vec<u64>> = HashMap::new();
            for call in &function.calls {
                let sums = of_pairs.entry(call.callee).or_insert_with(|| vec![0; events.len()]);
                sums.iter_mut().zip(&call.costs).for_each(|(sum, cost)| *sum += cost);
            }
            for (callee, costs) in of_pairs {
                let wholes = function.whole.iter().zip(&graph.functions[callee].whole);
                for (cost, (caller, callee)) in costs.iter().zip(wholes) {
                    assert!(cost <= caller && cost <= callee, "{capture}: {cost} of {caller} and {callee}");
                }
            }
        }
    }
}

#[test]
fn too_many_events_are_refused_and_one_of_them_is_not() {
    let profile = profile("everything.data");
    let limit = callgrind::MAX_EVENTS;
    assert!(profile.events().len() <= limit, "a capture with more events is needed to see the error");
    let text = text(|out| callgrind::write(&[profile], &callgrind::Options::default(), out).unwrap());
    let events = text.lines().find_map(|line| line.strip_prefix("events: ")).unwrap();
    assert_eq!(events.split(' ').count(), text.lines().filter(|line| line.starts_with("event: ")).count());
}

#[test]
fn csv_has_a_row_for_each_sample() {
    for capture in CAPTURES {
        let profile = profile(capture);
        let text =
            text(|out| csv::write(std::slice::from_ref(&profile), &csv::Options::default(), out).unwrap());
        let rows: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(rows.len(), profile.samples().len() + 1, "{capture}");
        let columns = |row: &str| {
            let mut is_quoted = false;
            row.chars()
                .filter(|&character| {
                    is_quoted ^= character == '"';
                    character == ',' && !is_quoted
                })
                .count()
        };
        assert!(rows.iter().all(|row| columns(row) == 11), "{capture}");
    }
}

#[test]
fn the_functions_of_chrome_begin_and_end_in_order_and_each_track_has_its_name() {
    for capture in CAPTURES {
        let profile = profile(capture);
        let text = text(|out| {
            chrome::write(std::slice::from_ref(&profile), &chrome::Options::default(), out).unwrap()
        });
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut open: HashMap<(u64, u64), (i64, f64)> = HashMap::new();
        for event in document["traceEvents"].as_array().unwrap() {
            let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
            if event["ph"] == "M" {
                assert!(open.insert(track, (0, 0.0)).is_none(), "{capture}: a track has two names");
                continue;
            }
            let time = event["ts"].as_f64().unwrap();
            let (depth, last) = open.get_mut(&track).unwrap();
            assert!(time >= *last, "{capture}: the time goes back");
            *last = time;
            *depth += if event["ph"] == "B" { 1 } else { -1 };
            assert!(*depth >= 0, "{capture}");
        }
        assert!(open.values().all(|(depth, _)| *depth == 0), "{capture}");
    }
}

#[test]
fn the_boxes_and_arrows_of_dot_are_those_of_the_graph() {
    for capture in CAPTURES {
        let profile = profile(capture);
        let mut options = dot::Options::default();
        (options.least_function, options.least_call) = (0.0, 0.0);
        let text = text(|out| dot::write(std::slice::from_ref(&profile), &options, out).unwrap());
        let event = profile.sample(0).map(|it| event_name(&profile.events()[it.event as usize].event));
        let graph =
            CallGraph::of(std::slice::from_ref(&profile), Weight::Period, &[event.unwrap_or_default()]);
        let boxes =
            text.lines().filter(|line| line.trim_start().starts_with('f') && !line.contains(" -> ")).count();
        assert_eq!(boxes, graph.functions.len(), "{capture}");
        let mut pairs: Vec<_> = graph
            .functions
            .iter()
            .enumerate()
            .flat_map(|(caller, it)| it.calls.iter().map(move |call| (caller, call.callee)))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        assert_eq!(text.lines().filter(|line| line.contains(" -> ")).count(), pairs.len(), "{capture}");
    }
}
