//! Pictures.

use crate::read::{between, texts_of_xml};
use crate::{HOSTILE, generated, perfdata};

/// Writes a picture of a capture.
fn picture(capture: &std::path::Path, args: &[&str]) -> String {
    let path = needs::folder().join("out.svg");
    let run = perfdata("flamegraph", &[capture], &[&["-o", path.to_str().unwrap()], args].concat());
    let said = format!("perfdata: wrote {}\n", path.display());
    assert!(matches!(run.status, 0 | 3) && run.err.ends_with(&said), "{}", run.err);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn is_well_formed_for_every_capture() {
    let mut drawn = 0;
    for capture in testdata::captures() {
        if perfdata("info", &[&capture], &[]).status == 1 {
            continue;
        }
        let svg = picture(&capture, &["--no-symbols"]);
        let titles = texts_of_xml(&svg, "title");
        assert!(titles[0].starts_with(capture.file_name().unwrap().to_str().unwrap()), "{}", titles[0]);
        assert!(!svg.contains("<script"));
        drawn += usize::from(titles.len() > 2);
    }
    assert!(drawn > 30, "{drawn}");
}

#[test]
fn frames_are_as_wide_as_what_they_count() {
    let (capture, root) = generated("prog", ["main", "work", "leaf"]);
    let svg = picture(&capture, &["--symfs", root.to_str().unwrap()]);
    let titles = texts_of_xml(&svg, "title");
    let file = "([JIT] tid 4194000)";
    // Of 102: frames of a function with the same callers are one, and the widest is the first.
    let expected = [
        "all, 100.00 %".to_owned(),
        format!("main {file}, 95.10 %"),
        format!("[perf-4194000.map] {file}, 4.90 %"),
        format!("work {file}, 83.33 %"),
        format!("leaf {file}, 11.76 %"),
        format!("leaf {file}, 58.82 %"),
    ];
    assert_eq!(titles[1..], expected);
    assert!(texts_of_xml(&svg, "text")[0].starts_with("made.data: 5 samples, cpu-clock"));
    let widths: Vec<f64> =
        svg.split("<rect ").skip(1).map(|it| between(it, "width=\"", "\"").parse().unwrap()).collect();
    for (width, share) in widths.iter().zip([102.0, 97.0, 5.0, 85.0, 12.0, 60.0]) {
        assert!((width + 0.6 - 1180.0 * share / 102.0).abs() < 0.1, "{width}, {share}");
    }
}

#[test]
fn narrow_frames_are_left_out_and_counted() {
    let made = crate::made::Made::new().comm(7, "prog").map(7, "/bin/prog").sample(7, 100_000, &[0x1010]);
    let of = |made: &crate::made::Made| {
        texts_of_xml(&picture(&made.file("narrow.data"), &[]), "text").pop().unwrap()
    };
    assert_eq!(of(&made), "Made by perfdata flamegraph.");
    // In no mapping, and a thousandth less a little.
    let made = made.sample(7, 100, &[0xffff_0000]);
    assert_eq!(of(&made), "Frames narrower than 0.1 %, which are left out: 1. Made by perfdata flamegraph.");
}

#[test]
fn names_stay_text() {
    for comm in HOSTILE {
        let (capture, root) = generated(comm, [HOSTILE[0], HOSTILE[1], HOSTILE[2]]);
        let svg = picture(&capture, &["--symfs", root.to_str().unwrap()]);
        let titles = texts_of_xml(&svg, "title");
        for name in &HOSTILE[..3] {
            assert!(titles.iter().any(|title| title.starts_with(name)), "{name}: {titles:?}");
        }
        assert!(!svg.contains("<img") && !svg.contains("<script") && !svg.contains('\u{202e}'));
    }
}
