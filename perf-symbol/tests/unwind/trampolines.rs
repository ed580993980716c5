//! Trampolines of `python -X perf`: their code has no unwind information, but a name.

use std::io;
use std::path::Path;
use std::sync::Arc;

use gimli::X86_64 as X;
use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::regs::Arch;
use perf_parse::event::Events;
use perf_session::Session;
use perf_symbol::unwind::{FrameSource, StackEnd};
use perf_symbol::{FileBytes, FileFinder, Files, StackFinder, SymbolOptions, Symbolizer};
use testdata::stack_sample::StackSample;

use crate::{BP, EXEC, READ, SP, code, place, program, sample, set};

/// The address of the generated code.
const GENERATED: u64 = 0x9000;

/// Two trampolines, code of another kind, and a function of Python that is no trampoline.
const MAP: &str = "9000 b py::f:/a.py\n9010 8 py::g:/a.py\n9020 b other\n9030 400 py::compiled:/a.py\n";

/// The file of the interpreter, and the map of the process.
#[derive(Debug)]
struct Python(Vec<u8>);

impl Files for Python {
    fn read(&self, path: &Path, _: u64) -> io::Result<FileBytes> {
        match path.to_str() {
            Some("/x") => Ok(FileBytes::new(self.0.clone())),
            Some("/tmp/perf-5.map") => Ok(FileBytes::new(MAP)),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// The interpreting function at 0x100 is called by a trampoline, which 0x200 called, which 0xf00 called.
fn unwind(sample: &StackSample, call: &[u8]) -> (Vec<(u64, FrameSource)>, Option<StackEnd>) {
    let functions =
        [(0x100, 0x10, vec![(0, Cfi::CfaOffset(16))]), (0x200, 0x10, vec![(0, Cfi::Cfa(X::RBP, 16))])];
    let elf = program(&functions).code(0x208 - call.len(), call).code(0xf06, &INDIRECT);
    let finder = FileFinder::new(Arc::new(Python(elf.build())), Arc::new(SymbolOptions::default()));
    let symbolizer = Symbolizer::with_files(SymbolOptions::default(), Arc::clone(finder.files()));
    let mut stacks =
        StackFinder::new(Arch::X86, 127, finder).with_trampolines(&symbolizer).with_max_stack(200);
    let events: Events = [(sample.attr(), vec![])].into_iter().collect();
    let data = sample.records();
    let mut session = Session::new();
    let mut found = None;
    for record in Reader::from_records(events, Endianness::Little, &data).records() {
        let record = record.unwrap();
        let Some(at) = session.update_at(&record).unwrap() else { continue };
        let mut frames = Vec::new();
        let end = stacks.push(&at, None, &mut frames).unwrap();
        found = Some((frames.iter().map(|it| (place(it.frame.ip), it.source)).collect(), end));
    }
    found.unwrap()
}

/// `CALL *%rax`.
const INDIRECT: [u8; 2] = [0xff, 0xd0];

/// A sample at 0x108, which `ip` in generated code called. 0x200 has its frame at `SP + 48`.
fn called_by(ip: u64) -> StackSample {
    let mut it = sample(0x108, &[7, ip, SP + 48, code(0x208), 9, 9, 0, code(0xf08)]);
    it.mappings.push((GENERATED, 0x1000, 0, READ | EXEC, "//anon"));
    set(&mut it, BP, SP + 48);
    it
}

#[test]
fn by_their_shape() {
    let whole = |ip| {
        vec![
            (0x108, FrameSource::Registers),
            (ip, FrameSource::Cfi),
            (0x208, FrameSource::Trampoline),
            (0xf08, FrameSource::Cfi),
        ]
    };
    assert_eq!(FrameSource::Trampoline.guess(), None);
    // The frame pointer is that of 0x200.
    assert_eq!(unwind(&called_by(0x9006), &INDIRECT), (whole(0x9006), Some(StackEnd::Rooted)));
    // The trampoline has a frame, which has the frame pointer of 0x200.
    let mut it = called_by(0x9016);
    set(&mut it, BP, SP + 16);
    assert_eq!(unwind(&it, &INDIRECT), (whole(0x9016), Some(StackEnd::Rooted)));
}

#[test]
fn not_by_others() {
    // By the name, by the size, and as no call is before the address to which it leads: the frame pointer skips a frame.
    for (ip, call) in [(0x9026, INDIRECT), (0x9136, INDIRECT), (0x9006, [0x90; 2])] {
        let (frames, end) = unwind(&called_by(ip), &call);
        assert_eq!(
            frames,
            [(0x108, FrameSource::Registers), (ip, FrameSource::Cfi), (0xf08, FrameSource::FramePointer)],
            "{ip:x}"
        );
        assert_eq!(end, Some(StackEnd::NoUnwindInfo));
    }
}

#[test]
fn a_copy_that_is_too_short() {
    for words in [2, 3] {
        let mut it = called_by(0x9006);
        it.stack.truncate(8 * words);
        let (frames, end) = unwind(&it, &INDIRECT);
        assert_eq!((frames.len(), end), (2, Some(StackEnd::Truncated)));
    }
}
