//! Instructions of samples and between branches: of code made here, as text and as JSON, and as the installed perf prints them.

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
use perf_parse::feature::FeatureData;
use perf_parse::file::write::{EventFields, FileWriter, WriteOptions};
use perf_parse::record::Mmap;
use perf_parse::write::{self, BranchFields, BranchStackFields, SampleFields, SampleIdFields};
use perf_parse::{ByteStr, Record, SampleLayout};
use testdata::elf::{Elf, TEXT_OFFSET};

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    instructions_of_samples,
    instructions_between_branches,
    text_of_instructions,
    json_has_what_is_asked_for,
    arm_is_decoded_too,
    branches_of_nowhere_are_bounded,
    as_perf_prints_them,
    a_recording_as_perf_prints_it,
];

const BASE: u64 = 0x5555_5555_0000;

/// Two functions: `outer` calls `inner`, and starts again.
const OUTER: [u8; 11] = [0x31, 0xc0, 0xe8, 9, 0, 0, 0, 0xff, 0xc0, 0xeb, 0xf5];
const INNER: [u8; 9] = [0x48, 0x85, 0xff, 0x74, 3, 0x83, 0xc0, 1, 0xc3];

/// A sample: its address, and its branches, newest first: from, to, cycles. All are places in the code.
type MadeSample<'a> = (u64, &'a [(u64, u64, u16)]);

const CALLED: MadeSample<'_> = (9, &[(0x18, 7, 3), (2, 0x10, 4), (9, 0, 0)]);
const MISSING_BRANCH: MadeSample<'_> = (0x18, &[(2, 0x10, 0), (9, 0, 1)]);
const BEFORE_TARGET: MadeSample<'_> = (2, &[(2, 0x10, 0), (9, 1, 0)]);
const AT_BRANCH: MadeSample<'_> = (2, &[(2, 0x10, 0), (8, 0, 0)]);

fn x86() -> Elf {
    let mut elf = Elf::new(62, true).code(0, &OUTER).code(0x10, &INNER);
    elf.functions = vec![("outer", 0, 11), ("inner", 0x10, 9)];
    elf
}

fn place(at: u64) -> u64 {
    if at < 0x1000 { BASE + at } else { at }
}

fn made(name: &str, elf: &Elf, samples: &[MadeSample<'_>]) -> PathBuf {
    let program = needs::folder().join(format!("{name}.program"));
    fs::write(&program, elf.build()).unwrap();
    let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::BRANCH_STACK;
    let attr = Attr {
        kind: EventType::HARDWARE,
        sample_type,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP,
        branch_sample_type: BranchSampleType::USER | BranchSampleType::ANY,
        ..Attr::default()
    };
    let layout = SampleLayout::new(&attr).unwrap();
    let events = [EventFields { attr, ..EventFields::default() }];
    let mut writer = FileWriter::new(Cursor::new(Vec::new()), &events, &WriteOptions::default()).unwrap();
    // Without it, perf decodes nothing.
    writer.features().set(&FeatureData::Arch(ByteStr::new(b"x86_64"))).unwrap();
    let filename = program.as_os_str().as_encoded_bytes();
    let mapping = Mmap { pid: 10, tid: 10, addr: BASE, len: 0x1000, pgoff: TEXT_OFFSET, filename };
    let trailer = SampleIdFields { pid: 10, tid: 10, time: 1_000_000_000, ..SampleIdFields::default() };
    let mut bytes = Vec::new();
    write::record::<LittleEndian>(&mut bytes, &layout, Misc(2), &Record::Mmap(mapping), &trailer).unwrap();
    writer.record(&bytes).unwrap();
    for (index, (ip, branches)) in samples.iter().enumerate() {
        let flags = |cycles: u16| BranchFlags(BranchFlags::PREDICTED.0 | u64::from(cycles) << 4);
        let branch = |&(from, to, cycles): &(u64, u64, u16)| BranchFields {
            from: place(from),
            to: place(to),
            flags: flags(cycles),
        };
        let stack = BranchStackFields {
            entries: branches.iter().map(branch).collect(),
            ..BranchStackFields::default()
        };
        let fields = SampleFields {
            ip: Some(place(*ip)),
            pid_tid: Some((10, 10)),
            time: Some(1_000_001_000 + index as u64),
            branch_stack: Some(stack),
            ..SampleFields::default()
        };
        let mut bytes = Vec::new();
        write::sample::<LittleEndian>(&mut bytes, &layout, Misc(2), &fields).unwrap();
        writer.record(&bytes).unwrap();
    }
    let path = needs::folder().join(format!("{name}.data"));
    fs::write(&path, writer.finish().unwrap().into_inner()).unwrap();
    path
}

fn script(program: &str, capture: &Path, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(["script", "-i"]).arg(capture).args(args).env("PERF_CONFIG", "/dev/null");
    let output = command.env("HOME", needs::folder()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn ours(capture: &Path, args: &[&str]) -> String {
    script(env!("CARGO_BIN_EXE_perfdata"), capture, args)
}

fn instructions_of_samples() {
    let capture = made("own", &x86(), &[(2, &[(9, 0, 0)]), (0x10, &[(9, 0, 0)]), (0x5000, &[(9, 0, 0)])]);
    let expected = "     555555550002 outer ilen: 5 insn: e8 09 00 00 00\n     555555550010 inner ilen: 3 insn: 48 85 ff\n             5000 [unknown] ilen: 0\n";
    assert_eq!(ours(&capture, &["-F", "ip,sym,insn,insnlen"]), expected);
    assert_eq!(ours(&capture, &["-F", "insn"]), " insn: e8 09 00 00 00\n insn: 48 85 ff\n\n");
}

fn instructions_between_branches() {
    let capture = made("blocks", &x86(), &[CALLED, MISSING_BRANCH, BEFORE_TARGET, AT_BRANCH]);
    let text = ours(&capture, &["-F", "ip,brstackinsn,brstackinsnlen"]);
    let expected = "     555555550009
\touter+9:
\t0000555555550009\tinsn: eb f5                   \tilen: 2\t# PRED
\t0000555555550000\tinsn: 31 c0 \tilen: 2
\t0000555555550002\tinsn: e8 09 00 00 00          \tilen: 5\t# PRED 4 cycles [4] 0.50 IPC
\tinner:
\t0000555555550010\tinsn: 48 85 ff \tilen: 3
\t0000555555550013\tinsn: 74 03 \tilen: 2
\t0000555555550015\tinsn: 83 c0 01 \tilen: 3
\t0000555555550018\tinsn: c3                      \tilen: 1\t# PRED 3 cycles [7] 1.33 IPC
\touter+7:
\t0000555555550007\tinsn: ff c0 \tilen: 2
\t0000555555550009\tinsn: eb f5 \tilen: 2

     555555550018
\touter+9:
\t0000555555550009\tinsn: eb f5                   \tilen: 2\t# PRED 1 cycles [1]
\t0000555555550000\tinsn: 31 c0 \tilen: 2
\t0000555555550002\tinsn: e8 09 00 00 00          \tilen: 5\t# PRED
\tinner:
\t0000555555550010\tinsn: 48 85 ff \tilen: 3
\t0000555555550013\tinsn: 74 03 \tilen: 2
\t... not reaching sample ...

";
    assert_eq!(text.get(..expected.len()), Some(expected), "{text}");
    assert!(text.contains("\tmismatch of LBR data and executable\n"), "{text}");
    assert!(
        text.ends_with("\t0000555555550002\tinsn: e8 09 00 00 00          \tilen: 5\t# PRED\n\n"),
        "{text}"
    );
}

fn text_of_instructions() {
    let capture = made("text", &x86(), &[CALLED, (2, &[(9, 0, 0)])]);
    let text = ours(&capture, &["-F", "ip,disasm"]);
    let words: Vec<_> = text.split_whitespace().collect();
    let expected =
        ["555555550009", "jmp", "555555550000", "<outer>", "555555550002", "call", "555555550010", "<inner>"];
    assert_eq!(words, expected);
    let text = ours(&capture, &["-F", "ip,brstackdisasm"]);
    assert!(text.contains("\t0000555555550000\txor    %eax,%eax\n"), "{text}");
    assert!(text.contains("555555550010 <inner>"), "{text}");
}

fn json_has_what_is_asked_for() {
    let capture = made("json", &x86(), &[(2, &[(9, 0, 0)]), (0x5000, &[(9, 0, 0)])]);
    let text = ours(&capture, &["--format", "jsonl", "-F", "+insn,+disasm"]);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["insn"], "e809000000");
    let disasm = lines[0]["disasm"].as_str().unwrap();
    assert!(disasm.starts_with("call ") && disasm.ends_with("555555550010 <inner>"), "{disasm}");
    assert!(lines[1].get("insn").is_none() && lines[1].get("disasm").is_none(), "{text}");
    assert!(!ours(&capture, &["--format", "jsonl"]).contains("\"insn\""));
}

/// perf decodes x86 alone.
fn arm_is_decoded_too() {
    // ret; mov x0, #1; b .-8
    let elf =
        Elf::new(183, true).code(0, &[0xc0, 3, 0x5f, 0xd6, 0x20, 0, 0x80, 0xd2, 0xfe, 0xff, 0xff, 0x17]);
    let capture = made("arm", &elf, &[(4, &[(8, 0, 0), (0, 4, 2)])]);
    assert_eq!(ours(&capture, &["-F", "insn,insnlen"]), " ilen: 4 insn: 20 00 80 d2\n");
    let text = ours(&capture, &["-F", "brstackinsn"]);
    let expected = "\n\t0000555555550000\tinsn: c0 03 5f d6             \t# PRED 2 cycles [2]\n\
        \t0000555555550004\tinsn: 20 00 80 d2 \n\t0000555555550008\tinsn: fe ff ff 17             \t# PRED\n\
        \t0000555555550000\tinsn: c0 03 5f d6 \n\t... not reaching sample ...\n\n";
    assert_eq!(text, expected);
}

fn branches_of_nowhere_are_bounded() {
    let nops = Elf::new(62, true).code(0, &[0x90; 0x1000]);
    let far = [
        (0x20, 0, 0),
        (u64::MAX, 1 << 63, 0),
        (0, u64::MAX, 0),
        (0xffff_ffff_8100_0000, 4, 0),
        (0x10, 0x20, 1),
    ];
    let whole: Vec<_> = std::iter::repeat_n((0xff0, 0, 0), 1000).collect();
    let capture = made("far", &nops, &[(u64::MAX, &far), (0xff0, &whole)]);
    let text = ours(&capture, &["-F", "brstackinsn"]);
    let instructions = text.lines().filter(|line| line.contains("insn:")).count();
    assert!((65_536..65_700).contains(&instructions), "{instructions}");
    assert_eq!(text.matches("mismatch").count(), 0);
    assert!(text.ends_with("\t... more than 65536 instructions ...\n\n"));
}

/// The bytes are those of perf 6.1, which decodes the machine that it runs on.
fn needs_perf() {
    needs::all(&[needs::Need::PERF]);
    let version = Command::new("perf").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if !version.starts_with("perf version 6.1.") || !cfg!(target_arch = "x86_64") {
        needs::skip("perf 6.1 of x86-64", &format!("this is {version}"));
    }
}

fn as_perf_prints_them() {
    needs_perf();
    let capture = made("perf", &x86(), &[CALLED, MISSING_BRANCH, BEFORE_TARGET, AT_BRANCH]);
    for fields in
        ["ip,sym,insn,insnlen", "ip,sym,brstackinsn", "ip,sym,insn,brstackinsn,brstackinsnlen,brstack"]
    {
        let args = ["-F", fields];
        assert_eq!(ours(&capture, &args), script("perf", &capture, &args), "{fields}");
    }
}

fn a_recording_as_perf_prints_it() {
    needs_perf();
    needs::all(&[needs::Need::Events]);
    let capture = needs::folder().join("recorded.data");
    let mut command = Command::new("perf");
    command.args(["record", "-q", "-e", "cpu-clock:u", "-F", "10000", "-o"]).arg(&capture);
    let output = command.args(["--", "bash", "-c", "for i in {1..20000}; do :; done"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let args = ["-F", "tid,time,ip,insn,insnlen"];
    let (ours, perfs) = (ours(&capture, &args), script("perf", &capture, &args));
    assert!(perfs.contains(" insn: "), "{perfs}");
    assert_eq!(ours, perfs);
}
