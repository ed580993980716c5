//! pprof.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use crate::made::Made;
use crate::wire::Message;
use crate::{captures, export, perfdata};

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    // The compressed time is that of no file.
    assert_eq!(bytes[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    let (mut decoder, mut content) = (GzDecoder::new(bytes), Vec::new());
    decoder.read_to_end(&mut content).unwrap();
    assert!(decoder.into_inner().is_empty());
    content
}

/// Returns the sums of the sample types, by name and unit, after a check of all ids.
fn sums(profile: &Message<'_>) -> BTreeMap<(String, String), u64> {
    let strings = profile.texts(6);
    assert_eq!(strings[0], "");
    let text = |number: u64| strings[number as usize].to_owned();
    let by_id = |field| {
        let of = profile.messages(field);
        let map: BTreeMap<_, _> = of.iter().map(|it| (it.number(1), it.clone())).collect();
        assert!(map.len() == of.len() && !map.contains_key(&0));
        map
    };
    let (mappings, locations, functions) = (by_id(3), by_id(4), by_id(5));
    for mapping in mappings.values() {
        text(mapping.number(5));
        text(mapping.number(6));
    }
    for function in functions.values() {
        assert_ne!(text(function.number(2)), "");
        text(function.number(3));
        text(function.number(4));
    }
    for location in locations.values() {
        if let id @ 1.. = location.number(2) {
            let mapping = &mappings[&id];
            assert!((mapping.number(2)..=mapping.number(3)).contains(&location.number(3)), "{location:?}");
        }
        location.messages(4).iter().for_each(|line| assert!(functions.contains_key(&line.number(1))));
    }
    let types = profile.messages(1);
    let mut sums = vec![0_u64; types.len()];
    for sample in profile.messages(2) {
        let values = sample.numbers(2);
        assert_eq!(values.len(), types.len());
        values.iter().zip(&mut sums).for_each(|(value, sum)| *sum = sum.wrapping_add(*value));
        sample.numbers(1).iter().for_each(|id| assert!(locations.contains_key(id)));
        let keys: Vec<_> = sample.messages(3).iter().map(|label| text(label.number(1))).collect();
        assert!(["pid", "tid", "comm", "cpu"].iter().zip(&keys).all(|(one, other)| one == other), "{keys:?}");
        assert!(matches!(keys.len(), 3 | 4));
    }
    types.iter().zip(sums).map(|(it, sum)| ((text(it.number(1)), text(it.number(2))), sum)).collect()
}

#[test]
fn every_capture_keeps_its_sums() {
    for (capture, totals) in captures() {
        let bytes = unpacked(&export("pprof", &[&capture], &["--no-symbols"]));
        let mut sums = sums(&Message::new(&bytes));
        let samples: u64 = totals.values().map(|(samples, _)| samples).sum();
        assert_eq!(sums.remove(&("samples".into(), "count".into())), Some(samples), "{capture:?}");
        let of_events: BTreeMap<_, _> = sums.into_iter().map(|((name, _), sum)| (name, sum)).collect();
        let expected: BTreeMap<_, _> = totals.into_iter().map(|(name, (_, period))| (name, period)).collect();
        assert_eq!(of_events, expected, "{capture:?}");
    }
}

#[test]
fn several_captures_are_one_profile() {
    let paths = ["callchain.data", "everything.data", "plain.data"].map(testdata::path);
    let mut expected = BTreeMap::new();
    for path in &paths {
        let bytes = unpacked(&export("pprof", &[path], &["--no-symbols"]));
        for (kind, sum) in sums(&Message::new(&bytes)) {
            *expected.entry(kind).or_default() += sum;
        }
    }
    let bytes = unpacked(&export("pprof", &paths.each_ref().map(|it| &**it), &["--no-symbols"]));
    assert_eq!(sums(&Message::new(&bytes)), expected);
    assert!(expected.len() > 2);
}

#[test]
fn any_number_of_threads_writes_the_same() {
    for capture in ["callchain.data", "everything.data", "threads.dir"].map(testdata::path) {
        let of = |threads| export("pprof", &[&capture], &["--threads", threads]);
        let one = of("1");
        assert!(one == of("4") && one == of("1"), "{capture:?}");
    }
}

#[test]
fn what_a_sample_becomes() {
    let capture = Made::new(2)
        .comm(0, b"swapper")
        .mmap(0, 0x1000, b"/bin/program")
        .sample(0, 0, &[0x1234, 0x1678, 0x1000, 0x9000])
        .sample(1, 0, &[0x1234, 0x1678, 0x1000, 0x9000])
        .with_clocks()
        .file("what_a_sample_becomes.data");
    let bytes = unpacked(&export("pprof", &[&capture], &[]));
    let profile = Message::new(&bytes);
    let strings = profile.texts(6);
    // Both events count in one sample: its number of samples, and two periods.
    let [sample] = &profile.messages(2)[..] else { panic!("{profile:?}") };
    assert_eq!(sample.numbers(2), [2, 3, 3]);
    let locations = profile.messages(4);
    let addresses: Vec<_> = sample
        .numbers(1)
        .iter()
        .map(|id| locations.iter().find(|it| it.number(1) == *id).unwrap())
        .map(|it| (it.number(2), it.number(3)))
        .collect();
    // Of callers, addresses of their calls, but not outside of the mapping; what is not mapped has no mapping.
    assert_eq!(addresses, [(1, 0x1234), (1, 0x1677), (1, 0x1000), (0, 0x8fff)]);
    let [mapping] = &profile.messages(3)[..] else { panic!("{profile:?}") };
    assert_eq!((mapping.number(2), mapping.number(3)), (0x1000, 0x2000));
    assert_eq!(strings[mapping.number(5) as usize], "/bin/program");
    // Nothing was found, so readers may look themselves.
    assert_eq!([7, 8, 9, 10].map(|field| mapping.number(field)), [0; 4]);
    // Zero is a value: it has a unit, so that pprof does not take it as none.
    let labels: Vec<_> = sample
        .messages(3)
        .iter()
        .map(|it| [1, 2, 4].map(|field| strings[it.number(field) as usize]))
        .collect();
    let expected = [["pid", "", "pid"], ["tid", "", "tid"], ["comm", "swapper", ""], ["cpu", "", "cpu"]];
    assert_eq!(labels, expected);
    // The first sample is 2 us after the start, the last one 3 us; the first event has a fixed period.
    assert_eq!((profile.number(9), profile.number(10)), (crate::made::WALL + 2000, 1000));
    assert_eq!(profile.number(12), 3);
    assert_eq!(strings[profile.number(14) as usize], "raw 0x0:HG");
}

#[test]
fn hostile_names_are_text() {
    let capture = Made::new(1)
        .comm(7, b"\xff\x1b[2Jx")
        .mmap(7, 0x1000, b"/tmp/\x80\n\xe2\x80\xae")
        .sample(0, 7, &[0x1234])
        .file("hostile_names_are_text.data");
    let bytes = unpacked(&export("pprof", &[&capture], &[]));
    let strings = Message::new(&bytes).texts(6);
    assert!(strings.contains(&"\\xff\\u{1b}[2Jx"), "{strings:?}");
    assert!(strings.contains(&"/tmp/\\x80\\n\\u{202e}"), "{strings:?}");
}

#[test]
fn too_many_events_are_an_error() {
    let of = |events: u64| {
        let made = (0..events).fold(Made::new(events), |made, event| made.sample(event, 7, &[0x1234]));
        made.file(&format!("too_many_events_are_an_error_{events}.data"))
    };
    let most = unpacked(&export("pprof", &[&of(1023)], &[]));
    assert_eq!(sums(&Message::new(&most)).len(), 1024);
    let capture = of(1024);
    let out = capture.with_extension("pb.gz");
    for out in [&*out, Path::new("-")] {
        let output = perfdata(&[&"export", &"--to", &"pprof", &"-o", &out, &capture]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
        assert!(said.contains("a pprof profile can have 1023 events, and these are 1024"), "{said}");
    }
    assert!(fs::metadata(out).is_err());
}
