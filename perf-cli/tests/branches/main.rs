//! `perfdata export` of branch stacks: on a capture made here, of a file that two processes have at different addresses, and
//! on all captures of `testdata`. `testdata/check/branches.sh` gives the texts to the programs that read them.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::branch::{BranchFlags, BranchSampleType};
use perf_abi::endian::LittleEndian;
use perf_abi::event::EventType;
use perf_abi::record::Misc;
use perf_abi::sample_type::SampleType;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Mmap;
use perf_parse::write::{self, BranchFields, BranchStackFields, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};
use testdata::elf::{Elf, TEXT, TEXT_OFFSET};

/// Where the two processes have the code.
const BASES: [u64; 2] = [0x5555_5555_0000, 0x7777_0000];

struct Made {
    attr: Attr,
    layout: SampleLayout,
    records: Vec<Vec<u8>>,
}

impl Made {
    fn new() -> Self {
        let sample_type = SampleType::IP
            | SampleType::TID
            | SampleType::TIME
            | SampleType::PERIOD
            | SampleType::BRANCH_STACK;
        let flags = AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP;
        let branch_sample_type = BranchSampleType::USER | BranchSampleType::ANY;
        let attr =
            Attr { kind: EventType::HARDWARE, sample_type, flags, branch_sample_type, ..Attr::default() };
        Self { attr, layout: SampleLayout::new(&attr).unwrap(), records: Vec::new() }
    }

    fn now(&self) -> u64 {
        1_000_000_000 + 1000 * self.records.len() as u64
    }

    fn map(mut self, pid: i32, addr: u64, pgoff: u64, path: &Path) -> Self {
        let filename = path.as_os_str().as_encoded_bytes();
        let record = Record::Mmap(Mmap { pid, tid: pid, addr, len: 0x1000, pgoff, filename });
        let trailer = SampleIdFields { pid, tid: pid, time: self.now(), ..SampleIdFields::default() };
        let mut bytes = Vec::new();
        write::record::<LittleEndian>(&mut bytes, &self.layout, Misc(2), &record, &trailer).unwrap();
        self.records.push(bytes);
        self
    }

    /// Adds a sample at the target of the newest branch.
    fn sample(mut self, pid: i32, branches: &[(u64, u64, BranchFlags)]) -> Self {
        let entries = branches.iter().map(|&(from, to, flags)| BranchFields { from, to, flags }).collect();
        let fields = SampleFields {
            ip: Some(branches.first().map_or(0, |it| it.1)),
            pid_tid: Some((pid, pid)),
            time: Some(self.now()),
            period: Some(1),
            branch_stack: Some(BranchStackFields { entries, ..BranchStackFields::default() }),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &self.layout, Misc(2), &fields).unwrap();
        self.records.push(bytes);
        self
    }

    fn file(&self, name: &str) -> PathBuf {
        let out = Cursor::new(Vec::new());
        let events = [EventFields { attr: self.attr, ..EventFields::default() }];
        let mut writer = FileWriter::new(out, &events, &WriteOptions::default()).unwrap();
        self.records.iter().for_each(|record| writer.record(record).unwrap());
        let path = needs::folder().join(name);
        fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
        path
    }
}

/// An ELF file whose code has other addresses than offsets.
fn program(name: &str) -> PathBuf {
    let path = needs::folder().join(name);
    fs::write(&path, Elf::new(62, true).build()).unwrap();
    path
}

/// A loop that two processes run at different addresses: entered from another file, jumped back twice, one time
/// mispredicted, and left to the other file. Then entries of no file.
fn made(name: &str) -> PathBuf {
    let (program, library) = (program(&format!("{name}.program")), program(&format!("{name}.library")));
    let (predicted, mispredicted) = (BranchFlags::PREDICTED, BranchFlags::MISPRED);
    let mut made = Made::new();
    for (pid, base) in [10, 20].into_iter().zip(BASES) {
        made = made
            .map(pid, base, TEXT_OFFSET, &program)
            .map(pid, base + 0x10_0000, TEXT_OFFSET, &library)
            .sample(
                pid,
                &[
                    (base + 0x40, base + 0x10_0020, predicted),
                    (base + 0x30, base + 0x20, mispredicted),
                    (base + 0x30, base + 0x20, predicted),
                    (base + 0x10_0010, base + 0x10, predicted),
                    (0, 0, BranchFlags::default()),
                ],
            );
    }
    made.file(&format!("{name}.data"))
}

/// Runs `perfdata export`; returns the text, and what it said.
fn export(to: &str, args: &[&str], captures: &[&Path]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["export", "--to", to, "-o", "-"]).args(args).args(captures).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn exported(to: &str, args: &[&str], captures: &[&Path]) -> String {
    let (status, text, errors) = export(to, args, captures);
    assert_eq!(status, 0, "{errors}");
    text
}

#[test]
fn the_addresses_are_those_of_the_file() {
    let capture = made("addresses");
    let addresses = [0x10, 0x20, 0x30, 0x40].map(|it| TEXT + it);
    let [entry, start, jump, call] = addresses;
    let expected = format!(
        "B X:0 {entry:x} 2 0\nB {jump:x} {start:x} 4 2\nB {call:x} X:0 2 0\n\
        f {entry:x} {jump:x} 2\nF {start:x} {jump:x} 2\nF {start:x} {call:x} 2\n"
    );
    let lines = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let binary = ["--binary", "addresses.program"];
    assert_eq!(lines(&exported("preagg", &binary, &[&capture])), lines(&expected));
    // The first segment is at 0.
    let expected = format!(
        "3\n{entry:x}-{jump:x}:2\n{start:x}-{jump:x}:2\n{start:x}-{call:x}:2\n0\n1\n{jump:x}->{start:x}:4\n"
    );
    assert_eq!(exported("autofdo", &binary, &[&capture]), expected);
    let line = format!(
        "               0 {call:#x}/0x0/P/-/-/0  {jump:#x}/{start:#x}/M/-/-/0  {jump:#x}/{start:#x}/P/-/-/0  0x0/{entry:#x}/P/-/-/0 \n"
    );
    let text = exported("brstack", &binary, &[&capture]);
    let (mapping, samples) = text.split_once('\n').unwrap();
    assert!(mapping.starts_with("PERF_RECORD_MMAP2 0/0: [0x5000(0x1000) @ 0x4000 "), "{mapping}");
    assert!(mapping.ends_with("addresses.program"), "{mapping}");
    assert_eq!(samples, line.repeat(2));
}

#[test]
fn the_samples_are_in_the_other_file() {
    let capture = made("library");
    let text = exported("autofdo", &["--binary", "library.library"], &[&capture]);
    assert_eq!(text, "0\n1\n5020:2\n0\n");
    let text = exported("preagg", &["--binary", "library.library"], &[&capture]);
    assert_eq!(text, "B X:0 5020 2 0\nB 5010 X:0 2 0\n");
}

#[test]
fn captures_add_up() {
    let capture = made("twice");
    let once = exported("preagg", &[], &[&capture]);
    let twice = exported("preagg", &[], &[&capture, &capture]);
    let doubled: Vec<String> = once
        .lines()
        .map(|line| {
            let words: Vec<_> = line.split(' ').collect();
            let counts = if words[0] == "B" { 2 } else { 1 };
            let (places, counts) = words.split_at(words.len() - counts);
            let counts = counts.iter().map(|it| (2 * it.parse::<u64>().unwrap()).to_string());
            places.iter().map(|it| (*it).to_owned()).chain(counts).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(twice.lines().collect::<Vec<_>>(), doubled);
}

#[test]
fn the_file_with_the_most_branches_is_taken_and_said() {
    let capture = made("most");
    for to in ["brstack", "preagg", "autofdo"] {
        let (status, text, errors) = export(to, &[], &[&capture]);
        assert_eq!(status, 0);
        assert!(errors.contains("most.program: 8 of 10"), "{errors}");
        let (_, named, silent) = export(to, &["--binary", "most.program"], &[&capture]);
        assert_eq!((named, silent.as_str()), (text, ""));
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let capture = made("refused");
    let plain = testdata::path("plain.data");
    for to in ["brstack", "preagg", "autofdo"] {
        let (status, text, errors) = export(to, &[], &[&plain]);
        assert_eq!((status, text.as_str()), (1, ""));
        assert!(errors.contains("no sample has a branch stack"), "{errors}");
        let (status, _, errors) = export(to, &["--binary", "nothing"], &[&capture]);
        assert_eq!(status, 1);
        assert!(errors.contains("no branch is in this file; most are in"), "{errors}");
        let (status, text, errors) = export(to, &["--symfs", "/nonexistent"], &[&capture]);
        assert_eq!((status, text.as_str()), (1, ""));
        assert!(errors.contains("without the file"), "{errors}");
    }
    let (status, _, errors) = export("brstack", &[], &[&capture, &capture]);
    assert_eq!(status, 1);
    assert!(errors.contains("takes one capture"), "{errors}");
}

#[test]
fn an_output_is_complete_or_absent() {
    let capture = made("absent");
    let out = needs::folder().join("absent.out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command
        .args(["export", "--to", "brstack", "--time", "no time", "-o"])
        .args([&out, &capture])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(!out.exists());
}

/// The name of a file cannot begin a line of its own.
#[test]
fn names_are_one_line() {
    let program = program("two\nlines");
    let branch = (BASES[0] + 0x30, BASES[0] + 0x20, BranchFlags::PREDICTED);
    let made = Made::new().map(10, BASES[0], TEXT_OFFSET, &program).sample(10, &[branch]);
    let text = exported("brstack", &[], &[&made.file("lines.data")]);
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("two\\nlines\n"), "{text}");
}

/// No capture ends the program, and nothing is written where no file is.
#[test]
fn no_capture_is_too_hostile() {
    let mut with_branches = 0;
    for capture in testdata::captures() {
        for to in ["brstack", "preagg", "autofdo"] {
            let (status, text, errors) = export(to, &["--symfs", "/nonexistent"], &[&capture]);
            assert_eq!((status, text.as_str()), (1, ""), "{}: {errors}", capture.display());
            with_branches += usize::from(errors.contains("without the file"));
        }
    }
    assert!(with_branches > 0);
}

/// perf: an address in a file that it has read stays, another one is counted from the start of what is mapped, in generated
/// code too.
#[test]
fn offsets_are_those_of_perf() {
    let program = program("offsets.program");
    let (missing, memory) = (Path::new("/nonexistent/file"), Path::new("//anon"));
    let mut made = Made::new();
    for (base, path) in [(0x40_0000, &*program), (0x50_0000, missing), (0x60_0000, memory)] {
        made = made.map(10, base, if path == memory { 0 } else { 0x2000 }, path);
    }
    let branches =
        [0x40_0000, 0x50_0000, 0x60_0000].map(|it| (it + 0xa08, it + 0x10, BranchFlags::default()));
    let capture =
        made.sample(10, &branches).sample(10, &[(0x1234, 0, BranchFlags::default())]).file("o.data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    let output = command.args(["script", "-F", "brstackoff"]).arg(capture).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let found: Vec<_> = text.split_whitespace().map(|it| it.trim_end_matches("/-/-/-/0/")).collect();
    assert_eq!(found, ["0x400a08/0x400010", "0x2a08/0x2010", "0xa08/0x10", "0x1234/0x0"]);
}
