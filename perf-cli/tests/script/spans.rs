//! `--time` between samples of events.

use needs::Test;

use crate::perfdata;

pub(crate) const TESTS: &[Test] = needs::tests![spans_are_from_an_event_to_another, no_sample_begins_a_span];

const FROM: &str = "context-switches";
const TO: &str = "page-faults";

/// The samples of a capture of both events: their times in nanoseconds, and their events.
fn samples(args: &[&str]) -> Vec<(u64, String)> {
    let run = perfdata("script", "captures/ids.data", &[&["--ns", "-F", "time,event"], args].concat());
    assert_eq!((run.status, &*run.err), (0, ""));
    let sample = |line: &str| {
        let (time, event) = line.trim().split_once(": ").unwrap();
        (time.replace('.', "").parse().unwrap(), event.trim().trim_end_matches(':').to_owned())
    };
    run.out.lines().map(sample).collect()
}

fn spans_are_from_an_event_to_another() {
    let all = samples(&[]);
    let between = |from: &str, to: &str| -> Vec<(u64, String)> {
        let mut begin = from.is_empty().then_some(0);
        let mut spans = Vec::new();
        for (time, event) in &all {
            if event == to
                && let Some(first) = begin.take()
            {
                spans.push(first..=*time);
            }
            if event == from && begin.is_none() {
                begin = Some(*time);
            }
        }
        spans.extend(begin.map(|first| first..=u64::MAX));
        let is_in = |(time, _): &&(u64, String)| spans.iter().any(|span| span.contains(time));
        all.iter().filter(is_in).cloned().collect()
    };
    let spans = samples(&["--time", &format!("{FROM}..{TO}")]);
    assert_eq!(spans, between(FROM, TO));
    assert!(spans.len() > 10 && spans.len() < all.len(), "{} of {}", spans.len(), all.len());
    assert_eq!(samples(&["--time", &format!("{FROM}..")]), between(FROM, ""));
    assert_eq!(samples(&["--time", &format!("..{FROM}")]), between("", FROM));
    // The events by their indices, in another verb.
    let folded = |time: &str| perfdata("fold", "captures/ids.data", &["--no-symbols", "--time", time]).out;
    assert_eq!(folded("0..1"), folded(&format!("{}..{}", name(0), name(1))));
}

/// The name of an event.
fn name(index: usize) -> String {
    let info = perfdata("info", "captures/ids.data", &[]).out;
    let line = info.lines().find_map(|line| line.trim().strip_prefix(&format!("{index} "))).unwrap();
    line.to_owned()
}

fn no_sample_begins_a_span() {
    let run = perfdata("script", "synthetic/mmap2_old.le.data", &["--time", "0.."]);
    assert_eq!((run.status, &*run.out), (1, ""));
    assert!(run.err.contains("--time 0..: there is no sample of 0"), "{}", run.err);
}
