//! The sections of unwind tables.

use std::io::Write;

use flate2::write::ZlibEncoder;
use gimli::write::{CallFrameInstruction as Cfi, DebugFrame, EndianVec};
use perf_symbol::unwind::{Module, ModuleError, StackEnd, UnwindMachine};
use testdata::Bytes;
use testdata::elf::{Elf, TEXT};

use crate::{EM_X86_64, Function, X86_64, called, code, sample, unwind};

fn functions() -> Vec<Function> {
    vec![
        (0x100, 0x10, vec![(0, Cfi::CfaOffset(16))]),
        (0x200, 0x10, vec![(0, Cfi::CfaOffset(24))]),
        (0xf00, 0x10, vec![(0, Cfi::Undefined(gimli::X86_64::RA))]),
    ]
}

fn debug_frame(functions: &[Function]) -> Vec<u8> {
    let mut section = DebugFrame::from(EndianVec::new(gimli::RunTimeEndian::Little));
    X86_64.table(&called(), functions).write_debug_frame(&mut section).unwrap();
    section.0.into_vec()
}

/// A stack through all functions.
fn check(elf: &Elf) {
    let sample = sample(0x108, &[0, code(0x208), 0, 0, code(0xf08)]);
    assert_eq!(unwind(&sample, elf), (vec![0x108, 0x208, 0xf08], StackEnd::Rooted));
}

#[test]
fn eh_frame_alone() {
    check(&Elf::new(EM_X86_64, true).section(".eh_frame", X86_64.eh_frame(&called(), &functions())));
}

/// A header whose table has the functions in ascending order.
fn with_header() -> Elf {
    let elf = Elf::new(EM_X86_64, true).section(".eh_frame", X86_64.eh_frame(&called(), &functions()));
    let (frame, header) = (testdata::elf::SECTIONS, elf.next());
    // The entries are where their lengths lead to, after the common one.
    let bytes = &elf.sections[0].2;
    let mut at = 0;
    let mut entries = Vec::new();
    while at < bytes.len() {
        entries.push(frame + at as u64);
        at += 4 + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    }
    let relative = |address: u64| address.wrapping_sub(header) as u32;
    let mut table =
        Bytes::new(false).raw(&[1, 0x1b, 0x03, 0x3b]).u32(frame.wrapping_sub(header + 4) as u32).u32(3);
    for ((start, ..), entry) in functions().iter().zip(&entries[1..]) {
        table = table.u32(relative(TEXT + start)).u32(relative(*entry));
    }
    elf.section(".eh_frame_hdr", table.out)
}

#[test]
fn eh_frame_with_a_header() {
    let elf = with_header();
    check(&elf);
    // The header is used: without its last entry, that function is not known.
    let mut short = elf.clone();
    short.sections[1].2[8] = 2;
    let it = sample(0x108, &[0, code(0x208), 0, 0, code(0xf08)]);
    assert_eq!(unwind(&it, &short), (vec![0x108, 0x208, 0xf08], StackEnd::NoUnwindInfo));
    // Of a version that does not exist, it is not used.
    let mut other = elf;
    other.sections[1].2[0] = 2;
    other.sections[1].2[8] = 2;
    check(&other);
}

#[test]
fn without_section_headers() {
    let mut elf = with_header();
    elf.has_headers = false;
    check(&elf);
}

#[test]
fn debug_frame_alone_and_compressed() {
    let bytes = debug_frame(&functions());
    check(&Elf::new(EM_X86_64, true).section(".debug_frame", bytes.clone()));

    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&bytes).unwrap();
    let header = |kind: u32, size: usize| Bytes::new(false).u32(kind).u32(0).u64(size as u64).u64(8);
    let zlib = header(1, bytes.len()).raw(&encoder.finish().unwrap()).out;
    let mut elf = Elf::new(EM_X86_64, true).section(".debug_frame", zlib);
    elf.sections[0].1 = 0x800;
    check(&elf);

    // A frame of Zstandard with one block as it is.
    let size = u32::try_from(bytes.len()).unwrap();
    let block = (size << 3 | 1).to_le_bytes();
    let zstd = header(2, bytes.len()).u32(0xfd2f_b528).u8(0xa0).u32(size).raw(&block[..3]).raw(&bytes).out;
    let mut elf = Elf::new(EM_X86_64, true).section(".debug_frame", zstd);
    elf.sections[0].1 = 0x800;
    check(&elf);
}

/// A function that only `.debug_frame` has.
#[test]
fn both_sections() {
    let all = functions();
    let elf = Elf::new(EM_X86_64, true)
        .section(".eh_frame", X86_64.eh_frame(&called(), &all[..1]))
        .section(".debug_frame", debug_frame(&all[1..]));
    check(&elf);
}

#[test]
fn what_is_no_module() {
    let parse =
        |bytes: Vec<u8>| Module::parse(perf_symbol::FileBytes::new(bytes)).map(|module| module.machine());
    assert_eq!(parse(vec![]), Err(ModuleError::NotElf));
    assert_eq!(parse(b"#!/bin/sh\n".to_vec()), Err(ModuleError::NotElf));
    assert_eq!(parse(Elf::new(21, true).build()), Err(ModuleError::Machine(21)));
    assert_eq!(parse(Elf::new(EM_X86_64, true).build()), Ok(UnwindMachine::X86_64));
    let mut cut = with_header().build();
    cut.truncate(70);
    assert_eq!(parse(cut), Err(ModuleError::NotElf));
}

/// Every byte of a small file cut off or changed: no panic, and the same bytes give the same stack.
#[test]
fn damaged_files() {
    let elf = with_header().build();
    let it = sample(0x108, &[0, code(0x208), 0, 0, code(0xf08)]);
    let stack_of = |bytes: &[u8]| {
        let module = Module::parse(perf_symbol::FileBytes::new(bytes.to_vec()));
        let mut unwinder = perf_symbol::unwind::Unwinder::new(perf_parse::abi::regs::Arch::X86);
        module.is_ok().then(|| crate::unwind_with(&mut unwinder, &it, Some(bytes)))
    };
    let end = 0x200 + 0x180;
    for place in 0..end {
        for value in [0xff, elf[place] ^ 1] {
            let mut changed = elf.clone();
            changed[place] = value;
            assert_eq!(stack_of(&changed), stack_of(&changed), "{place:x}");
        }
        stack_of(&elf[..place]);
    }
}
