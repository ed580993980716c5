//! The cache of names: where it is, what is not kept, and that outputs are the same with it. The capture is of this program's own code,
//! so that there is a file with a build id, symbols and perhaps DWARF.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use perf_abi::attr::Attr;
use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;
use perf_symbol::{ElfImage, FileBytes};
use testdata::Bytes;

pub(crate) const TESTS: &[needs::Test] = needs::tests![
    outputs_are_the_same_with_the_cache,
    the_cache_is_in_the_folder_of_the_user,
    an_archive_has_all_files,
];

const PROGRAM: &str = env!("CARGO_BIN_EXE_perfdata");

/// The address of the program's only mapping.
const MAP: u64 = 0x7f00_0000_0000;

/// Writes a capture with samples all over the program's code, a part of them as callers. Skips the test if the program has no build id.
fn capture(folder: &Path) -> PathBuf {
    let image = ElfImage::parse(FileBytes::new(fs::read(PROGRAM).unwrap()));
    let Ok(image) = image else { needs::skip("symbol_cache", "programs of this system are not ELF") };
    let Some(id) = image.build_id() else { needs::skip("symbol_cache", "the linker writes no build id") };
    let text = image.section(".text").unwrap();
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::CPU_CLOCK.0,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN,
        ..Attr::default()
    };
    let mmap = Bytes::new(false).i32(5).i32(5).u64s(&[MAP, 1 << 32, 0]);
    let id = id.as_bytes();
    let mmap = mmap.u8(u8::try_from(id.len()).unwrap()).zeros(3).padded(id, 20).u32(5).u32(2);
    let size = (PROGRAM.len() + 1).next_multiple_of(8);
    let mut file = testdata::file::Builder::new(false).event(attr, &[]);
    file = file.data(mmap.padded(PROGRAM.as_bytes(), size).record(10, 2 | 1 << 14));
    for number in 0..200 {
        let at = |part: u64| MAP + text.offset + text.size / 211 * part;
        let sample = Bytes::new(false).u64(at(number)).i32(5).i32(5).u64(number);
        file = file.data(sample.u64(3).u64s(&[u64::MAX - 511, at(number), at(number + 9)]).record(9, 2));
    }
    let path = folder.join("perf.data");
    fs::write(&path, file.build().bytes).unwrap();
    path
}

/// Runs a verb with a folder for caches.
fn output(verb: &str, args: &[&str], capture: &Path, caches: &Path) -> String {
    let mut command = Command::new(PROGRAM);
    command.arg(verb).args(args).arg(capture).env("XDG_CACHE_HOME", caches).env("TZ", "UTC");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{verb} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn kept(folder: &Path) -> usize {
    fs::read_dir(folder.join("perfdata")).map_or(0, Iterator::count)
}

fn outputs_are_the_same_with_the_cache() {
    let folder = needs::folder();
    let capture = capture(&folder);
    let verbs: [(&str, &[&str]); 7] = [
        ("report", &["--stdio"]),
        ("report", &["--format", "json", "--threads", "1"]),
        ("report", &["--stdio", "--sort", "sym,srcline", "--no-children"]),
        ("script", &[]),
        ("script", &["--no-inline"]),
        ("fold", &["--demangle=full"]),
        ("fold", &["--no-demangle", "--threads", "3"]),
    ];
    for (verb, args) in verbs {
        let caches = folder.join("caches");
        let without = output(verb, &[args, &["--no-cache"][..]].concat(), &capture, &caches);
        let before = kept(&caches);
        assert!(without.lines().count() > 100, "{verb}: {without}");
        for run in 1..=2 {
            assert!(output(verb, args, &capture, &caches) == without, "{verb} {args:?}, run {run}");
        }
        // By each set of options that changes names.
        assert!(kept(&caches) >= before && kept(&caches) > 0, "{verb} {args:?}");
    }
}

fn the_cache_is_in_the_folder_of_the_user() {
    let folder = needs::folder();
    let capture = capture(&folder);
    let (caches, home) = (folder.join("caches"), folder.join("home"));
    let run = |caches: &str, args: &[&str]| {
        let mut command = Command::new(PROGRAM);
        command.args(["fold"]).args(args).arg(&capture).current_dir(&folder);
        command.env("XDG_CACHE_HOME", caches).env("HOME", &home).output().unwrap().stdout
    };
    let without = run(caches.to_str().unwrap(), &["--no-cache"]);
    assert!(!caches.exists() && !home.exists());
    // Below another root, files are of another machine.
    run(caches.to_str().unwrap(), &["--symfs", "/"]);
    assert!(!caches.exists() && !home.exists());
    assert_eq!(run(caches.to_str().unwrap(), &[]), without);
    assert_eq!((kept(&caches), home.exists()), (1, false));
    // A path that is not absolute counts as none.
    assert_eq!(run("relative", &[]), without);
    assert!(!folder.join("relative").exists());
    assert_eq!(kept(&home.join(".cache")), 1);
}

/// What the cache has is read nevertheless, so that the archive has it.
fn an_archive_has_all_files() {
    let folder = needs::folder();
    let capture = capture(&folder);
    let caches = folder.join("caches");
    let archive = |name: &str| {
        let path = folder.join(name);
        output("archive", &["-o", path.to_str().unwrap()], &capture, &caches);
        output("report", &["--stdio"], &path, &folder.join("others"))
    };
    let first = archive("first.tar.zst");
    output("report", &["--stdio"], &capture, &caches);
    assert_eq!(kept(&caches), 1);
    assert!(archive("second.tar.zst") == first);
    assert_eq!(kept(&folder.join("others")), 0, "nothing is kept of an archive");
}
