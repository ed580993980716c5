//! Stacks of handmade programs: unwind tables, registers and stacks whose callers are known.

mod archive;
mod arm;
mod emulated;
mod ends;
mod guesses;
mod parts;
mod remapped;
mod rules;
mod sections;
mod session;
mod signals;
mod trampolines;
mod x86;

use std::sync::Arc;

use gimli::write::{
    Address, CallFrameInstruction as Cfi, CommonInformationEntry, EhFrame, EndianVec, FrameTable,
};
use gimli::{Encoding, Format, Register, RunTimeEndian};
use perf_parse::Reader;
use perf_parse::abi::endian::Endianness;
use perf_parse::abi::regs::Arch;
use perf_parse::event::Events;
use perf_session::Session;
use perf_symbol::FileBytes;
use perf_symbol::unwind::{FrameSource, Module, StackEnd, Unwinder, UnwoundFrame, UnwoundStack};
use testdata::elf::{Elf, TEXT, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

/// Where the file is mapped: its address 0 has this address in the process.
const BASE: u64 = 0x7000_0000_0000;
/// The stack pointer of the samples.
const SP: u64 = 0x7fff_0000_1000;

/// Bits of the protection.
const READ: u32 = 1;
const EXEC: u32 = 4;

/// The machines of ELF files.
const EM_386: u16 = 3;
const EM_ARM: u16 = 40;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// The address in the process of a place in `.text`.
fn code(place: u64) -> u64 {
    BASE + TEXT + place
}

/// A function: where it begins in `.text`, its length, and instructions with the offsets from which on they hold.
type Function = (u64, u32, Vec<(u32, Cfi)>);

/// How unwind tables are written.
#[derive(Clone, Copy)]
struct Tables {
    address_size: u8,
    data_alignment: i8,
    return_address: Register,
    big: bool,
    is_signal: bool,
}

const X86_64: Tables = Tables {
    address_size: 8,
    data_alignment: -8,
    return_address: gimli::X86_64::RA,
    big: false,
    is_signal: false,
};

impl Tables {
    /// Returns the table of `.eh_frame`. `initial` are the instructions that all functions begin with.
    fn table(self, initial: &[Cfi], functions: &[Function]) -> FrameTable {
        let encoding = Encoding { format: Format::Dwarf32, version: 1, address_size: self.address_size };
        let mut cie = CommonInformationEntry::new(encoding, 1, self.data_alignment, self.return_address);
        cie.signal_trampoline = self.is_signal;
        initial.iter().for_each(|it| cie.add_instruction(it.clone()));
        let mut table = FrameTable::default();
        let cie = table.add_cie(cie);
        for (start, length, instructions) in functions {
            let address = Address::Constant(TEXT + start);
            let mut fde = gimli::write::FrameDescriptionEntry::new(address, *length);
            instructions.iter().for_each(|(offset, it)| fde.add_instruction(*offset, it.clone()));
            table.add_fde(cie, fde);
        }
        table
    }

    fn order(self) -> RunTimeEndian {
        if self.big { RunTimeEndian::Big } else { RunTimeEndian::Little }
    }

    /// Returns `.eh_frame`.
    fn eh_frame(self, initial: &[Cfi], functions: &[Function]) -> Vec<u8> {
        let mut section = EhFrame::from(EndianVec::new(self.order()));
        self.table(initial, functions).write_eh_frame(&mut section).unwrap();
        section.0.into_vec()
    }
}

/// What x86-64 functions begin with: the return address is at the stack pointer.
fn called() -> Vec<Cfi> {
    vec![Cfi::Cfa(gimli::X86_64::RSP, 8), Cfi::Offset(gimli::X86_64::RA, -8)]
}

/// An x86-64 program, whose last function at 0xf00 has no caller.
fn program(functions: &[Function]) -> Elf {
    let mut functions = functions.to_vec();
    functions.push((0xf00, 0x100, vec![(0, Cfi::Undefined(gimli::X86_64::RA))]));
    Elf::new(EM_X86_64, true).section(".eh_frame", X86_64.eh_frame(&called(), &functions))
}

/// Words as the bytes of a stack.
fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bits of `sample_regs_user` of x86.
const BX: u32 = 1;
const BP: u32 = 6;
const RSP: u32 = 7;
const IP: u32 = 8;
const R12: u32 = 20;

/// A sample in a file that is mapped at [`BASE`], of x86-64, at a place in `.text`.
fn sample(place: u64, stack: &[u64]) -> StackSample {
    StackSample {
        big: false,
        mappings: vec![(BASE, TEXT_OFFSET, 0, READ, "/x"), (code(0), 0x1000, TEXT_OFFSET, READ | EXEC, "/x")],
        abi: 2,
        regs: vec![(RSP, SP), (IP, code(place))],
        stack: words(stack),
        chain: None,
        branches: None,
        has_stack: true,
        is_kernel: false,
    }
}

/// Sets a register.
fn set(sample: &mut StackSample, bit: u32, value: u64) {
    sample.regs.retain(|(it, _)| *it != bit);
    sample.regs.push((bit, value));
    sample.regs.sort_unstable();
}

/// Unwinds the last sample of some records with an unwinder that may have seen others.
fn unwind_with(
    unwinder: &mut Unwinder,
    sample: &StackSample,
    elf: Option<&[u8]>,
) -> (Vec<UnwoundFrame>, Option<UnwoundStack>) {
    let endianness = if sample.big { Endianness::Big } else { Endianness::Little };
    let events: Events = [(sample.attr(), vec![])].into_iter().collect();
    let data = sample.records();
    let reader = Reader::from_records(events, endianness, &data);
    let mut session = Session::new();
    let mut result = None;
    let mut module_of =
        |_: &perf_session::Dso| elf.map(|elf| Arc::new(Module::parse(FileBytes::new(elf.to_vec())).unwrap()));
    for record in reader.records() {
        let record = record.unwrap();
        session.update(&record).unwrap();
        let Some(at) = session.at(&record) else { continue };
        let mut frames = Vec::new();
        let unwound = unwinder.unwind(&at, None, &mut module_of, &mut frames).unwrap();
        result = Some((frames, unwound));
    }
    result.unwrap()
}

fn unwind_on(arch: Arch, sample: &StackSample, elf: &Elf) -> (Vec<UnwoundFrame>, UnwoundStack) {
    let (frames, unwound) = unwind_with(&mut Unwinder::new(arch), sample, Some(&elf.build()));
    (frames, unwound.unwrap())
}

/// The addresses of a stack of x86-64, as places in `.text` where they are there, and its end.
fn unwind(sample: &StackSample, elf: &Elf) -> (Vec<u64>, StackEnd) {
    let (frames, unwound) = unwind_on(Arch::X86, sample, elf);
    assert!(!unwound.spliced && !unwound.guessed);
    (frames.iter().map(|frame| place(frame.ip)).collect(), unwound.end)
}

fn place(ip: u64) -> u64 {
    ip.checked_sub(code(0)).filter(|place| *place < 0x1000).unwrap_or(ip)
}

fn sources(frames: &[UnwoundFrame]) -> Vec<FrameSource> {
    frames.iter().map(|frame| frame.source).collect()
}
