//! Each place of a source, and each limit.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use perf_session::BuildId;
use perf_symbol::{Cancellation, FileBytes, FileFinder, Files, ReadFiles, SymbolOptions};

use super::*;

const PATH: &[u8] = b"/src/lib/a.c";
const ID: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Files in memory, a server that has the source `PATH`, and the paths that were asked for.
#[derive(Default)]
struct Memory {
    files: HashMap<PathBuf, Vec<u8>>,
    modified: Option<SystemTime>,
    has_server: bool,
    asked: Mutex<Vec<String>>,
}

impl Memory {
    fn with(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), text.into());
        self
    }

    fn note(&self, path: &str) {
        self.asked.lock().unwrap().push(path.replace('\\', "/"));
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Files for Memory {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.note(path.to_str().unwrap());
        let bytes = self.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        FileBytes::new(bytes.clone()).within(limit)
    }

    fn modified(&self, _: &Path) -> Option<SystemTime> {
        self.modified
    }

    fn can_fetch(&self) -> bool {
        self.has_server
    }

    fn fetch_source(&self, id: BuildId, path: &[u8], _: u64, _: &Cancellation) -> io::Result<PathBuf> {
        self.note("server");
        if id == BuildId::new(&ID) && path == PATH {
            Ok("/cache/a.c".into())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

fn finder(
    files: Memory,
    change: impl FnOnce(&mut SourceOptions, &mut SymbolOptions),
) -> (SourceFinder, Arc<Memory>) {
    let (mut options, mut symbols) = (SourceOptions::default(), SymbolOptions::default());
    change(&mut options, &mut symbols);
    let files = Arc::new(files);
    let finder = FileFinder::new(Arc::clone(&files) as Arc<dyn Files>, Arc::new(symbols));
    (SourceFinder::new(finder, options), files)
}

/// The first line of a source, and where it was found.
fn found(text: Option<Arc<SourceText>>) -> Option<(String, SourceOrigin, String)> {
    let text = text?;
    let line = text.line(1).unwrap_or_default().escape_ascii().to_string();
    Some((line, text.origin, text.path.to_str().unwrap().replace('\\', "/")))
}

fn some(line: &str, origin: SourceOrigin, path: &str) -> Option<(String, SourceOrigin, String)> {
    Some((line.into(), origin, path.into()))
}

#[test]
fn each_place() {
    let all = || {
        Memory { has_server: true, ..Memory::default() }
            .with("/src/lib/a.c", "recorded\n")
            .with("/root/src/lib/a.c", "symfs")
            .with("/prefix/lib/a.c", "prefix")
            .with("/dir/lib/a.c", "dir")
            .with("/dir/a.c", "another dir")
            .with("/cache/a.c", "fetched")
    };
    let without = |paths: &[&str]| {
        let mut files = all();
        paths.iter().for_each(|path| drop(files.files.remove(Path::new(path))));
        let (finder, _) = finder(files, |options, symbols| {
            options.prefix = Some("/prefix".into());
            options.strip = 1;
            options.dirs = vec!["/empty".into(), "/dir".into()];
            options.fetch = true;
            symbols.symfs = Some("/root".into());
        });
        found(finder.source(PATH, Some(BuildId::new(&ID)), None))
    };
    let mut gone = Vec::new();
    for (path, line, origin) in [
        ("/prefix/lib/a.c", "prefix", SourceOrigin::Prefix),
        ("/dir/lib/a.c", "dir", SourceOrigin::Directory),
        ("/dir/a.c", "another dir", SourceOrigin::Directory),
        ("/root/src/lib/a.c", "symfs", SourceOrigin::Recorded),
        ("/src/lib/a.c", "recorded", SourceOrigin::Recorded),
        ("/cache/a.c", "fetched", SourceOrigin::Fetched),
    ] {
        assert_eq!(without(&gone), some(line, origin, path));
        gone.push(path);
    }
    assert_eq!(without(&gone), None);
}

#[test]
fn embedded_texts_come_first() {
    let (finder, files) = finder(Memory::default().with("/src/lib/a.c", "recorded"), |_, _| {});
    let embedded = |text: &'static str| found(finder.source(PATH, None, Some(text.as_bytes())));
    assert_eq!(embedded("one\n"), some("one", SourceOrigin::Embedded, "/src/lib/a.c"));
    assert_eq!(embedded("one\n"), some("one", SourceOrigin::Embedded, "/src/lib/a.c"));
    // Of another program.
    assert_eq!(embedded("two\n"), some("two", SourceOrigin::Embedded, "/src/lib/a.c"));
    assert_eq!(files.asked(), 0);
    assert_eq!(
        found(finder.source(PATH, None, None)),
        some("recorded", SourceOrigin::Recorded, "/src/lib/a.c")
    );
}

#[test]
fn nothing_is_looked_for_in_vain() {
    let server = || Memory { has_server: true, ..Memory::default() }.with("/cache/a.c", "fetched");
    let (off, files) = finder(server(), |options, _| options.enabled = false);
    assert_eq!(found(off.source(PATH, Some(BuildId::new(&ID)), Some(b"text"))), None);
    assert_eq!(files.asked(), 0);
    // A server is asked only on request, and by a build id.
    let (local, files) = finder(server(), |_, _| {});
    assert_eq!(found(local.source(PATH, Some(BuildId::new(&ID)), None)), None);
    assert_eq!(*files.asked.lock().unwrap(), ["/src/lib/a.c"]);
    let (fetching, files) = finder(server(), |options, _| options.fetch = true);
    assert_eq!(found(fetching.source(PATH, None, None)), None);
    assert_eq!(found(fetching.source(PATH, Some(BuildId::new(&[9; 8])), None)), None);
    assert_eq!(*files.asked.lock().unwrap(), ["/src/lib/a.c", "server"]);
    // Each file is looked for once.
    let id = Some(BuildId::new(&ID));
    let first = fetching.source(PATH, id, None).unwrap();
    assert!(Arc::ptr_eq(&first, &fetching.source(PATH, id, None).unwrap()));
    assert_eq!(*files.asked.lock().unwrap(), ["/src/lib/a.c", "server", "server", "/cache/a.c"]);
}

#[test]
fn hostile_paths() {
    let (finder, files) = finder(Memory::default().with("/etc/shadow", "secret"), |options, symbols| {
        options.dirs = vec!["/dir".into()];
        options.prefix = Some("/prefix".into());
        symbols.symfs = Some("/root".into());
    });
    for path in [&b"../etc/shadow"[..], b"/dir\0/../etc/shadow", b"a/../../etc/shadow", b"", &[b'a'; 4097]] {
        assert_eq!(found(finder.source(path, None, None)), None);
    }
    assert_eq!(files.asked(), 0);
    assert_eq!(found(finder.source(b"/../../etc/shadow", None, None)), None);
    assert_eq!(*files.asked.lock().unwrap(), ["/../../etc/shadow"], "it is not resolved below a folder");
}

#[test]
fn sources_that_are_newer() {
    let end = SystemTime::UNIX_EPOCH + Duration::from_secs(1000);
    let second = Duration::from_secs(1);
    let is_newer = |modified: Option<SystemTime>, until, symfs: Option<&str>| {
        let files = Memory { modified, ..Memory::default() };
        let files = files.with("/src/lib/a.c", "text").with("/root/src/lib/a.c", "text");
        let (finder, _) = finder(files, |_, symbols| {
            symbols.recorded_until = until;
            symbols.symfs = symfs.map(Into::into);
        });
        finder.source(PATH, None, None).unwrap().is_newer
    };
    assert!(is_newer(Some(end + second), Some(end), None));
    assert!(!is_newer(Some(end), Some(end), None));
    assert!(!is_newer(Some(end + second), None, None));
    assert!(!is_newer(None, Some(end), None));
    assert!(!is_newer(Some(end + second), Some(end), Some("/root")), "a copy");
}

#[test]
fn files_within_the_limit() {
    for (limit, is_found) in [(5, true), (4, true), (3, false)] {
        let (finder, _) = finder(Memory::default().with("/src/lib/a.c", "text"), |options, _| {
            options.limits.file = limit;
        });
        assert_eq!(finder.source(PATH, None, None).is_some(), is_found);
        assert_eq!(finder.source(b"/b.c", None, Some(b"text")).is_some(), is_found, "embedded");
    }
}

/// Each file has 4 bytes, and 4 more for its line.
#[test]
fn all_files_within_the_limit() {
    for (limit, expected) in [(25, 3), (24, 3), (23, 2), (8, 1), (7, 0)] {
        let files = Memory::default().with("/a", "text").with("/b", "text");
        let (finder, _) = finder(files, |options, _| options.limits.total = limit);
        let sources = [
            finder.source(b"/a", None, None),
            finder.source(b"/b", None, None),
            finder.source(b"/c", None, Some(b"text")),
        ];
        assert_eq!(sources.iter().flatten().count(), expected, "{limit}");
        // What is kept stays.
        assert_eq!(finder.source(b"/a", None, None).is_some(), expected > 0);
    }
}

#[test]
fn few_files_are_looked_for() {
    for (limit, expected) in [(3, 2), (2, 1), (0, 0)] {
        let files = Memory::default().with("/a", "text").with("/b", "text");
        let (finder, files) = finder(files, |options, _| options.limits.files = limit);
        let paths = [&b"/a"[..], b"/none", b"/b", b"/none"];
        let count = paths.iter().filter(|path| finder.source(path, None, None).is_some()).count();
        assert_eq!((count, files.asked()), (expected, limit));
    }
}

#[test]
fn lines_within_the_limit() {
    let (finder, _) =
        finder(Memory::default().with("/a", "1\n2\n3\n"), |options, _| options.limits.lines = 2);
    let text = finder.source(b"/a", None, None).unwrap();
    assert_eq!((text.lines(), text.line(2), text.line(3)), (2, Some(&b"2"[..]), None));
}

/// Of this machine: what is no regular file is not read, and would block.
#[test]
#[cfg(target_os = "linux")]
fn special_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "text").unwrap();
    let mut options = SourceOptions::default();
    options.dirs.push(folder.path().into());
    let files = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
    let finder = SourceFinder::new(files, options);
    for path in [&b"/dev/zero"[..], b"/", b"/proc/kmsg", b"/nowhere/"] {
        assert!(finder.source(path, None, None).is_none_or(|text| text.bytes().is_empty()));
    }
    let text = finder.source(b"/build/x/a.c", None, None).unwrap();
    assert_eq!((text.line(1), text.origin), (Some(&b"text"[..]), SourceOrigin::Directory));
}
