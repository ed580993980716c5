//! A program, and a capture of it, for what annotates functions.

use std::fs;
use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::{EventType, SwId};
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::elf::{Elf, TEXT_OFFSET};

/// The address of the program's only mapping.
const MAP: u64 = 0x7f00_0000_0000;

/// Writes a program of three functions, `prog`, and a capture with four samples of the first, one of the second and none of the
/// third, `perf.data`, into a folder. The path of the program in the capture is that of the file.
///
/// # Panics
///
/// If they cannot be written, or the folder's path is not UTF-8.
pub fn write(folder: &Path) {
    let program = folder.join("prog");
    // push %rbp; mov %rsp,%rbp; call second; pop %rbp; jmp -12; padding
    let first = [0x55, 0x48, 0x89, 0xe5, 0xe8, 0x07, 0, 0, 0, 0x5d, 0xeb, 0xf4, 0x90, 0x90, 0x90, 0x90];
    let mut elf = Elf::new(62, true).code(0, &first).code(16, &[0x90, 0xc3]).code(32, &[0xc3]);
    elf.functions = vec![("first", 0, 12), ("second", 16, 2), ("third", 32, 1)];
    fs::write(&program, elf.build()).expect("the program can be written");
    let attr = Attr {
        kind: EventType::SOFTWARE,
        config: SwId::CPU_CLOCK.0,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD,
        flags: AttrFlags::EXCLUDE_GUEST,
        ..Attr::default()
    };
    let name = program.to_str().expect("the path is UTF-8");
    let mmap = Bytes::new(false).i32(5).i32(5).u64s(&[MAP, 0x10_0000, 0]).zeros(24).u32(5).u32(2);
    let mmap = mmap.padded(name.as_bytes(), (name.len() + 1).next_multiple_of(8)).record(10, 2);
    let mut file = crate::file::Builder::new(false).event(attr, &[]).data(mmap);
    for (time, offset) in [(1, 0), (2, 1), (3, 1), (4, 6), (5, 16)] {
        let sample = Bytes::new(false).u64(MAP + TEXT_OFFSET + offset).i32(5).i32(5).u64s(&[time, 1000]);
        file = file.data(sample.record(9, 2));
    }
    fs::write(folder.join("perf.data"), file.build().bytes).expect("the capture can be written");
}
