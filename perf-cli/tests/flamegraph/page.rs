//! Pages.

use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::made::Made;
use crate::read::{Page, between};
use crate::{HOSTILE, PID, flamegraph, generated, perfdata};

/// Of all events: the samples, and their periods.
fn sums(tables: &Value, total: fn(&Value) -> (u64, u64)) -> (u64, u64) {
    let tables = tables.as_array().unwrap().iter().map(total);
    tables.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1.wrapping_add(it.1)))
}

#[test]
fn sums_are_those_of_the_samples_of_every_capture() {
    let mut captures = testdata::captures();
    captures.push(testdata::path("threads.dir"));
    let mut compared = 0;
    for capture in captures {
        let page = flamegraph(&[&capture], &["--no-symbols"]);
        let args = ["--format", "json", "--no-group", "--no-symbols", "--no-branch-stack", "-g", "none"];
        let report = perfdata("report", &[&capture], &args);
        assert_eq!(page.status, report.status, "{}: {}", capture.display(), page.err);
        if page.status == 1 {
            continue;
        }
        let page = Page::of(page.text());
        let report: Value = serde_json::from_str(report.text()).unwrap();
        let expected = sums(&report["tables"], |table| {
            let total = &table["totals"][0];
            (total["samples"].as_u64().unwrap(), total["period"].as_u64().unwrap())
        });
        let said = sums(&page.meta["events"], |event| {
            let total = &event["total"];
            let period = total["period"].as_str().unwrap().parse().unwrap();
            (total["samples"].as_u64().unwrap(), period)
        });
        let rows = page.rows.iter().flatten();
        let found =
            rows.clone().fold((0, 0_u64), |sum, row| (sum.0 + row.samples, sum.1.wrapping_add(row.period)));
        assert_eq!((said, found), (expected, expected), "{}", capture.display());
        for row in rows {
            assert!(row.node < page.nodes.len() && row.bucket <= 2048);
            assert!(row.thread < page.meta["threads"].as_array().unwrap().len());
        }
        compared += usize::from(found.0 > 0);
    }
    assert!(compared > 40, "{compared}");
}

#[test]
fn stacks_are_those_of_perfdata_fold() {
    let (capture, root) = generated("prog", ["main", "work", "leaf"]);
    let args = ["--symfs", root.to_str().unwrap()];
    let page = flamegraph(&[&capture], &args);
    let fold = perfdata("fold", &[&capture], &args);
    let page = Page::of(page.text());
    assert_eq!(page.folded(0), fold.text());
    assert!(
        page.folded(0).contains("prog;main;work;leaf 60\n") && page.folded(0).contains("prog;main;leaf 12\n")
    );
    // Generated code, named and not.
    let kind = |name: &str| page.functions.iter().find(|it| page.names[it.0] == name).unwrap().2;
    assert_eq!((kind("leaf"), kind("[perf-4194000.map]")), (3, 4));
    // The first sample is in the first part of the time, the last one in the last part.
    let buckets: Vec<_> = page.rows[0].iter().map(|row| row.bucket).collect();
    assert_eq!((buckets.iter().min(), buckets.iter().max()), (Some(&1), Some(&2048)));
}

#[test]
fn stacks_of_captures_are_those_of_perfdata_fold() {
    // Files of no machine, so that the names are those of files: without what fold cuts from names of functions.
    let empty = needs::folder();
    for name in ["callchain.data", "system_wide.data", "threads.dir"] {
        let capture = testdata::path(name);
        let args = ["--symfs", empty.to_str().unwrap()];
        let page = Page::of(flamegraph(&[&capture], &args).text());
        let fold = perfdata("fold", &[&capture], &args);
        let fold = fold.text().replace("[[", "[").replace("]]", "]");
        let lines = |text: &str| {
            let mut lines: Vec<_> = text.lines().map(|line| line.replace(' ', "_")).collect();
            lines.sort();
            lines
        };
        assert!(!fold.is_empty());
        assert_eq!(lines(&page.folded(0)), lines(&fold), "{name}");
    }
}

#[test]
fn any_number_of_threads_writes_the_same() {
    // With the files of this machine, whichever it has.
    for capture in ["callchain.data", "everything.data", "threads.dir", "dwarf.data"] {
        let of = |threads| flamegraph(&[&testdata::path(capture)], &["--threads", threads]).out;
        let one = of("1");
        assert!(!one.is_empty() && one == of("4"), "{capture}");
    }
}

#[test]
fn several_captures_can_be_told_apart() {
    let (one, other) = (testdata::path("callchain.data"), testdata::path("threads.dir"));
    let samples = |page: &Page| page.rows.iter().flatten().map(|row| row.samples).sum::<u64>();
    let of = |files: &[&Path]| Page::of(flamegraph(files, &["--no-symbols"]).text());
    let both = of(&[&one, &other]);
    assert_eq!(both.meta["captures"], serde_json::json!(["callchain.data", "threads.dir"]));
    assert_eq!(samples(&both), samples(&of(&[&one])) + samples(&of(&[&other])));
    let of_first = both.meta["threads"].as_array().unwrap().iter().filter(|thread| thread[0] == 0).count();
    assert_eq!(of_first, of(&[&one]).meta["threads"].as_array().unwrap().len());
    // The same capture twice has each process twice, and the whole path as its name.
    let twice = of(&[&one, &one]);
    assert_eq!(twice.meta["captures"][0], one.to_str().unwrap());
    assert_eq!(twice.meta["threads"].as_array().unwrap().len(), 2 * of_first);
}

/// Without it, a browser would run nothing. With `unsafe-inline`, it would run what a name contains.
#[test]
fn the_policy_allows_the_script_and_the_style_alone() {
    let page = flamegraph(&[&testdata::path("callchain.data")], &["--no-symbols"]);
    let text = page.text();
    let policy = between(text, "http-equiv=\"Content-Security-Policy\" content=\"", "\">");
    let hash = |content: &str| {
        let bits: String = Sha256::digest(content).iter().map(|byte| format!("{byte:08b}")).collect();
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |bits: &[u8]| {
            let bits = format!("{:0<6}", core::str::from_utf8(bits).unwrap());
            char::from(digits[usize::from_str_radix(&bits, 2).unwrap()])
        };
        format!("'sha256-{}='", bits.as_bytes().chunks(6).map(digit).collect::<String>())
    };
    let style = hash(between(text, "<style>", "</style>"));
    let script = hash(between(text, "<script>", "</script>"));
    let expected = format!(
        "default-src 'none'; img-src data:; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
    );
    assert_eq!(policy, expected);
    // It would not hold for these.
    for attribute in [" style=", " onclick=", " onload=", " src=", "javascript:"] {
        assert!(!text.split("<script").next().unwrap().contains(attribute), "{attribute}");
    }
    assert!(!text.contains("https://") && !text.contains("//cdn"));
}

#[test]
fn names_stay_text() {
    for comm in HOSTILE {
        // The kernel has 15 bytes for a name; a capture may have more.
        let (capture, root) = generated(comm, [HOSTILE[0], HOSTILE[1], HOSTILE[2]]);
        let hostile = capture.with_file_name("<b onload=x>&\".data");
        std::fs::rename(&capture, &hostile).unwrap();
        let run = flamegraph(&[&hostile], &["--symfs", root.to_str().unwrap()]);
        assert_eq!(run.status, 0, "{}", run.err);
        let text = run.text();
        assert_eq!(text.matches("</script").count(), 5);
        assert_eq!(text.matches("<script").count(), 5);
        for part in ["<img", "<!--", "<b onload", "\u{202e}", "\u{1b}"] {
            assert!(!text.contains(part), "{part:?}");
        }
        assert!(text.contains("<title>&lt;b onload=x&gt;&amp;&quot;.data</title>"));
        let page = Page::of(text);
        for name in &HOSTILE[..3] {
            assert!(page.names.iter().any(|it| it == name), "{name}: {:?}", page.names);
        }
        let shown = page.meta["threads"][0][4].as_str().unwrap();
        let is_safe = comm.chars().all(|it| it.is_ascii_graphic());
        assert_eq!(shown == comm, is_safe || comm.contains("script"), "{shown}");
        assert_eq!(page.meta["threads"][0][2], PID);
    }
}

#[test]
fn functions_have_the_line_with_most_samples() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../perf-symbol/tests/fixtures/lines");
    let root = needs::folder().join("root");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::copy(fixture, root.join("lines")).unwrap();
    let mut made = Made::new().comm(PID, "prog").map(PID, "/lines");
    // addr2line has the lines 17 twice, 18, and 20 three times of outer, and 24, 25 twice and 26 of _start.
    for ip in [0x2000, 0x2007, 0x200d, 0x2013, 0x2013, 0x2013, 0x2020, 0x203a, 0x203a, 0x2030] {
        made = made.sample(PID, 10, &[ip]);
    }
    let capture = made.sample(PID, 10, &[0x9000]).file("lines.data");
    let page = Page::of(flamegraph(&[&capture], &["--symfs", root.to_str().unwrap()]).text());
    let line_of = |name: &str| {
        let function = page.functions.iter().position(|it| page.names[it.0] == name).unwrap();
        let (source, line) = page.lines[function];
        source
            .checked_sub(1)
            .map(|source| format!("{}:{line}", page.meta["sources"][source].as_str().unwrap()))
    };
    let expected = [("inner", 6), ("middle", 12), ("outer", 20), ("_start", 25)];
    for (function, line) in expected {
        assert_eq!(line_of(function), Some(format!("/src/lines.c:{line}")), "{function}");
    }
    assert_eq!(line_of("[unknown]"), None);
}
