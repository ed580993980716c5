//! Archives of captures with the files of their names, read where these files are not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use perf_parse::record::{FileId, Mmap2};
use perf_parse::sample::Reading;
use testdata::Bytes;
use testdata::elf::{Elf, TEXT_OFFSET};

use crate::Run;
use crate::made::Made;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    an_archive_is_read_as_the_capture_was,
    files_below_another_root_are_those_of_the_recorder,
    an_archive_of_perf_beside_the_capture,
    archives_that_cannot_be_read,
    what_an_archive_may_not_replace,
    a_capture_takes_no_other_file_along,
];

const PID: i32 = 4_194_001;
const ID: [u8; 20] = [0xab; 20];

fn run(folder: &Path, args: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.current_dir(folder).args(args).env("HOME", folder.join("home")).env("TZ", "UTC");
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { status: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Runs a verb that must succeed. Returns what it prints.
fn printed(folder: &Path, args: &[&str]) -> String {
    let run = run(folder, args);
    assert_eq!((run.status, &*run.err), (0, ""), "{args:?}");
    run.out
}

fn program(function: &'static str, has_id: bool) -> Vec<u8> {
    let mut elf = Elf::new(62, true);
    elf.functions.push((function, 0, 0x100));
    if has_id {
        let note = Bytes::new(false).u32(4).u32(20).u32(3).raw(b"GNU\0").raw(&ID).out;
        elf = elf.section(".note.gnu.build-id", note);
    }
    elf.section(".rodata", vec![7; 0x1000]).build()
}

/// Writes a capture, `perf.data`, with samples in a file that has a build id, and in one that has none.
fn captured(folder: &Path) {
    fs::create_dir(folder.join("bin")).unwrap();
    let mut made = Made::new().comm(PID, "prog");
    let no_inode = FileId::Inode { maj: 0, min: 0, ino: 0, ino_generation: 0 };
    let files = [
        ("with_id", "identified", FileId::BuildId { size: 20, bytes: ID }),
        ("without_id", "unidentified", no_inode),
    ];
    for ((name, function, id), addr) in files.into_iter().zip([0x10_0000, 0x20_0000]) {
        let path = folder.join("bin").join(name);
        fs::write(&path, program(function, name == "with_id")).unwrap();
        let mapped = Mmap2 {
            pid: PID,
            tid: PID,
            addr,
            len: 0x1000,
            pgoff: TEXT_OFFSET,
            id,
            prot_flags: Some((5, 2)),
            filename: path.to_str().unwrap().as_bytes(),
            reading: Reading::Certain,
        };
        made = made.map2(PID, mapped).sample(PID, 1, &[addr + 4]);
    }
    fs::copy(made.file("archived.data"), folder.join("perf.data")).unwrap();
}

/// The verbs that print names.
const VERBS: [&[&str]; 4] = [&["report", "--stdio"], &["script"], &["fold"], &["report", "--format", "json"]];

fn an_archive_is_read_as_the_capture_was() {
    let folder = &needs::folder();
    captured(folder);
    let before = VERBS.map(|verb| printed(folder, &[verb, &["perf.data"]].concat()));
    assert!(
        before[1].contains(" identified+0x4") && before[1].contains(" unidentified+0x4"),
        "{}",
        before[1]
    );
    let archived = run(folder, &["archive"]);
    assert_eq!((archived.status, &*archived.out), (0, ""), "{}", archived.err);
    assert!(archived.err.starts_with("perfdata: perf.data.tar.zst: files: 2, bytes: "), "{}", archived.err);
    let mode = fs::metadata(folder.join("perf.data.tar.zst")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    fs::remove_dir_all(folder.join("bin")).unwrap();
    fs::remove_file(folder.join("perf.data")).unwrap();
    let after = |archive: &str| VERBS.map(|verb| printed(folder, &[verb, &[archive]].concat()));
    assert_eq!(after("perf.data.tar.zst"), before);
    let slim = run(folder, &["archive", "--slim", "perf.data.tar.zst", "-o", "slim.tar.zst"]);
    assert_eq!(slim.status, 0, "{}", slim.err);
    assert_eq!(after("slim.tar.zst"), before);
    // A repaired capture is a capture without the files.
    let repaired = run(folder, &["repair", "slim.tar.zst", "-o", "repaired.data"]);
    assert_eq!(repaired.status, 0, "{}", repaired.err);
    let script = |args: &[&str]| printed(folder, &[&["script", "-F", "ip,sym"], args].concat());
    assert!(!script(&["repaired.data"]).contains("identified"));
    // The archive is a source of files by build id, too.
    let by_id = script(&["--debug-dir", "perf.data.tar.zst", "repaired.data"]);
    assert!(by_id.contains(" identified") && !by_id.contains("unidentified"), "{by_id}");
}

fn files_below_another_root_are_those_of_the_recorder() {
    let folder = &needs::folder();
    captured(folder);
    let root = folder.join("root");
    let copied = root.join(folder.strip_prefix("/").unwrap());
    fs::create_dir_all(&copied).unwrap();
    fs::rename(folder.join("bin"), copied.join("bin")).unwrap();
    let before = VERBS.map(|verb| printed(folder, &[verb, &["--symfs", "root", "perf.data"]].concat()));
    assert!(before[1].contains(" unidentified+0x4"), "{}", before[1]);
    let archived = run(folder, &["archive", "--symfs", "root"]);
    assert_eq!(archived.status, 0, "{}", archived.err);
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(VERBS.map(|verb| printed(folder, &[verb, &["perf.data.tar.zst"]].concat())), before);
}

/// `perf archive` writes `perf.data.tar.bz2`.
fn an_archive_of_perf_beside_the_capture() {
    let folder = &needs::folder();
    captured(folder);
    let content = fs::read(folder.join("bin/with_id")).unwrap();
    fs::remove_dir_all(folder.join("bin")).unwrap();
    let script = || run(folder, &["script", "-F", "ip,sym", "perf.data"]);
    assert!(!script().out.contains("identified"));
    let out = fs::File::create(folder.join("perf.data.tar.bz2")).unwrap();
    let mut archive = tar::Builder::new(bzip2::write::BzEncoder::new(out, bzip2::Compression::fast()));
    let (name, id) = ("bin/with_id", "ab".repeat(20));
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len() as u64);
    archive.append_data(&mut header, format!("{name}/{id}/elf"), &*content).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Symlink);
    header.set_size(0);
    let link = format!(".build-id/ab/{}", "ab".repeat(19));
    archive.append_link(&mut header, link, format!("../../{name}/{id}")).unwrap();
    archive.into_inner().unwrap().finish().unwrap();
    let run = script();
    assert!(run.out.contains(" identified") && run.err.is_empty(), "{run:?}");
    // One that is damaged is not used, and said to be.
    fs::write(folder.join("perf.data.tar.bz2"), "BZh9 and then something else").unwrap();
    let run = script();
    assert!(run.status == 0 && !run.out.contains("identified"), "{run:?}");
    assert!(run.err.contains("perf.data.tar.bz2") && run.err.contains("it is not used"), "{}", run.err);
}

fn archives_that_cannot_be_read() {
    let folder = &needs::folder();
    captured(folder);
    assert_eq!(run(folder, &["archive", "perf.data"]).status, 0);
    let whole = fs::read(folder.join("perf.data.tar.zst")).unwrap();
    fs::write(folder.join("cut.tar.zst"), &whole[..whole.len() / 2]).unwrap();
    let mut empty = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(7);
    empty.append_data(&mut header, ".build-id/ab/cdef/elf", &b"content"[..]).unwrap();
    fs::write(folder.join("no-capture.tar"), empty.into_inner().unwrap()).unwrap();
    for (name, why) in [("cut.tar.zst", "cut.tar.zst: "), ("no-capture.tar", "the archive has no capture")] {
        for verb in ["report", "script", "info", "dump", "fold"] {
            let run = run(folder, &[verb, name]);
            assert!(run.status == 1 && run.err.contains(why) && run.out.is_empty(), "{verb}: {run:?}");
        }
    }
    let stream = run(folder, &["archive", "-", "-o", "x.tar.zst"]);
    assert!(stream.status == 1 && !folder.join("x.tar.zst").exists(), "{stream:?}");
}

fn what_an_archive_may_not_replace() {
    let folder = &needs::folder();
    captured(folder);
    let before = fs::read(folder.join("perf.data")).unwrap();
    let itself = run(folder, &["archive", "perf.data", "-o", "perf.data"]);
    assert!(itself.status == 1 && itself.err.contains("is read as input"), "{itself:?}");
    assert_eq!(fs::read(folder.join("perf.data")).unwrap(), before);
    assert_eq!(run(folder, &["archive", "perf.data"]).status, 0);
    let archive = fs::read(folder.join("perf.data.tar.zst")).unwrap();
    for verb in [&["archive"][..], &["repair"], &["export", "--to", "speedscope"]] {
        let args = [verb, &["perf.data.tar.zst", "-o", "perf.data.tar.zst"]].concat();
        let run = run(folder, &args);
        assert!(run.status == 1 && run.err.contains("is read as input"), "{args:?}: {run:?}");
    }
    assert_eq!(fs::read(folder.join("perf.data.tar.zst")).unwrap(), archive);
    let index = run(folder, &["index", "perf.data.tar.zst"]);
    assert!(index.status == 1 && index.err.contains("is an archive"), "{index:?}");
}

/// A capture that somebody else made can name any file as one that was mapped.
fn a_capture_takes_no_other_file_along() {
    let folder = &needs::folder();
    let private = folder.join("private");
    fs::write(&private, "the secret").unwrap();
    let made = Made::new().comm(PID, "prog").map(PID, private.to_str().unwrap()).sample(PID, 1, &[0x1004]);
    fs::copy(made.file("hostile.data"), folder.join("perf.data")).unwrap();
    let archived = run(folder, &["archive"]);
    assert!(archived.status == 0 && archived.err.contains(": files: 0, "), "{archived:?}");
    let archive = fs::read(folder.join("perf.data.tar.zst")).unwrap();
    let tar = zstd::decode_all(&*archive).unwrap();
    let has = |text: &[u8]| tar.windows(text.len()).any(|it| it == text);
    assert!(has(b"private"));
    assert!(!has(b"the secret"));
}
