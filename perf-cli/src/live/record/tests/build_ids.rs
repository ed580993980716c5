//! The files that are needed, and their build ids.

use alloc::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, NativeEndian};
use perf_abi::feature::Feature;
use perf_abi::record::{CpuMode, Misc};
use perf_abi::sample_type::SampleType;
use perf_parse::feature::{FeatureData, FeatureSection};
use perf_parse::file::write::FeaturePayloads;
use perf_parse::record::{Comm, FileId, Mmap, Mmap2, Task};
use perf_parse::write::{self, SampleFields};
use perf_parse::{RawRecord, Record, SampleLayout};

use super::Folder;
use crate::live::record::build_ids::Collector;
use crate::live::record::elf;

/// Returns a note as in a segment of alignment 4.
fn note(name: &[u8], kind: u32, desc: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [name.len() as u32, desc.len() as u32, kind] {
        bytes.extend(word.to_ne_bytes());
    }
    for part in [name, desc] {
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn build_id_note(id: &[u8]) -> Vec<u8> {
    note(b"GNU\0", 3, id)
}

/// The offsets in the result of [`image`].
const PHOFF: usize = 32;
const PHENTSIZE: usize = 54;
const PHNUM: usize = 56;
const P_OFFSET: usize = 64 + 8;
const P_FILESZ: usize = 64 + 32;
const P_ALIGN: usize = 64 + 48;

/// Returns a 64-bit ELF file with one segment, which contains notes, in this machine's byte order.
fn image(notes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 64 + 56];
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    bytes[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order, 1]);
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(20, &1_u32.to_ne_bytes());
    put(PHOFF, &64_u64.to_ne_bytes());
    put(PHENTSIZE, &56_u16.to_ne_bytes());
    put(PHNUM, &1_u16.to_ne_bytes());
    put(64, &4_u32.to_ne_bytes());
    put(P_OFFSET, &120_u64.to_ne_bytes());
    put(P_FILESZ, &(notes.len() as u64).to_ne_bytes());
    put(P_ALIGN, &4_u64.to_ne_bytes());
    bytes.extend(notes);
    bytes
}

fn id_of(bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = Folder::new();
    folder.put("file", bytes);
    elf::of_file(&folder.0.join("file"))
}

#[test]
fn an_elf_file_with_a_build_id() {
    let id = [7; 20];
    assert_eq!(id_of(&image(&build_id_note(&id))), Some(id.to_vec()));
    let notes = [note(b"GNU\0", 1, b"abi-"), note(b"Go\0", 3, b"other"), build_id_note(&[9; 5])].concat();
    assert_eq!(id_of(&image(&notes)), Some(vec![9; 5]));
    assert_eq!(elf::of_notes(&notes), Some(vec![9; 5]));
}

#[test]
fn hostile_files_have_no_build_id() {
    let good = image(&build_id_note(&[7; 20]));
    for len in 0..good.len() {
        assert_eq!(id_of(&good[..len]), None, "cut to {len} bytes");
    }
    let with = |at: usize, value: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    for (at, value) in [
        (0, &[0; 4][..]),
        (PHOFF, &[0xff; 8]),
        (PHOFF, &u64::MAX.wrapping_sub(55).to_ne_bytes()),
        (PHENTSIZE, &[0; 2]),
        (PHENTSIZE, &[0xff; 2]),
        (PHNUM, &[0; 2]),
        (PHNUM, &[0xff; 2]),
        (P_OFFSET, &[0xff; 8]),
        (P_FILESZ, &[0xff; 8]),
        (P_ALIGN, &[0xff; 8]),
        (120, &[0xff; 4]),
        (124, &[0xff; 4]),
    ] {
        assert_eq!(id_of(&with(at, value)), None, "{value:x?} at {at}");
    }
    assert_eq!(id_of(&image(&build_id_note(&[7; 21]))), None);
    assert_eq!(id_of(&image(&build_id_note(&[]))), None);
    assert_eq!(elf::of_notes(&[0; 11]), None);
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let folder = Folder::new();
    let fifo = folder.0.join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    // Opening a pipe without a writer would block forever.
    assert_eq!(elf::of_file(&fifo), None);
    assert_eq!(elf::of_file(Path::new("/dev/zero")), None);
    assert_eq!(elf::of_file(&folder.0), None);
    assert_eq!(elf::of_file(&folder.0.join("none")), None);
}

/// The name, misc bits and build id of each file.
type Found = BTreeSet<(Vec<u8>, u16, Vec<u8>)>;

fn entries(section: &FeatureSection<'_>) -> Found {
    let Ok(FeatureData::BuildId(entries)) = section.decode() else { panic!("{section:?}") };
    entries
        .iter()
        .map(|entry| {
            assert_eq!(entry.pid, -1);
            (entry.filename.to_vec(), entry.misc.0, entry.build_id.to_vec())
        })
        .collect()
}

fn finish(collector: Collector, root: &Path) -> Found {
    let mut features = FeaturePayloads::<NativeEndian>::new();
    collector.finish(root, &mut features).unwrap();
    let Some(bytes) = features.get(Feature::BUILD_ID) else { return Found::new() };
    entries(&FeatureSection::new(Feature::BUILD_ID, 0, bytes, Endianness::NATIVE))
}

/// Passes events to a collector, record by record.
struct Story(Collector);

impl Story {
    fn new(all: bool) -> Self {
        Self(Collector::new(all))
    }

    fn record(&mut self, misc: Misc, record: Record<'_, NativeEndian>) -> &mut Self {
        self.0.record(misc, &record);
        self
    }

    fn map(&mut self, pid: i32, addr: u64, len: u64, name: &str) -> &mut Self {
        let id = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
        let (filename, pgoff) = (name.as_bytes(), 0);
        let map = Mmap2 { pid, tid: pid, addr, len, pgoff, id, prot_flags: Some((5, 2)), filename };
        self.record(Misc(2), Record::Mmap2(map))
    }

    fn comm(&mut self, misc: Misc, pid: i32, tid: i32) -> &mut Self {
        self.record(misc, Record::Comm(Comm { pid, tid, comm: b"x" }))
    }

    fn fork(&mut self, misc: Misc, ppid: i32, pid: i32, tid: i32) -> &mut Self {
        self.record(misc, Record::Fork(Task { pid, ppid, tid, ptid: ppid, time: 0 }))
    }

    fn exit(&mut self, pid: i32, tid: i32) -> &mut Self {
        self.record(Misc(0), Record::Exit(Task { pid, ppid: 1, tid, ptid: 1, time: 0 }))
    }

    fn sample(&mut self, mode: CpuMode, pid: i32, ip: u64, callchain: &[u64]) -> &mut Self {
        let sample_type = SampleType::IP | SampleType::TID | SampleType::CALLCHAIN;
        let layout = SampleLayout::new(&Attr { sample_type, ..Attr::default() }).unwrap();
        let mut bytes = Vec::new();
        let fields = SampleFields {
            ip: Some(ip),
            pid_tid: Some((pid, pid)),
            callchain: Some(callchain.to_vec()),
            ..SampleFields::default()
        };
        write::sample::<NativeEndian>(&mut bytes, &layout, Misc::from(mode), &fields).unwrap();
        let (raw, _) = RawRecord::<NativeEndian>::parse(&bytes).unwrap();
        self.0.record(raw.misc(), &raw.decode(&layout).unwrap());
        self
    }

    fn user(&mut self, pid: i32, ip: u64) -> &mut Self {
        self.sample(CpuMode::USER, pid, ip, &[])
    }
}

/// Returns a machine with files `/a` to `/f`, whose build ids are their letters, a kernel and a module.
fn machine() -> Folder {
    let folder = Folder::new();
    for letter in b'a'..=b'f' {
        folder.put(&char::from(letter).to_string(), &image(&build_id_note(&[letter])));
    }
    folder.put("sys/kernel/notes", &build_id_note(b"k"));
    folder.put("sys/module/a_b/notes/.note.gnu.build-id", &build_id_note(b"m"));
    folder
}

/// Returns the names that were found. Checks that each has its build id.
fn names(story: &mut Story, root: &Path) -> Vec<String> {
    let collector = core::mem::replace(&mut story.0, Collector::new(false));
    let name = |(name, misc, id): (Vec<u8>, u16, Vec<u8>)| {
        let (mode, expected) = match name.as_slice() {
            b"[kernel.kallsyms]" => (1, b'k'),
            b"/lib/a-b.ko.xz" => (1, b'm'),
            name => (2, name[1]),
        };
        assert_eq!((misc, id), (0x8000 | mode, vec![expected]));
        String::from_utf8(name).unwrap()
    };
    finish(collector, root).into_iter().map(name).collect()
}

#[test]
fn files_that_samples_hit() {
    let machine = machine();
    let root = machine.0.as_path();
    let mut story = Story::new(false);
    story.map(5, 0x1000, 0x1000, "/a").map(5, 0x2000, 0x1000, "/b").map(6, 0x1000, 0x1000, "/c");
    story.map(5, 0x9000, 0x1000, "//anon").map(5, 0xa000, 0x1000, "/none").map(5, 0xb000, 0x1000, "[heap]");
    assert_eq!(names(story.user(5, 0xfff).user(5, 0x3000).user(7, 0x1000), root), [""; 0]);
    story.map(5, 0x1000, 0x1000, "/a").map(5, 0x2000, 0x1000, "/b").map(6, 0x1000, 0x1000, "/c");
    story.map(5, 0x9000, 0x1000, "//anon").map(5, 0xa000, 0x1000, "/none").map(5, 0xb000, 0x1000, "[heap]");
    story.user(5, 0x9000).user(5, 0xa000).user(5, 0xb000);
    assert_eq!(names(story.user(5, 0x1000).user(6, 0x1fff), root), ["/a", "/c"]);
    // Addresses with an unknown mode or the kernel's mode are not looked up in the mappings of the process.
    story.map(5, 0x1000, 0x1000, "/a").sample(CpuMode::GUEST_USER, 5, 0x1000, &[]);
    assert_eq!(names(story.sample(CpuMode::KERNEL, 5, 0x1000, &[]), root), ["[kernel.kallsyms]"]);
}

#[test]
fn a_mapping_takes_the_place_of_those_it_overlaps() {
    let machine = machine();
    let overlap = |ips: &[u64]| {
        let mut story = Story::new(false);
        story.map(5, 0x1000, 0x4000, "/a").map(5, 0x5000, 0x1000, "/b").map(5, 0x6000, 0x2000, "/c");
        // Inside one; then over the end of another, over a whole one, and over the start of a third.
        story.map(5, 0x2000, 0x1000, "/d").map(5, 0x4000, 0x3000, "/e").map(5, 0x7fff, 0, "/f");
        ips.iter().for_each(|&ip| {
            story.user(5, ip);
        });
        names(&mut story, &machine.0)
    };
    for (ip, name) in [
        (0x1fff, "/a"),
        (0x2000, "/d"),
        (0x3000, "/a"),
        (0x3fff, "/a"),
        (0x4000, "/e"),
        (0x5000, "/e"),
        (0x6fff, "/e"),
        (0x7000, "/c"),
        (0x7fff, "/c"),
    ] {
        assert_eq!(overlap(&[ip]), [name], "{ip:#x}");
    }
    assert_eq!(overlap(&[0x8000]), [""; 0]);
}

#[test]
fn tasks_begin_and_end() {
    let machine = machine();
    let root = machine.0.as_path();
    let start = || {
        let mut story = Story::new(false);
        story.comm(Misc(0), 5, 5).map(5, 0x1000, 0x1000, "/a");
        story
    };
    // A child has its parent's mappings until it executes another program. What it maps is its own.
    let mut story = start();
    story.fork(Misc(0), 5, 6, 6).map(6, 0x2000, 0x1000, "/b").user(5, 0x2000).user(6, 0x1000);
    assert_eq!(names(&mut story, root), ["/a"]);
    assert_eq!(
        names(start().fork(Misc(0), 5, 6, 6).comm(Misc::COMM_EXEC, 6, 6).user(6, 0x1000), root),
        [""; 0]
    );
    // A task with a synthesized FORK has only the mappings of its own records.
    assert_eq!(names(start().fork(Misc::FORK_EXEC, 5, 6, 6).user(6, 0x1000), root), [""; 0]);
    // The end of a thread leaves the mappings of its process unchanged, unless it is the last thread.
    assert_eq!(names(start().fork(Misc(0), 5, 5, 7).exit(5, 5).user(5, 0x1000), root), ["/a"]);
    assert_eq!(names(start().fork(Misc(0), 5, 5, 7).exit(5, 5).exit(5, 7).user(5, 0x1000), root), [""; 0]);
}

#[test]
fn call_chains_and_modules() {
    let machine = machine();
    let mut story = Story::new(false);
    let module = Mmap { pid: -1, tid: 0, addr: 0x9000, len: 0x1000, pgoff: 0, filename: b"/lib/a-b.ko.xz" };
    story.record(Misc(1), Record::Mmap(module)).map(5, 0x1000, 0x1000, "/a").map(5, 0x2000, 0x1000, "/b");
    let markers = [CallchainContext::KERNEL.0, CallchainContext::USER.0, CallchainContext::GUEST.0];
    let chain = [markers[0], 0x9fff, markers[1], 0x1500, markers[2], 0x2500];
    story.sample(CpuMode::USER, 5, 0x8000, &chain);
    assert_eq!(names(&mut story, &machine.0), ["/a", "/lib/a-b.ko.xz"]);
}

#[test]
fn all_files_that_were_mapped() {
    let machine = machine();
    let mut story = Story::new(true);
    let text = Mmap { pid: -1, tid: 0, addr: 1, len: 1, pgoff: 1, filename: b"[kernel.kallsyms]_text" };
    story.record(Misc(1), Record::Mmap(text)).map(5, 0x1000, 0x1000, "/a").map(6, 0x1000, 0x1000, "/a");
    assert_eq!(names(story.map(7, 0x1000, 0x1000, "/b"), &machine.0), ["/a", "/b", "[kernel.kallsyms]"]);
}

#[test]
fn the_vdso_needs_no_hit() {
    let mut story = Story::new(false);
    story.map(5, 0x1000, 0x1000, "[vdso]");
    let found = finish(story.0, Path::new("/nowhere"));
    // Not every architecture has a vdso.
    assert!(found.iter().all(|(name, misc, id)| name == b"[vdso]" && *misc == 0x8002 && id.len() == 20));
    assert_eq!(found.len(), usize::from(cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))));
}

#[test]
fn a_file_is_the_one_that_the_process_sees() {
    let machine = machine();
    machine.put("proc/5/root/a", &image(&build_id_note(b"inside")));
    let mut story = Story::new(false);
    story.map(5, 0x1000, 0x1000, "/a").user(5, 0x1000);
    let found = finish(story.0, &machine.0);
    assert_eq!(found, Found::from([(b"/a".to_vec(), 0x8002, b"inside".to_vec())]));
}

#[test]
fn the_kernels_word_is_taken() {
    let mut bytes = [0; 20];
    bytes[0] = 1;
    let map = Mmap2 {
        pid: 5,
        tid: 5,
        addr: 0,
        len: 9,
        pgoff: 0,
        id: FileId::BuildId { size: 2, bytes },
        prot_flags: Some((5, 2)),
        filename: b"/not there",
    };
    let mut story = Story::new(true);
    story.record(Misc(2) | Misc::MMAP_BUILD_ID, Record::Mmap2(map));
    let found = finish(story.0, Path::new("/nowhere"));
    assert_eq!(found, Found::from([(b"/not there".to_vec(), 0x8002, vec![1, 0])]));
}
