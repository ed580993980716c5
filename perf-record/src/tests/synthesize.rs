//! Synthesized records.

use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::endian::NativeEndian;
use perf_abi::sample_type::SampleType;
use perf_parse::record::{FileId, Mmap, Mmap2, NamespaceLink};
use perf_parse::{RawRecord, Record, SampleLayout};

use super::Folder;
use crate::Error;
use crate::processes;
use crate::synthesize::{Synthesizer, SynthesizerOptions};

/// Returns a layout with every field of the trailer: 48 bytes.
fn layout() -> SampleLayout {
    let sample_type = SampleType::TID
        | SampleType::TIME
        | SampleType::ID
        | SampleType::STREAM_ID
        | SampleType::CPU
        | SampleType::IDENTIFIER;
    SampleLayout::new(&Attr { sample_type, flags: AttrFlags::SAMPLE_ID_ALL, ..Attr::default() }).unwrap()
}

/// Returns the records that `make` synthesizes from a folder, and the number of lines that could not be parsed.
fn records(
    root: &std::path::Path,
    layout: &SampleLayout,
    wanted: SynthesizerOptions,
    make: impl FnOnce(&mut Synthesizer<'_>) -> Result<(), Error>,
) -> (Vec<Vec<u8>>, u64) {
    let mut records = Vec::new();
    let mut sink = |record: &[u8]| {
        records.push(record.to_vec());
        Ok(())
    };
    let mut synthesizer = Synthesizer::new(root, layout, wanted, &mut sink);
    make(&mut synthesizer).unwrap();
    let unreadable = synthesizer.unreadable();
    (records, unreadable)
}

/// Formats the misc bits and the contents of a record in one line.
fn described(record: &[u8]) -> String {
    let layout = layout();
    let (raw, rest) = RawRecord::<NativeEndian>::parse(record).unwrap();
    assert!(rest.is_empty());
    assert!(record.ends_with(&[0; 48]), "the trailer is not of zeros");
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let described = match raw.decode(&layout).unwrap() {
        Record::Comm(it) => format!("COMM {}/{} {}", it.pid, it.tid, text(it.comm)),
        Record::Fork(it) => format!("FORK {}/{} of {}/{} at {}", it.pid, it.tid, it.ppid, it.ptid, it.time),
        Record::Mmap(Mmap { pid, tid, addr, len, pgoff, filename }) => {
            format!("MMAP {pid}/{tid} {addr:#x}+{len:#x} {pgoff:#x} {}", text(filename))
        }
        Record::Mmap2(Mmap2 { pid, tid, addr, len, pgoff, id, prot_flags, filename, .. }) => {
            let FileId::Inode { maj, min, ino, ino_generation } = id else { panic!("a build id") };
            let (prot, flags) = prot_flags.unwrap();
            let file = format!("{maj}:{min} {ino} {ino_generation}");
            format!(
                "MMAP2 {pid}/{tid} {addr:#x}+{len:#x} {pgoff:#x} {file} {prot} {flags:#x} {}",
                text(filename)
            )
        }
        Record::Namespaces(it) => {
            let known = |link: &NamespaceLink| link.dev != 0 && link.ino != 0;
            let known = it.link_info.iter().filter(known).count();
            format!("NAMESPACES {}/{} {known} of {}", it.pid, it.tid, it.link_info.len())
        }
        other => panic!("{:?}", other.kind()),
    };
    format!("{:x} {described}", raw.misc().0)
}

fn lines(records: &[Vec<u8>]) -> Vec<String> {
    records.iter().map(|record| described(record)).collect()
}

/// Returns a machine with init, a kernel thread, a process with two threads, and a process that has just ended.
fn machine() -> Folder {
    let status =
        |tgid: i32, ppid: i32| format!("Name:\tx\\nTgid:\\t9\nTgid:\t{tgid}\nPid:\t0\nPPid:\t{ppid}\n");
    let maps = "\
        10000-11000 r--p 00000000 fe:00 7 /bin/work er\n\
        11000-13000 r-xp 00001000 fe:00 7 /bin/work er\n\
        not a mapping\n\
        20000-21000 rw-p 00000000 00:00 0 [heap]\n\
        30000-31000 rwxp 00000000 00:00 0 \n\
        40000-41000 r-xs 00000000 00:0e 9 /huge/pages\n\
        50000-51000 r-xp 00000000 00:0e 9 /hugepages (deleted)\n\
        60000-61000 ---p 00000000 00:00 0 \n\
        70000-71000 r-xp 00000000 00:00 0 [vdso]\n";
    Folder::with(&[
        ("proc/mounts", "none /proc proc rw 0 0\nnone /huge hugetlbfs rw 0 0\n"),
        ("proc/1/task/1/status", &status(1, 0)),
        ("proc/1/task/1/comm", "init\n"),
        ("proc/1/maps", "10000-11000 r-xp 00000000 fe:00 5 /sbin/init\n"),
        ("proc/9/task/9/status", &status(9, 2)),
        ("proc/9/task/9/comm", "kworker/R-rcu_gp\n"),
        ("proc/9/maps", ""),
        ("proc/10/task/10/status", &status(10, 1)),
        ("proc/10/task/10/comm", "two\nlines\n"),
        ("proc/10/task/12/status", &status(10, 1)),
        ("proc/10/task/12/comm", "second\n"),
        ("proc/10/ns/net", ""),
        ("proc/10/ns/mnt", ""),
        ("proc/10/maps", maps),
        ("proc/12/task/12/status", &status(10, 1)),
        ("proc/12/task/12/comm", "second\n"),
        ("proc/11/task/11/comm", "gone\n"),
        ("proc/self", "no process"),
    ])
}

const CODE: [&str; 5] = [
    "2 MMAP2 10/10 0x11000+0x2000 0x1000 254:0 7 0 5 0x2 /bin/work er",
    "2 MMAP2 10/10 0x30000+0x1000 0x0 0:0 0 0 7 0x2 //anon",
    "2 MMAP2 10/10 0x40000+0x1000 0x0 0:14 9 0 5 0x40001 //anon",
    "2 MMAP2 10/10 0x50000+0x1000 0x0 0:14 9 0 5 0x2 /hugepages (deleted)",
    "2 MMAP2 10/10 0x70000+0x1000 0x0 0:0 0 0 5 0x2 [vdso]",
];

#[test]
fn every_process() {
    let machine = machine();
    let (records, unreadable) = records(&machine.0, &layout(), SynthesizerOptions::default(), |it| it.all());
    let mut expected = vec![
        "2000 FORK 1/1 of 0/0 at 0",
        "0 COMM 1/1 init",
        "2 MMAP2 1/1 0x10000+0x1000 0x0 254:0 5 0 5 0x2 /sbin/init",
        "2000 FORK 9/9 of 2/2 at 0",
        "0 COMM 9/9 kworker/R-rcu_g",
        "2000 FORK 10/10 of 1/1 at 0",
        "0 COMM 10/10 two\\nlines",
    ];
    expected.extend(CODE);
    // The process's folder lists it as a thread of 10.
    expected.extend(["2000 FORK 10/12 of 10/10 at 0", "0 COMM 10/12 second"]);
    expected.extend(["2000 FORK 10/12 of 10/10 at 0", "0 COMM 10/12 second"]);
    assert_eq!(lines(&records), expected);
    assert_eq!(unreadable, 1);
}

#[test]
fn threads_that_were_asked_for() {
    let machine = machine();
    let make = |tids: &'static [i32]| {
        let (records, _) =
            records(&machine.0, &layout(), SynthesizerOptions::default(), |it| it.threads(tids));
        lines(&records)
    };
    let leader = ["0 COMM 10/10 two\\nlines"].iter().chain(&CODE).copied();
    let whole: Vec<_> = leader.clone().chain(["0 COMM 10/12 second"]).collect();
    assert_eq!(make(&[10, 12]), whole);
    // The records of the first thread contain all that is known of the process.
    let late: Vec<_> = ["0 COMM 10/12 second"].into_iter().chain(leader).collect();
    assert_eq!(make(&[12]), late);
    assert_eq!(make(&[11, 13]), [""; 0]);
    assert_eq!(processes::threads(&machine.0, 10), [10, 12]);
    assert_eq!(processes::threads(&machine.0, 13), [0; 0]);
}

#[test]
fn data_and_namespaces() {
    let machine = machine();
    let wanted = SynthesizerOptions { data: true, namespaces: true, ..SynthesizerOptions::default() };
    let (records, _) = records(&machine.0, &layout(), wanted, |it| it.threads(&[10]));
    let lines = lines(&records);
    let data = [
        "2002 MMAP2 10/10 0x10000+0x1000 0x0 254:0 7 0 1 0x2 /bin/work er",
        "2002 MMAP2 10/10 0x20000+0x1000 0x0 0:0 0 0 3 0x2 [heap]",
    ];
    assert_eq!(lines[..4], ["0 COMM 10/10 two\\nlines", "0 NAMESPACES 10/10 2 of 7", data[0], CODE[0]]);
    assert_eq!(lines[4..], [&[data[1]][..], &CODE[1..]].concat());
}

#[test]
fn names_as_long_as_the_kernel_writes_them() {
    let long = format!("/{}", "n".repeat(4094));
    let maps = format!("0-1 r-xp 0 0:0 0 {long}\n0-1 r-xp 0 0:0 0 {long}n\n");
    let machine = Folder::with(&[
        ("proc/10/task/10/status", "Tgid:\t10\nPPid:\t1\n"),
        ("proc/10/task/10/comm", ""),
        ("proc/10/maps", &maps),
    ]);
    let (records, _) = records(&machine.0, &layout(), SynthesizerOptions::default(), |it| it.threads(&[10]));
    let lines = lines(&records);
    assert_eq!(lines[0], "0 COMM 10/10 ");
    assert!(lines[1].ends_with(&long));
    assert!(lines[2].ends_with(" //toolong"));
}

#[test]
fn the_kernel_and_its_modules() {
    let symbols = "ffffffff80fff000 A first\nffffffff81000000 T _stext\nffffffff81000000 T _text\n\
        ffffffff82000000 T _etext\nffffffffc0001000 t _text\t[odd]\n";
    let modules = "ext4 4096 1 - Live 0xffffffffc0200000\n\
        snd_hda 8192 0 ext4,x, Live 0xffffffffc0100000 (E)\nhidden 1 0 - Live 0x0000000000000000\nbroken\n";
    let kernel = |files: &[(&str, &str)]| {
        let machine = Folder::with(files);
        let mut is_told = false;
        let (records, _) = records(&machine.0, &layout(), SynthesizerOptions::default(), |it| {
            is_told = it.kernel()?;
            Ok(())
        });
        (is_told, lines(&records))
    };
    let text = "1 MMAP -1/0 0xffffffff81000000+0x1000000 0xffffffff81000000 [kernel.kallsyms]_text";
    let (is_told, lines) = kernel(&[
        ("proc/kallsyms", symbols),
        ("proc/modules", modules),
        ("proc/sys/kernel/osrelease", "6.1.0\n"),
        ("lib/modules/6.1.0/modules.dep", "kernel/snd-hda.ko.xz: kernel/x.ko\nkernel/x.ko:\n"),
    ]);
    assert!(is_told);
    assert_eq!(lines[0], text);
    assert_eq!(
        lines[1..],
        [
            "1 MMAP -1/0 0xffffffffc0100000+0x2000 0x0 /lib/modules/6.1.0/kernel/snd-hda.ko.xz",
            "1 MMAP -1/0 0xffffffffc0200000+0x1000 0x0 [ext4]",
        ]
    );
    let (_, lines) = kernel(&[("proc/kallsyms", &symbols.replace(" T _text", " T other"))]);
    assert_eq!(lines, [text.replace("]_text", "]_stext")]);
    let with_data = format!("{symbols}ffffffff83000000 D _edata\n");
    let (_, lines) = kernel(&[("proc/kallsyms", &with_data)]);
    assert_eq!(lines, [text.replace("+0x1000000", "+0x2000000")]);
    let hidden = symbols.replace("ffffffff8", "000000000").replace("1000000", "0000000");
    assert_eq!(kernel(&[("proc/kallsyms", &hidden.replace("2000000", "0000000"))]), (false, vec![]));
    assert_eq!(kernel(&[]), (false, vec![]));
}

#[test]
fn this_process() {
    let pid = std::process::id().try_into().unwrap();
    let (records, unreadable) =
        records(Path::new("/"), &layout(), SynthesizerOptions::default(), |it| it.threads(&[pid]));
    let lines = lines(&records);
    let exe = std::env::current_exe().unwrap();
    // The kernel keeps 15 bytes of the name.
    let comm = &exe.file_name().unwrap().to_str().unwrap()[..15];
    assert!(lines[0].starts_with(&format!("0 COMM {pid}/{pid} {comm}")), "{}", lines[0]);
    assert!(lines.iter().any(|line| line.ends_with(exe.to_str().unwrap())), "{lines:#?}");
    assert!(lines[1..].iter().all(|line| line.starts_with(&format!("2 MMAP2 {pid}/{pid} "))), "{lines:#?}");
    assert_eq!(unreadable, 0);
}

#[test]
fn a_sink_that_fails_ends_it() {
    let layout = layout();
    let mut calls = 0;
    let mut sink = |_: &[u8]| {
        calls += 1;
        Err(Error::Request("full".to_owned()))
    };
    let failed = Synthesizer::new(Path::new("/"), &layout, SynthesizerOptions::default(), &mut sink).all();
    assert_eq!(failed.unwrap_err().to_string(), "full");
    assert_eq!(calls, 1);
}
