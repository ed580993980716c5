//! perf's cache of files, in a temporary folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use perf_abi::endian::NativeEndian;
use perf_abi::record::Misc;
use perf_parse::Record;
use perf_parse::record::{FileId, Mmap};

use super::build_ids::{build_id_note, image};
use super::{Folder, mapping};
use crate::BuildIdCollector;

/// Returns a machine with a program, its library with debug information, and a module.
fn machine() -> Folder {
    let folder = Folder::with(&[("proc/kallsyms", "1000 T _text\n9000 T _etext\n")]);
    folder.put("bin/program", &image(&build_id_note(&[1, 2, 3])));
    folder.put("lib/library", &image(&build_id_note(&[4, 5])));
    folder.put("usr/lib/debug/.build-id/04/05.debug", b"debug information");
    folder.put("sys/kernel/notes", &build_id_note(&[6, 7]));
    folder.put("sys/module/a/notes/.note.gnu.build-id", &build_id_note(&[8, 9]));
    folder.put("lib/modules/a.ko.xz", b"compressed");
    folder
}

fn mapped(names: &[&str]) -> BuildIdCollector {
    let mut files = BuildIdCollector::new();
    for name in names {
        let filename = name.as_bytes();
        if name.starts_with("/lib/modules") {
            let map = Mmap { pid: -1, tid: 0, addr: 0x9000, len: 0x1000, pgoff: 0, filename };
            files.record(Misc(1), &Record::<NativeEndian>::Mmap(map));
        } else {
            let id = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
            let map = mapping(id, filename);
            files.record(Misc(2), &Record::<NativeEndian>::Mmap2(map));
        }
    }
    files
}

/// Returns the path of each file and link below a folder, with the target of the link.
fn tree(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => {
                all.extend(tree(&entry.path()).iter().map(|below| format!("{name}/{below}")))
            }
            kind if kind.is_symlink() => {
                all.push(format!("{name} -> {}", fs::read_link(entry.path()).unwrap().display()));
            }
            _ => all.push(name),
        }
    }
    all.sort();
    all
}

#[test]
fn as_perf_arranges_it() {
    let (machine, home) = (machine(), Folder::new());
    let cache = home.0.join(".debug");
    let files =
        mapped(&["/bin/program", "/lib/library", "/lib/modules/a.ko.xz", "/none", "//anon", "[heap]"]);
    files.cache(&machine.0, &cache).unwrap();
    let expected = [
        ".build-id/01/0203 -> ../../bin/program/010203",
        ".build-id/04/05 -> ../../lib/library/0405",
        ".build-id/06/07 -> ../../[kernel.kallsyms]/0607",
        ".build-id/08/09 -> ../../lib/modules/a.ko.xz/0809",
        "[kernel.kallsyms]/0607/kallsyms",
        "bin/program/010203/elf",
        "lib/library/0405/debug",
        "lib/library/0405/elf",
        "lib/modules/a.ko.xz/0809/elf",
    ];
    assert_eq!(tree(&cache), expected);
    let ino = |path: &Path| fs::metadata(path).unwrap().ino();
    assert_eq!(
        ino(&cache.join("bin/program/010203/elf")),
        ino(&machine.0.join("bin/program")),
        "a hard link"
    );
    let symbols = cache.join(".build-id/06/07/kallsyms");
    assert_eq!(fs::metadata(&symbols).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(symbols).unwrap(), fs::read(machine.0.join("proc/kallsyms")).unwrap());

    // The cache keeps what it has.
    fs::remove_file(machine.0.join("bin/program")).unwrap();
    files.cache(&machine.0, &cache).unwrap();
    assert_eq!(tree(&cache), expected);
}

#[test]
fn a_file_that_changed_is_not_added() {
    let (machine, home) = (machine(), Folder::new());
    let mut bytes = [0; 20];
    bytes[0] = 7;
    let id = FileId::BuildId { size: 1, bytes };
    let filename = b"/bin/program";
    let map = mapping(id, filename);
    let mut files = BuildIdCollector::new();
    files.record(Misc(2) | Misc::MMAP_BUILD_ID, &Record::<NativeEndian>::Mmap2(map));
    files.cache(&machine.0, &home.0).unwrap();
    assert!(tree(&home.0).iter().all(|path| !path.contains("program")));
}

#[test]
fn hidden_addresses_are_not_added() {
    let (machine, home) = (machine(), Folder::new());
    machine.put("proc/kallsyms", b"0 T _text\n0 T _etext\n");
    mapped(&[]).cache(&machine.0, &home.0).unwrap();
    assert_eq!(tree(&home.0), Vec::<String>::new());
}

#[test]
fn a_program_that_runs_as_another_user_is_copied() {
    let (machine, home) = (machine(), Folder::new());
    let program = machine.0.join("bin/program");
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    mapped(&["/bin/program"]).cache(&machine.0, &home.0).unwrap();
    let copy = home.0.join("bin/program/010203/elf");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(&program).unwrap());
    let metadata = fs::metadata(&copy).unwrap();
    assert_eq!((metadata.mode() & 0o7777, metadata.nlink()), (0o755, 1));
    assert_eq!(fs::read_dir(copy.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn links_in_the_cache_are_not_followed() {
    let (machine, home, elsewhere) = (machine(), Folder::new(), Folder::new());
    symlink(&elsewhere.0, home.0.join("bin")).unwrap();
    let error = mapped(&["/bin/program", "/lib/library"]).cache(&machine.0, &home.0).unwrap_err();
    assert!(error.raw_os_error().is_some(), "{error}");
    assert_eq!(tree(&elsewhere.0), Vec::<String>::new());
    assert!(tree(&home.0).contains(&"lib/library/0405/elf".to_owned()), "the others are added");
}

#[test]
fn a_home_that_is_not_writable_is_an_error() {
    let files = mapped(&[]);
    let error = files.cache(&machine().0, Path::new("/dev/null/.debug")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory);
}
