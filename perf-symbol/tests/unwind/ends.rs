//! Ends of stacks.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gimli::X86_64 as X;
use gimli::write::CallFrameInstruction as Cfi;
use perf_parse::Reader;
use perf_parse::abi::callchain::CallchainContext;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::record::CpuMode;
use perf_parse::abi::regs::Arch;
use perf_parse::event::Events;
use perf_session::{Frame, Session};
use perf_symbol::unwind::{FrameSource, StackEnd, Unwinder};
use perf_symbol::{FileBytes, FileFinder, Files, StackFinder, SymbolOptions};
use testdata::elf::TEXT;

use crate::{EXEC, READ, code, place, program, sample, sources, unwind, unwind_on, unwind_with};

#[test]
fn rooted() {
    let elf = program(&[(0x100, 0x10, vec![])]);
    assert_eq!(unwind(&sample(0xf10, &[]), &elf), (vec![0xf10], StackEnd::Rooted));
    // A return address of 0.
    assert_eq!(unwind(&sample(0x108, &[0]), &elf), (vec![0x108], StackEnd::Rooted));
}

#[test]
fn truncated() {
    let elf = program(&[(0x100, 0x10, vec![(0, Cfi::CfaOffset(32))])]);
    assert_eq!(unwind(&sample(0x108, &[0, 0, 0]), &elf), (vec![0x108], StackEnd::Truncated));
    // Part of a word.
    let mut cut = sample(0x108, &[0, 0, 0, code(0xf08)]);
    cut.stack.truncate(31);
    assert_eq!(unwind(&cut, &elf), (vec![0x108], StackEnd::Truncated));
    assert_eq!(unwind(&sample(0x108, &[]), &elf), (vec![0x108], StackEnd::Truncated));
}

#[test]
fn no_unwind_info() {
    let elf = program(&[]);
    let (frames, unwound) = unwind_on(Arch::X86, &sample(0x108, &[0, 0, code(0xf08)]), &elf);
    assert_eq!((frames.len(), unwound.end), (1, StackEnd::NoUnwindInfo));
    // No file.
    let (frames, unwound) =
        unwind_with(&mut Unwinder::new(Arch::X86), &sample(0x108, &[0, 0, code(0xf08)]), None);
    assert_eq!((frames.len(), unwound.unwrap().end), (1, StackEnd::NoUnwindInfo));
    // A file for another machine.
    let mut other = program(&[(0x100, 0x10, vec![])]);
    other.machine = crate::EM_AARCH64;
    let (frames, unwound) = unwind_on(Arch::X86, &sample(0x108, &[7, code(0xf08)]), &other);
    assert_eq!((frames.len(), unwound.end), (1, StackEnd::NoUnwindInfo));
}

#[test]
fn no_mapping() {
    let elf = program(&[(0x100, 0x10, vec![])]);
    // What is not mapped is still a frame, as perf shows it.
    assert_eq!(unwind(&sample(0x108, &[0x1234, 7]), &elf), (vec![0x108, 0x1234], StackEnd::NoMapping));
}

#[test]
fn garbage() {
    let elf = program(&[
        (0x100, 0x10, vec![]),
        // The stack goes backwards, and does not move.
        (0x200, 0x10, vec![(0, Cfi::CfaOffset(-8))]),
        (0x300, 0x10, vec![(0, Cfi::CfaOffset(0)), (0, Cfi::Offset(X::RA, 8))]),
    ]);
    // A return address that is data.
    let (addresses, end) = unwind(&sample(0x108, &[crate::BASE + 0x300]), &elf);
    assert_eq!((addresses, end), (vec![0x108], StackEnd::Garbage));
    assert_eq!(unwind(&sample(0x208, &[code(0xf08), code(0xf08)]), &elf).1, StackEnd::Garbage);
    assert_eq!(unwind(&sample(0x308, &[code(0xf08), code(0xf08)]), &elf), (vec![0x308], StackEnd::Garbage));
    // Instructions that do not exist.
    let mut elf = program(&[(0x100, 0x10, vec![(0, Cfi::CfaOffset(16)), (4, Cfi::CfaOffset(24))])]);
    let eh_frame = &mut elf.sections[0].2;
    let advance = eh_frame.windows(3).position(|bytes| bytes == [0x44, 0x0e, 24]).unwrap();
    eh_frame[advance..advance + 3].fill(0x3e);
    assert_eq!(unwind(&sample(0x101, &[7, code(0xf08)]), &elf), (vec![0x101], StackEnd::Garbage));
}

#[test]
fn as_many_frames_as_asked_for() {
    let elf = program(&[(0x100, 0x10, vec![])]);
    let stack: Vec<u64> = (0..200).map(|_| code(0x108)).chain([code(0xf08)]).collect();
    assert_eq!(unwind(&sample(0x108, &stack), &elf), (vec![0x108; 127], StackEnd::Truncated));
    let mut unwinder = Unwinder::with_max_stack(Arch::X86, 202);
    let (frames, unwound) = unwind_with(&mut unwinder, &sample(0x108, &stack), Some(&elf.build()));
    assert_eq!((frames.len(), unwound.unwrap().end), (202, StackEnd::Rooted));
    let mut unwinder = Unwinder::with_max_stack(Arch::X86, usize::MAX);
    let (frames, unwound) = unwind_with(&mut unwinder, &sample(0x108, &stack), Some(&elf.build()));
    assert_eq!((frames.len(), unwound.unwrap().end), (202, StackEnd::Rooted));
}

/// The entry point of a program has no caller, although its table says where one would be.
#[test]
fn entry_points() {
    let mut elf = program(&[(0x100, 0x10, vec![]), (0x200, 0x100, vec![])]);
    elf.functions = vec![("main", 0x100, 0x10), ("_start", 0x200, 0x100)];
    let of_argc = sample(0x108, &[code(0x208), 1, 0x7fff_0000]);
    assert_eq!(unwind(&of_argc, &elf), (vec![0x108, 0x208, 1], StackEnd::NoMapping));
    elf.entry = TEXT + 0x200;
    assert_eq!(unwind(&of_argc, &elf), (vec![0x108, 0x208], StackEnd::Rooted));
    // Another function after it.
    elf.functions[1].2 = 4;
    elf.functions.push(("other", 0x204, 0x10));
    assert_eq!(unwind(&of_argc, &elf), (vec![0x108, 0x208, 1], StackEnd::NoMapping));
}

/// Go's runtime: `rt0_go` is jumped to, and `systemstack` has left the stack of its caller.
#[test]
fn functions_of_go() {
    let mut elf = program(&[(0x100, 0x10, vec![]), (0x200, 0x10, vec![])]).section(".gopclntab", vec![0]);
    let mut stack = |name| {
        elf.functions = vec![("runtime.newproc", 0x100, 0x10), (name, 0x200, 0x10)];
        unwind(&sample(0x108, &[code(0x208), code(0x508), 7]), &elf)
    };
    assert_eq!(stack("runtime.rt0_go.abi0"), (vec![0x108, 0x208], StackEnd::Rooted));
    assert_eq!(stack("runtime.systemstack.abi0"), (vec![0x108, 0x208], StackEnd::Truncated));
    assert_eq!(stack("runtime.main"), (vec![0x108, 0x208, 0x508], StackEnd::NoUnwindInfo));
}

#[test]
fn kernel_frames_come_first() {
    let elf = program(&[(0x100, 0x10, vec![])]);
    let mut it = sample(0x108, &[code(0xf08)]);
    it.is_kernel = true;
    let kernel = 0xffff_ffff_8000_0000;
    it.chain = Some(vec![CallchainContext::KERNEL.0, kernel, kernel + 8]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    let found: Vec<_> = frames.iter().map(|it| (place(it.ip), it.mode, it.is_return)).collect();
    assert_eq!(
        found,
        [
            (kernel, CpuMode::KERNEL, false),
            (kernel + 8, CpuMode::KERNEL, true),
            (0x108, CpuMode::USER, false),
            (0xf08, CpuMode::USER, true),
        ]
    );
    assert_eq!(unwound.end, StackEnd::Rooted);

    // A thread of the kernel has no user space.
    it.abi = 0;
    it.stack = vec![];
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.end), (2, StackEnd::Rooted));
}

/// The kernel's chain goes on where the copy of the stack ended.
#[test]
fn chains_are_spliced() {
    let elf = program(&[(0x100, 0x100, vec![(0, Cfi::CfaOffset(16))])]);
    let mut it = sample(0x108, &[0, code(0x118), 0, code(0x128)]);
    let user = CallchainContext::USER.0;
    it.chain = Some(vec![user, code(0x108), code(0x118), code(0x128), code(0x138), code(0xf08)]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!(frames.iter().map(|it| place(it.ip)).collect::<Vec<_>>(), [0x108, 0x118, 0x128, 0x138, 0xf08]);
    assert_eq!(sources(&frames)[2..], [FrameSource::Cfi, FrameSource::Chain, FrameSource::Chain]);
    assert!(unwound.spliced);
    assert_eq!(unwound.end, StackEnd::Rooted);
    // The chain ends before the root, too.
    it.chain.as_mut().unwrap().pop();
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.spliced, unwound.end), (4, true, StackEnd::Truncated));
    // It has nothing in common with the stack.
    it.chain = Some(vec![user, code(0x800), code(0xf08)]);
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.spliced, unwound.end), (3, false, StackEnd::Truncated));
    // The stack is whole: the chain does not matter.
    it.stack.extend(crate::words(&[0, code(0xf08)]));
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.spliced, unwound.end), (4, false, StackEnd::Rooted));
}

/// An address that is mapped executable without a file, and one that is not executable.
#[test]
fn memory_without_a_file() {
    let elf = program(&[(0x100, 0x10, vec![])]);
    let mut it = sample(0x108, &[0x5008, 7, 7]);
    it.mappings.push((0x5000, 0x1000, 0, READ | EXEC, "//anon"));
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.end), (2, StackEnd::NoUnwindInfo));
    it.mappings.last_mut().unwrap().3 = READ;
    let (frames, unwound) = unwind_on(Arch::X86, &it, &elf);
    assert_eq!((frames.len(), unwound.end), (1, StackEnd::Garbage));
}

/// A file that is at every path.
struct Everywhere(Vec<u8>);

impl Files for Everywhere {
    fn read(&self, _: &Path, _: u64) -> io::Result<FileBytes> {
        Ok(FileBytes::new(self.0.clone()))
    }

    fn modified(&self, _: &Path) -> Option<SystemTime> {
        Some(SystemTime::UNIX_EPOCH + Duration::from_secs(2))
    }
}

/// No build id was recorded, and the file was modified after the recording.
#[test]
fn unwind_information_of_a_file_that_changed() {
    let sample = sample(0x108, &[code(0xf08)]);
    let elf = program(&[(0x100, 0x10, vec![])]).build();
    for (seconds, source, end) in
        [(2, FrameSource::Cfi, StackEnd::Rooted), (1, FrameSource::DoubtfulCfi, StackEnd::NoUnwindInfo)]
    {
        let mut options = SymbolOptions::default();
        options.recorded_until = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let finder = FileFinder::new(Arc::new(Everywhere(elf.clone())), Arc::new(options));
        let mut stacks = StackFinder::new(Arch::X86, 127, finder);
        let events: Events = [(sample.attr(), vec![])].into_iter().collect();
        let data = sample.records();
        let mut session = Session::new();
        let mut found = Vec::new();
        for record in Reader::from_records(events, Endianness::Little, &data).records() {
            let record = record.unwrap();
            let Some(at) = session.update_at(&record).unwrap() else { continue };
            let mut frames = Vec::new();
            let end = stacks.push(&at, None, &mut frames).unwrap();
            found.push((frames.iter().map(|it| it.source).collect::<Vec<_>>(), end));
        }
        assert_eq!(found, [(vec![FrameSource::Registers, source], Some(end))]);
    }
}

/// By the last frame alone, as the kernel ended it.
#[test]
fn ends_of_call_chains() {
    let sample = sample(0x108, &[]);
    let events: Events = [(sample.attr(), vec![])].into_iter().collect();
    let data = sample.records();
    let mut session = Session::new();
    for record in Reader::from_records(events, Endianness::Little, &data).records() {
        session.update(&record.unwrap()).unwrap();
    }
    let mut of_threads = session.threads().filter_map(|thread| session.maps(thread));
    let maps = of_threads.find(|maps| !maps.is_empty()).unwrap();
    let elf = program(&[(0x100, 0x10, vec![])]).build();
    let finder = FileFinder::new(Arc::new(Everywhere(elf)), Arc::new(SymbolOptions::default()));
    let mut stacks = StackFinder::new(Arch::X86, 127, finder);
    let mut end = |mode, ip| stacks.end_of(&session, &Frame { ip, mode, mapping: maps.find(ip) });
    assert_eq!(end(CpuMode::USER, code(0xf08)), StackEnd::Rooted);
    assert_eq!(end(CpuMode::USER, code(0x108)), StackEnd::NoUnwindInfo);
    assert_eq!(end(CpuMode::USER, crate::BASE), StackEnd::Garbage, "data");
    assert_eq!(end(CpuMode::USER, 0x1234), StackEnd::NoMapping);
    assert_eq!(end(CpuMode::KERNEL, code(0x108)), StackEnd::Rooted);
    // The host's file says nothing of a guest's.
    assert_eq!(end(CpuMode::GUEST_USER, code(0xf08)), StackEnd::NoUnwindInfo);
}
