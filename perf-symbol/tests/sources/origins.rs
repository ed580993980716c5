//! Where a name is from: its table, and how the file of the table was found.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use perf_session::{BuildId, Session};
use perf_symbol::{
    BuildIdFile, Cancellation, FileBytes, FileOrigin, Files, NameSource, SymbolOptions, Symbolizer,
};

use crate::elf::{DYNSYM, Elf, FUNC, PROGBITS, SYMTAB, xz};
use crate::{Memory, Records, frame, options};

const ID: [u8; 4] = [0xab, 1, 2, 3];
const IP: u64 = 0x7000_1014;
const TEXT: u64 = 0xffff_ffff_9000_0000;

fn file(table: u32) -> Elf {
    Elf::new(0x40_0000).symbols(table, &[(FUNC, 0x40_1010, 0x20, "f")]).build_id(&ID)
}

fn stripped() -> Elf {
    Elf::new(0x40_0000).build_id(&ID)
}

fn process() -> Session {
    Records::default().map(5, 0x7000_0000, 0x2000, &ID, "/bin/a").session()
}

/// Returns where the name of an address is from, and how the file was found that was looked for.
fn of_address(
    options: SymbolOptions,
    files: impl Files + 'static,
    session: &Session,
    (pid, ip): (i32, u64),
) -> (NameSource, Option<FileOrigin>, Option<FileOrigin>) {
    let mut it = Symbolizer::with_files(options, Arc::new(files));
    let function = it.functions(session, &frame(session, pid, ip), false, None).last().unwrap().clone();
    (function.source.unwrap(), function.origin, it.lookups()[0].origin)
}

fn of(files: impl Files + 'static) -> (NameSource, Option<FileOrigin>, Option<FileOrigin>) {
    of_address(options(), files, &process(), (5, IP))
}

#[test]
fn names_of_files() {
    let at = Memory::default;
    let path = Some(FileOrigin::Path);
    assert_eq!(of(at().with("/bin/a", file(SYMTAB).build())), (NameSource::Symtab, path, path));
    assert_eq!(of(at().with("/bin/a", file(DYNSYM).build())), (NameSource::Dynsym, path, path));
    let mini = stripped().section(".gnu_debugdata", PROGBITS, xz(&file(SYMTAB).build()));
    assert_eq!(of(at().with("/bin/a", mini.build())), (NameSource::MiniDebugInfo, path, path));
    let by_id = Some(FileOrigin::BuildId);
    let cached = at().with("/cache/.build-id/ab/010203/elf", file(SYMTAB).build());
    assert_eq!(of(cached), (NameSource::Symtab, by_id, by_id));
    // The names are of the debug file, and the stripped file is at its path.
    let debug = at().with("/usr/lib/debug/.build-id/ab/010203.debug", file(SYMTAB).build());
    assert_eq!(of(debug.with("/bin/a", stripped().build())), (NameSource::Symtab, by_id, path));
    let mut crc = flate2::Crc::new();
    let debug = file(SYMTAB).build();
    crc.update(&debug);
    let link = [&b"a.debug\0"[..], &crc.sum().to_le_bytes()].concat();
    let main = stripped().section(".gnu_debuglink", PROGBITS, link).build();
    let linked = at().with("/bin/a", main).with("/bin/a.debug", debug);
    assert_eq!(of(linked), (NameSource::Symtab, Some(FileOrigin::DebugLink), path));
    let running = Some(FileOrigin::Process);
    let live = at().with("/proc/5/maps", "400000-401000 r-xp 00000000 08:01 3 /bin/b\n").with_inode(
        "/proc/5/root/bin/a",
        7,
        file(SYMTAB).build(),
    );
    assert_eq!(of(live), (NameSource::Symtab, running, running));
}

/// Files that are got from elsewhere.
struct Elsewhere(Vec<u8>);

impl Files for Elsewhere {
    fn read(&self, path: &Path, _: u64) -> io::Result<FileBytes> {
        if path == Path::new("/got") {
            Ok(FileBytes::new(self.0.clone()))
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    fn fetch(&self, _: BuildId, wanted: BuildIdFile, _: u64, _: &Cancellation) -> io::Result<PathBuf> {
        if wanted == BuildIdFile::Executable {
            Ok("/got".into())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }
}

#[test]
fn names_of_files_from_elsewhere() {
    let fetched = Some(FileOrigin::Fetched);
    assert_eq!(of(Elsewhere(file(SYMTAB).build())), (NameSource::Symtab, fetched, fetched));
}

#[test]
fn names_of_dwarf() {
    let path = Some(FileOrigin::Path);
    let mut it = Symbolizer::with_files(options(), Arc::new(Memory::default().with("/bin/a", LINES)));
    let functions = it.functions_in(b"/bin/a", 0x40_100b);
    let from: Vec<_> = functions.iter().map(|function| (function.source.unwrap(), function.origin)).collect();
    assert_eq!(from, [(NameSource::Dwarf, path), (NameSource::Dwarf, path), (NameSource::Symtab, path)]);
}

const LINES: &[u8] = include_bytes!("../fixtures/lines");

#[test]
fn names_of_the_machine() {
    let kernel = || Records::default().kernel(TEXT, 0x10_0000, TEXT, "[kernel.kallsyms]_text").session();
    let kallsyms = "ffffffff90001000 T f\n";
    let running = Some(FileOrigin::Running);
    let files = Memory::default().with("/proc/kallsyms", kallsyms);
    let at = (0, TEXT + 0x1010);
    assert_eq!(of_address(options(), files, &kernel(), at), (NameSource::Kallsyms, running, running));
    let mut with_kallsyms = options();
    with_kallsyms.kallsyms = Some("/k".into());
    let given = Some(FileOrigin::Given);
    let files = Memory::default().with("/k", kallsyms);
    assert_eq!(of_address(with_kallsyms, files, &kernel(), at), (NameSource::Kallsyms, given, given));
    let mut with_vmlinux = options();
    with_vmlinux.vmlinux = Some("/v".into());
    let vmlinux = Elf::new(TEXT).symbols(SYMTAB, &[(FUNC, TEXT + 0x1010, 0x20, "f")]).build();
    let files = Memory::default().with("/v", vmlinux);
    assert_eq!(of_address(with_vmlinux, files, &kernel(), at), (NameSource::Symtab, given, given));
    let files = Memory { vdso: Some(file(SYMTAB).build()), ..Memory::default() };
    let session = Records::default().map(5, 0x7fff_7000_0000, 0x2000, &ID, "[vdso]").session();
    let at = (5, 0x7fff_7000_1014);
    assert_eq!(of_address(options(), files, &session, at), (NameSource::Symtab, running, running));
}

#[test]
fn names_of_generated_code() {
    let session = Records::default().map(5, 0x7000_0000, 0x2000, &[], "//anon").session();
    let path = Some(FileOrigin::Path);
    let files = Memory::default().with("/tmp/perf-5.map", "70001000 20 f\n");
    assert_eq!(of_address(options(), files, &session, (5, IP)), (NameSource::PerfMap, path, path));
    let files = Memory::default()
        .with("/proc/5/maps", "70000000-70002000 rwxp 00000000 00:00 0 \n")
        .with("/proc/5/status", "NStgid:\t5\t1\n")
        .with_inode("/proc/5/root/tmp/perf-1.map", 70, "70001000 20 f\n");
    let running = Some(FileOrigin::Process);
    assert_eq!(of_address(options(), files, &session, (5, IP)), (NameSource::PerfMap, running, running));
}

#[test]
fn each_has_a_word() {
    let origins = [
        FileOrigin::Path,
        FileOrigin::BuildId,
        FileOrigin::DebugLink,
        FileOrigin::Process,
        FileOrigin::Fetched,
        FileOrigin::Running,
        FileOrigin::Given,
        FileOrigin::Capture,
    ];
    let words = origins.map(|origin| origin.to_string());
    assert_eq!(
        words,
        ["path", "build-id", "debug-link", "process", "fetched", "running", "given", "capture"]
    );
}
