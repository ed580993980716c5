//! Flame graphs of differences.

use std::path::{Path, PathBuf};

use crate::read::{Page, between, texts_of_xml};
use crate::{PID, generated, made, perfdata};

/// Writes what `perfdata diff` compares.
fn diff(files: &[&Path], name: &str, args: &[&str]) -> String {
    let path = needs::folder().join(name);
    let run = perfdata("diff", files, &[&["-o", path.to_str().unwrap()], args].concat());
    assert_eq!((run.status, run.text()), (0, ""), "{}", run.err);
    assert!(run.err.starts_with(&format!("perfdata: wrote {}", path.display())), "{}", run.err);
    std::fs::read_to_string(path).unwrap()
}

/// A capture in which `main` calls `work` in `shares[0]` of all, and takes `shares[1]` itself.
fn capture(name: &str, shares: [u64; 2]) -> PathBuf {
    made::Made::new()
        .comm(PID, "prog")
        .map(PID, "//anon")
        .sample(PID, shares[0], &[0x2010, 0x1010])
        .sample(PID, shares[1], &[0x1010])
        .file(name)
}

#[test]
fn colours_say_what_changed() {
    let (_, root) = generated("prog", ["main", "work", "leaf"]);
    let (before, after) = (capture("before.data", [20, 80]), capture("after.data", [120, 120]));
    let svg = diff(&[&before, &after], "out.svg", &["--symfs", root.to_str().unwrap()]);
    let titles = texts_of_xml(&svg, "title");
    let file = "([JIT] tid 4194000)";
    let expected = [
        "before.data \u{2192} after.data".to_owned(),
        "all, 100.00 % before, 100.00 % after".to_owned(),
        format!("main {file}, 100.00 % before, 100.00 % after"),
        format!("work {file}, 20.00 % before, 50.00 % after"),
    ];
    assert_eq!(titles, expected);
    let fills = |svg: &str| -> Vec<[u8; 3]> {
        let of = |text: &str| [0, 2, 4].map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap());
        svg.split("<rect ").skip(1).map(|it| of(between(it, "fill=\"#", "\""))).collect()
    };
    let [all, main, [red, _, blue]] = fills(&svg)[..] else { panic!("another number of frames") };
    assert_eq!([all, main], [[0xe6; 3]; 2]);
    assert!(red > blue + 40, "{red} {blue}");
    // The other way round, what was there only before is not drawn, and less is blue.
    let svg =
        diff(&[&after, &before], "back.svg", &["--symfs", root.to_str().unwrap(), "--normalize", "none"]);
    let titles = texts_of_xml(&svg, "title");
    assert_eq!(titles[3], format!("work {file}, 120.00 before, 20.00 after"));
    let [red, _, blue] = fills(&svg)[2];
    assert!(blue > red + 40, "{red} {blue}");
}

#[test]
fn a_page_has_both_sides() {
    let (before, after) = (capture("old.data", [20, 80]), capture("new.data", [120, 120]));
    let page = Page::of(&diff(&[&before, &after], "out.html", &["--normalize", "time"]));
    assert_eq!(page.meta["compare"]["normalize"], "time");
    assert_eq!(page.meta["compare"]["seconds"].as_array().unwrap().len(), 2);
    assert_eq!(page.meta["captures"], serde_json::json!(["old.data", "new.data"]));
    let of_side = |side: u64| {
        let is_of_side = |thread: usize| page.meta["threads"][thread][0] == side;
        page.rows[0].iter().filter(|row| is_of_side(row.thread)).map(|row| row.period).sum::<u64>()
    };
    assert_eq!([of_side(0), of_side(1)], [100, 240]);
    // Parts of one capture are called as they were selected.
    let page =
        Page::of(&diff(&[&before], "parts.html", &["--before", "time=0%-50%", "--after", "time=50%-100%"]));
    let path = before.display();
    let expected = [format!("{path} time=0%-50%"), format!("{path} time=50%-100%")];
    assert_eq!(page.meta["captures"], serde_json::json!(expected));
    // All others are no comparison.
    let page = perfdata("flamegraph", &[&before, &after], &["-o", "-"]);
    assert!(Page::of(page.text()).meta["compare"].is_null());
}

#[test]
fn what_cannot_be_drawn() {
    let (before, after) = (capture("a.data", [1, 1]), capture("b.data", [1, 1]));
    let fails = |files: &[&Path], args: &[&str], expected: &str| {
        let run = perfdata("diff", files, args);
        assert!(run.status != 0 && run.err.contains(expected), "{}", run.err);
    };
    fails(&[&before, &after], &["-o", "x.png"], "a name that ends in .html or .svg");
    fails(&[&before, &after], &["-o", "x.svg", "--format", "jsonl"], "cannot be used with");
    fails(&[&before, &after], &["-o", before.to_str().unwrap()], ".html or .svg");
    let other = testdata::path("tracing.pipe.data");
    fails(
        &[&before, &other],
        &["-o", "x.svg"],
        "a flame graph of differences needs an event of both captures",
    );
}
