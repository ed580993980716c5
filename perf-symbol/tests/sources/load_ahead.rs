//! Symbols that another thread loads before they are asked for.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use perf_session::Session;
use perf_symbol::{FileBytes, Files, LoadAhead, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{KERNEL, Memory, Records, frame, names, options, text};

const ID: [u8; 20] = [0xab; 20];

/// Files, and the name of the thread of each time that one was read which is there.
struct Watched(Memory, Mutex<Vec<Option<String>>>);

impl Watched {
    fn new(memory: Memory) -> Arc<Self> {
        Arc::new(Self(memory, Mutex::default()))
    }

    fn readers(&self) -> Vec<Option<String>> {
        self.1.lock().unwrap().clone()
    }

    /// Waits until a file was read.
    fn wait(&self) {
        let start = Instant::now();
        while self.readers().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(60), "no file is read");
            thread::yield_now();
        }
    }
}

impl Files for Watched {
    fn read(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        let result = self.0.read(path, limit);
        if result.is_ok() {
            self.1.lock().unwrap().push(thread::current().name().map(Into::into));
        }
        result
    }

    fn read_kernel(&self, path: &Path, limit: u64) -> io::Result<FileBytes> {
        self.read(path, limit)
    }

    fn vdso(&self) -> io::Result<FileBytes> {
        self.0.vdso()
    }
}

fn symbolizer(files: &Arc<Watched>) -> Symbolizer {
    Symbolizer::with_files(options(), Arc::clone(files) as Arc<dyn Files>)
}

fn file(name: &'static str) -> Elf {
    Elf::new(0x40_0000).symbols(SYMTAB, &[(FUNC, 0x40_1010, 0x20, name)])
}

fn mapped() -> Records {
    Records::default().map(5, 0x7000_0000, 0x2000, b"", "/bin/a")
}

fn add(ahead: &LoadAhead, session: &Session, pid: i32, ip: u64) {
    let frame = frame(session, pid, ip);
    ahead.add(session, frame.mapping.unwrap().dso(), frame.mode);
}

#[test]
fn a_file_is_read_once_by_the_thread() {
    let files = Watched::new(Memory::default().with("/bin/a", file("f").build()));
    let session = mapped().session();
    let mut it = symbolizer(&files);
    let ahead = LoadAhead::new(&it);
    add(&ahead, &session, 5, 0x7000_1014);
    files.wait();
    assert!(it.lookups().is_empty(), "nobody asked for it");
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
    assert_eq!(names(&mut it.clone(), &session, 5, 0x7000_1014), ["f+0x4 symtab"]);
    // A file that was asked for is not loaded again.
    add(&ahead, &session, 5, 0x7000_1014);
    drop(ahead);
    assert_eq!(files.readers(), [Some("load-ahead".to_owned())]);
    assert_eq!(it.lookups().len(), 1);
}

#[test]
fn a_build_id_that_comes_later_counts() {
    let path = "/cache/.build-id/ab/ababababababababababababababababababab/elf";
    let files = Memory::default().with("/bin/a", file("old").build());
    let files = Watched::new(files.with(path, file("recorded").build_id(&ID).build()));
    let build_id = text(Records::bytes().i32(5).raw(&ID).zeros(4), "/bin/a");
    let records = mapped().record(67, 2, build_id);
    let reader = records.reader();
    let (mut session, mut it) = (Session::new(), symbolizer(&files));
    let ahead = LoadAhead::new(&it);
    for record in reader.records() {
        session.update(&record.unwrap()).unwrap();
        add(&ahead, &session, 5, 0x7000_1014);
    }
    files.wait();
    assert_eq!(names(&mut it, &session, 5, 0x7000_1014), ["recorded+0x4 symtab"]);
    let looked: Vec<_> = it.lookups().into_iter().map(|looked| looked.path).collect();
    assert_eq!(looked, [Path::new(path)], "the other file was not asked for");
}

#[test]
fn a_kernel_that_was_moved() {
    const TEXT: u64 = 0xffff_ffff_9000_0000;
    let vmlinux = Elf::new(0xffff_ffff_8000_0000)
        .symbols(
            SYMTAB,
            &[(FUNC, 0xffff_ffff_8000_0000, 0, "_text"), (FUNC, 0xffff_ffff_8000_1010, 0x20, "f")],
        )
        .build_id(&ID)
        .build();
    let path = "/usr/lib/debug/.build-id/ab/ababababababababababababababababababab.debug";
    let build_id = text(Records::bytes().i32(-1).raw(&ID).zeros(4), "[kernel.kallsyms]");
    let records = Records::default().record(67, KERNEL, build_id).kernel(
        TEXT,
        0x100_0000,
        TEXT,
        "[kernel.kallsyms]_text",
    );
    let session = records.session();
    let names_with = |is_ahead: bool| {
        let files = Watched::new(Memory::default().with(path, vmlinux.clone()));
        let mut it = symbolizer(&files);
        let ahead = is_ahead.then(|| LoadAhead::new(&it));
        if let Some(ahead) = &ahead {
            add(ahead, &session, 0, TEXT + 0x1014);
            files.wait();
        }
        names(&mut it, &session, 0, TEXT + 0x1014)
    };
    assert_eq!(names_with(false), ["f+0x4 symtab"]);
    assert_eq!(names_with(true), names_with(false));
}

#[test]
fn dropping_it_ends_the_thread() {
    let files = Watched::new(Memory::default().with("/bin/a", file("f").build()));
    let session = mapped().session();
    let it = symbolizer(&files);
    let ahead = LoadAhead::new(&it);
    add(&ahead, &session, 5, 0x7000_1014);
    drop((ahead, it));
    // The thread has the files as long as it runs.
    assert_eq!(Arc::strong_count(&files), 1);
}
