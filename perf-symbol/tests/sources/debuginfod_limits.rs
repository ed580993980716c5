//! Limits of all downloads from debuginfod servers together.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use perf_parse::abi::regs::Arch;
use perf_session::BuildId;
use perf_symbol::{
    BuildIdFile, Cancellation, Debuginfod, DebuginfodOptions, Files, NoSymbols, ReadFiles, StackFinder,
    Symbolizer,
};

use crate::debuginfod::{Answer, ID, Server, file, found, path};
use crate::elf::{DYNSYM, Elf, FUNC, PROGBITS};
use crate::{BUILD_ID, KERNEL, Records, frame, names, options, text};

const OTHER: [u8; 8] = [0xcd, 1, 2, 3, 4, 5, 6, 7];
const THIRD: [u8; 8] = [0xef, 1, 2, 3, 4, 5, 6, 7];

fn path_of(id: [u8; 8]) -> String {
    format!("/buildid/{}/executable", BuildId::new(&id))
}

fn servers(url: &str, cache: &Path) -> DebuginfodOptions {
    let mut servers = DebuginfodOptions::from_env().with_urls(url);
    servers.cache = Some(cache.into());
    servers.timeout = Duration::from_secs(20);
    servers
}

fn fetch(files: &impl Files, id: [u8; 8]) -> Result<(), ErrorKind> {
    let result = files.fetch(BuildId::new(&id), BuildIdFile::Executable, 1 << 30, &Cancellation::new());
    result.map(|_| ()).map_err(|error| error.kind())
}

#[test]
fn a_file_beyond_the_bytes_of_all_is_left_out() {
    let small = file("f", &ID);
    let mut large = file("g", &OTHER);
    large.resize(100 << 10, 0);
    for answer in [Answer::File(large.clone()), Answer::Unannounced(large.clone())] {
        let is_announced = matches!(answer, Answer::File(_));
        let answers = [
            (&*path_of(ID), Answer::File(small.clone())),
            (&*path_of(OTHER), answer),
            (&*path_of(THIRD), Answer::File(file("h", &THIRD))),
        ];
        let server = Server::new(&answers);
        let cache = tempfile::tempdir().unwrap();
        let mut limited = servers(&server.url, cache.path());
        limited.total_size = Some((small.len() + large.len() - 1) as u64);
        let files = Debuginfod::new(ReadFiles, limited);
        assert_eq!(fetch(&files, ID), Ok(()));
        for _ in 0..2 {
            assert_eq!(fetch(&files, OTHER), Err(ErrorKind::QuotaExceeded));
        }
        assert_eq!(server.asked(), [path_of(ID), path_of(OTHER)], "not asked for again");
        // A smaller one has room, unless the bytes of the large one came.
        let third = if is_announced { Ok(()) } else { Err(ErrorKind::QuotaExceeded) };
        assert_eq!(fetch(&files, THIRD), third);
        assert_eq!(fetch(&files, ID), Ok(()), "what is in the cache is used");
        // Another run continues.
        let mut limited = servers(&server.url, cache.path());
        limited.total_size = Some(large.len() as u64);
        assert_eq!(fetch(&Debuginfod::new(ReadFiles, limited), OTHER), Ok(()));
    }
}

#[test]
fn a_file_that_is_itself_too_large_is_reported_so() {
    let server = Server::new(&[(&*path_of(ID), Answer::File(file("f", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    let mut limited = servers(&server.url, cache.path());
    (limited.total_size, limited.max_size) = (Some(1000), 10);
    assert_eq!(fetch(&Debuginfod::new(ReadFiles, limited), ID), Err(ErrorKind::FileTooLarge));
}

#[test]
fn the_time_of_all_ends_a_download_and_later_ones() {
    let answers = [
        (&*path_of(ID), Answer::Stalled(file("f", &ID))),
        (&*path_of(OTHER), Answer::File(file("g", &OTHER))),
    ];
    let server = Server::new(&answers);
    let cache = tempfile::tempdir().unwrap();
    let mut limited = servers(&server.url, cache.path());
    limited.total_time = Some(Duration::from_millis(300));
    let files = Debuginfod::new(ReadFiles, limited);
    assert_eq!(fetch(&files, ID), Err(ErrorKind::QuotaExceeded));
    assert_eq!(fetch(&files, OTHER), Err(ErrorKind::QuotaExceeded));
    assert_eq!(server.asked(), [path_of(ID)]);
}

#[test]
fn what_was_left_out_is_reported() {
    let server = Server::new(&[(&*path("executable"), Answer::File(file("f", &ID)))]);
    let cache = tempfile::tempdir().unwrap();
    let limited = found(&server.url, cache.path(), |it| it.total_size = Some(10));
    assert_eq!(limited, (vec![], Some(NoSymbols::FetchLimit)));
    // Of a file of this machine that has names, only the debug file is beyond the limit.
    let debug = Server::new(&[(&*path("debuginfo"), Answer::File(file("f", &ID)))]);
    let folder = tempfile::tempdir().unwrap();
    let local = folder.path().join("a");
    let stripped = Elf::new(0x40_0000).symbols(DYNSYM, &[(FUNC, 0x40_1010, 0x20, "d")]).build_id(&ID);
    fs::write(&local, stripped.build()).unwrap();
    for (size, is_beyond_limit, name) in [(10, true, "d+0x4 dynsym"), (1 << 20, false, "f+0x4 symtab")] {
        let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, local.to_str().unwrap()).session();
        let mut limited = servers(&debug.url, &folder.path().join("cache"));
        limited.total_size = Some(size);
        let mut it = Symbolizer::with_files(options(), Arc::new(Debuginfod::new(ReadFiles, limited)));
        assert_eq!(names(&mut it, &session, 5, 0x7000_1014), [name]);
        let lookup = &it.lookups()[0];
        assert_eq!((lookup.why, lookup.is_beyond_limit), (None, is_beyond_limit));
    }
}

#[test]
fn an_observer_sees_each_download_once() {
    let elf = file("f", &ID);
    let server = Server::new(&[(&*path("executable"), Answer::File(elf.clone()))]);
    let cache = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&seen);
    let files = Debuginfod::new(ReadFiles, servers(&server.url, cache.path()))
        .with_observer(move |it| to.lock().unwrap().push((it.id, it.wanted, it.url.to_owned(), it.size)));
    assert!(fetch(&files, OTHER).is_err(), "no server has it");
    assert_eq!((fetch(&files, ID), fetch(&files, ID)), (Ok(()), Ok(())));
    let expected = (BuildId::new(&ID), BuildIdFile::Executable, server.url, Some(elf.len() as u64));
    assert_eq!(*seen.lock().unwrap(), [expected]);
}

/// Unwinding comes before it is known what has most samples.
#[test]
fn unwinding_fetches_a_debug_file_only_if_it_needs_one() {
    let elf = || Elf::new(0x40_0000).symbols(DYNSYM, &[(FUNC, 0x40_1010, 0x20, "d")]).build_id(&ID);
    let with_tables = elf().section(".eh_frame", PROGBITS, vec![0; 8]);
    for (elf, expected) in [(elf(), vec![path("debuginfo")]), (with_tables, vec![])] {
        let server = Server::new(&[]);
        let folder = tempfile::tempdir().unwrap();
        let local = folder.path().join("a");
        fs::write(&local, elf.build()).unwrap();
        let session = Records::default().map(5, 0x7000_0000, 0x2000, &ID, local.to_str().unwrap()).session();
        let files = Debuginfod::new(ReadFiles, servers(&server.url, &folder.path().join("cache")));
        let it = Symbolizer::with_files(options(), Arc::new(files));
        let mut stacks = StackFinder::new(Arch::X86, 127, it.finder().clone());
        stacks.end_of(&session, &frame(&session, 5, 0x7000_1014));
        assert_eq!(server.asked(), expected);
    }
}

#[test]
fn a_kernel_that_was_left_out_is_reported() {
    let server = Server::new(&[(&*path("debuginfo"), Answer::File(file("f", &ID)))]);
    let folder = tempfile::tempdir().unwrap();
    let start = 0xffff_ffff_8100_0000;
    let fixed = Records::bytes().i32(-1).i32(0).u64s(&[start, 0x100_0000, start]);
    let fixed = fixed.u8(8).zeros(3).padded(&ID, 20).u32(5).u32(2);
    let session = Records::default().record(10, KERNEL | BUILD_ID, text(fixed, "[kernel.kallsyms]_text"));
    let session = session.session();
    let mut limited = servers(&server.url, folder.path());
    limited.total_size = Some(10);
    let mut symbols = options();
    // Not the running kernel.
    symbols.symfs = Some(folder.path().into());
    let mut it = Symbolizer::with_files(symbols, Arc::new(Debuginfod::new(ReadFiles, limited)));
    assert_eq!(names(&mut it, &session, 0, start + 0x1014), [""; 0]);
    let lookup = &it.lookups()[0];
    assert_eq!((lookup.why, lookup.is_beyond_limit), (Some(NoSymbols::FetchLimit), true));
}
