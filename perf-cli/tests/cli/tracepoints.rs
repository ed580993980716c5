//! Raw data of tracepoints: the output is in proportion to its size, regardless of the format.

use std::path::PathBuf;

use crate::features::within_96_mib;
use crate::{Jsonl, Run, jsonl, scratch};

/// Returns the format of a tracepoint with these fields: C types, offsets and sizes.
fn format(fields: impl Iterator<Item = (&'static str, String, usize, usize)>) -> String {
    let lines = fields.map(|(c_type, name, offset, size)| {
        format!("\tfield:{c_type} {name};\toffset:{offset};\tsize:{size};\tsigned:0;\n")
    });
    format!("name: made\nID: 7\nformat:\n{}\nprint fmt: \"\"\n", lines.collect::<String>())
}

/// Writes a file with `count` samples of a tracepoint, all with the same raw data.
fn capture(name: &str, format: &str, raw: &[u8], count: usize) -> PathBuf {
    let le = |number: usize| (number as u64).to_le_bytes();
    let mut tracing = b"\x17\x08\x44tracing0.6\0\0\x08\0\x10\0\0header_page\0".to_vec();
    tracing.extend([&le(0)[..], b"header_event\0", &le(0), &[0; 4]].concat());
    tracing.extend(b"\x01\0\0\0made\0\x01\0\0\0");
    tracing.extend([&le(format.len()), format.as_bytes(), &[0; 16]].concat());

    // The size and the raw data fill a multiple of 8 bytes.
    assert!(raw.len() % 8 == 4);
    let payload = [&(raw.len() as u32).to_le_bytes(), raw].concat();
    let header = 9 | 2 << 32 | (8 + payload.len() as u64) << 48;
    let data = [&header.to_le_bytes()[..], &payload].concat().repeat(count);

    let words = [
        // magic, size, attr_size, attrs, data, event_types, adds_features: TRACING_DATA
        u64::from_le_bytes(*b"PERFILE2"),
        104,
        80,
        104,
        80,
        184,
        data.len() as u64,
        0,
        0,
        1 << 1,
        0,
        0,
        0,
        // PERF_TYPE_TRACEPOINT, PERF_ATTR_SIZE_VER0, config, sample_type: RAW
        2 | 64 << 32,
        7,
        1,
        1 << 10,
        0,
        0,
        0,
        0,
        0,
        0,
    ];
    let table = 184 + data.len() as u64;
    let head = words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    let entry = [table + 16, tracing.len() as u64].map(u64::to_le_bytes).concat();
    scratch(name, &[head, data, entry, tracing].concat())
}

fn dump_within_96_mib(path: &std::path::Path) -> Run {
    within_96_mib(&["dump", "--format", "jsonl", "--threads", "1"], path)
}

#[test]
fn a_format_of_too_many_fields_is_left_out() {
    let format = format((0..60_000).map(|at| ("u8", format!("f{at}"), 0, 1)));
    let path = capture("fields-60000.data", &format, &[1; 20], 20_000);
    let run = dump_within_96_mib(&path);
    assert_eq!(run.status, 3);
    let said = "TRACING_DATA: fields: is 1025, but at most 1024 fit\n";
    assert!(
        run.err.lines().next().is_some_and(|line| said.starts_with(line.split_once(": ").unwrap().1)),
        "{}",
        run.err
    );
    assert!(run.out.lines().count() == 20_002 && run.out.len() < 20_000 * 200, "{} bytes", run.out.len());
}

#[test]
fn fields_beyond_the_raw_data_are_not_printed() {
    let format = format((0..1024).map(|at| ("u8", format!("field_{at}"), at, 1)));
    let path = capture("fields-beyond.data", &format, &[1; 20], 4000);
    let Jsonl { run, records, .. } = jsonl(&path, &[]);
    assert_eq!(run.status, 3);
    let first = &records[0]["fields"];
    assert_eq!(first["tracepoint"].as_object().unwrap().len(), first["raw"].as_str().unwrap().len() / 2);
    assert!(records[0]["error"].as_str().unwrap().ends_with("raw: needs 21 bytes, 20 are left"));
    assert!(run.out.len() < path.metadata().unwrap().len() as usize * 20, "{} bytes", run.out.len());
}

#[test]
fn fields_that_share_bytes_do_not_multiply_them() {
    // 1000 fields, each of which covers all of the raw data: as a fixed array, and as a dynamic one.
    for (name, c_type, size) in
        [("fixed", "unsigned char", 8000), ("dynamic", "__data_loc unsigned char[]", 4)]
    {
        let brackets = if name == "fixed" { "[8000]" } else { "" };
        let format = format((0..1000).map(|at| (c_type, format!("f{at}{brackets}"), 0, size)));
        let raw = [&[0, 0, 0x40, 0x1f][..], &[0xab; 8000]].concat();
        let path = capture(&format!("fields-{name}.data"), &format, &raw, 100);
        let run = dump_within_96_mib(&path);
        assert_eq!(run.status, 3, "{}", run.err);
        // The hexadecimal raw data of the record, of one field, and of the error.
        assert!(run.out.len() < 100 * 7 * 8000, "{name}: {} bytes", run.out.len());
        assert!(run.err.contains("SAMPLE: raw: is 16004, but at most 8004 fit"), "{name}: {}", run.err);
    }
}

#[test]
fn fields_without_bytes_are_not_printed_without_end() {
    let format = format((0..1024).map(|at| ("u8", format!("f{at}[0]"), 8, 0)));
    let path = capture("fields-empty.data", &format, &[1; 20], 10);
    let Jsonl { run, records, .. } = jsonl(&path, &[]);
    assert_eq!((run.status, records.len()), (3, 10));
    // The number of bytes in the raw data, plus 64.
    assert_eq!(records[0]["fields"]["tracepoint"].as_object().unwrap().len(), 20 + 64);
}

#[test]
fn samples_that_print_much_are_printed_as_they_come() {
    // A batch has 2048 records. Each of these prints 20 names, and each byte of a name takes 6.
    let name = "\u{1}".repeat(240);
    let format = format((0..20).map(|at| ("u8", format!("f{at}{name}"), at, 1)));
    let path = capture("fields-much.data", &format, &[1; 20], 2040);
    let run = dump_within_96_mib(&path);
    assert_eq!((run.status, &*run.err), (0, ""));
    assert!(run.out.len() > 50 << 20, "{} bytes", run.out.len());
    assert_eq!(run.out.lines().count(), 2042);
}
