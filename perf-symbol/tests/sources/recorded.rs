//! Names that the capture itself has, as simpleperf's captures do.

use std::sync::Arc;

use perf_parse::abi::regs::Arch;
use perf_session::Session;
use perf_symbol::unwind::StackEnd;
use perf_symbol::{Demangle, FileOrigin, Guess, NameSource, StackFinder, Symbolizer};

use crate::elf::{Elf, FUNC, SYMTAB};
use crate::{Memory, Records, frame, names, options, symbolizer, text};

const BASE: u64 = 0x40_0000;
const KERNEL: u64 = 0xffff_ffff_9000_0000;
const ID: [u8; 20] = [0xab; 20];
const ID_PATH: &str = "/cache/.build-id/ab/ababababababababababababababababababab/elf";

impl Records {
    /// A DSO record of simpleperf.
    fn dso(self, kind: u64, number: u64, path: &str) -> Self {
        self.record(32770, 0, text(Self::bytes().u64s(&[kind, number, BASE]), path))
    }

    /// A SYMBOL record of 16 bytes.
    fn symbol(self, number: u64, start: u64, name: &str) -> Self {
        self.record(32771, 0, text(Self::bytes().u64s(&[start, 16, number]), name))
    }

    /// A KERNEL_SYMBOL record.
    fn kallsyms(self, lines: &str) -> Self {
        let payload = Self::bytes().u32(lines.len() as u32);
        let payload = payload.padded(lines.as_bytes(), (lines.len() + 4).next_multiple_of(8) - 4);
        self.record(32769, 0, payload)
    }
}

/// A program at 0x1000 of process 5, with a symbol that the capture has.
fn program(id: &[u8]) -> Session {
    Records::default()
        .map(5, 0x1000, 0x2000, id, "/bin/a")
        .dso(2, 1, "/bin/a")
        .symbol(1, BASE + 0x1010, "_Z1fi")
        .session()
}

/// A file with two functions at the offsets 0x1010 and 0x1020.
fn file() -> Elf {
    Elf::new(BASE).symbols(SYMTAB, &[(FUNC, BASE + 0x1010, 16, "other"), (FUNC, BASE + 0x1020, 16, "more")])
}

#[test]
fn without_a_file() {
    let session = program(&[]);
    assert_eq!(names(&mut symbolizer(Memory::default()), &session, 5, 0x2014), ["f(int)+0x4 recorded"]);
    assert!(names(&mut symbolizer(Memory::default()), &session, 5, 0x2020).is_empty());
    let mut raw = options();
    raw.demangle = Demangle::Never;
    let mut it = Symbolizer::with_files(raw, Arc::new(Memory::default()));
    assert_eq!(names(&mut it, &session, 5, 0x2014), ["_Z1fi+0x4 recorded"]);
    let function = &it.functions(&session, &frame(&session, 5, 0x2014), false, None)[0];
    assert_eq!(
        (function.source, function.origin, function.size),
        (Some(NameSource::Recorded), None, Some(16))
    );
    // A return address is that of the call before it.
    assert_eq!(it.functions(&session, &frame(&session, 5, 0x2020), true, None)[0].offset, Some(16));
}

#[test]
fn a_proven_file_comes_first() {
    let memory = Memory::default().with(ID_PATH, file().build_id(&ID).build());
    let mut it = symbolizer(memory);
    assert_eq!(names(&mut it, &program(&ID), 5, 0x2014), ["other+0x4 symtab"]);
    // What it does not have, the capture has.
    let stripped = Elf::new(BASE).symbols(SYMTAB, &[(FUNC, BASE + 0x1800, 16, "end")]).build_id(&ID).build();
    let mut it = symbolizer(Memory::default().with(ID_PATH, stripped));
    assert_eq!(names(&mut it, &program(&ID), 5, 0x2014), ["f(int)+0x4 recorded"]);
}

#[test]
fn a_doubtful_file_comes_last() {
    // The mapping has the inode 7.
    let mut it = symbolizer(Memory::default().with_inode("/bin/a", 8, file().build()));
    let session = program(&[]);
    assert_eq!(names(&mut it, &session, 5, 0x2014), ["f(int)+0x4 recorded"]);
    assert_eq!(names(&mut it, &session, 5, 0x2020), ["more+0x0 symtab"]);
    let mut guess = |ip| it.functions(&session, &frame(&session, 5, ip), false, None)[0].guess;
    assert_eq!((guess(0x2014), guess(0x2020)), (None, Some(Guess::File)));
}

fn kernel() -> Records {
    Records::default().kernel(KERNEL, 0x10_0000, 0, "[kernel.kallsyms]")
}

#[test]
fn the_running_kernel_is_not_that_of_a_device() {
    let memory = || Memory::default().with("/proc/kallsyms", "ffffffff90001000 T running\n");
    let of = |session: &Session| names(&mut symbolizer(memory()), session, 0, KERNEL + 0x1000);
    assert_eq!(of(&kernel().session()), ["running+0x0 kallsyms"]);
    assert!(of(&kernel().dso(0, 1, "[kernel.kallsyms]").session()).is_empty());
    let named = kernel().dso(0, 1, "[kernel.kallsyms]").symbol(1, KERNEL + 0x1000, "own").session();
    assert_eq!(of(&named), ["own+0x0 recorded"]);
}

#[test]
fn kallsyms_of_the_capture() {
    let memory = Memory::default().with("/proc/kallsyms", "ffffffff90001000 T running\n");
    let session = kernel().kallsyms("ffffffff90001000 T own\n").session();
    let mut it = symbolizer(memory);
    assert_eq!(names(&mut it, &session, 0, KERNEL + 0x1004), ["own+0x4 kallsyms"]);
    let function = &it.functions(&session, &frame(&session, 0, KERNEL + 0x1004), false, None)[0];
    assert_eq!(function.origin, Some(FileOrigin::Capture));
}

/// What a module does not have, the kernel may.
#[test]
fn modules() {
    let records = kernel().kernel(0xffff_ffff_c000_0000, 0x1000, 0, "/lib/modules/a.ko");
    let records = records.dso(1, 1, "/lib/modules/a.ko").symbol(1, BASE + 0x10, "init");
    let session = records.dso(0, 2, "[kernel.kallsyms]").symbol(2, 0xffff_ffff_c000_0020, "exit").session();
    let mut it = symbolizer(Memory::default());
    assert_eq!(names(&mut it, &session, 0, 0xffff_ffff_c000_0010), ["init+0x0 recorded"]);
    assert_eq!(names(&mut it, &session, 0, 0xffff_ffff_c000_0021), ["exit+0x1 recorded"]);
}

/// The unwind tables of a device's files cannot tell.
#[test]
fn stacks_end_at_the_first_functions_of_android() {
    let end = |name: &str, ip| {
        let records = Records::default().map(5, 0x1000, 0x2000, &[], "/system/lib64/libc.so");
        let records = records.dso(2, 1, "/system/lib64/libc.so").symbol(1, BASE + 0x1010, name);
        let session = records.session();
        let symbolizer = symbolizer(Memory::default());
        let mut stacks = StackFinder::new(Arch::Arm64, 127, symbolizer.finder().clone());
        stacks.end_of(&session, &frame(&session, 5, ip))
    };
    for name in ["__start_thread", "__libc_init", "_start_main", "_start"] {
        assert_eq!(end(name, 0x2014), StackEnd::Rooted, "{name}");
    }
    assert_eq!(end("main", 0x2014), StackEnd::NoUnwindInfo);
    assert_eq!(end("__start_thread", 0x2020), StackEnd::NoUnwindInfo);
}
