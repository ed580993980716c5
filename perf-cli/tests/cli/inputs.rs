//! Inputs that cannot be read to an end: devices, pipes, files that are mostly holes.

use core::time::Duration;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{Jsonl, fails, jsonl, perfdata, scratch_folder};

const VERBS: [&[&str]; 4] = [&["info"], &["dump"], &["dump", "--no-mmap"], &["repair", "-o", "/dev/null"]];

#[test]
fn a_device_without_end_is_no_capture() {
    for verb in VERBS {
        let args = [verb, &["/dev/zero"]].concat();
        fails(&args, "/dev/zero: 0x0: header.magic: is not PERFILE2");
        let stdin = Command::new(env!("CARGO_BIN_EXE_perfdata"))
            .args([verb, &["-"]].concat())
            .stdin(Stdio::from(File::open("/dev/zero").unwrap()))
            .output()
            .unwrap();
        assert_eq!(stdin.status.code(), Some(1));
        let err = String::from_utf8_lossy(&stdin.stderr);
        assert!(err.contains("standard input: 0x0: header.magic: is not PERFILE2"), "{err}");
    }
    let attr = testdata::path("plain.data");
    let attr = attr.to_str().unwrap();
    fails(&["ring", "/dev/zero", "--attr", attr], "/dev/zero: is a device, which may never end");
    fails(&["ring", attr, "--attr", "/dev/zero"], "/dev/zero: is a device, which may never end");
}

/// Checks that a folder is refused in which `make` creates `name`. Its `data` is that of a capture, unless `name` is
/// `data`.
fn refuses(test: &str, name: &str, make: impl Fn(&Path)) {
    let folder = scratch_folder(test);
    if name != "data" {
        fs::copy(testdata::path("threads.dir").join("data"), folder.join("data")).unwrap();
    }
    make(&folder.join(name));
    for verb in VERBS {
        let args = [verb, &[folder.to_str().unwrap()]].concat();
        fails(
            &args,
            &format!(
                "/{name}: is not a regular file; perf record --threads writes only regular files here, so remove it"
            ),
        );
    }
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_folder_has_files_alone() {
    refuses("pipe.dir", "data", pipe);
    refuses("pipe_1.dir", "data.1", pipe);
    refuses("zero.dir", "data", |path| symlink("/dev/zero", path).unwrap());
    refuses("zero_1.dir", "data.1", |path| symlink("/dev/zero", path).unwrap());
    refuses("folder_1.dir", "data.1", |path| fs::create_dir(path).unwrap());
    refuses("socket_1.dir", "data.1", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap()));
    let folder = scratch_folder("nowhere.dir");
    fs::copy(testdata::path("threads.dir").join("data"), folder.join("data")).unwrap();
    symlink("nowhere", folder.join("data.1")).unwrap();
    fails(&["info", folder.to_str().unwrap()], "/data.1: No such file or directory");
}

#[test]
fn a_named_pipe_is_read_as_it_comes() {
    let folder = scratch_folder("named_pipe");
    let path = folder.join("fifo");
    pipe(&path);
    for name in ["plain.data", "tracing.pipe.data"] {
        let capture = testdata::path(name);
        for verb in [&["dump"][..], &["dump", "--no-mmap"]] {
            let mut writer = Command::new("cp").arg(&capture).arg(&path).spawn().unwrap();
            let run = perfdata([verb, &[path.to_str().unwrap()]].concat());
            assert!(writer.wait().unwrap().success());
            assert_eq!(run.status, 0, "{}", run.err);
            assert_eq!(run.out, perfdata(["dump", capture.to_str().unwrap()]).out);
        }
    }
}

/// Creates a file whose data section has `records` records at its start, as many at its end, and a hole between them.
fn sparse(path: &Path, size: u64, records: usize) {
    // magic, size, attr_size, attrs, data, event_types, adds_features
    let header = [u64::from_le_bytes(*b"PERFILE2"), 104, 80, 104, 80, 184, size, 0, 0, 0, 0, 0, 0];
    // PERF_TYPE_SOFTWARE, PERF_ATTR_SIZE_VER0; sample_type is TIME; no ids
    let attr = [1 | 64 << 32, 0, 1, 4, 0, 0, 0, 0, 0, 0];
    // PERF_RECORD_SAMPLE
    let record = [9 | 2 << 32 | 16 << 48, 5].map(u64::to_le_bytes).concat().repeat(records);
    let head = header.into_iter().chain(attr).flat_map(u64::to_le_bytes).collect::<Vec<_>>();
    let file = File::create(path).unwrap();
    file.set_len(184 + size).unwrap();
    file.write_all_at(&[head, record.clone()].concat(), 0).unwrap();
    file.write_all_at(&record, 184 + size - record.len() as u64).unwrap();
}

#[test]
fn a_hole_takes_no_time_and_is_accounted_for() {
    let folder = scratch_folder("sparse");
    let path = folder.join("sparse.data");
    let size = 1 << 40;
    sparse(&path, size, 10);
    let begun = Instant::now();
    for order in ["file", "time"] {
        let Jsonl { run, records, account } = jsonl(&path, &["--order", order]);
        assert_eq!((run.status, records.len()), (3, 20), "{}", run.err);
        assert_eq!(records[10]["offset"], 184 + size - 160);
        assert_eq!((&account["bytes"], &account["bytes_skipped"]), (&320.into(), &(size - 320).into()));
    }
    let out = folder.join("repaired.data");
    let repaired = perfdata(["repair".as_ref(), path.as_os_str(), "-o".as_ref(), out.as_os_str()]);
    assert!(repaired.status == 3 && out.metadata().unwrap().len() < 1000, "{}", repaired.err);
    // A data file of a folder, and one with nothing after the hole.
    fs::copy(testdata::path("threads.dir").join("data"), folder.join("data")).unwrap();
    File::create(folder.join("data.1")).unwrap().set_len(size).unwrap();
    let Jsonl { account, .. } = jsonl(&folder, &[]);
    assert_eq!(account["bytes_skipped"], size);
    // Holes are not read: skipping them takes a fraction of a second, reading them would take minutes.
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    fs::remove_dir_all(folder).unwrap();
}

/// A capture of 10 GB whose records cannot be decoded: `--header-only` does not see them.
#[test]
fn the_header_alone_reads_no_record() {
    let folder = scratch_folder("header_only");
    let path = folder.join("sparse.data");
    sparse(&path, 10 << 30, 10);
    let name = path.to_str().unwrap();
    let (whole, header) = (perfdata(["info", name]), perfdata(["info", "--header-only", name]));
    assert_eq!((whole.status, header.status, &*header.err), (3, 0, ""));
    assert!(whole.out.starts_with(&header.out) && header.out.ends_with("\nfeatures: 0\n"), "{}", header.out);
    fs::remove_dir_all(folder).unwrap();
}

/// What is printed before the records does not depend on them.
#[test]
fn the_header_alone_is_the_start_of_the_summary() {
    for name in ["plain.data", "tracing.pipe.data", "identifier.data", "touch.zstd.data", "threads.dir"] {
        let path = testdata::path(name);
        let (whole, header) = (
            perfdata(["info".as_ref(), path.as_os_str()]),
            perfdata(["info".as_ref(), "--header-only".as_ref(), path.as_os_str()]),
        );
        assert_eq!((header.status, &*header.err), (0, ""), "{name}");
        let (start, rest) = whole.out.split_at(header.out.len());
        assert_eq!(start, header.out, "{name}");
        assert!(rest.starts_with("\nrecords: "), "{name}: {rest}");
    }
}

/// As `perf record --kcore` writes it. `--kallsyms` goes before it.
#[test]
fn the_symbols_of_the_kernel_in_a_folder_give_names() {
    let folder = scratch_folder("kcore_dir");
    fs::copy(testdata::path("system_wide.data"), folder.join("data")).unwrap();
    let count = |options: &[&str], name: &str| {
        let run = perfdata([&["script", "-F", "ip,sym", folder.to_str().unwrap()], options].concat());
        assert_eq!(run.status, 0, "{}", run.err);
        run.out.lines().filter(|line| line.trim_end().ends_with(name)).count()
    };
    assert_eq!(count(&[], "of_the_folder"), 0);
    let kcore = folder.join("kcore_dir");
    fs::create_dir(&kcore).unwrap();
    let symbol = |name: &str| format!("ffffffff815e16b5 T {name}\nffffffff815e16c5 T next\n");
    fs::write(kcore.join("kallsyms"), symbol("of_the_folder")).unwrap();
    let named = count(&[], "of_the_folder");
    assert!(named > 0);
    let other = folder.join("kcore_dir").join("other");
    fs::write(&other, symbol("of_the_option")).unwrap();
    assert_eq!(count(&["--kallsyms", other.to_str().unwrap()], "of_the_option"), named);
    assert_eq!(count(&["--no-symbols"], "of_the_folder"), 0);
}
