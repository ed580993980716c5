//! Tracing data of both byte orders, whole and damaged.

use perf_parse::abi::endian::Endianness;
use perf_parse::tracepoint::{Format, FormatText, Tracepoints, TracingData, TracingErrorKind};
use testdata::Bytes;

/// Makes tracing data with these formats of tracers and of systems.
fn tracing_data(
    endianness: Endianness,
    version: &str,
    ftrace: &[&str],
    systems: &[(&str, &[&str])],
) -> Vec<u8> {
    let file = |out: Bytes, bytes: usize, text: &[u8]| out.number(bytes, text.len() as u64).raw(text);
    let page = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";
    let mut out = Bytes::new(endianness == Endianness::Big)
        .raw(b"\x17\x08\x44tracing")
        .raw(version.as_bytes())
        .raw(b"\0");
    out = out.number(1, u64::from(endianness == Endianness::Big)).number(1, 4).number(4, 65536);
    out = file(out.raw(b"header_page\0"), 8, page.as_bytes());
    out = file(out.raw(b"header_event\0"), 8, b"# entry header\n").number(4, ftrace.len() as u64);
    for text in ftrace {
        out = file(out, 8, text.as_bytes());
    }
    out = out.number(4, systems.len() as u64);
    for (system, texts) in systems {
        out = out.raw(system.as_bytes()).raw(b"\0").number(4, texts.len() as u64);
        for text in *texts {
            out = file(out, 8, text.as_bytes());
        }
    }
    out = file(file(out, 4, b"0 _text\n"), 4, b"0xff : \"%d\"\n");
    if version == "0.6" { file(out, 8, b"1 init\n").out } else { out.out }
}

const SYSTEMS: &[(&str, &[&str])] = &[
    ("sched", &["name: one\nID: 9\n", "name: bad\nID: x\n", "name: two\nID: 8\n"]),
    ("empty", &[]),
    ("irq", &["name: one\nID: 7\n", "name: again\nID: 9\n"]),
];

#[test]
fn tracing_data_is_found_part_by_part_in_both_byte_orders() {
    for endianness in [Endianness::Little, Endianness::Big] {
        for version in ["0.5", "0.6"] {
            let mut bytes = tracing_data(endianness, version, &["name: print\nID: 5\n"], SYSTEMS);
            bytes.extend(b"\0\0\0");
            let data = TracingData::parse(&bytes).unwrap();
            assert_eq!((data.version, data.endianness), (version.as_bytes(), endianness));
            assert_eq!((data.long_size, data.kernel_long_size(), data.page_size), (4, 8, 65536));
            assert!(data.header_page.starts_with(b"\tfield: u64 timestamp"));
            assert_eq!(data.header_event, b"# entry header\n");
            assert_eq!((data.kallsyms, data.printk_formats), (&b"0 _text\n"[..], &b"0xff : \"%d\"\n"[..]));
            assert_eq!(data.saved_cmdlines, (version == "0.6").then_some(&b"1 init\n"[..]));
            assert_eq!(data.rest, b"\0\0\0");
            let texts: Vec<_> = data.formats().collect();
            let systems: Vec<_> = texts.iter().map(|text| text.system.escape_ascii().to_string()).collect();
            assert_eq!(systems, ["ftrace", "sched", "sched", "sched", "irq", "irq"]);
            for FormatText { text, offset, .. } in texts {
                assert_eq!(&bytes[offset as usize..][..text.len()], text);
            }

            let tracepoints = Tracepoints::new(&data);
            let name = |format: Option<&Format<'_>>| {
                format.map(|format| [format.system, b":", format.name].concat().escape_ascii().to_string())
            };
            assert_eq!(name(tracepoints.get(5)).unwrap(), "ftrace:print");
            assert_eq!(name(tracepoints.get(7)).unwrap(), "irq:one");
            assert_eq!(name(tracepoints.get(8)).unwrap(), "sched:two");
            assert_eq!(name(tracepoints.get(9)).unwrap(), "sched:one");
            for id in [0, 6, 10, 1 << 32 | 7, u64::MAX] {
                assert_eq!(tracepoints.get(id), None, "{id}");
            }
            assert_eq!(tracepoints.find(b"irq", b"one").unwrap().id, 7);
            assert_eq!(tracepoints.find(b"irq", b"again").unwrap().id, 9);
            assert_eq!(tracepoints.find(b"irq", b"two"), None);
            assert_eq!(tracepoints.formats().len(), 5);
            // Only the faulty format is lost. The fault has its offset in the whole tracing data.
            let [fault] = tracepoints.faults() else { panic!("{:?}", tracepoints.faults()) };
            assert_eq!(&bytes[fault.offset as usize - 4..][..5], b"ID: x");
            assert_eq!((fault.kind.field(), tracepoints.faults_omitted()), ("ID", 0));
        }
    }
}

#[test]
fn the_version_tells_whether_names_of_tasks_follow() {
    let mut with_names = tracing_data(Endianness::Little, "0.6", &[], &[]);
    for (version, follow) in
        [("0.6", true), ("0.5", false), ("0.9", true), ("1.0", true), ("6.0", true), ("0.x", false)]
    {
        with_names[10..13].copy_from_slice(version.as_bytes());
        let data = TracingData::parse(&with_names).unwrap();
        assert_eq!(data.saved_cmdlines.is_some(), follow, "{version}");
        assert_eq!(data.rest.is_empty(), follow, "{version}");
    }
}

#[test]
fn the_recorders_long_stands_in_for_the_kernels() {
    let mut bytes = tracing_data(Endianness::Little, "0.6", &[], &[]);
    let commit = bytes.windows(6).position(|window| window == b"commit").unwrap();
    bytes[commit] = b'k';
    assert_eq!(TracingData::parse(&bytes).unwrap().kernel_long_size(), 4);
}

#[test]
fn tracing_data_cut_short_anywhere_is_an_error_at_that_place() {
    for endianness in [Endianness::Little, Endianness::Big] {
        let bytes = tracing_data(endianness, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
        for len in 0..bytes.len() {
            let error = TracingData::parse(&bytes[..len]).unwrap_err();
            match error.kind {
                TracingErrorKind::Truncated { needed, available, .. } => {
                    assert_eq!(u64::from(error.offset) + available, len as u64);
                    assert!(needed > available);
                }
                TracingErrorKind::Unterminated { field } => {
                    assert!(["version", "system"].contains(&field) && error.offset as usize <= len);
                }
                kind => panic!("{kind:?}"),
            }
        }
    }
}

#[test]
fn tracing_data_that_is_none_is_an_error() {
    let bytes = tracing_data(Endianness::Little, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
    let find = |part: &[u8]| bytes.windows(part.len()).position(|window| window == part).unwrap();
    for (at, byte, text) in [
        (0, 0x16, "byte 0: magic: has byte 0x16, but must be 17 08 44 \"tracing\""),
        (9, b'k', "byte 9: magic: has byte 0x6b, but must be 17 08 44 \"tracing\""),
        (14, 2, "byte 14: endian: has byte 0x02, but must be 0 for little or 1 for big"),
        (15, 5, "byte 15: long_size: has byte 0x05, but must be 4 or 8"),
        (18, 0, "byte 16: page_size: has byte 0x00, but must be more than 0"),
        (find(b"page\0"), b'P', "byte 27: header_page: has byte 0x50, but must be the text \"header_page\""),
    ] {
        let mut faulty = bytes.clone();
        faulty[at] = byte;
        assert_eq!(TracingData::parse(&faulty).unwrap_err().to_string(), text);
    }
    assert_eq!(
        TracingData::parse(b"").unwrap_err().to_string(),
        "byte 0: magic: needs 10 bytes, the tracing data has 0 left"
    );
}

#[test]
fn counts_and_sizes_beyond_the_data_end_it() {
    let bytes = tracing_data(Endianness::Little, "0.6", &["name: print\nID: 5\n"], SYSTEMS);
    let find = |part: &[u8]| bytes.windows(part.len()).position(|window| window == part).unwrap();
    let ftrace = find(b"# entry header\n") + 15;
    let systems = find(b"name: print") + 18;
    let sched = find(b"sched\0") + 6;
    let kallsyms = find(b"0 _text") - 4;
    let cmdlines = find(b"1 init") - 8;
    for (at, len, field) in [
        (ftrace, 4, "format"),
        (ftrace + 4, 8, "format"),
        // More systems than there are: the following bytes are read as systems, as far as possible.
        (systems, 4, "format"),
        (sched, 4, "format"),
        (sched + 4, 8, "format"),
        (kallsyms, 4, "kallsyms"),
        (cmdlines, 8, "saved_cmdlines"),
        (ftrace - 15 - 8, 8, "header_event"),
    ] {
        let mut faulty = bytes.clone();
        faulty[at..at + len].fill(0xff);
        let error = TracingData::parse(&faulty).unwrap_err();
        assert_eq!(error.kind.field(), field, "{error}");
        assert!(error.offset as usize <= bytes.len());
    }
}
