//! The text, the document and the page.

use std::fs;

use crate::{folder, perfdata};

pub(crate) const TESTS: &[needs::Test] =
    needs::tests![columns, numbers, a_function, a_document, a_page, a_flame_graph, a_missing_file];

const HEAD: &str =
    " Percent |\tSource code & Disassembly of prog for cpu-clock (4 samples, percent: local period)";

const FIRST: &str = "         : 0000000000005000 <first>:
   25.00 :   5000:   push   %rbp
   50.00 :   5001:   mov    %rsp,%rbp
   25.00 :   5004:   call   5010 <second>
    0.00 :   5009:   pop    %rbp
    0.00 :   500a:   jmp    5000 <first>
";

fn columns() {
    let run = perfdata(&folder(), &["annotate", "--stdio"]);
    assert_eq!(run.status, 0, "{run:?}");
    let first = format!("{HEAD}\n{}\n{FIRST}", "-".repeat(HEAD.chars().count()));
    assert!(run.out.starts_with(&first), "{}", run.out);
    assert!(run.out.contains("  100.00 :   5010:   nop\n"), "{}", run.out);
    assert!(run.err.contains("cpu-clock is not precise"), "{}", run.err);
}

fn numbers() {
    let folder = folder();
    let of = |args: &[&str]| perfdata(&folder, &[&["annotate", "first", "--stdio"], args].concat()).out;
    assert!(of(&["-n"]).contains("\n       2 :   5001:   mov"));
    assert!(of(&["--show-total-period"]).contains("\n        2000 :   5001:   mov"));
    assert!(of(&["--percent-type", "global-hits"]).contains("\n   40.00 :   5001:   mov"));
    assert!(of(&["--asm-raw"]).contains(":   5001:   48 89 e5                mov"));
    assert!(of(&["-M", "intel"]).contains(":   5001:   mov    rbp,rsp\n"));
    assert!(of(&["--stdio-color", "always"]).contains("\u{1b}[31m   50.00 \u{1b}[m:   5001:"));
}

fn a_function() {
    let folder = folder();
    let run = perfdata(&folder, &["annotate", "second", "perf.data", "--stdio"]);
    assert_eq!(run.out.matches("Source code").count(), 1, "{run:?}");
    assert!(run.out.contains("<second>:"));
    assert_eq!(perfdata(&folder, &["annotate", "-s", "second", "-i", "perf.data", "--stdio"]).out, run.out);
    let none = perfdata(&folder, &["annotate", "seco", "--stdio"]);
    assert_eq!(none.status, 1);
    assert!(
        none.err.contains("seco: no sample is in a function of this name; there are samples in second"),
        "{}",
        none.err
    );
    // 20 % of the samples are in the second one.
    let above = |limit: &str| {
        perfdata(&folder, &["annotate", "--stdio", "--percent-limit", limit])
            .out
            .matches("Source code")
            .count()
    };
    assert_eq!([above("20"), above("20.1"), above("80"), above("80.1")], [2, 1, 1, 0]);
}

fn a_document() {
    let run = perfdata(&folder(), &["annotate", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let first = &document["functions"][0];
    assert_eq!((first["symbol"].as_str(), first["code"].as_str()), (Some("first"), Some("file")));
    assert_eq!(first["events"][0]["period"], 4000);
    let call = &first["instructions"][2];
    assert_eq!(call["bytes"], "e807000000");
    assert_eq!((&call["target"]["symbol"], &call["target"]["is_call"]), (&"second".into(), &true.into()));
    assert_eq!(call["samples"][0], 1);
    let parts: u64 =
        first["instructions"].as_array().unwrap().iter().map(|it| it["period"][0].as_u64().unwrap()).sum();
    assert_eq!(parts, 4000);
    assert_eq!(document["missing"], serde_json::json!([]));
}

fn a_page() {
    let folder = folder();
    let run = perfdata(&folder, &["annotate", "-o", "out.html"]);
    assert_eq!(run.status, 0, "{run:?}");
    let page = fs::read_to_string(folder.join("out.html")).unwrap();
    assert!(page.contains("Content-Security-Policy") && page.contains("second"));
    // The capture is not overwritten.
    let same = perfdata(&folder, &["annotate", "-o", "perf.data"]);
    assert_eq!(same.status, 1, "{same:?}");
    let text = perfdata(&folder, &["annotate", "-o", "out.txt"]);
    assert!(text.err.contains("ends in .html"), "{text:?}");
    let file = perfdata(&folder, &["annotate", "perf.data"]);
    assert!(file.err.contains("a file is given after the function, or by -i"), "{file:?}");
}

fn a_flame_graph() {
    let folder = folder();
    let page = |args: &[&str]| {
        let run = perfdata(&folder, &[&["flamegraph", "-o", "out.html"], args].concat());
        assert_eq!(run.status, 0, "{run:?}");
        fs::read_to_string(folder.join("out.html")).unwrap()
    };
    assert!(!page(&[]).contains("push   %rbp"));
    assert!(page(&["--annotate"]).contains("push   %rbp"));
    assert!(!page(&["--annotate=90%"]).contains("push   %rbp"));
    let picture = perfdata(&folder, &["flamegraph", "-o", "out.svg", "--annotate"]);
    assert!(picture.err.contains("a picture has no instructions"), "{picture:?}");
}

fn a_missing_file() {
    let folder = folder();
    let program = fs::read(folder.join("prog")).unwrap();
    // Only names are left: the program has no code there.
    fs::write(folder.join("prog"), &program[..0x4000.min(program.len())]).unwrap();
    let run = perfdata(&folder, &["annotate", "--stdio"]);
    assert_eq!((run.status, run.out.as_str()), (0, ""), "{run:?}");
    assert!(run.err.contains("5 of 5 samples are in no function with a name"), "{}", run.err);
}
