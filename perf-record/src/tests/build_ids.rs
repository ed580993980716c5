//! The files that are needed, and their build ids.

use alloc::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use perf_abi::endian::{Endianness, NativeEndian};
use perf_abi::feature::Feature;
use perf_abi::record::Misc;
use perf_parse::Record;
use perf_parse::feature::{FeatureData, FeatureSection};
use perf_parse::file::write::FeaturePayloads;
use perf_parse::record::{FileId, Mmap, Mmap2};

use super::{Folder, mapping};
use crate::{BuildIdCollector, elf};

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

/// A part of it, or a hash, would be an id that no other tool finds a file by.
#[test]
fn the_text_of_gos_linker_is_no_build_id() {
    let text = b"AbCdEfGhIjKlMnOpQrSt/UvWxYz0123456789abcd/efghijklmnopqrstuvwx/yzABCDEFGHIJKLMNOPQR";
    let go = note(b"Go\0\0", 4, text);
    assert_eq!(id_of(&image(&go)), None);
    let both = [go, build_id_note(&[9; 20])].concat();
    assert_eq!(id_of(&image(&both)), Some(vec![9; 20]));
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

fn finish(files: &BuildIdCollector, root: &Path) -> Found {
    let mut features = FeaturePayloads::new();
    files.finish(root, &mut features).unwrap();
    let Some(bytes) = features.get(Feature::BUILD_ID) else { return Found::new() };
    entries(&FeatureSection::new(Feature::BUILD_ID, 0, bytes, Endianness::NATIVE))
}

/// Returns the MMAP2 record of a file that a process mapped.
fn map(files: &mut BuildIdCollector, pid: i32, name: &str) {
    map_at(files, pid, 0x1000, name);
}

fn map_at(files: &mut BuildIdCollector, pid: i32, addr: u64, name: &str) {
    let id = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
    let filename = name.as_bytes();
    let map = Mmap2 { pid, tid: pid, addr, ..mapping(id, filename) };
    files.record(Misc(2), &Record::<NativeEndian>::Mmap2(map));
}

fn map_in_kernel(files: &mut BuildIdCollector, filename: &[u8]) {
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
    let mut files = BuildIdCollector::new();
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
    let found = finish(&BuildIdCollector::default(), &machine().0);
    assert_eq!(found, Found::from([(b"[kernel.kallsyms]".to_vec(), 0x8001, b"k".to_vec())]));
    assert_eq!(finish(&BuildIdCollector::default(), Path::new("/nowhere")), Found::new());
}

#[test]
fn the_vdso_is_read_from_this_process() {
    let mut files = BuildIdCollector::new();
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
    let mut files = BuildIdCollector::new();
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
    let mut files = BuildIdCollector::new();
    map(&mut files, 5, "/a");
    let entry = (b"/a".to_vec(), 0x8002, b"inside".to_vec());
    assert!(finish(&files, &machine.0).contains(&entry));
}

/// Returns the device and the inode of a file, as records have them.
fn inode_of(path: &Path) -> (u32, u32, u64) {
    let file = std::fs::metadata(path).unwrap();
    (rustix::fs::major(file.dev()), rustix::fs::minor(file.dev()), file.ino())
}

fn map_inode(files: &mut BuildIdCollector, pid: i32, name: &str, (maj, min, ino): (u32, u32, u64)) {
    let id = FileId::Inode { maj, min, ino, ino_generation: 0 };
    let filename = name.as_bytes();
    let map = Mmap2 { pid, tid: pid, ..mapping(id, filename) };
    files.record(Misc(2), &Record::<NativeEndian>::Mmap2(map));
}

/// The process has ended, so that its root folder is not known any more. The file that others see is another one.
#[test]
fn a_file_at_the_path_that_is_another_one_is_left_out() {
    let machine = machine();
    let (maj, min, ino) = inode_of(&machine.0.join("a"));
    let of = |inode| {
        let mut files = BuildIdCollector::new();
        map_inode(&mut files, 5, "/a", inode);
        finish(&files, &machine.0).into_iter().find(|entry| entry.0 == b"/a").map(|entry| entry.2)
    };
    assert_eq!(of((maj, min, ino)), Some(b"a".to_vec()));
    assert_eq!(of((maj, min, ino + 1)), None);
    // Devices without a major number, as those of overlayfs and btrfs, cannot be compared.
    let other_device = of((maj + 1, min, ino));
    assert_eq!(other_device, (maj == 0).then(|| b"a".to_vec()));
}

#[test]
fn two_files_of_one_path_in_two_containers() {
    let machine = machine();
    let mut files = BuildIdCollector::new();
    for (pid, id) in [(5, b"one"), (6, b"two")] {
        let path = format!("proc/{pid}/root/bin/sh");
        machine.put(&path, &image(&build_id_note(id)));
        map_inode(&mut files, pid, "/bin/sh", inode_of(&machine.0.join(path)));
    }
    let expected = |id: &[u8]| (b"/bin/sh".to_vec(), 0x8002, id.to_vec());
    let found = finish(&files, &machine.0);
    assert!(found.contains(&expected(b"one")) && found.contains(&expected(b"two")), "{found:?}");
    let folder = Folder::new();
    files.cache(&machine.0, &folder.0).unwrap();
    assert_eq!(std::fs::read_dir(folder.0.join("bin/sh")).unwrap().count(), 2);
}

/// The last process that mapped a file may still run when the first one has ended.
#[test]
fn a_file_that_the_last_process_sees() {
    let machine = machine();
    machine.put("proc/7/root/srv/app", &image(&build_id_note(b"id")));
    let inode = inode_of(&machine.0.join("proc/7/root/srv/app"));
    let mut files = BuildIdCollector::new();
    for pid in [5, 6, 7] {
        map_inode(&mut files, pid, "/srv/app", inode);
    }
    assert!(finish(&files, &machine.0).contains(&(b"/srv/app".to_vec(), 0x8002, b"id".to_vec())));
    let mut others = BuildIdCollector::new();
    map_inode(&mut others, 5, "/srv/app", inode);
    others.add(files);
    assert!(finish(&others, &machine.0).contains(&(b"/srv/app".to_vec(), 0x8002, b"id".to_vec())));
}

#[test]
fn a_file_that_was_replaced_while_it_runs() {
    for (place, name) in [
        ("proc/5/map_files/1000-2000", "/a"),
        ("proc/5/map_files/1000-2000", "/a (deleted)"),
        ("proc/5/exe", "/a"),
    ] {
        let machine = machine();
        machine.put(place, &image(&build_id_note(b"old")));
        let old = inode_of(&machine.0.join(place));
        let of = |inode| {
            let mut files = BuildIdCollector::new();
            map_inode(&mut files, 5, name, inode);
            finish(&files, &machine.0)
                .into_iter()
                .find(|entry| entry.0 == name.as_bytes())
                .map(|entry| entry.2)
        };
        assert_eq!(of(old), Some(b"old".to_vec()), "{place} {name}");
        // The process has another file there by now.
        assert_eq!(of((old.0, old.1, old.2 + 1000)), None, "{place} {name}");
    }
}

/// What was read while the process ran stays known when its container has ended, or the file was replaced.
#[test]
fn files_are_identified_while_their_processes_run() {
    let machine = machine();
    let contained = machine.0.join("proc/5/root/srv/app");
    machine.put("proc/5/root/srv/app", &image(&build_id_note(b"id")));
    let mut files = BuildIdCollector::new();
    map_inode(&mut files, 5, "/srv/app", inode_of(&contained));
    map(&mut files, 5, "/a");
    // The kernel and the first file: the limit of one call.
    files.identify(&machine.0, 2);
    std::fs::remove_file(&contained).unwrap();
    machine.put("a", &image(&build_id_note(b"new")));
    let found = |files: &BuildIdCollector, name: &str| {
        finish(files, &machine.0).into_iter().find(|entry| entry.0 == name.as_bytes()).map(|entry| entry.2)
    };
    assert_eq!(found(&files, "/srv/app"), Some(b"id".to_vec()));
    assert_eq!(found(&files, "/a"), Some(b"new".to_vec()));
    // The file itself was kept, too.
    let cache = Folder::new();
    files.cache(&machine.0, &cache.0).unwrap();
    assert_eq!(std::fs::read(cache.0.join("srv/app/6964/elf")).unwrap(), image(&build_id_note(b"id")));
    // The second file.
    files.identify(&machine.0, 2);
    machine.put("a", &image(&build_id_note(b"newer")));
    assert_eq!(found(&files, "/a"), Some(b"new".to_vec()));
}

#[test]
fn files_that_cannot_be_read_are_counted() {
    let machine = machine();
    machine.put("none", b"a file without a build id");
    let mut files = BuildIdCollector::new();
    let unreadable =
        |files: &BuildIdCollector| files.finish(&machine.0, &mut FeaturePayloads::new()).unwrap();
    let others =
        ["/a", "/none", "//anon", "[heap]", "/dev/zero (deleted)", "/memfd:x (deleted)", "/SYSV00000000"];
    others.iter().for_each(|name| map(&mut files, 5, name));
    assert_eq!(unreadable(&files), 0);
    map(&mut files, 5, "/gone");
    map_inode(&mut files, 5, "/b", (8, 1, 77));
    // Of the second, another file is there.
    let is_compared = inode_of(&machine.0.join("b")).0 != 0;
    assert_eq!(unreadable(&files), 1 + u64::from(is_compared));
}

#[test]
fn the_kernels_word_is_taken() {
    let mut bytes = [0; 20];
    bytes[0] = 1;
    let map = mapping(FileId::BuildId { size: 2, bytes }, b"/not there");
    let mut files = BuildIdCollector::new();
    files.record(Misc(2) | Misc::MMAP_BUILD_ID, &Record::<NativeEndian>::Mmap2(map));
    let found = finish(&files, Path::new("/nowhere"));
    assert_eq!(found, Found::from([(b"/not there".to_vec(), 0x8002, vec![1, 0])]));
}
