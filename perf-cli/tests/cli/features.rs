//! Features of a file: the output is in proportion to their size.

use std::path::Path;
use std::process::Command;

use crate::{Run, jsonl, perfdata, scratch};

/// Returns a file with one event, one record, and these features, each with the offset and size of its section. `rest`
/// follows the table of features.
fn file(sections: &[(u32, u64, u64)], rest: &[u8]) -> Vec<u8> {
    let mut bitmap = [0_u64; 4];
    sections.iter().for_each(|&(number, ..)| bitmap[number as usize / 64] |= 1 << (number % 64));
    // magic, size, attr_size, attrs, data, event_types, adds_features
    let header = [u64::from_le_bytes(*b"PERFILE2"), 104, 80, 104, 80, 184, 16, 0, 0];
    // PERF_TYPE_SOFTWARE, PERF_ATTR_SIZE_VER0; sample_type is TIME; no ids
    let attr = [1 | 64 << 32, 0, 1, 4, 0, 0, 0, 0, 0, 0];
    // PERF_RECORD_SAMPLE
    let record = [9 | 2 << 32 | 16 << 48, 5];
    let table = sections.iter().flat_map(|&(_, offset, size)| [offset, size]);
    let words = header.into_iter().chain(bitmap).chain(attr).chain(record).chain(table);
    words.flat_map(u64::to_le_bytes).chain(rest.iter().copied()).collect()
}

/// The offset of the table of features.
const TABLE: u64 = 200;

/// Runs perfdata with 96 MiB of address space. All threads share one heap: with glibc, a second one would reserve 64 MiB,
/// if the thread that handles signals begins before the program has taken a third of the limit.
pub(crate) fn within_96_mib(args: &[&str], file: &Path) -> Run {
    let run = "ulimit -v 98304 && exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", run, env!("CARGO_BIN_EXE_perfdata")])
        .args(args)
        .arg(file)
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn sections_that_overlap_cost_neither_memory_nor_output() {
    let size = 4 << 20;
    // Each of the 255 sections covers the whole file.
    let sections: Vec<_> = (1..256).map(|number| (number, 0, size)).collect();
    let mut bytes = file(&sections, &[]);
    bytes.resize(size as usize, 0xab);
    let path = scratch("overlap.data", &bytes);
    let out = needs::folder().join("repaired.data");
    for args in [
        &["dump", "--format", "jsonl", "--threads", "1"][..],
        &["dump", "--threads", "1"],
        &["info"],
        &["repair", "-o", out.to_str().unwrap()],
    ] {
        let run = within_96_mib(args, &path);
        assert_eq!(run.status, 3, "{args:?}: {}", run.err);
        assert!(run.out.len() < 100_000, "{args:?}: {} bytes", run.out.len());
        if args[0] != "repair" {
            let said = "0xc8: feature section: TRACING_DATA shares bytes with the header, and is left out\n";
            assert!(run.err.contains(said), "{}", run.err);
        }
    }
    assert!(out.metadata().unwrap().len() < 1000);
}

#[test]
fn two_sections_with_the_same_bytes_are_said_by_their_names() {
    let rest = [&8_u32.to_le_bytes()[..], b"machine\0"].concat();
    let path = scratch("same.data", &file(&[(3, TABLE + 32, 12), (4, TABLE + 32, 12)], &rest));
    let dumped = jsonl(&path, &[]);
    let said =
        "0xd8: feature section: OSRELEASE shares bytes with the section of HOSTNAME, and is left out\n";
    assert!(dumped.run.status == 3 && dumped.run.err.starts_with(said), "{:?}", dumped.run);
    assert!(dumped.run.out.contains(r#""features":{"HOSTNAME":"machine"}"#), "{}", dumped.run.out);
}

#[test]
fn a_list_of_many_items_is_printed_item_by_item() {
    // PMU_MAPPINGS: a type, and a name of one byte and its NUL.
    let item = [7, 0, 0, 0, 2, 0, 0, 0, b'x', 0];
    let count = 200_000_u32;
    let rest = [&count.to_le_bytes()[..], &item.repeat(count as usize)].concat();
    let path = scratch("many.data", &file(&[(16, TABLE + 16, rest.len() as u64)], &rest));
    let run = within_96_mib(&["dump", "--format", "jsonl", "--threads", "1"], &path);
    assert_eq!((run.status, &*run.err), (0, ""));
    let header: serde_json::Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let items = header["header"]["features"]["PMU_MAPPINGS"].as_array().unwrap();
    assert_eq!(items.len(), count as usize);
    assert!(items.iter().all(|item| *item == serde_json::json!({"type": 7, "name": "x"})));
}

#[test]
fn features_that_perf_could_not_fill_are_absent() {
    // CPUDESC, TOTAL_MEM, BPF_PROG_INFO, BPF_BTF, and the marks BRANCH_STACK and STAT.
    let empty = |number| (number, TABLE + 96, 0);
    let path = scratch("empty.data", &file(&[8, 10, 15, 19, 25, 26].map(empty), &[]));
    let dumped = jsonl(&path, &[]);
    assert_eq!((dumped.run.status, &*dumped.run.err), (0, ""));
    assert!(dumped.run.out.contains(r#""features":{"BRANCH_STACK":{},"STAT":{}}"#), "{}", dumped.run.out);
    let info = perfdata(["info".as_ref(), path.as_os_str()]);
    assert_eq!((info.status, &*info.err), (0, ""));
    let out = path.with_extension("repaired");
    let repaired = perfdata(["repair".as_ref(), path.as_os_str(), "-o".as_ref(), out.as_os_str()]);
    assert_eq!(repaired.status, 0, "{}", repaired.err);
    assert_eq!(jsonl(&out, &[]).run.out.lines().next(), dumped.run.out.lines().next());
}
