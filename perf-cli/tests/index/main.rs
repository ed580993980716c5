//! `perfdata index`: the file it writes, and what it refuses.

#![cfg(unix)]

mod used;

use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use needs::{Folder, Run};
use perf_parse::index::{IndexErrorKind, IndexIdentity};
use perf_parse::{Index, Reader};

fn new(name: &str) -> Folder {
    Folder::new(env!("CARGO_BIN_EXE_perfdata"), name)
}

/// Creates a folder that contains a capture.
fn with(name: &str, capture: &str) -> Folder {
    let folder = new(name);
    fs::copy(testdata::path(capture), folder.path("perf.data")).unwrap();
    folder
}

fn nanoseconds(metadata: &Metadata) -> u64 {
    metadata.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

/// Checks that an index file is that of a capture.
fn is_index_of(folder: &Folder, index: &str, capture: &str) {
    let bytes = folder.read(capture);
    let reader = Reader::new(&bytes).unwrap();
    let metadata = fs::metadata(folder.path(capture)).unwrap();
    let identity = IndexIdentity::new(&reader, metadata.len(), nanoseconds(&metadata));
    let decoded = Index::decode(&folder.read(index), &identity).unwrap();
    assert_eq!(decoded, Index::from_records(reader.records()).unwrap(), "{capture}");
}

/// The lines on standard error that report faults of the capture.
fn faults(run: &Run) -> Vec<&str> {
    run.err.lines().filter(|line| !line.starts_with("perfdata: ")).collect()
}

#[test]
fn is_written_beside_the_capture() {
    let folder = with("index_beside", "plain.data");
    let run = folder.run(&["index"]);
    let records = Index::from_records(Reader::new(&folder.read("perf.data")).unwrap().records()).unwrap();
    let records: u64 = records.chunks().map(|chunk| chunk.records()).sum();
    let size = folder.read("perf.data.idx").len();
    let line = format!("perfdata: perf.data.idx: records: {records}, chunks: 1, bytes: {size}\n");
    assert_eq!((run.status, &*run.out, run.err), (0, "", line));
    is_index_of(&folder, "perf.data.idx", "perf.data");
    assert_eq!(folder.names(), ["perf.data", "perf.data.idx"]);

    // An existing index is replaced, and -o names another.
    let before = folder.read("perf.data.idx");
    fs::write(folder.path("perf.data.idx"), "an older index").unwrap();
    folder.run(&["index", "perf.data"]).succeeds();
    assert_eq!(folder.read("perf.data.idx"), before);
    folder.run(&["index", "--no-mmap", "-i", "perf.data", "-o", "other"]).succeeds();
    assert_eq!(folder.read("other"), before);
}

#[test]
fn is_for_its_owner_alone() {
    let folder = with("index_mode", "plain.data");
    for (input, output) in [(0o644, 0o600), (0o666, 0o600), (0o400, 0o400)] {
        fs::set_permissions(folder.path("perf.data"), Permissions::from_mode(input)).unwrap();
        folder.run_after("umask 000", &["index"]).succeeds();
        assert_eq!(folder.mode("perf.data.idx"), output);
        fs::remove_file(folder.path("perf.data.idx")).unwrap();
    }
}

#[test]
fn is_of_no_use_once_the_capture_has_changed() {
    let folder = with("index_changed", "plain.data");
    folder.run(&["index"]).succeeds();
    let bytes = folder.read("perf.data");
    fs::write(folder.path("perf.data"), &bytes).unwrap();
    let reader = Reader::new(&bytes).unwrap();
    let metadata = fs::metadata(folder.path("perf.data")).unwrap();
    let identity = IndexIdentity::new(&reader, metadata.len(), nanoseconds(&metadata));
    let error = Index::decode(&folder.read("perf.data.idx"), &identity).unwrap_err().kind;
    assert!(matches!(error, IndexErrorKind::OtherCapture { field: "capture.modified", .. }), "{error}");
}

#[test]
fn faults_and_exit_status_are_those_of_info() {
    let folder = new("index_faults");
    let mut partial = 0;
    for from in ["captures", "synthetic"] {
        for entry in fs::read_dir(testdata::path("..").join(from)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() || path.extension().is_none_or(|it| it != "data") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let mut damaged = bytes.clone();
            let middle = bytes.len() / 2;
            damaged[middle..].iter_mut().take(12).for_each(|byte| *byte = 0);
            let cut = bytes[..bytes.len() - bytes.len() / 10].to_vec();
            for bytes in [bytes, damaged, cut] {
                fs::write(folder.path("in"), bytes).unwrap();
                let (info, index) = (folder.run(&["info", "in"]), folder.run(&["index", "in"]));
                assert_eq!((index.status, faults(&index)), (info.status, faults(&info)), "{path:?}");
                if index.status != 1 {
                    is_index_of(&folder, "in.idx", "in");
                }
                partial += u64::from(index.status == 3);
            }
        }
    }
    assert!(partial > 20, "{partial}");
}

#[test]
fn of_several_blocks() {
    let folder = new("index_blocks");
    let (name, size) = ("perf.data", 200_000);
    let bytes = fs::read(testdata::path("everything.data")).unwrap();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    // The records many times, up to the end of the file, as a recorder that was killed leaves them.
    let (data, end) = (word(40), word(40) + word(48));
    let mut long = bytes[..data].to_vec();
    long[48..56].fill(0);
    long[72..104].fill(0);
    while long.len() < 20 * size {
        long.extend_from_slice(&bytes[data..end]);
    }
    fs::write(folder.path(name), long).unwrap();
    let run = folder.run(&["index"]);
    assert_eq!(run.status, 3, "{}", run.err);
    is_index_of(&folder, "perf.data.idx", name);
}

#[test]
fn of_a_folder() {
    let folder = new("index_folder");
    fs::create_dir(folder.path("in")).unwrap();
    let mut size = 0;
    for entry in fs::read_dir(testdata::path("threads.dir")).unwrap() {
        let entry = entry.unwrap();
        size += entry.metadata().unwrap().len();
        fs::copy(entry.path(), folder.path("in").join(entry.file_name())).unwrap();
    }
    folder.run(&["index", "in/"]).succeeds();
    let files: Vec<_> = ["data", "data.0", "data.1"].map(|name| Path::new("in").join(name)).into();
    let bytes: Vec<_> = files.iter().map(|name| folder.read(name.to_str().unwrap())).collect();
    let mut reader = Reader::new(&bytes[0]).unwrap();
    bytes[1..].iter().for_each(|file| reader.add_data(file));
    let modified =
        files.iter().map(|name| nanoseconds(&fs::metadata(folder.path("").join(name)).unwrap())).max();
    let identity = IndexIdentity::new(&reader, size, modified.unwrap());
    let index = Index::decode(&folder.read("in.idx"), &identity).unwrap();
    assert_eq!(index, Index::from_records(reader.records()).unwrap());
}

#[test]
fn what_is_refused() {
    let folder = with("index_refused", "plain.data");
    for output in ["perf.data", "./perf.data"] {
        folder.run(&["index", "-o", output]).fails(&["read as input; give -o another name"]);
    }
    folder.run(&["index", "none"]).fails(&["none: No such file"]);
    folder.run(&["index", "-o", "none/x"]).fails(&["none/x: No such file"]);
    folder.run(&["index", "perf.data", "-o", "."]).fails(&["is a folder; give -o the name of a file"]);
    fs::copy(testdata::path("threads.dir/data"), folder.path("data")).unwrap();
    folder.run(&["index", "."]).fails(&["has no name to which .idx could be added", "with -o"]);
    folder.run(&["index", ".", "-o", "data.1"]).fails(&["give -o another name"]);
    for pipe in [false, true] {
        let capture = if pipe { "tracing.pipe.data" } else { "plain.data" };
        let mut command = folder.command(&["index", "-"]);
        let run = Run::of(command.stdin(fs::File::open(testdata::path(capture)).unwrap()));
        run.fails(&["-: is read as a stream, which an index cannot refer to; give the name of a file"]);
    }
    assert_eq!(folder.names(), ["data", "perf.data"]);
    assert_eq!(folder.read("perf.data"), fs::read(testdata::path("plain.data")).unwrap());
}

#[test]
fn the_help_shows_examples() {
    let run = new("index_help").run(&["index", "--help"]);
    assert!(
        run.status == 0 && run.out.contains("  perfdata index perf.data -o /tmp/perf.data.idx\n"),
        "{}",
        run.out
    );
}
