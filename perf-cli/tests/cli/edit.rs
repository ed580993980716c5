//! `edit`: what is left prints as it did in the whole capture.

use std::fs;
use std::path::{Path, PathBuf};

use perf_parse::Reader;

use crate::{Run, jsonl, perfdata, scratch_folder};

/// The fields of `script` that need no files of this machine: those that a capture has of them are printed.
const FIELDS: [&str; 4] = [
    "comm,pid,tid,cpu,time,event,period,ip",
    "comm,pid,tid,time,event,period,ip",
    "comm,pid,tid,event,ip",
    "comm,event",
];

/// Captures of every mode: compressed, a pipe, a folder, groups of counters, branches, of another machine.
const SOME: [&str; 8] = [
    "plain.data",
    "group_read.data",
    "inherit_stat.data",
    "switch.data",
    "system_wide.data",
    "touch.zstd.data",
    "tracing.pipe.data",
    "threads.dir",
];

fn captures() -> Vec<PathBuf> {
    let mut paths: Vec<_> = SOME.iter().map(|name| testdata::path(name)).collect();
    if testdata::is_thorough() {
        let is_small = |path: &PathBuf| path.metadata().is_ok_and(|it| it.len() < 8 << 20);
        paths.extend(testdata::captures().into_iter().filter(is_small).filter(|it| Reader::open(it).is_ok()));
    }
    paths
}

fn edit(input: &Path, output: &Path, args: &[&str]) -> Run {
    let files = ["edit".as_ref(), input.as_os_str(), "-o".as_ref(), output.as_os_str()];
    perfdata(files.into_iter().chain(args.iter().map(AsRef::as_ref)))
}

/// Returns what `script` prints of a capture, and its exit status.
fn script(file: &Path, args: &[&str]) -> (i32, String) {
    let run = |fields| {
        let fields = ["--no-symbols", "-F", fields];
        let args = fields.iter().chain(args).map(AsRef::as_ref);
        perfdata(["script".as_ref(), file.as_os_str()].into_iter().chain(args))
    };
    let refused = |run: &Run| run.status == 1 && run.err.contains("-F ");
    let run = FIELDS.into_iter().map(run).find(|run| !refused(run)).unwrap();
    (run.status, run.out)
}

/// Returns the thread, the CPU and a span of the samples of a capture, as arguments.
fn selections(file: &Path) -> Vec<Vec<String>> {
    let lines = jsonl(file, &["--type", "SAMPLE", "--order", "time"]).records;
    let Some(middle) = lines.get(lines.len() / 2) else { return Vec::new() };
    let field = |line: &serde_json::Value, name: &str| line["fields"][name].as_i64();
    let mut all = Vec::new();
    for (option, name) in [("--tid", "tid"), ("--pid", "pid"), ("--cpu", "cpu")] {
        if let Some(value) = field(middle, name) {
            all.push(vec![option.to_owned(), value.to_string()]);
        }
    }
    if let Some((first, last)) = field(&lines[lines.len() / 4], "time").zip(field(middle, "time")) {
        let seconds = |time: i64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        all.push(vec!["--time".to_owned(), format!("{},{}", seconds(first), seconds(last))]);
    }
    let comm = perfdata(["script".as_ref(), file.as_os_str(), "-F".as_ref(), "comm".as_ref()]).out;
    if let Some(comm) =
        comm.lines().map(str::trim).find(|comm| !comm.is_empty() && !comm.contains([',', '\\']))
    {
        all.push(vec!["--comms".to_owned(), comm.to_owned()]);
    }
    all.push(vec!["--event".to_owned(), "0".to_owned()]);
    all
}

#[test]
fn what_is_left_prints_as_it_did() {
    let folder = scratch_folder("edit_selected");
    let [output, again, base] = ["edited", "again", "base"].map(|name| folder.join(name));
    for input in captures() {
        // Of pipes, script prints other fields.
        assert_ne!(edit(&input, &base, &[]).status, 1, "{}", input.display());
        for selection in selections(&base) {
            let selection: Vec<_> = selection.iter().map(String::as_str).collect();
            let about = format!("{} {selection:?}", input.display());
            let expected = script(&base, &selection);
            let run = edit(&input, &output, &selection);
            if expected.0 == 1 {
                // Such as samples without a CPU.
                assert_eq!(run.status, 1, "{about}");
                continue;
            }
            assert_ne!(run.status, 1, "{about}: {}", run.err);
            let is_event = selection[0] == "--event";
            // A sample of a group stays whole, so it still counts for the group's other events.
            let after = if is_event { script(&output, &selection) } else { script(&output, &[]) };
            assert!(after.1 == expected.1, "{about}: {} bytes of {}", after.1.len(), expected.1.len());
            assert_eq!(edit(&output, &again, &selection).status, 0, "{about}");
            assert!(script(&again, &[]).1 == script(&output, &[]).1, "{about}: twice");
        }
    }
}

/// A cut has the state at its start, and no other side-band: names of functions, files and threads stay.
#[test]
fn a_span_of_time_has_its_names() {
    let folder = scratch_folder("edit_span");
    let [output, base] = ["edited", "base"].map(|name| folder.join(name));
    let mut left_out = 0;
    for input in captures() {
        assert_ne!(edit(&input, &base, &[]).status, 1, "{}", input.display());
        let Some(span) = selections(&base).into_iter().find(|it| it[0] == "--time") else { continue };
        let span: Vec<_> = span.iter().map(String::as_str).collect();
        for to in ["file", "pipe"] {
            let run = edit(&input, &output, &[&span[..], &["--to", to]].concat());
            assert_ne!(run.status, 1, "{}: {}", input.display(), run.err);
            for verb in ["script", "fold"] {
                let print = |file: &Path, span: &[&str]| {
                    let args = [verb.as_ref(), file.as_os_str()].into_iter();
                    perfdata(args.chain(span.iter().map(AsRef::as_ref))).out
                };
                // Of pipes, script prints other fields; of the whole one, it is not known whether it is of this boot. Some of
                // simpleperf's names are in features that no pipe has.
                let is_same = match verb {
                    "fold" => !input.ends_with("tracing.pipe.data") && !run.err.contains("features left out"),
                    _ => to == "file",
                };
                if is_same {
                    assert!(print(&output, &[]) == print(&base, &span), "{} {verb} {to}", input.display());
                }
            }
        }
        let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
        left_out += usize::from(!info.contains("of other times left out"));
        assert_ne!(edit(&input, &output, &span).status, 1);
        let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
        left_out += usize::from(info.contains("of other times left out"));
    }
    assert!(left_out > 5, "{left_out}");
}

#[test]
fn without_an_option_the_records_are_those_of_a_repair() {
    let folder = scratch_folder("edit_plain");
    let (output, repaired) = (folder.join("edited.data"), folder.join("repaired.data"));
    for input in captures() {
        let run = edit(&input, &output, &[]);
        let files = ["repair".as_ref(), input.as_os_str(), "-o".as_ref(), repaired.as_os_str()];
        assert_eq!(run.status, perfdata(files).status, "{}: {}", input.display(), run.err);
        assert!(fs::read(&output).unwrap() == fs::read(&repaired).unwrap(), "{}", input.display());
    }
}

#[test]
fn fields_and_containers_leave_the_other_fields() {
    let folder = scratch_folder("edit_fields");
    let [output, again, base] = ["edited", "again", "base"].map(|name| folder.join(name));
    let folders: &[&str] = &["--to", "folder"];
    let steps: [&[&str]; 3] = [
        &["--drop", "user-stack,regs-intr,raw,branches,callchain,phys-addr"],
        &["--to", "pipe"],
        &["--attr-size", "144"],
    ];
    // Fields that need no stack.
    let script = |file: &Path| {
        let args = ["-F", "comm,pid,tid,time,event"].map(AsRef::as_ref);
        perfdata(["script".as_ref(), file.as_os_str()].into_iter().chain(args)).out
    };
    for name in ["everything.data", "dwarf.data", "tracing.pipe.data"] {
        let input = testdata::path(name);
        assert_eq!(edit(&input, &base, &[]).status, 0, "{name}");
        assert!(!script(&base).is_empty());
        for step in steps.into_iter().chain(cfg!(target_os = "linux").then_some(folders)) {
            let output = if step == folders { folder.join(name) } else { output.clone() };
            let run = edit(&input, &output, step);
            assert_eq!(run.status, 0, "{name} {step:?}: {}", run.err);
            // Of pipes, script prints other fields.
            assert_eq!(edit(&output, &again, &[]).status, 0, "{name} {step:?}");
            assert!(script(&again) == script(&base), "{name} {step:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_compressed_copy_is_smaller_and_says_the_same() {
    let folder = scratch_folder("edit_compressed");
    let (output, whole) = (folder.join("edited.data"), folder.join("whole.data"));
    let input = testdata::path("plain.data");
    assert_eq!(edit(&input, &output, &["--compress", "zstd:19"]).status, 0);
    assert_eq!(edit(&output, &whole, &[]).status, 0);
    assert!(script(&output, &[]) == script(&input, &[]));
    assert!(fs::metadata(&output).unwrap().len() < fs::metadata(&whole).unwrap().len());
    assert_eq!(edit(&input, &output, &["--compress", "zstd:0"]).status, 1);
}

#[test]
fn samples_are_thinned_and_limited() {
    let folder = scratch_folder("edit_thinned");
    let output = folder.join("edited.data");
    let input = testdata::path("plain.data");
    let whole = script(&input, &[]).1;
    let lines: Vec<_> = whole.lines().collect();
    assert!(lines.len() > 20, "{whole}");
    let run = edit(&input, &output, &["--sample-every", "3", "--limit", "5"]);
    let left = script(&output, &[]).1;
    // Of one event.
    assert_eq!(
        left.lines().collect::<Vec<_>>(),
        lines.iter().step_by(3).take(5).copied().collect::<Vec<_>>()
    );
    assert!(run.err.contains(&format!("left out: {}", lines.len() - 5)), "{}", run.err);
    let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
    assert!(info.contains("samples left out, 1 of 3 kept"), "{info}");
}

#[test]
fn parts_become_one_again() {
    let folder = scratch_folder("edit_merged");
    let [first, second, whole, base] = ["first", "second", "whole", "base"].map(|name| folder.join(name));
    for name in ["plain.data", "tracing.pipe.data", "threads.dir"] {
        let input = testdata::path(name);
        assert_eq!(edit(&input, &base, &[]).status, 0, "{name}");
        let lines = jsonl(&base, &["--type", "SAMPLE", "--order", "time"]).records;
        let time = lines[lines.len() / 2]["fields"]["time"].as_u64().unwrap();
        let at = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        let parts = [(&first, format!(",{}", at(time))), (&second, format!("{},", at(time + 1)))];
        for (part, span) in &parts {
            assert_eq!(edit(&input, part, &["--time", span]).status, 0, "{name}");
        }
        let files =
            ["edit".as_ref(), second.as_os_str(), first.as_os_str(), "-o".as_ref(), whole.as_os_str()];
        let run = perfdata(files);
        assert_eq!(run.status, 0, "{name}: {}", run.err);
        assert!(script(&whole, &[]) == script(&base, &[]), "{name}");
        // Steps apply to all of them.
        let run = perfdata(files.into_iter().chain(["--time".as_ref(), parts[0].1.as_ref()]));
        assert_eq!(run.status, 0, "{name}: {}", run.err);
        assert!(script(&whole, &[]) == script(&first, &[]), "{name}");
    }
    let other = testdata::path("ids.data");
    let run =
        perfdata(["edit".as_ref(), first.as_os_str(), other.as_os_str(), "-o".as_ref(), first.as_os_str()]);
    assert_eq!(run.status, 1, "{}", run.err);
    assert!(run.err.contains(": must be ") || run.err.contains("is read as input"), "{}", run.err);
}

#[test]
fn aux_data_is_in_a_merge() {
    let dir = scratch_folder("merged_aux");
    let synthetic = |name: &str| testdata::captures().into_iter().find(|path| path.ends_with(name)).unwrap();
    let inputs = ["auxtrace.le.data", "records.le.data"].map(synthetic);
    let merged = dir.join("merged.data");
    edit(&inputs[0], &merged, &[inputs[1].to_str().unwrap()]);
    let data_of = |path: &Path| {
        let bytes = fs::read(path).unwrap();
        let reader = Reader::new(&bytes).unwrap();
        let records = reader.records().flatten().filter(|it| it.trailing_size() > 0);
        records.map(|it| it.trailing().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(data_of(&merged), inputs.iter().flat_map(|path| data_of(path)).collect::<Vec<_>>());
}

#[test]
fn copied_stacks_become_call_chains() {
    let folder = scratch_folder("edit_unwound");
    let output = folder.join("edited.data");
    let input = testdata::path("dwarf.data");
    let stacks = |file: &Path| {
        let run = perfdata(["script".as_ref(), file.as_os_str(), "--format".as_ref(), "jsonl".as_ref()]);
        let lines = run.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let stack = |line: serde_json::Value| {
            let frames = line["stack"].as_array()?.clone();
            // A frame that is a guess, and those after it, are no part of a call chain.
            let certain = frames.into_iter().take_while(|frame| frame["guessed"] != true);
            let mut stack: Vec<_> =
                certain.map(|frame| (frame["ip"].as_u64(), frame["mode"].clone())).collect();
            // perf's rules for call chains find other inlined functions.
            stack.dedup();
            Some(stack)
        };
        lines.filter_map(stack).collect::<Vec<_>>()
    };
    let run = edit(&input, &output, &["--unwind", "--threads", "3", "--no-inline"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let (before, after) = (stacks(&input), stacks(&output));
    assert!(before.len() > 3 && before.iter().any(|stack| !stack.is_empty()));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        // Without a frame, a sample's own address is its stack.
        assert!(before == after || before.is_empty() && after.len() == 1, "{before:x?} {after:x?}");
    }
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    assert!(size(&output) * 2 < size(&input));
    let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
    assert!(info.contains("without REGS_USER|STACK_USER"), "{info}");
}

#[test]
fn names_inside_need_no_files() {
    let folder = scratch_folder("edit_names");
    let [output, again] = ["named", "again"].map(|name| folder.join(name));
    let input = testdata::path("callchain.data");
    let names = |file: &Path, symfs: &[&str]| {
        let args = ["script".as_ref(), file.as_os_str(), "-F".as_ref(), "ip,sym".as_ref()].into_iter();
        perfdata(args.chain(symfs.iter().map(AsRef::as_ref))).out
    };
    let run = edit(&input, &output, &["--symbols-inside", "--build-ids", "--no-inline"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let elsewhere = folder.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let symfs = ["--symfs", elsewhere.to_str().unwrap()];
    let named =
        |text: &str| text.lines().filter(|line| !line.is_empty() && !line.contains("[unknown]")).count();
    assert!(named(&names(&output, &symfs)) > named(&names(&input, &symfs)));
    let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
    assert!(info.contains(" functions stored"), "{info}");
    assert_eq!(edit(&output, &again, &["--symbols-inside", "--build-ids", "--no-inline"]).status, 0);
    assert!(fs::read(&again).unwrap() == fs::read(&output).unwrap());
    let run = edit(&input, &output, &["--symbols-inside", "--redact"]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("--symbols-inside: a redaction of paths or strings"), "{}", run.err);
}

#[test]
fn generated_code_that_is_not_there_is_said() {
    let folder = scratch_folder("edit_jit");
    let [plain, output] = ["plain.data", "output.data"].map(|name| folder.join(name));
    let input = testdata::path("plain.data");
    assert_eq!(edit(&input, &plain, &[]).status, 0);
    let run = edit(&input, &output, &["--jit"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.err.contains("--jit: no jitdump and no perf map of the capture's processes"), "{}", run.err);
    assert!(!folder.join("output.data.files").exists());
    assert!(fs::read(&output).unwrap() == fs::read(&plain).unwrap());
    for (others, why) in [
        (&["--redact"][..], "--jit: a redaction of paths or strings removes the paths of its files"),
        (&["--redact=comms,strings"], "--jit: a redaction of paths or strings"),
        (&["--aslr"], "--jit: its files have addresses, which --aslr hides"),
    ] {
        let run = edit(&input, &output, &[&["--jit"], others].concat());
        assert!(run.status == 1 && run.err.contains(why), "{others:?}: {}", run.err);
    }
    let run = edit(&input, Path::new("-"), &["--jit", "--to", "pipe"]);
    assert!(
        run.status == 1 && run.err.contains("--jit: standard output has no folder beside it"),
        "{}",
        run.err
    );
}

#[test]
fn records_are_sorted() {
    let folder = scratch_folder("edit_sorted");
    let output = folder.join("edited.data");
    let input = testdata::path("threads.dir");
    assert_eq!(edit(&input, &output, &["--sort"]).status, 0);
    let times: Vec<_> = jsonl(&output, &["--type", "SAMPLE"])
        .records
        .iter()
        .map(|it| it["fields"]["time"].as_u64())
        .collect();
    assert!(times.len() > 3 && times.is_sorted());
    assert!(script(&output, &[]) == script(&input, &[]));
}

#[test]
fn an_output_that_cannot_be_is_refused() {
    let folder = scratch_folder("edit_refused");
    let input = folder.join("capture.data");
    fs::copy(testdata::path("plain.data"), &input).unwrap();
    let before = fs::read(&input).unwrap();
    let run = edit(&input, &input, &[]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("is read as input; give -o another name"), "{}", run.err);
    assert!(fs::read(&input).unwrap() == before);
    let run = edit(&input, Path::new("-"), &[]);
    assert!(run.err.contains("add --to pipe"), "{}", run.err);
    let output = folder.join("none.data");
    let run = edit(&input, &output, &["--event", "no-such-event"]);
    assert_eq!(run.status, 1, "{}", run.err);
    assert!(run.err.contains("--event"), "{}", run.err);
    assert!(!output.exists());
}

#[test]
fn redacted_captures_name_nobody() {
    let folder = scratch_folder("edit_redacted");
    let [output, again] = ["redacted", "again"].map(|name| folder.join(name));
    let input = testdata::path("system_wide.data");
    let run = edit(&input, &output, &["--redact", "--hash", "salt"]);
    assert_eq!((run.status, run.out.as_str()), (0, ""), "{}", run.err);
    assert!(run.err.contains("perfdata: not redacted: process ids, times, addresses, "), "{}", run.err);
    // The same samples, each of the same thread: one pseudonym for each name.
    let columns = |file: &Path| {
        let text = perfdata(["script".as_ref(), file.as_os_str(), "-F".as_ref(), "comm".as_ref()]).out;
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect::<Vec<_>>()
    };
    let (names, pseudonyms) = (columns(&input), columns(&output));
    assert_eq!(names.len(), pseudonyms.len());
    let pairs = names.iter().zip(&pseudonyms).collect::<std::collections::BTreeSet<_>>();
    let distinct = |all: &[String]| all.iter().collect::<std::collections::BTreeSet<_>>().len();
    assert!(pairs.len() > 2 && pairs.len() == distinct(&names) && pairs.len() == distinct(&pseudonyms));
    assert!(pairs.iter().all(|(name, pseudonym)| name == pseudonym || pseudonym.starts_with("comm-")));
    let info = |file: &Path| perfdata(["info".as_ref(), file.as_os_str()]).out;
    assert!(
        info(&output).contains("redacted: cmdline,comms,hostname,paths,raw,strings"),
        "{}",
        info(&output)
    );
    // One kind, and the others stay.
    let run = edit(&input, &again, &["--redact=hostname,cmdline"]);
    assert!(run.err.contains("names of threads, paths and build ids, data of events"), "{}", run.err);
    assert_eq!(columns(&again), names);
    assert_eq!(edit(&input, &again, &["--hash", "salt"]).status, 1);
}

/// Files, threads and times stay where addresses are moved; the account tells of it.
#[test]
fn moved_addresses_are_of_the_same_files() {
    let folder = scratch_folder("edit_aslr");
    let [output, again] = ["edited", "again"].map(|name| folder.join(name));
    let input = testdata::path("callchain.data");
    for output in [&output, &again] {
        assert_eq!(edit(&input, output, &["--aslr=seed"]).status, 0);
    }
    assert!(fs::read(&output).unwrap() == fs::read(&again).unwrap(), "the same seed has other distances");
    let print = |file: &Path, fields: &str| {
        let args = ["--no-symbols", "-F", fields].map(AsRef::as_ref);
        perfdata(["script".as_ref(), file.as_os_str()].into_iter().chain(args)).out
    };
    let fields = "comm,pid,tid,cpu,time,event,period,dso";
    assert_eq!(print(&output, fields), print(&input, fields));
    assert!(print(&output, "ip") != print(&input, "ip"));
    let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
    assert!(info.contains("redacted: addresses"), "{info}");
    assert_eq!(edit(&input, &again, &["--aslr"]).status, 0);
    assert!(fs::read(&output).unwrap() != fs::read(&again).unwrap(), "random distances are not random");
    let refused = edit(&input, &again, &["--aslr", "--symbols-inside"]);
    assert!(
        refused.status == 1 && refused.err.contains("--symbols-inside: names are stored for"),
        "{}",
        refused.err
    );
}

#[test]
fn clocks_that_are_apart_are_moved() {
    let folder = scratch_folder("edit_clocks");
    let [whole, first] = ["whole.data", "first.data"].map(|name| folder.join(name));
    let input = testdata::path("plain.data");
    let merge = |offset: &str| {
        let files = ["edit".as_ref(), input.as_os_str(), input.as_os_str(), "-o".as_ref(), whole.as_os_str()];
        perfdata(files.into_iter().chain(["--clock-offset", offset].map(AsRef::as_ref)))
    };
    let run = merge("2=1ms");
    assert_eq!(run.status, 0, "{}", run.err);
    let info = perfdata(["info".as_ref(), whole.as_os_str()]).out;
    assert!(info.contains("times of capture 2 moved by 1000000 ns"), "{info}");
    // Each sample is there twice, the second time a millisecond later.
    let times = |file: &Path| {
        let lines = jsonl(file, &["--type", "SAMPLE", "--order", "time"]).records;
        lines.iter().map(|it| it["fields"]["time"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let mut expected: Vec<_> = times(&input).into_iter().flat_map(|time| [time, time + 1_000_000]).collect();
    expected.sort_unstable();
    assert_eq!(times(&whole), expected);
    for (offset, error) in [
        ("3=1ms", "--clock-offset 3=: must be of a capture from 1 to 2"),
        ("2=1", "must be N=TIME"),
        ("2=-9999999s", "--clock-offset: must be so small that no time becomes negative or 0"),
    ] {
        let run = merge(offset);
        assert_eq!(run.status, 1, "{offset}: {}", run.err);
        assert!(run.err.contains(error), "{offset}: {}", run.err);
    }
    let run = edit(&input, &first, &["--clock-offset", "1=1ms"]);
    assert_eq!(run.status, 1);
    assert!(run.err.contains("--clock-offset: must be used with several captures"), "{}", run.err);
}

#[test]
fn an_index_spares_what_is_not_selected() {
    let folder = scratch_folder("edit_indexed");
    let [input, output, plain] = ["in.data", "out.data", "plain.data"].map(|name| folder.join(name));
    fs::copy(testdata::path("system_wide.data"), &input).unwrap();
    let lines = jsonl(&input, &["--type", "SAMPLE", "--order", "time"]).records;
    let time = |index: usize| lines[index]["fields"]["time"].as_u64().unwrap();
    let seconds = |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
    let span = format!("{},{}", seconds(time(lines.len() / 2)), seconds(time(lines.len() / 2 + 2)));
    let before = edit(&input, &plain, &["--time", &span]);
    assert_eq!(before.status, 0, "{}", before.err);
    assert_eq!(perfdata(["index".as_ref(), input.as_os_str()]).status, 0);
    let run = edit(&input, &output, &["--time", &span, "--index"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(fs::read(&output).unwrap() == fs::read(&plain).unwrap());
    // The index beside the result is used for the next cut.
    let index = folder.join("out.data.idx");
    let again = perfdata(["index".as_ref(), output.as_os_str(), "-o".as_ref(), plain.as_os_str()]);
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(fs::read(&index).unwrap() == fs::read(&plain).unwrap());
    let run = perfdata(
        ["edit", "-o", "-", "--to", "pipe", "--index"]
            .map(AsRef::as_ref)
            .into_iter()
            .chain([input.as_os_str()]),
    );
    assert!(run.status == 1 && run.err.contains("--index: standard output has no file"), "{}", run.err);
}

#[test]
fn what_perf_6_1_refuses_is_left_out() {
    let folder = scratch_folder("edit_release");
    let output = folder.join("out.data");
    let newer = testdata::path("plain.data")
        .parent()
        .unwrap()
        .join("../foreign/linux-perf-data/fibo.compressed2.pipe.data");
    let run = edit(&newer, &output, &["--for", "perf-6.1"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let reader = Reader::open(&output).unwrap();
    assert!(reader.events().iter().all(|event| event.attr.size <= 128));
    let records =
        reader.records().map(|record| record.unwrap().kind().0).collect::<std::collections::BTreeSet<_>>();
    assert!(records.iter().all(|&kind| kind <= 21 || (64..=82).contains(&kind)), "{records:?}");
    let info = perfdata(["info".as_ref(), output.as_os_str()]).out;
    assert!(info.contains("written for perf-6.1"), "{info}");
    let samples = |file: &Path| jsonl(file, &["--type", "SAMPLE"]).records.len();
    assert_eq!(samples(&output), samples(&newer));
    assert!(samples(&output) > 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_has_a_file_for_each_cpu() {
    let scratch = scratch_folder("edit_folder");
    let [folder, whole, again] = ["folder", "whole", "again"].map(|name| scratch.join(name));
    let input = testdata::path("system_wide.data");
    let run = edit(&input, &folder, &["--to", "folder", "--index"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() > 2 && names[..2] == ["data", "data.0"], "{names:?}");
    assert!(fs::metadata(folder.join("data.0")).unwrap().len() > 100);
    assert!(scratch.join("folder.idx").exists());
    assert!(script(&folder, &[]) == script(&input, &[]));
    // Back to a file.
    assert_eq!(edit(&folder, &whole, &["--sort"]).status, 0);
    assert_eq!(edit(&input, &again, &["--sort"]).status, 0);
    assert!(script(&whole, &[]) == script(&again, &[]));
    let run = edit(&input, &folder, &["--to", "folder"]);
    assert!(run.status == 1 && run.err.contains("is a folder"), "{}", run.err);
    let run = edit(&input, &whole, &["--to", "folder"]);
    assert!(run.status == 1 && run.err.contains("exists, and a folder does not replace it"), "{}", run.err);
}
