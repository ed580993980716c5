//! `perfdata export --to parquet`: the files of a data set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use perf_export::columns::{self, Batches};
use perf_export::parquet::{self, ParquetError};
use perf_parse::Reader;

/// Runs `perfdata export --to parquet`.
fn export(captures: &[PathBuf], folder: &Path, options: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perfdata"));
    command.args(["export", "--to", "parquet", "--no-symbols"]).args(options).args(captures);
    command.arg("-o").arg(folder).output().unwrap()
}

fn exported(captures: &[PathBuf], folder: &Path) {
    let output = export(captures, folder, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files below a folder, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    testdata::files_below(folder).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn a_capture_has_a_file_in_each_table() {
    let folder = needs::folder();
    exported(&[testdata::path("everything.data"), testdata::path("switch.data")], &folder);
    let files = files(&folder);
    assert_eq!(files.len(), 32);
    for path in files.keys() {
        let parts: Vec<_> =
            path.strip_prefix(&*folder).unwrap().iter().map(|it| it.to_str().unwrap()).collect();
        let [_, host, date, name] = parts[..] else { panic!("{path:?}") };
        assert!(host.starts_with("host=") && date.starts_with("date="), "{path:?}");
        assert!(name.strip_suffix(".parquet").is_some_and(|name| name.len() == 32), "{path:?}");
    }
    // One has what relates the clocks, one has not.
    let days = |date: &str| files.keys().filter(|path| path.to_str().unwrap().contains(date)).count();
    assert_eq!((days("date=20"), days("date=__HIVE_DEFAULT_PARTITION__")), (16, 16));
}

#[test]
fn the_host_and_the_day_can_be_given() {
    let folder = needs::folder();
    let captures = [testdata::path("everything.data"), testdata::path("switch.data")];
    let output = export(&captures, &folder, &["--host", "a/b", "--date", "2026-11-23"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = files(&folder);
    assert_eq!(files.len(), 32);
    assert!(files.keys().all(|path| path.to_str().unwrap().contains("/host=a%2Fb/date=2026-11-23/")));
    let output = export(&captures, &folder, &["--date", "2026-02-30"]);
    assert_eq!(output.status.code(), Some(1));
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(why.contains("the calendar has no such day"), "{why}");
}

#[test]
fn tracepoints_have_tables_as_long_as_they_are_wanted() {
    let folder = needs::folder();
    let captures = [testdata::path("everything.data")];
    let traces = || files(&folder).keys().filter(|path| path.to_str().unwrap().contains("/trace_")).count();
    for (options, expected) in [(&["--with", "trace"][..], 1), (&[], 0), (&["--with", "trace"], 1)] {
        let output = export(&captures, &folder, options);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!((traces(), files(&folder).len()), (expected, 16 + expected));
    }
    // Fields may have names and paths.
    let output = export(&captures, &folder, &["--with", "trace", "--drop", "comm"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(traces(), 0);
}

#[test]
fn a_capture_replaces_its_own_files_and_no_others() {
    let folder = needs::folder();
    exported(&[testdata::path("callchain.data"), testdata::path("switch.data")], &folder);
    let before = files(&folder);
    exported(&[testdata::path("callchain.data")], &folder);
    assert_eq!(files(&folder), before);
    // Other rows: only the files of this capture differ.
    let output = export(&[testdata::path("callchain.data")], &folder, &["--drop", "comm"]);
    assert!(output.status.success());
    let after = files(&folder);
    assert!(after.keys().eq(before.keys()));
    let different: Vec<_> = after.iter().filter(|(path, content)| before[*path] != **content).collect();
    assert!(!different.is_empty());
    let name = different[0].0.file_name();
    assert!(different.iter().all(|(path, _)| path.file_name() == name));
}

#[test]
fn a_capture_is_replaced_whole_or_not_at_all() {
    let folder = needs::folder();
    exported(&[testdata::path("callchain.data")], &folder);
    // The last file cannot be replaced.
    let last = files(&folder).into_keys().find(|path| path.starts_with(folder.join("captures"))).unwrap();
    let content = fs::read(&last).unwrap();
    fs::remove_file(&last).unwrap();
    let before = files(&folder);
    fs::create_dir(&last).unwrap();
    fs::write(last.join("in the way"), "").unwrap();
    let output = export(&[testdata::path("callchain.data")], &folder, &["--drop", "comm"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("captures/host="), "{text}");
    fs::remove_dir_all(&last).unwrap();
    assert_eq!(files(&folder), before);
    // The capture can be exported again.
    exported(&[testdata::path("callchain.data")], &folder);
    assert_eq!(fs::read(&last).unwrap(), content);
}

#[test]
fn a_failure_does_not_keep_other_captures_from_being_exported() {
    let folder = needs::folder();
    let text = folder.join("text");
    fs::write(&text, "no capture").unwrap();
    let data_set = folder.join("set");
    let output = export(&[text.clone(), testdata::path("switch.data")], &data_set, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not exported: 1 of 2"));
    assert_eq!(files(&data_set).len(), 16);
    assert_eq!(export(&[text], &folder.join("none"), &[]).status.code(), Some(1));
}

#[test]
fn a_damaged_capture_is_exported_with_its_losses() {
    let folder = needs::folder();
    let output = export(&[testdata::path("killed.data")], &folder, &[]);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(files(&folder).len(), 16);
}

#[test]
fn redacted_files_have_no_paths() {
    let folder = needs::folder();
    let output = export(&[testdata::path("callchain.data")], &folder, &["--drop", "comm,cmdline,paths"]);
    assert!(output.status.success());
    let has = |content: &[u8], text: &[u8]| content.windows(text.len()).any(|it| it == text);
    for (path, content) in files(&folder) {
        for text in [&b"/usr/"[..], b"/lib/", b"callchain.data", b"/root"] {
            assert!(!has(&content, text), "{}: {}", path.display(), String::from_utf8_lossy(text));
        }
    }
}

/// The program and an embedder, held against each other on every capture: one run of the program for each.
#[test]
fn the_library_writes_the_files_of_the_program() {
    let all = needs::folder();
    let mut compared = 0;
    for (path, number) in testdata::captures().into_iter().zip(0..) {
        let Ok(reader) = Reader::open(&path) else { continue };
        let folder = all.join(number.to_string());
        fs::create_dir(&folder).unwrap();
        let output = export(std::slice::from_ref(&path), &folder, &["--with", "trace"]);
        let of_program = files(&folder);
        if of_program.is_empty() {
            let why = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{}: {why}", path.display());
            continue;
        }
        let mut options = columns::Options::default();
        options.path = Some(path.as_os_str().as_encoded_bytes().to_vec());
        options.with.trace = true;
        let batches = Batches::new(&reader, &perf_profile::Symbols::of(&reader).without_names(), options);
        let open = |_: &Path| Ok::<_, ParquetError>(Vec::new());
        let of_library = parquet::write(batches, &parquet::Options::default(), open).unwrap();
        let of_library: BTreeMap<_, _> =
            of_library.into_iter().map(|(path, file)| (folder.join(path), file)).collect();
        assert!(of_library.keys().eq(of_program.keys()), "{}", path.display());
        for (file, content) in of_program {
            assert!(of_library[&file] == content, "{}: {}", path.display(), file.display());
        }
        fs::remove_dir_all(folder).unwrap();
        compared += 1;
    }
    assert!(compared > 60, "{compared}");
}
