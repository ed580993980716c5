//! Functions of the kernel in the texts of tracepoints: `%pS` and its like.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Mmap;
use perf_parse::tracepoint::TracingDataFields;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};
use testdata::Bytes;

use crate::perfdata;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    function_pointers_have_names,
    without_symbols_they_are_addresses,
    rows_of_their_texts_have_names,
];

const TEXT: u64 = 0xffff_ffff_8100_0000;

const FORMAT: &str = "name: call\nID: 7\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
    \tfield:void * fn;\toffset:8;\tsize:8;\tsigned:0;\n\n\
    print fmt: \"S=%pS s=%ps F=%pF f=%pf B=%pB p=%p\", REC->fn, REC->fn, REC->fn, REC->fn, REC->fn, REC->fn\n";

const KALLSYMS: &str = "ffffffff81000000 T _text\nffffffff81000100 t do_it\nffffffff81000200 T other\n";

/// Writes a capture with a sample for each address, and a kallsyms. Returns their paths.
fn files(name: &str, functions: &[u64]) -> (PathBuf, PathBuf) {
    let attr = Attr {
        kind: EventType::TRACEPOINT,
        config: 7,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::RAW,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP,
        sample_period: 1,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap();
    let events = [EventFields { attr, name: Some(b"made:call".to_vec()), ..EventFields::default() }];
    let out = Cursor::new(Vec::new());
    let mut writer = FileWriter::new(out, &events, &WriteOptions::default()).unwrap();
    let systems = vec![(b"made".to_vec(), vec![FORMAT.as_bytes().to_vec()])];
    let tracing =
        TracingDataFields { long_size: 8, page_size: 4096, systems, ..TracingDataFields::default() };
    let mut bytes = Vec::new();
    tracing.write(&mut bytes, Endianness::Little).unwrap();
    writer.features().raw(Feature::TRACING_DATA, &bytes).unwrap();

    let filename = b"[kernel.kallsyms]_text";
    let text = Mmap { pid: -1, tid: 0, addr: TEXT, len: 0x1000, pgoff: TEXT, filename };
    let mut bytes = Vec::new();
    let (record, trailer) = (Record::Mmap(text), SampleIdFields::default());
    write::record::<LittleEndian>(&mut bytes, &layout, Misc(1), &record, &trailer).unwrap();
    writer.record(&bytes).unwrap();
    for &function in functions {
        let fields = SampleFields {
            ip: Some(0x1234),
            pid_tid: Some((5, 5)),
            time: Some(1000),
            raw: Some(Bytes::new(false).u16(7).zeros(6).u64(function).zeros(4).out),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &layout, Misc(2), &fields).unwrap();
        writer.record(&bytes).unwrap();
    }
    let (path, kallsyms) = (needs::folder().join(name), needs::folder().join(format!("{name}.kallsyms")));
    fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    fs::write(&kallsyms, KALLSYMS).unwrap();
    (path, kallsyms)
}

/// Returns the lines of a run, without blanks around them.
fn lines(verb: &str, (path, kallsyms): &(PathBuf, PathBuf), args: &[&str]) -> Vec<String> {
    let kallsyms = ["--kallsyms", kallsyms.to_str().unwrap()];
    let run = perfdata(verb, path.to_str().unwrap(), &[&kallsyms, args].concat());
    assert_eq!(run.status, 0, "{run:?}");
    run.out.lines().map(|line| line.trim().to_owned()).collect()
}

/// perf 6.1 prints this text, but for `%pF` and `%pf`, which kernels since 5.5 do not have, and `%pB`.
fn function_pointers_have_names() {
    let made = files("functions.data", &[TEXT + 0x110, TEXT + 0x200, 0x10]);
    assert_eq!(
        lines("script", &made, &["-F", "trace"]),
        [
            "S=do_it+0x10 s=do_it F=do_it+0x10 f=do_it B=do_it+0x10 p=0xffffffff81000110",
            // A return address after the last call of a function.
            "S=other+0x0 s=other F=other+0x0 f=other B=do_it+0x100 p=0xffffffff81000200",
            "S=0x10 s=0x10 F=0x10 f=0x10 B=0x10 p=0x10",
        ]
    );
}

fn without_symbols_they_are_addresses() {
    let made = files("no_functions.data", &[TEXT + 0x110]);
    let all = ["S", "s", "F", "f", "B", "p"].map(|letter| format!("{letter}=0xffffffff81000110")).join(" ");
    assert_eq!(lines("script", &made, &["-F", "trace", "--no-symbols"]), [all]);
}

/// However many threads read the capture.
fn rows_of_their_texts_have_names() {
    let made = files("function_rows.data", &[TEXT + 0x110, TEXT + 0x110, TEXT + 0x200]);
    for threads in ["1", "4"] {
        let lines = lines("report", &made, &["--stdio", "-s", "trace", "--threads", threads]);
        let has = |text: &str| lines.iter().any(|line| line.contains(text));
        assert!(has("66.67%  S=do_it+0x10 s=do_it") && has("33.33%  S=other+0x0 s=other"), "{lines:?}");
    }
}
