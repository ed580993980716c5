//! Generated code as files, and mappings of them: each sample has the names that it had.

mod recording;

use std::fs;
use std::io::Cursor;
use std::path::Path;

use perf_parse::Reader;
use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::record::{Misc, RecordType};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::record::{Comm, FileId, Mmap, Mmap2, Record, Task};
use perf_parse::rewrite::Edit;
use perf_parse::sample::Reading;
use perf_parse::write::SampleFields;
use perf_profile::edit::{GeneratedCode, GeneratedCodeError};
use perf_profile::{Samples, Symbols};
use perf_symbol::{NoSymbols, SymbolOptions};
use recording::Recording;
use testdata::JitdumpBytes;

const PID: i32 = 5;

/// Starts a capture with these times.
fn capture_of(clockid: i32) -> Recording {
    let mut it = Recording::new(Attr {
        sample_type: SampleType::TID | SampleType::TIME | SampleType::IP,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::USE_CLOCKID,
        clockid,
        ..Attr::default()
    });
    it.record(Misc(0), Record::Comm(Comm { pid: PID, tid: PID, comm: b"node" }));
    it
}

fn map(it: &mut Recording, (addr, len): (u64, u64), filename: &[u8]) {
    let (id, prot_flags) = (FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 }, Some((5, 2)));
    let (pid, tid, pgoff, reading) = (PID, PID, 0, Reading::Certain);
    let record = Mmap2 { pid, tid, addr, len, pgoff, id, prot_flags, reading, filename };
    it.record(Misc(2), Record::Mmap2(record));
}

fn sample(it: &mut Recording, pid: i32, ip: u64) {
    it.sample(Misc(2), SampleFields { pid_tid: Some((pid, pid)), ip: Some(ip), ..SampleFields::default() });
}

/// Returns the time and the function of each sample, with its source.
fn names(capture: &[u8]) -> Vec<String> {
    let reader = Reader::new(capture).unwrap();
    let symbols = Symbols::of(&reader);
    let described = Samples::of(&reader).named(&symbols).map(|sample| {
        let sample = sample.unwrap();
        let frame = &sample.stack()[0];
        let text = |bytes: Option<&[u8]>| bytes.map(|it| String::from_utf8_lossy(it).into_owned());
        let offset = frame.symbol().and_then(|it| it.offset);
        let (name, file) = (text(frame.function()), text(frame.file()));
        format!("{:?} {name:?}+{offset:?} {file:?}:{:?}", sample.time(), frame.line())
    });
    described.collect()
}

/// Returns a capture with its generated code in a folder, and the sentences about what was left out.
fn with_code(capture: &[u8], folder: &Path) -> (Vec<u8>, GeneratedCode) {
    let reader = Reader::new(capture).unwrap();
    let of = || {
        let write =
            |image: &perf_profile::edit::CodeImage| fs::write(folder.join(image.name()), image.bytes());
        GeneratedCode::of(&reader, &Symbols::of(&reader), folder, write).unwrap()
    };
    let edited = of().add_to(Edit::new()).write_file(&reader, Cursor::new(Vec::new()), |_| {}).unwrap();
    assert!(edited.account.is_clean() && edited.dropped == 0);
    (edited.out.into_inner(), of())
}

#[test]
fn each_sample_has_the_function_that_was_there() {
    for is_big in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jit-5.dump");
        let path = path.to_str().unwrap();
        let dump = JitdumpBytes::new(is_big)
            // Before the recording began.
            .load(2, 0x10_000, 64, 1, "early")
            .lines(0x10_100, &[(0x10_100, 3, "/src/a.js"), (0x10_110, 4, "/src/b.js"), (0x10_120, 9, "")])
            .load(100, 0x10_100, 64, 2, "lined")
            // In place of what was there, in part.
            .load(200, 0x10_020, 64, 3, "over")
            .moved(300, 0x10_100, 0x10_400, 64, 2)
            .load_cut(300, 0x10_100, (64, 10), 4, "without all its code")
            .load(300, 0x10_200, 0, 5, "empty");
        fs::write(path, &dump.out).unwrap();
        let mut capture = capture_of(1);
        map(&mut capture, (0x10_000, 0x1000), b"//anon");
        map(&mut capture, (0x20_000, 0x1000), path.as_bytes());
        let everywhere = [0x10_004, 0x10_03f, 0x10_050, 0x10_104, 0x10_114, 0x10_404, 0x10_800];
        let samples = |it: &mut Recording, time: u64| {
            it.at(time - 1);
            everywhere.iter().for_each(|&ip| sample(it, PID, ip));
        };
        samples(&mut capture, 50);
        samples(&mut capture, 150);
        // The compiler protects its memory again.
        map(capture.at(159), (0x10_000, 0x1000), b"//anon");
        samples(&mut capture, 250);
        // Memory without code stays.
        map(&mut capture, (0x30_000, 0x1000), b"//anon");
        samples(&mut capture, 350);
        let fork = Task { pid: 6, ppid: PID, tid: 6, ptid: PID, time: 400 };
        sample(capture.at(399).record(Misc(0), Record::Fork(fork)), 6, 0x10_404);
        let capture = capture.finish();

        let before = names(&capture);
        let (edited, code) = with_code(&capture, folder.path());
        assert_eq!((code.functions(), code.images(), code.left_out().count()), (5, 1, 0));
        fs::remove_file(path).unwrap();
        let after = names(&edited);
        assert_eq!(before.len(), after.len());
        let parent_and_child = before.len() - 1;
        for (before, after) in before[..parent_and_child].iter().zip(&after) {
            assert_eq!(before, after);
        }
        assert!(after[parent_and_child].contains("\"lined\")+Some(4)"), "{:?}", after.last());
        let named = |name: &str| after.iter().filter(|it| it.contains(name)).count();
        assert_eq!((named("early"), named("over"), named("/src/b.js\"):Some(4)")), (6, 4, 2), "{after:#?}");
        let mappings = Reader::new(&edited)
            .unwrap()
            .records()
            .flatten()
            .filter(|it| it.kind() == RecordType::MMAP2)
            .count();
        // Four were recorded, and one of them covered code.
        assert_eq!(mappings, 3 + 5);
        assert!(with_code(&capture, folder.path()).0 != edited, "the dump is gone");
    }
}

#[test]
fn memory_with_a_perf_map_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    // No process has this number.
    let path = Path::new("/tmp/perf-1999999995.map");
    fs::write(path, "10000 40 first\n10010 10 second\nffff00000000 20 far\n10100 8 with\0nul\n").unwrap();
    let mut capture = capture_of(0);
    let pid = 1_999_999_995;
    let filename = &b"//anon"[..];
    let mmap = |addr, len| Record::Mmap(Mmap { pid, tid: pid, addr, len, pgoff: 0, filename });
    capture.record(Misc(2), mmap(0x10_000, 0x1000)).record(Misc(2), mmap(0xffff_0000_0000, 0x1000));
    capture.record(Misc(2), mmap(0x50_000, 0x1000));
    for ip in [0x10_004, 0x10_014, 0x10_024, 0x10_050, 0xffff_0000_001f, 0x10_104, 0x50_000] {
        sample(&mut capture, pid, ip);
    }
    let capture = capture.finish();
    let before = names(&capture);
    let (edited, code) = with_code(&capture, folder.path());
    fs::remove_file(path).unwrap();
    assert_eq!((code.functions(), code.images(), code.left_out().count()), (5, 1, 0));
    let without_offsets = |names: Vec<String>| {
        let name =
            |it: String| it.split_once(")+").map_or(it.clone(), |(name, _)| name.replace("\\0nul", ""));
        names.into_iter().map(name).collect::<Vec<_>>()
    };
    let after = names(&edited);
    assert!(after[0].contains("first") && after[4].contains("far"), "{after:#?}");
    assert_eq!(without_offsets(before), without_offsets(after));
}

/// A capture can name one file by many paths.
#[test]
fn all_files_together_are_no_larger_than_one_may_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jit-5.dump");
    let dump = JitdumpBytes::new(false).load(2, 0x10_000, 64, 1, "early").out;
    fs::write(&path, &dump).unwrap();
    let mut capture = capture_of(1);
    for dots in ["", "./", "././", "./././"] {
        let path = format!("{}/{dots}jit-5.dump", folder.path().display());
        map(&mut capture, (0x20_000, 0x1000), path.as_bytes());
    }
    let capture = capture.finish();
    let reader = Reader::new(&capture).unwrap();
    for (files, images) in [(4, 1), (3, 1), (0, 0)] {
        let mut options = SymbolOptions::default();
        options.limits.file = files * dump.len() as u64 + u64::from(files == 0) * (dump.len() as u64 - 1);
        let symbols = Symbols::new(reader.features(), options);
        let code = GeneratedCode::of(&reader, &symbols, folder.path(), |_| Ok(())).unwrap();
        assert_eq!((code.images(), code.left_out().count()), (images, 4 - files as usize), "{files}");
        assert!(files == 0 || code.left_out().all(|(_, why)| *why == GeneratedCodeError::TooMuch));
    }
}

#[test]
fn what_cannot_be_named_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jit-5.dump");
    let of = |content: Option<Vec<u8>>, clock| {
        drop(fs::remove_file(&path));
        content.iter().for_each(|it| fs::write(&path, it).unwrap());
        let mut capture = capture_of(clock);
        map(&mut capture, (0x20_000, 0x1000), path.to_str().unwrap().as_bytes());
        let (_, code) = with_code(&capture.finish(), folder.path());
        assert_eq!((code.functions(), code.images()), (0, 0));
        let left_out = code.left_out().map(|(path, why)| (path.to_owned(), why.clone())).collect::<Vec<_>>();
        let [(at, why)] = &left_out[..] else { panic!("{left_out:?}") };
        assert_eq!(Path::new(at), path);
        why.clone()
    };
    let dump = |flags| Some(JitdumpBytes::with_flags(false, flags).load(2, 0x10_000, 64, 1, "early").out);
    assert_eq!(of(None, 1), GeneratedCodeError::File(NoSymbols::NotFound));
    assert!(matches!(of(Some(b"no dump".to_vec()), 1), GeneratedCodeError::File(NoSymbols::Malformed(_))));
    assert_eq!(of(dump(0), 0), GeneratedCodeError::CaptureClock);
    assert_eq!(of(dump(1), 1), GeneratedCodeError::DumpClock);
}
