//! Captures without their secrets.

use std::collections::BTreeSet;
use std::io::Cursor;

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::event::EventType;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::Misc;
use perf_parse::abi::regs::RegsAbi;
use perf_parse::abi::sample_type::SampleType;
use perf_parse::feature::FeatureData;
use perf_parse::file::RecordCheck;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Record;
use perf_parse::write::{RecordEncoder, RegsFields, SampleFields, SampleIdFields, StackUserFields};
use perf_parse::{Reader, SampleLayout};
use perf_profile::Symbols;
use perf_profile::edit::{CaptureEdit, Redaction, SecretKind};

fn redacted(bytes: &[u8], redaction: Redaction) -> Vec<u8> {
    let reader = Reader::new(bytes).unwrap();
    let edit = CaptureEdit::new().redact(Some(redaction));
    edit.write_file(&reader, &Symbols::of(&reader), Cursor::new(Vec::new()), |_| {}).unwrap().out.into_inner()
}

/// Returns text with a character for each byte.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Texts that stay in a capture, or that a pseudonym begins with.
const PUBLIC: &str = "[kernel.kallsyms]_text [kernel.kallsyms]_stext [guest.kernel.kallsyms] [vsyscall] [vdso] [vvar] [vvar_vclock] [vectors] [sigpage] [uprobes] //anon \
    /anon_hugepage /dev/zero [stack] [heap] (deleted) /memfd: event- comm- host-";

/// Returns the names in a capture that have five bytes or more, and are no words of its public texts.
fn secrets(reader: &Reader<'_>) -> BTreeSet<Vec<u8>> {
    let mut public = PUBLIC.as_bytes().to_vec();
    let mut names = Vec::new();
    for section in reader.features() {
        match section.decode() {
            Ok(FeatureData::Hostname(host)) => names.push(host.to_vec()),
            Ok(FeatureData::CmdLine(words)) => names.extend(words.iter().map(|word| word.to_vec())),
            Ok(FeatureData::BuildId(ids)) => names.extend(ids.iter().map(|id| id.filename.to_vec())),
            _ => public.extend(section.bytes),
        }
    }
    reader.events().iter().for_each(|event| public.extend(event.name.iter().flatten()));
    for record in reader.records().flatten() {
        match record.decode() {
            Ok(Record::Comm(it)) => names.push(it.comm.to_vec()),
            Ok(Record::Mmap(it)) => names.push(it.filename.to_vec()),
            Ok(Record::Mmap2(it)) => names.push(it.filename.to_vec()),
            Ok(Record::Ksymbol(it)) => names.push(it.name.to_vec()),
            Ok(Record::Cgroup(it)) => names.push(it.path.to_vec()),
            _ => {}
        }
    }
    let parts = names.iter().flat_map(|name| name.split(|&byte| byte == b'/')).map(<[u8]>::to_vec);
    let (public, parts) = (latin1(&public), parts.collect::<BTreeSet<_>>());
    parts.into_iter().filter(|part| part.len() > 4 && !public.contains(&latin1(part))).collect()
}

#[test]
fn no_name_of_a_capture_is_in_the_result() {
    let every = if testdata::is_thorough() { 1 } else { 7 };
    let named = ["everything.data", "system_wide.data", "tracing.pipe.data"].map(testdata::path);
    let mut found = 0;
    for path in testdata::captures().into_iter().step_by(every).chain(named) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok(reader) = Reader::new(&bytes) else { continue };
        let result = redacted(&bytes, Redaction::new(SecretKind::ALL));
        // A search in text takes linear time.
        let text = latin1(&result);
        for secret in secrets(&reader).iter().map(|it| latin1(it)) {
            assert!(!text.contains(&secret), "{}: {secret}", path.display());
            found += 1;
        }
        let check = RecordCheck::new(&[]);
        for record in Reader::new(&result).unwrap().records() {
            check.record(&record.unwrap()).unwrap();
        }
    }
    assert!(found > 100, "{found} names");
}

#[test]
fn a_salt_gives_the_same_file() {
    let bytes = std::fs::read(testdata::path("system_wide.data")).unwrap();
    let salted = |salt: &[u8]| redacted(&bytes, Redaction::with_salt(SecretKind::ALL, salt));
    assert!(salted(b"salt") == salted(b"salt"));
    assert!(salted(b"salt") != salted(b"pepper"));
    let random = || redacted(&bytes, Redaction::new(SecretKind::ALL));
    assert!(random() != random());
    // A redacted file has only pseudonyms.
    assert!(redacted(&salted(b"salt"), Redaction::with_salt(SecretKind::ALL, b"salt")) != salted(b"salt"));
}

/// Returns a capture with the word SECRET wherever a record, a feature or an event can have one.
fn planted() -> Vec<u8> {
    let sample_type = SampleType::TID | SampleType::RAW | SampleType::REGS_USER | SampleType::STACK_USER;
    let attr = Attr {
        kind: EventType::TRACEPOINT,
        sample_type,
        sample_regs_user: 1,
        sample_stack_user: 64,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap();
    let event = EventFields {
        name: Some(b"SECRET_group:SECRET".to_vec()),
        ids: vec![7],
        attr,
        ..EventFields::default()
    };
    let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &[event], &options).unwrap();
    writer.features().set(&FeatureData::Hostname(b"SECRET".into())).unwrap();
    for feature in [1, 11, 17, 25, 26, 40, 128, 129, 130, 131, 132, 133, 134, 200].map(Feature) {
        writer.features().raw(feature, b"SECRET\0\0").unwrap();
    }
    let encoder = RecordEncoder::new_in(Endianness::Little, &layout);
    let mut bytes = Vec::new();
    let fields = SampleFields {
        pid_tid: Some((1, 1)),
        raw: Some(b"....SECRET..".to_vec()),
        regs_user: Some(RegsFields { abi: RegsAbi(2), values: vec![u64::from_le_bytes(*b"SECRET__")] }),
        stack_user: Some(StackUserFields { data: b"SECRET__".repeat(8), dyn_size: Some(64) }),
        ..SampleFields::default()
    };
    encoder.sample(&mut bytes, Misc(2), &fields).unwrap();
    // A COMM with bytes after the end of the name, and records of perf, of simpleperf and of nobody.
    let comm = perf_parse::record::Comm { pid: 1, tid: 1, comm: b"c" };
    encoder.record(&mut bytes, Misc(0), &Record::Comm(comm), &SampleIdFields::default()).unwrap();
    for kind in [48_u32, 72, 73, 78, 84, 90, 200, 32_769, 32_770, 32_778, 40_000] {
        let header = [kind.to_le_bytes().to_vec(), vec![0, 0], 24_u16.to_le_bytes().to_vec()].concat();
        bytes.extend([header, b"SECRET__SECRET\0\0".to_vec()].concat());
    }
    // An EVENT_UPDATE that names the event.
    let words = [40 << 48 | 78, 2, 7].map(u64::to_le_bytes).concat();
    bytes.extend([&words, &b"SECRET__SECRET\0\0"[..]].concat());
    writer.records(&bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

#[test]
fn what_is_not_known_is_left_out() {
    let bytes = planted();
    assert!(contains(&bytes, b"SECRET"));
    let result = redacted(&bytes, Redaction::new(SecretKind::ALL));
    assert!(!contains(&result, b"SECRET"));
    let reader = Reader::new(&result).unwrap();
    assert_eq!(reader.records().filter(|it| it.as_ref().unwrap().sample().is_some()).count(), 1);
    // Nothing but the name of the host, which is not in the list.
    let kinds =
        [SecretKind::Comms, SecretKind::Paths, SecretKind::Cmdline, SecretKind::Raw, SecretKind::Strings];
    let result = redacted(&bytes, Redaction::new(&kinds));
    assert_eq!(result.windows(6).filter(|&it| it == b"SECRET").count(), 1);
}
