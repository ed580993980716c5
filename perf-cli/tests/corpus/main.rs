//! Compares `perfdata dump --format jsonl` of captures from real machines with the output of other decoders.
//!
//! The captures and the goldens are in `testdata/foreign`. Its README.md states their sources.

extern crate alloc;

mod compare;
mod features;
mod output;
mod parsed;
mod proto;
mod quipper;
mod tracepoints;
mod uncompared;
mod walk;
mod writers;

use core::str;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use compare::{At, Comparison};
use output::Output;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign");

/// The output of another decoder for a capture. The value is the part of the golden's file name after that of the
/// capture.
enum Golden {
    /// quipper: the records as in the file.
    Quipper(&'static str),
    /// quipper: the records after its parser.
    QuipperParsed(&'static str),
    /// LinuxTracepoints: one row per sample.
    Tracepoints(&'static str),
}

macro_rules! captures {
    ($($name:ident: $capture:literal, $golden:expr;)*) => {
        /// The captures that are compared.
        const COMPARED: &[&str] = &[$($capture),*];

        $(
            #[test]
            fn $name() {
                check_capture($capture, &$golden);
            }
        )*
    };
}

// All of them are complete and little-endian. Captures without a golden are in `uncompared`.
captures! {
    armv7: "quipper/perf.data.armv7-3.4", Golden::Quipper(".io.out.pb_text");
    branch: "quipper/perf.data.branch-4.14", Golden::Quipper(".io.out.pb_text");
    branch_stack_hw_index: "quipper/perf.data.branch_stack_hw_index", Golden::Quipper(".io.out.pb_text");
    hybrid_topology: "quipper/perf.data.hybrid_topology", Golden::Quipper(".io.out.pb_text");
    intel_pt: "quipper/perf.data.intel_pt-4.14", Golden::Quipper(".io.out.pb_text");
    lost_samples: "quipper/perf.data.lost_samples-4.4", Golden::Quipper(".io.out.pb_text");
    raw_callgraph_branch: "quipper/perf.data.raw_callgraph_branch-3.4", Golden::QuipperParsed(".pb_text");
    singleprocess: "quipper/perf.data.singleprocess-3.4", Golden::Quipper(".io.out.pb_text");
    piped_ctx_switch_namespaces: "quipper/perf.data.piped.ctx_switch_namespaces-4.14", Golden::Quipper(".pr.out.pb_text");
    piped_header_features_aligned: "quipper/perf.data.piped.header_features_aligned-6.12", Golden::Quipper(".pr.out.pb_text");
    piped_throttled: "quipper/perf.data.piped.target.throttled-3.4", Golden::Quipper(".pr.out.pb_text");
    linux_tracepoints: "LinuxTracepoints/perf.data", Golden::Tracepoints(".linux.json");
}

#[test]
fn every_capture_is_tested() {
    let corpus = Path::new(CORPUS);
    let mut captures = Vec::new();
    for folder in entries(corpus).into_iter().filter(|path| path.is_dir()) {
        captures.extend(entries(&folder).iter().map(|path| name_under(corpus, path)));
    }
    let is_about_captures = |name: &String| {
        // perf-profile's test `simpleperf` compares those of simpleperf.
        name.starts_with("simpleperf/")
            || name.contains("/LICENSE")
            || [".pb_text", ".buildids", ".json"].iter().any(|end| name.ends_with(end))
    };
    captures.retain(|name| !is_about_captures(name));
    captures.sort_unstable();
    let mut listed: Vec<_> =
        COMPARED.iter().chain(uncompared::CAPTURES).map(|name| (*name).to_owned()).collect();
    listed.sort_unstable();
    assert_eq!(captures, listed);
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn name_under(corpus: &Path, path: &Path) -> String {
    path.strip_prefix(corpus).unwrap().to_str().unwrap().to_owned()
}

fn check_capture(capture: &str, golden: &Golden) {
    let corpus = Path::new(CORPUS);
    let path = corpus.join(capture);
    let beside = |end: &str| fs::read(corpus.join(format!("{capture}{end}")));
    let output = Output::parse(&dump(&path)).unwrap();
    let file = fs::read(&path).unwrap();
    let mut comparison = Comparison::default();
    output.check(&file, &mut comparison);
    if let Ok(list) = beside(".buildids") {
        check_build_ids(&list, &output, &mut comparison);
    }
    match golden {
        Golden::Tracepoints(end) => tracepoints::compare(&beside(end).unwrap(), &output, &mut comparison),
        Golden::Quipper(end) | Golden::QuipperParsed(end) => {
            let is_parsed = matches!(golden, Golden::QuipperParsed(_));
            let golden = proto::parse(&beside(end).unwrap()).unwrap();
            quipper::compare(golden, output, &file, is_parsed, &mut comparison);
        }
    }
    let Comparison { records, fields, ignored, failures } = comparison;
    println!("{capture}: {records} records, {fields} fields compared, {} differ", failures.len());
    for (field, why) in ignored {
        println!("{capture}: {field} not compared: {why}");
    }
    let first = failures.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} values differ, the first:\n{first}", failures.len());
    assert!(records > 0 && fields > records, "next to nothing was compared");
}

/// Dumps a complete capture. Checks that standard error is empty and the exit status is 0.
fn dump(path: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["dump", "--format", "jsonl"]).arg(path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*errors), (Some(0), ""), "of {}", path.display());
    String::from_utf8(output.stdout).unwrap()
}

/// The list has `HASH NAME` lines. A line that starts with blanks is a mapped file without a build ID.
fn check_build_ids(list: &[u8], output: &Output, comparison: &mut Comparison) {
    let (without, with): (Vec<_>, Vec<_>) =
        str::from_utf8(list).unwrap().lines().partition(|line| line.starts_with(' '));
    let features = output.header.get("features").and_then(|features| features.as_object());
    let actual = features.and_then(features::build_id_list).unwrap_or_default();
    comparison.expect(&At::root("build ids"), &with.into(), Some(&actual.into()));
    for name in without.iter().map(|line| line.trim_start()) {
        let mapped = output.records.iter().filter_map(|record| record.fields.get("filename")?.as_str());
        if !mapped.into_iter().any(|mapped| mapped == name) {
            comparison.fail(&At::root("build ids"), format_args!("no record maps {name}"));
        }
    }
}

/// Compares a handmade golden with a dump of two records. Tests the whole comparison except reading the file.
#[test]
fn a_dump_made_by_hand_is_compared_with_its_golden() {
    const GOLDEN: &str = r#"
        file_attrs { attr { type: 1 size: 96 freq: true sample_period: 99 bp_len: 5 } ids: 7 }
        events {
          header { type: 1 misc: 1 size: 72 }
          mmap_event {
            pid: 4294967295 tid: 0 start: 4096 len: 16 pgoff: 0 filename: "a" filename_md5_prefix: 1
            sample_info { pid: 0 tid: 0 sample_time_ns: 0 id: 0 }
          }
          timestamp: 0
        }
        events {
          header { type: 9 misc: 2 size: 96 }
          sample_event {
            ip: 4096 pid: 3 tid: 4 sample_time_ns: 5 id: 7 no_hw_idx: false branch_stack_hw_idx: 2
            branch_stack { from_ip: 4096 to_ip: 4097 mispredicted: false predicted: true cycles: 9 }
          }
          timestamp: 5
        }
        stats {
          num_sample_events: 1 num_mmap_events: 1 num_fork_events: 0 num_exit_events: 0
          num_sample_events_mapped: 1
        }
        metadata_mask: 8
        event_types { id: 2 name: "e" }
        string_metadata { hostname { value: "h" } }
    "#;
    const DUMP: &str = r#"{"header":{"mode":"file","endian":"little","attrs":[{"type":1,"size":128,"config":2,"freq":1,"sample_freq":99,"config2":5,"ids":[7],"name":"e"}],"features":{"HOSTNAME":"h"}}}
{"offset":200,"type":"MMAP","type_id":1,"misc":1,"size":72,"event":0,"fields":{"pid":-1,"tid":0,"addr":4096,"len":16,"pgoff":0,"filename":"a"},"sample_id":{"pid":0,"tid":0,"time":0,"id":0}}
{"offset":272,"type":"SAMPLE","type_id":9,"misc":2,"size":96,"event":0,"fields":{"ip":4096,"pid":3,"tid":4,"time":5,"id":7,"branch_stack":{"hw_idx":2,"entries":[{"from":4096,"to":4097,"mispred":0,"predicted":1,"cycles":9,"type":0}]}}}
{"account":{"records":2,"bytes":368,"bytes_skipped":0,"lost":0,"lost_samples":0,"diagnostics":[]}}
"#;
    let failures = |golden: &str, dump: &str| {
        let mut comparison = Comparison::default();
        let golden = proto::parse(golden.as_bytes()).unwrap();
        quipper::compare(golden, Output::parse(dump).unwrap(), &[], false, &mut comparison);
        assert_eq!(comparison.records, 2);
        comparison.failures
    };
    let golden = GOLDEN.replacen("type: 1 size", "type: 1 config: 2 size", 1);
    assert_eq!(failures(&golden, DUMP), [""; 0]);
    let without_config = failures(GOLDEN, DUMP);
    assert_eq!(without_config, ["PerfDataProto.file_attrs[0].attr.config: perfdata 2, the golden has none"]);
    for (from, to, path) in [
        ("\"pid\":-1", "\"pid\":4294967295", "events[0].mmap_event.pid: "),
        ("\"time\":5", "\"time\":6", "events[1].timestamp: "),
        ("\"hw_idx\":2,", "", "events[1].sample_event.no_hw_idx: "),
        ("\"predicted\":1", "\"predicted\":true", "events[1].sample_event.branch_stack[0].predicted: "),
        ("\"type\":\"MMAP\"", "\"type\":\"MMAP2\"", "events[0].type: "),
        ("\"misc\":2", "\"misc\":1", "events[1].header.misc: "),
        ("\"filename\":\"a\"", "\"filename\":\"a\",\"prot\":0", "events[0].mmap_event.prot: "),
        ("\"len\":16", "\"len\":0", "PerfDataProto.stats.num_sample_events_mapped: "),
        ("\"ids\":[7]", "\"ids\":[7,8]", "PerfDataProto.file_attrs[0].ids: "),
        ("\"name\":\"e\"", "\"name\":\"f\"", "PerfDataProto.event_types[0].name: "),
        ("\"HOSTNAME\":\"h\"", "\"HOSTNAME\":\"i\"", "PerfDataProto.string_metadata.hostname.value: "),
        ("\"HOSTNAME\":\"h\"", "\"ARCH\":\"h\"", "PerfDataProto.metadata_mask: "),
    ] {
        let changed = DUMP.replacen(from, to, 1);
        assert_ne!(changed, DUMP);
        let failures = failures(&golden, &changed);
        assert!(failures.iter().any(|failure| failure.starts_with(path)), "{path}: {failures:?}");
    }
}
