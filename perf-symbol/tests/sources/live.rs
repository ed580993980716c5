//! Files of processes that still run: in another mount namespace, replaced or deleted.

use std::sync::Arc;

use perf_session::Inode;
use perf_symbol::Symbolizer;

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Memory, Records, names, options, symbolizer};

const CODE: u64 = 0x7000_0000;
/// The inode that the records have.
const INODE: u64 = 7;
const OTHER: u64 = 8;

fn elf(name: &'static str, id: &[u8]) -> Vec<u8> {
    let elf = Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, name)]);
    if id.is_empty() { elf.build() } else { elf.build_id(id).build() }
}

/// Returns the names in a file that the process 5 has mapped, and whether they are doubtful.
fn found(files: Memory, id: &[u8], path: &str) -> (Vec<String>, bool) {
    let session = Records::default().map(5, CODE, 0x2000, id, path).session();
    let mut it = symbolizer(files);
    let names = names(&mut it, &session, 5, CODE + 0x1014);
    (names, it.lookups().iter().any(|looked| looked.doubt.is_some()))
}

fn maps(ino: u64, path: &str) -> String {
    format!("{CODE:x}-{:x} r-xp 00000000 08:01 {ino} {path}\n", CODE + 0x2000)
}

fn is(name: &str, is_doubtful: bool) -> (Vec<String>, bool) {
    (vec![format!("{name}+0x4 symtab")], is_doubtful)
}

#[test]
fn a_file_of_another_mount_namespace_by_its_build_id() {
    let files = || {
        Memory::default()
            .with("/srv/app", elf("outside", &[9; 4]))
            .with("/proc/5/root/srv/app", elf("inside", &[7; 4]))
    };
    let live = files().with("/proc/5/maps", maps(INODE, "/srv/app"));
    assert_eq!(found(live, &[7; 4], "/srv/app"), is("inside", false));
    // The process has ended.
    assert_eq!(found(files(), &[7; 4], "/srv/app"), (vec![], false));
    // Another process has its number, and another file at the path.
    let other = files().with("/proc/5/maps", maps(INODE, "/srv/app"));
    assert_eq!(found(other, &[6; 4], "/srv/app"), (vec![], false));
}

#[test]
fn a_file_of_another_mount_namespace_by_its_inode() {
    let files = |ino| {
        Memory::default().with("/proc/5/maps", "400000-401000 r-xp 00000000 08:01 3 /bin/b\n").with_inode(
            "/proc/5/root/srv/app",
            ino,
            elf("inside", &[]),
        )
    };
    assert_eq!(found(files(INODE), &[], "/srv/app"), is("inside", false));
    // The process maps another file, or none, at the recorded address.
    assert_eq!(found(files(OTHER), &[], "/srv/app"), (vec![], false));
    let host = files(INODE).with_inode("/srv/app", OTHER, elf("outside", &[]));
    assert_eq!(found(host, &[], "/srv/app"), is("inside", false));
    let host = files(OTHER).with_inode("/srv/app", OTHER + 1, elf("outside", &[]));
    assert_eq!(found(host, &[], "/srv/app"), is("outside", true));
    let host = files(INODE).with_inode("/srv/app", INODE, elf("outside", &[]));
    assert_eq!(found(host, &[], "/srv/app"), is("outside", false));
}

/// Some file systems report another device and inode to the recorder than to `stat`.
#[test]
fn a_file_that_the_process_has_mapped_now_at_the_recorded_address() {
    let files = |mapped: String| {
        Memory::default().with("/proc/5/maps", mapped).with_inode(
            "/proc/5/root/srv/app",
            OTHER,
            elf("inside", &[]),
        )
    };
    assert_eq!(found(files(maps(OTHER, "/srv/app")), &[], "/srv/app"), is("inside", true));
    assert_eq!(found(files(maps(OTHER, "/srv/other")), &[], "/srv/app"), (vec![], false));
    assert_eq!(found(files(maps(OTHER + 1, "/srv/app")), &[], "/srv/app"), (vec![], false));
    // A file that others see at the same path is found there.
    let host = files(maps(OTHER, "/srv/app")).with_inode("/srv/app", OTHER, elf("outside", &[]));
    assert_eq!(found(host, &[], "/srv/app"), is("outside", true));
}

#[test]
fn a_file_that_was_replaced_while_it_runs() {
    let mapped = "/proc/5/map_files/70000000-70002000";
    for (recorded, id) in [
        ("/srv/app", &[][..]),
        ("/srv/app (deleted)", &[]),
        ("/srv/app", &[7; 4]),
        ("/srv/app (deleted)", &[7; 4]),
    ] {
        let files = || {
            Memory::default()
                .with("/proc/5/maps", maps(INODE, "/srv/app (deleted)"))
                .with_inode("/srv/app", OTHER, elf("new", &[9; 4]))
                .with_inode("/proc/5/root/srv/app", OTHER, elf("new", &[9; 4]))
        };
        let old = elf("old", &[7; 4]);
        assert_eq!(found(files().with_inode(mapped, INODE, old.clone()), id, recorded), is("old", false));
        // Only root may read the mapped files.
        assert_eq!(found(files().with_inode("/proc/5/exe", INODE, old), id, recorded), is("old", false));
        // The program is another file than the one that is mapped.
        let program = files().with_inode("/proc/5/exe", OTHER, elf("new", &[9; 4]));
        assert_ne!(found(program, id, recorded), is("new", false));
    }
}

#[test]
fn files_below_a_folder_are_not_those_of_processes() {
    let files = Memory::default().with("/proc/5/maps", maps(INODE, "/srv/app")).with_inode(
        "/proc/5/root/srv/app",
        INODE,
        elf("inside", &[]),
    );
    let mut options = options();
    options.symfs = Some("/symfs".into());
    let session = Records::default().map(5, CODE, 0x2000, &[], "/srv/app").session();
    let mut it = Symbolizer::with_files(options, Arc::new(files));
    assert!(names(&mut it, &session, 5, CODE + 0x1014).is_empty());
}

/// Whether a file that was not found is gone with a container, or the file system that had it is mounted.
#[test]
fn file_systems_that_are_mounted() {
    const MOUNTS: &str =
        "22 1 0:29 / / rw shared:1 - btrfs /dev/sda2 rw\n90 22 0:52 / /c rw - overlay overlay rw\n";
    let is_mounted = |min: u32, symfs: Option<&str>| {
        let inode = Inode { maj: 0, min, ino: 7, ino_generation: 0 };
        let session = Records::default().map_inode((5, 0x40_0000, 0x1000), inode, "/srv/app").session();
        let mut options = crate::options();
        options.symfs = symfs.map(Into::into);
        let files = Memory::default().with("/proc/self/mountinfo", MOUNTS);
        let mut it = Symbolizer::with_files(options, Arc::new(files));
        assert!(names(&mut it, &session, 5, 0x40_0010).is_empty());
        it.lookups()[0].is_mounted
    };
    assert!(is_mounted(29, None));
    assert!(!is_mounted(52, None) && !is_mounted(30, None));
    // It was on another machine.
    assert!(!is_mounted(29, Some("/root")));
}
