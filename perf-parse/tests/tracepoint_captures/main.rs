//! Tracepoints of real captures.

use std::fs;

use perf_parse::abi::endian::{Endianness, LittleEndian};
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::tracepoint::{Format, Tracepoints, TracingData, TracingDataFields, TracingErrorKind, Value};
use perf_parse::write::WriteError;
use perf_parse::{Reader, Record};

const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/captures");
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/foreign");

fn capture(name: &str) -> Vec<u8> {
    fs::read(format!("{CAPTURES}/{name}.data")).unwrap()
}

fn open(bytes: &[u8]) -> Reader<'_> {
    let reader = Reader::new(bytes).unwrap();
    assert_eq!(reader.endianness(), Endianness::Little, "recorded on x86");
    reader
}

fn tracing_data<'a>(file: &'a Reader<'_>) -> TracingData<'a> {
    TracingData::parse(file.feature(Feature::TRACING_DATA).unwrap().bytes).unwrap()
}

/// Formats a value for comparison.
fn show(value: &Value<'_>) -> String {
    match value {
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
        Value::Pointer(number) => format!("{number:#x}"),
        Value::Bool(bool) => bool.to_string(),
        Value::Str(text) => text.escape_ascii().to_string(),
        Value::Array(array) => format!("{:?}", array.values().map(|value| show(&value)).collect::<Vec<_>>()),
        Value::Bytes(bytes) => format!("{bytes:02x?}"),
        other => panic!("{other:?}"),
    }
}

/// Calls `check` with the format and the raw data of each sample of a tracepoint; returns the number of samples.
fn samples(bytes: &[u8], tracepoints: &Tracepoints<'_>, mut check: impl FnMut(&Format<'_>, &[u8])) -> usize {
    let mut count = 0;
    for record in open(bytes).records() {
        let record = record.unwrap();
        let Record::Sample(sample) = record.decode().unwrap() else { continue };
        let attr = record.event().unwrap().attr;
        if attr.kind != EventType::TRACEPOINT {
            continue;
        }
        let format = tracepoints.get(attr.config).unwrap();
        check(format, sample.tail().unwrap().raw.unwrap());
        count += 1;
    }
    count
}

#[test]
fn captures_describe_the_tracepoints_that_they_record() {
    for (name, formats) in [
        ("raw", &["raw_syscalls:sys_enter", "sched:sched_process_exec"][..]),
        ("everything", &["raw_syscalls:sys_exit"]),
        ("uprobe", &["capture:probed"]),
    ] {
        let bytes = capture(name);
        let file = open(&bytes);
        let data = tracing_data(&file);
        assert_eq!((data.version, data.endianness), (&b"0.6"[..], Endianness::Little));
        assert_eq!((data.long_size, data.kernel_long_size(), data.page_size), (8, 8, 4096));
        assert_eq!((data.kallsyms, data.rest), (&b""[..], &b""[..]));
        let tracepoints = Tracepoints::new(&data);
        assert_eq!(tracepoints.faults(), []);
        let mut names: Vec<_> = tracepoints
            .formats()
            .iter()
            .map(|format| [format.system, format.name].map(|name| name.escape_ascii().to_string()).join(":"))
            .collect();
        names.sort_unstable();
        assert_eq!(names, formats, "{name}");
        let mut probed = Vec::new();
        let count = samples(&bytes, &tracepoints, |format, raw| {
            let sample = format!("{name}: {}", format.name.escape_ascii());
            let mut end = 0;
            for (field, value) in format.fields(raw, Endianness::Little) {
                let value = show(&value.unwrap_or_else(|error| panic!("{sample}: {error}")));
                match field.name {
                    b"common_type" => assert_eq!(value, format.id.to_string()),
                    b"args" => assert_eq!(value.matches(',').count(), 5, "{sample}: {value}"),
                    b"n" => probed.push(value),
                    b"filename" => assert!(value.contains('/'), "{sample}: {value}"),
                    _ => {}
                }
                end = end.max(field.offset + field.size);
            }
            // After the fields come dynamic arrays and the padding, which makes the raw data and its size a multiple
            // of 8 bytes.
            assert!((raw.len() + 4) % 8 == 0 && end as usize <= raw.len());
        });
        assert!(count > 0);
        // The argument at which the probe was set counts the calls.
        let counted = if name == "uprobe" { count } else { 0 };
        assert_eq!(probed, (0..counted).map(|n| n.to_string()).collect::<Vec<_>>());
    }
}

#[test]
fn a_pipe_has_the_same_behind_a_record() {
    let bytes = capture("tracing.pipe");
    let mut found = 0;
    let mut rest = &bytes[16..];
    while let Ok((record, after)) = perf_parse::RawRecord::<LittleEndian>::parse(rest) {
        rest = after;
        if record.kind() == RecordType::HEADER_TRACING_DATA {
            let size = u32::from_le_bytes(*record.payload().first_chunk().unwrap()) as usize;
            let data = TracingData::parse(&after[..size]).unwrap();
            assert!(data.rest.len() < 8 && data.rest.iter().all(|&byte| byte == 0));
            let tracepoints = Tracepoints::new(&data);
            let format = tracepoints.find(b"raw_syscalls", b"sys_enter").unwrap();
            assert_eq!(tracepoints.get(u64::from(format.id)), Some(format));
            rest = &after[size..];
            found += 1;
        }
    }
    assert_eq!(found, 1);
}

#[test]
fn tracing_data_of_a_capture_cut_short_anywhere_is_an_error_in_it() {
    let bytes = capture("raw");
    let file = open(&bytes);
    let section = file.feature(Feature::TRACING_DATA).unwrap();
    for len in 0..section.bytes.len() {
        let error = TracingData::parse(&section.bytes[..len]).unwrap_err();
        assert!(error.offset as usize <= len, "{error}");
        let kind = error.kind;
        assert!(!matches!(kind, TracingErrorKind::Invalid { .. }), "{error}");
    }
    TracingData::parse(section.bytes).unwrap();
}

/// LinuxTracepoints decoded the same capture. It has one row in each line, in file order.
#[test]
fn sched_switch_is_as_another_decoder_has_it() {
    let path = format!("{CORPUS}/LinuxTracepoints/perf.data");
    let (bytes, golden) = (fs::read(&path).unwrap(), fs::read(format!("{path}.linux.json")).unwrap());
    let golden = String::from_utf8_lossy(&golden);
    let mut rows = golden.lines().filter(|line| line.trim_start().starts_with('{'));
    let file = open(&bytes);
    let tracepoints = Tracepoints::new(&tracing_data(&file));
    assert_eq!(tracepoints.faults(), []);
    let (mut switches, mut fields) = (0, 0);
    samples(&bytes, &tracepoints, |format, raw| {
        let row = rows.next().unwrap();
        // The format of a user_events tracepoint has only the first fields; each is 8 bytes after the common fields.
        let own = format.fields(raw, Endianness::Little).skip(format.common_fields().len());
        for (field, value) in own {
            let name = field.name.escape_ascii().to_string();
            let value = show(&value.unwrap());
            let pattern = match &*name {
                _ if format.system == b"user_events" => match (&*name, &*value) {
                    ("eventheader_flags", _) => continue,
                    (_, "0") => {
                        assert!(!row.contains(&format!("\"{name}\":0")));
                        continue;
                    }
                    ("tag", tag) => format!("\"tag\":\"0x{:X}\"", tag.parse::<u16>().unwrap()),
                    (name, value) => format!("\"{name}\":{value}"),
                },
                "prev_comm" | "next_comm" => format!("\"{name}\":\"{value}\""),
                "prev_pid" | "next_pid" => format!("\"{name}\":\"0x{:X}\"", value.parse::<u32>().unwrap()),
                _ => format!("\"{name}\":{value},"),
            };
            assert!(row.contains(&pattern), "{pattern} is not in {row}");
            fields += 1;
        }
        switches += u32::from(format.name == b"sched_switch");
    });
    assert_eq!(rows.next(), None);
    println!("{switches} rows of sched_switch, {fields} fields of all");
    assert!(switches > 100 && fields > 7 * switches);
}

/// Returns the fields of tracing data as they were read.
fn fields_of(data: &TracingData<'_>) -> TracingDataFields {
    let mut fields = TracingDataFields {
        long_size: data.long_size,
        page_size: data.page_size,
        header_page: data.header_page.to_vec(),
        header_event: data.header_event.to_vec(),
        kallsyms: data.kallsyms.to_vec(),
        printk_formats: data.printk_formats.to_vec(),
        saved_cmdlines: data.saved_cmdlines.unwrap().to_vec(),
        ..TracingDataFields::default()
    };
    for format in data.formats() {
        let text = format.text.to_vec();
        match fields.systems.last_mut() {
            _ if format.system == b"ftrace" => fields.ftrace.push(text),
            Some((system, texts)) if *system == format.system => texts.push(text),
            _ => fields.systems.push((format.system.to_vec(), vec![text])),
        }
    }
    fields
}

#[test]
fn tracing_data_of_perf_is_written_as_perf_wrote_it() {
    for name in ["raw", "everything", "uprobe"] {
        let bytes = capture(name);
        let file = open(&bytes);
        let section = file.feature(Feature::TRACING_DATA).unwrap();
        let data = tracing_data(&file);
        let mut written = Vec::new();
        fields_of(&data).write(&mut written, Endianness::Little).unwrap();
        assert_eq!(written.len() + data.rest.len(), section.bytes.len(), "{name}");
        assert!(section.bytes.starts_with(&written), "{name}");

        let mut big = Vec::new();
        fields_of(&data).write(&mut big, Endianness::Big).unwrap();
        let again = TracingData::parse(&big).unwrap();
        assert_eq!(again.endianness, Endianness::Big);
        assert_eq!(fields_of(&again), fields_of(&data), "{name}");
    }
}

#[test]
fn the_name_of_a_system_with_a_nul_is_not_written() {
    let fields =
        TracingDataFields { systems: vec![(b"a\0b".to_vec(), Vec::new())], ..TracingDataFields::default() };
    let mut out = b"before".to_vec();
    let error = fields.write(&mut out, Endianness::Little).unwrap_err();
    assert_eq!(error, WriteError::Invalid { field: "system", must: "free of NULs" });
    assert_eq!(out, b"before");
}
