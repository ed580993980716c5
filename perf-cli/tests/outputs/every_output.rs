//! Texts of a capture that end a line, or stand in two columns: no output has a line or a column that they forge.

use std::fs;
use std::io::Cursor;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::event::{EventType, SwId};
use perf_abi::feature::Feature;
use perf_abi::ksymbol::{KsymbolFlags, KsymbolType};
use perf_abi::record::{Misc, RecordType};
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{Entries, FeatureData, PmuMapping};
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::{Cgroup, Comm, FileId, Ksymbol, Mmap, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::tracepoint::TracingDataFields;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{ByteStr, Record, SampleLayout};
use testdata::Bytes;

use crate::new;

/// A text that forges a line, a column, and what a terminal shows.
const NAME: &str = "a\nFORGED\tFORGED\u{1b}[2J\r\u{2028}z";

/// The format of a tracepoint, whose text has a line end and a tab of its own.
const FORMAT: &str = "name: forger\nID: 7\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:char text[40];\toffset:8;\tsize:40;\tsigned:0;\n\n\
    print fmt: \"text=%s\\n\\tFORGED\", REC->text\n";

const KERNEL: u64 = 0xffff_ffff_8100_0000;

const TRAILER: SampleIdFields =
    SampleIdFields { pid: 5, tid: 5, time: 1_000_000_000, id: 1, stream_id: 1, cpu: 0 };

/// Returns a capture in which every text is [`NAME`].
fn capture() -> Vec<u8> {
    let (name, text) = (NAME.as_bytes(), ByteStr::from(NAME));
    let head = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME;
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::CPU_CLOCK.0,
        sample_type: head | SampleType::CPU | SampleType::CALLCHAIN | SampleType::RAW | SampleType::CGROUP,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::COMM | AttrFlags::MMAP,
        sample_period: 1000,
        ..Attr::default()
    };
    let tracepoint = Attr { kind: EventType::TRACEPOINT, config: 7, ..attr };
    let event = |attr, id| EventFields {
        attr,
        name: Some(name.to_vec()),
        ids: vec![id],
        unit: Some(name.to_vec()),
        ..EventFields::default()
    };
    let events = [event(attr, 1), event(tracepoint, 2)];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &events, &WriteOptions::default()).unwrap();
    for data in [
        FeatureData::Hostname(text),
        FeatureData::OsRelease(text),
        FeatureData::Version(text),
        FeatureData::Arch(ByteStr::new(b"x86_64")),
        FeatureData::CpuDesc(text),
        FeatureData::CpuId(text),
        FeatureData::CmdLine(Entries::from(&[text, "perf".into()])),
        FeatureData::PmuMappings(Entries::from(&[PmuMapping { kind: EventType(1), name: text }])),
    ] {
        writer.features().set(&data).unwrap();
    }
    let tracing = TracingDataFields {
        long_size: 8,
        page_size: 4096,
        systems: vec![(b"forge".to_vec(), vec![FORMAT.as_bytes().to_vec()])],
        ..TracingDataFields::default()
    };
    let mut bytes = Vec::new();
    tracing.write(&mut bytes, Endianness::Little).unwrap();
    writer.features().raw(Feature::TRACING_DATA, &bytes).unwrap();

    let layout = SampleLayout::new(&attr).unwrap();
    let mut put = |misc, record: &Record<'_, LittleEndian>| {
        let mut bytes = Vec::new();
        write::record::<LittleEndian>(&mut bytes, &layout, misc, record, &TRAILER).unwrap();
        writer.record(&bytes).unwrap();
    };
    let filename = b"[kernel.kallsyms]_text";
    let text = Mmap { pid: -1, tid: 0, addr: KERNEL, len: 0x100_0000, pgoff: KERNEL, filename };
    put(Misc(1), &Record::Mmap(text));
    put(Misc(0), &Record::Comm(Comm { pid: 5, tid: 5, comm: b"sh" }));
    put(Misc(0), &Record::Comm(Comm { pid: 5, tid: 5, comm: name }));
    let id = FileId::Inode { maj: 8, min: 1, ino: 9, ino_generation: 0 };
    let (reading, prot_flags) = (Reading::Certain, Some((5, 2)));
    put(
        Misc(2),
        &Record::Mmap2(Mmap2 {
            pid: 5,
            tid: 5,
            addr: 0x1000,
            len: 0x1000,
            pgoff: 0,
            id,
            prot_flags,
            reading,
            filename: name,
        }),
    );
    put(Misc(0), &Record::Cgroup(Cgroup { id: 3, path: name }));
    let (ksym_type, flags) = (KsymbolType::BPF, KsymbolFlags(0));
    put(
        Misc(0),
        &Record::Ksymbol(Ksymbol { addr: KERNEL + 0x200_0000, len: 0x1000, ksym_type, flags, name }),
    );
    for at in 0..8 {
        let raw = Bytes::new(false).u16(7).zeros(6).padded(name, 40).zeros(4).out;
        let chain = [
            CallchainContext::KERNEL.0,
            KERNEL + 0x200_0010,
            KERNEL + 0x10,
            CallchainContext::USER.0,
            0x1010 + at,
            0x1100,
        ];
        let fields = SampleFields {
            identifier: Some(1 + at % 2),
            ip: Some(KERNEL + 0x200_0010),
            pid_tid: Some((5, 5)),
            time: Some(1_000_000_000 + 1000 * at),
            cpu: Some(0),
            callchain: Some(chain.to_vec()),
            raw: Some(raw),
            cgroup: Some(3),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &layout, Misc(1), &fields).unwrap();
        writer.record(&bytes).unwrap();
    }
    // Fmt 0, type, code, CPU, pid and tid, address, message.
    let error = Bytes::new(false).u32(1).u32(2).u32(0).u32(5).u32(5).u32(0).u64(0).padded(name, 64);
    writer.record(&error.record(RecordType::AUXTRACE_ERROR.0, 0)).unwrap();
    writer.finish().unwrap().into_inner()
}

/// Each verb and format that prints texts of a capture.
const RUNS: &[&[&str]] = &[
    &["info", "in"],
    &["dump", "in"],
    &["dump", "in", "--order", "time", "--format", "jsonl"],
    &["dump", "in", "--fields", "comm,filename,name,path,text,event"],
    &["script", "in"],
    &["script", "in", "--header", "--show-task-events", "--show-mmap-events", "--show-cgroup-events"],
    &["script", "in", "--show-bpf-events", "-F", "comm,tid,pid,time,cpu,event,ip,sym,symoff,dso,srcline"],
    &["script", "in", "-F", "comm,event,trace,cgroup"],
    &["script", "in", "--format", "jsonl"],
    &["report", "in"],
    &["report", "--stdio", "in"],
    &["report", "--stdio", "-s", "comm,dso,sym", "in"],
    &["report", "--stdio", "-s", "pid,cgroup,srcline,srcfile", "in"],
    &["report", "--stdio", "-s", "trace", "in"],
    &["report", "--stdio", "-g", "caller,srcline", "in"],
    &["report", "--format", "json", "in"],
    &["fold", "in"],
    &["diff", "in", "in"],
    &["flamegraph", "in", "-o", "out.html"],
    &["flamegraph", "in", "-o", "out.svg"],
    &["export", "--to", "folded", "in", "-o", "-"],
    &["export", "--to", "callgrind", "in", "-o", "-"],
    &["export", "--to", "chrome", "in", "-o", "-"],
    &["export", "--to", "csv", "in", "-o", "-"],
    &["export", "--to", "dot", "in", "-o", "-"],
    &["export", "--to", "firefox", "in", "-o", "-"],
    &["export", "--to", "speedscope", "in", "-o", "-"],
    &["export", "--to", "otlp-json", "in", "-o", "-"],
    &["repair", "in", "-o", "out.data", "--report", "out.json"],
];

/// Errors that name what is in the capture.
const ERRORS: &[&[&str]] = &[
    &["script", "in", "-F", "addr"],
    &["script", "in", "-F", "phys_addr"],
    &["script", "in", "--event", "none"],
    &["report", "--stdio", "--mem-mode", "in"],
    &["report", "--stdio", "--off-cpu", "in"],
    &["fold", "in", "--event", "none"],
    &["annotate", "FORGED", "in"],
    &["annotate", "--stdio", "-i", "in"],
    &["annotate", "--format", "json", "-i", "in"],
    &["export", "--to", "brstack", "in", "-o", "-"],
    &["export", "--to", "preagg", "in", "-o", "-"],
    &["export", "--to", "autofdo", "--binary", "none", "in", "-o", "-"],
];

#[test]
fn no_output_has_a_forged_line() {
    let folder = new("every_output");
    fs::write(folder.path("in"), capture()).unwrap();
    for args in RUNS.iter().chain(ERRORS) {
        let run = folder.run(args);
        let may_fail = ERRORS.contains(args);
        assert!(matches!(run.status, 0 | 3) || may_fail, "{args:?}: {run:?}");
        let written = ["out.html", "out.svg", "out.json"].map(|name| {
            let path = folder.path(name);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let _ = fs::remove_file(path);
            text
        });
        let mut has_name = false;
        for text in [&run.out, &run.err].into_iter().chain(&written) {
            has_name |= text.contains("FORGED");
            for line in text.lines() {
                let column = line.split('\t').find(|column| column.starts_with("FORGED"));
                assert_eq!(column, None, "{args:?}: {line}");
                let control = line.chars().find(|it| it.is_control() && *it != '\t' || *it == '\u{2028}');
                assert_eq!(control, None, "{args:?}: {line:?}");
            }
        }
        // repair writes a capture, whose texts stay as they are.
        assert!(has_name || may_fail || args[0] == "repair", "{args:?}: {run:?}");
    }
}

/// Each sample is one line with the text of its tracepoint, as one column.
#[test]
fn the_text_of_a_tracepoint_is_one_line() {
    let folder = new("one_line");
    fs::write(folder.path("in"), capture()).unwrap();
    let run = folder.run(&["script", "in", "-F", "event,trace"]);
    let escaped = r"a\nFORGED\tFORGED\u{1b}[2J\r\u{2028}z";
    let text = format!("{escaped}: text={escaped}\\n\\tFORGED");
    assert_eq!(run.out.matches(&text).count(), 4, "{run:?}");
    // 8 samples, and the error of the decoder of traces, which is always printed.
    assert_eq!(run.out.lines().filter(|line| line.contains(escaped)).count(), 9, "{run:?}");
    assert_eq!(run.out.lines().count(), 9, "{run:?}");
}
