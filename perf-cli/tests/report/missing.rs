//! What is said of files without names: the reason, and what would have helped.

use std::fs;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use testdata::Bytes;
use testdata::elf::{Elf, TEXT_OFFSET};

use crate::made::Made;
use crate::report;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    a_package_has_debug_symbols,
    a_program_of_ones_own_has_none,
    a_program_of_go_has_none,
    a_file_that_was_replaced,
    a_file_of_a_container,
    generated_code_without_a_map,
    code_that_the_process_moved,
    hidden_addresses_of_the_kernel,
];

const PID: i32 = 4_194_000;
const ID: [u8; 20] = [0xab; 20];
const BUILD_ID: FileId = FileId::BuildId { size: 20, bytes: ID };

/// An ELF note.
fn note(kind: u32, owner: &str, text: &[u8]) -> Vec<u8> {
    let owner_size = owner.len() as u32 + 1;
    let head = Bytes::new(false).u32(owner_size).u32(text.len() as u32).u32(kind).raw(owner.as_bytes());
    head.zeros(owner_size.next_multiple_of(4) as usize - owner.len()).raw(text).out
}

fn stripped() -> Elf {
    Elf::new(62, true)
}

/// Returns the last lines of the report of a sample in a file, which is below the folder of all files if there is one.
fn reported(path: &str, id: FileId, file: Option<&Elf>) -> String {
    let folder = needs::folder();
    let at = folder.join("root").join(path.trim_start_matches('/'));
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    if let Some(file) = file {
        fs::write(&at, file.build()).unwrap();
    }
    let mapped = Mmap2 {
        pid: PID,
        tid: PID,
        addr: 0x10_0000,
        len: 0x1000,
        pgoff: TEXT_OFFSET,
        id,
        prot_flags: Some((5, 2)),
        filename: path.as_bytes(),
        reading: Reading::Certain,
    };
    let capture = Made::new().comm(PID, "prog").map2(PID, mapped).sample(PID, 1, &[0x10_0004]);
    let capture = capture.file("missing.data");
    let run =
        report(capture.to_str().unwrap(), &["--stdio", "--symfs", folder.join("root").to_str().unwrap()]);
    assert_eq!(run.status, 0, "{}", run.err);
    run.out
}

fn inode(maj: u32, min: u32) -> FileId {
    FileId::Inode { maj, min, ino: 7, ino_generation: 0 }
}

fn a_package_has_debug_symbols() {
    let elf = stripped().section(".note.gnu.build-id", note(3, "GNU", &ID));
    let out = reported("/usr/bin/prog", BUILD_ID, Some(&elf));
    let line = "ab): 1 frame without a name: the file has no symbols there. Install its debug symbols, give them with \
                --debug-dir, or fetch them with --debuginfod\n";
    assert!(out.contains(line), "{out}");
}

fn a_program_of_ones_own_has_none() {
    let elf = stripped().section(".note.gnu.build-id", note(3, "GNU", &ID));
    for (path, id) in
        [("/home/x/prog", BUILD_ID), ("/usr/local/bin/prog", BUILD_ID), ("/usr/bin/prog", inode(8, 1))]
    {
        let out = reported(path, id, Some(&elf));
        assert!(out.contains("the file has no symbols there. Record a build that was not stripped"), "{out}");
        assert!(!out.contains("Install"), "{out}");
    }
}

fn a_program_of_go_has_none() {
    let elf = stripped().section(".note.go.buildid", note(4, "Go", b"abc/def"));
    let out = reported("/usr/bin/prog", inode(8, 1), Some(&elf));
    assert!(
        out.contains("the Go program has no function table that can be read. Record it as go build"),
        "{out}"
    );
}

fn a_file_that_was_replaced() {
    let elf = stripped().section(".note.gnu.build-id", note(3, "GNU", &[0xcd; 20]));
    let out = reported("/usr/bin/prog", BUILD_ID, Some(&elf));
    let now = "cd".repeat(20);
    let line = format!("another file is at its path by now, with the build id {now}. Give the recorded one");
    assert!(out.contains(&line), "{out}");
}

fn a_file_of_a_container() {
    let out = reported("/usr/bin/prog", inode(0, 52), None);
    assert!(
        out.contains("on a file system without a device (0:52), as those of containers are. Run"),
        "{out}"
    );
    // A file system in memory has no device either.
    for (path, id) in
        [("/usr/bin/prog", inode(8, 1)), ("/tmp/prog", inode(0, 52)), ("/dev/shm/prog", inode(0, 52))]
    {
        let out = reported(path, id, None);
        assert!(out.contains("the file was not found. Give the folder that has it with --symfs"), "{out}");
    }
}

fn generated_code_without_a_map() {
    let out = reported("//anon", inode(0, 0), None);
    let line = format!("/tmp/perf-{PID}.map: 1 frame without a name: the process left no map");
    assert!(out.contains(&line), "{out}");
}

/// Memory was laid over a whole file, which is not there any more.
fn code_that_the_process_moved() {
    let mapped = |name: &'static str, id| Mmap2 {
        pid: PID,
        tid: PID,
        addr: 0x10_0000,
        len: 0x1000,
        pgoff: 0,
        id,
        prot_flags: Some((5, 2)),
        filename: name.as_bytes(),
        reading: Reading::Certain,
    };
    let capture = Made::new().comm(PID, "prog").map2(PID, mapped("/opt/db/server", inode(8, 1)));
    let capture = capture.map2(PID, mapped("//anon", inode(0, 0))).sample(PID, 1, &[0x10_0004]);
    let capture = capture.file("moved.data");
    let run = report(capture.to_str().unwrap(), &["--stdio", "--symfs", needs::folder().to_str().unwrap()]);
    let line = "1 frame without a name: the process moved code of /opt/db/server there, which was not found";
    assert!(run.out.contains(line), "{}", run.out);
}

fn hidden_addresses_of_the_kernel() {
    let folder = needs::folder();
    let kallsyms = folder.join("kallsyms");
    fs::write(&kallsyms, "0000000000000000 T _text\n0000000000000000 T f\n").unwrap();
    let mapped = Mmap2 {
        pid: -1,
        tid: 0,
        addr: 0xffff_ffff_9000_0000,
        len: 0x100_0000,
        pgoff: 0xffff_ffff_9000_0000,
        id: inode(0, 0),
        prot_flags: Some((5, 2)),
        filename: b"[kernel.kallsyms]_text",
        reading: Reading::Certain,
    };
    let capture = Made::new().comm(PID, "prog").kernel(mapped).kernel_sample(PID, &[0xffff_ffff_9000_1000]);
    let capture = capture.file("hidden.data");
    let run = report(capture.to_str().unwrap(), &["--stdio", "--kallsyms", kallsyms.to_str().unwrap()]);
    let line = "kernel.kptr_restrict hides the addresses of the kernel. Run as root, or after sysctl";
    assert!(run.out.contains(line), "{}", run.out);
}
