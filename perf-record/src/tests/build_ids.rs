//! The files that are needed, and their build ids.

use alloc::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use perf_abi::endian::{Endianness, NativeEndian};
use perf_abi::feature::Feature;
use perf_abi::record::Misc;
use perf_parse::Record;
use perf_parse::feature::{FeatureData, FeatureSection};
use perf_parse::file::write::FeaturePayloads;
use perf_parse::record::{FileId, Mmap, Mmap2};
use perf_parse::sample::Reading;

use super::Folder;
use crate::{BuildIds, elf};

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

pub(super) fn build_id_note(id: &[u8]) -> Vec<u8> {
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
pub(super) fn image(notes: &[u8]) -> Vec<u8> {
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
    elf::of_file(&elf::open(&folder.0.join("file")).unwrap())
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
    assert!(elf::open(&fifo).is_none());
    assert!(elf::open(Path::new("/dev/zero")).is_none());
    assert!(elf::open(&folder.0).is_none());
    assert!(elf::open(&folder.0.join("none")).is_none());
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

fn finish(files: &BuildIds, root: &Path) -> Found {
    let mut features = FeaturePayloads::<NativeEndian>::new();
    files.finish(root, &mut features).unwrap();
    let Some(bytes) = features.get(Feature::BUILD_ID) else { return Found::new() };
    entries(&FeatureSection::new(Feature::BUILD_ID, 0, bytes, Endianness::NATIVE))
}

/// Returns the MMAP2 record of a file that a process mapped.
fn map(files: &mut BuildIds, pid: i32, name: &str) {
    map_at(files, pid, 0x1000, name);
}

fn map_at(files: &mut BuildIds, pid: i32, addr: u64, name: &str) {
    let id = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
    let (filename, prot_flags) = (name.as_bytes(), Some((5, 2)));
    let map = Mmap2 {
        pid,
        tid: pid,
        addr,
        len: 0x1000,
        pgoff: 0,
        id,
        prot_flags,
        reading: Reading::Certain,
        filename,
    };
    files.record(Misc(2), &Record::<NativeEndian>::Mmap2(map));
}

fn map_in_kernel(files: &mut BuildIds, filename: &[u8]) {
    let map = Mmap { pid: -1, tid: 0, addr: 0x9000, len: 0x1000, pgoff: 0, filename };
    files.record(Misc(1), &Record::<NativeEndian>::Mmap(map));
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

#[test]
fn all_files_that_were_mapped() {
    let machine = machine();
    let mut files = BuildIds::new();
    map_in_kernel(&mut files, b"[kernel.kallsyms]_text");
    map_in_kernel(&mut files, b"/lib/a-b.ko.xz");
    for (pid, name) in [(5, "/a"), (6, "/a"), (7, "/b"), (5, "//anon"), (5, "/none"), (5, "[heap]")] {
        map(&mut files, pid, name);
    }
    let entry = |name: &str, misc: u16, id: u8| (name.as_bytes().to_vec(), 0x8000 | misc, vec![id]);
    let expected = [
        entry("/a", 2, b'a'),
        entry("/b", 2, b'b'),
        entry("/lib/a-b.ko.xz", 1, b'm'),
        entry("[kernel.kallsyms]", 1, b'k'),
    ];
    assert_eq!(finish(&files, &machine.0), Found::from(expected));
}

#[test]
fn the_kernel_needs_no_record() {
    let found = finish(&BuildIds::default(), &machine().0);
    assert_eq!(found, Found::from([(b"[kernel.kallsyms]".to_vec(), 0x8001, b"k".to_vec())]));
    assert_eq!(finish(&BuildIds::default(), Path::new("/nowhere")), Found::new());
}

#[test]
fn the_vdso_is_read_from_this_process() {
    let mut files = BuildIds::new();
    map_at(&mut files, 5, 0x7fff_0000_0000, "[vdso]");
    let found = finish(&files, Path::new("/nowhere"));
    // Not every architecture has a vdso.
    assert!(found.iter().all(|(name, misc, id)| name == b"[vdso]" && *misc == 0x8002 && id.len() == 20));
    assert_eq!(found.len(), usize::from(cfg!(any(target_arch = "x86_64", target_arch = "aarch64"))));
}

/// A 32-bit process has another vDSO, which perf lists by another name and keeps beside the other one.
#[test]
#[cfg(target_arch = "x86_64")]
fn the_vdso_of_a_32_bit_process() {
    let mut files = BuildIds::new();
    map_at(&mut files, 5, 0x7fff_0000_0000, "[vdso]");
    map_at(&mut files, 6, 0xf7f8_7000, "[vdso]");
    let found = finish(&files, Path::new("/nowhere"));
    let id = |name: &[u8]| found.iter().find(|entry| entry.0 == name).map(|entry| entry.2.clone());
    let expected = crate::vdso32().and_then(|bytes| elf::of_bytes(&bytes));
    assert_eq!(id(b"[vdso32]"), expected);
    assert!(id(b"[vdso]").is_some_and(|id| Some(id) != expected));
    let folder = Folder::new();
    files.cache(Path::new("/nowhere"), &folder.0).unwrap();
    let kept = std::fs::read_dir(folder.0.join("[vdso]")).unwrap().count();
    assert_eq!(kept, 1 + usize::from(expected.is_some()));
}

#[test]
fn a_file_is_the_one_that_the_process_sees() {
    let machine = machine();
    machine.put("proc/5/root/a", &image(&build_id_note(b"inside")));
    let mut files = BuildIds::new();
    map(&mut files, 5, "/a");
    let entry = (b"/a".to_vec(), 0x8002, b"inside".to_vec());
    assert!(finish(&files, &machine.0).contains(&entry));
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
        reading: Reading::Certain,
        filename: b"/not there",
    };
    let mut files = BuildIds::new();
    files.record(Misc(2) | Misc::MMAP_BUILD_ID, &Record::<NativeEndian>::Mmap2(map));
    let found = finish(&files, Path::new("/nowhere"));
    assert_eq!(found, Found::from([(b"/not there".to_vec(), 0x8002, vec![1, 0])]));
}
