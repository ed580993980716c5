//! `--to speedscope`.

use serde_json::{Value, json};

use crate::made::Made;
use crate::{HOSTILE, Sums, add, captures, export, exported, list, number, same_bytes, text};

/// Returns the weights by event, the last word of a profile's name, after checking each profile.
fn sums(document: &Value, names: &Sums) -> Sums {
    let mut sums = Sums::new();
    let frames = list(&document["shared"]["frames"]);
    let profiles = list(&document["profiles"]);
    for profile in profiles {
        let (samples, weights) = (list(&profile["samples"]), list(&profile["weights"]));
        assert_eq!(samples.len(), weights.len());
        for frame in samples.iter().flat_map(list) {
            assert!(number(frame) < frames.len() as u64);
        }
        let weight = weights.iter().map(number).fold(0, u64::wrapping_add);
        assert_eq!((number(&profile["startValue"]), number(&profile["endValue"])), (0, weight));
        let name = text(&profile["name"]);
        let event =
            names.keys().filter(|event| name.ends_with(&format!(" {event}"))).max_by_key(|it| it.len());
        add(&mut sums, event.unwrap(), 0, weight);
    }
    let shown = number(&document["activeProfileIndex"]) as usize;
    let length = |profile: &Value| list(&profile["samples"]).len();
    assert!(profiles.is_empty() || profiles.iter().all(|it| length(it) <= length(&profiles[shown])));
    sums
}

#[test]
fn all_samples_of_all_captures_are_written() {
    let mut with_periods = 0;
    for (path, reported) in captures() {
        let document = exported("speedscope", &path);
        let written = sums(&document, &reported);
        assert_eq!(
            written.keys().collect::<Vec<_>>(),
            reported.keys().collect::<Vec<_>>(),
            "{}",
            path.display()
        );
        for (name, (_, weight)) in written {
            let (samples, period) = reported[&name];
            // Samples without periods count 1.
            assert!(weight == period || weight == samples, "{}: {name}: {weight}", path.display());
            with_periods += u64::from(weight == period && period != samples);
        }
    }
    assert!(with_periods > 10, "{with_periods}");
}

#[test]
fn the_bytes_are_the_same_on_any_number_of_threads() {
    same_bytes("speedscope");
}

#[test]
fn names_are_escaped() {
    let made = Made::new().comm(7, HOSTILE.0).map(7, HOSTILE.0).sample(7, 3, &[0x1100, 0x1200]);
    let document =
        exported("speedscope", &made.sample(7, 4, &[0x9900]).sample(7, 5, &[0x9900]).file("names.data"));
    let unknown = json!({"name": format!("[{}]", HOSTILE.1), "file": HOSTILE.1});
    assert_eq!(document["shared"]["frames"], json!([unknown, {"name": "[unknown]"}]));
    let profile = &document["profiles"][0];
    assert_eq!(profile["name"], format!("{} 7/7 cpu-clock:HG", HOSTILE.1));
    assert_eq!(profile["unit"], "nanoseconds");
    assert_eq!(profile["samples"], json!([[0, 0], [1]]));
    assert_eq!(profile["weights"], json!([3, 9]));
}

#[test]
fn several_captures_are_one_document() {
    let one = testdata::path("callchain.data");
    let other = testdata::path("dwarf.data");
    let (status, out, errors) = export("speedscope", &[&one, &other], &[]);
    assert_eq!(status, 0, "{errors}");
    let both: Value = serde_json::from_str(&out).unwrap();
    let profiles = |document: &Value| list(&document["profiles"]).len();
    let alone = [&one, &other].map(|path| profiles(&exported("speedscope", path)));
    assert_eq!(profiles(&both), alone.iter().sum::<usize>());
    assert_eq!(both["name"], "callchain.data, dwarf.data");
}
