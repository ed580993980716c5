//! Unwind tables, registers and stacks of all machines: every stack ends, with no more frames than asked for, and a second
//! walk, which finds the rules in the cache, returns the same.

use std::sync::Arc;

use perf_abi::endian::Endianness;
use perf_abi::regs::Arch;
use perf_parse::Reader;
use perf_parse::event::Events;
use perf_session::{Dso, Session};
use perf_symbol::unwind::{Module, Unwinder, UnwoundFrame, UnwoundStack};
use testdata::Bytes;
use testdata::elf::{Elf, TEXT, TEXT_OFFSET};
use testdata::stack_sample::StackSample;

/// Bits of the first byte: the machine, big-endian, what the next bytes are, and whether there is a call chain.
const MACHINE: u8 = 3;
const BIG: u8 = 4;
const FILE: u8 = 8;
const DEBUG_FRAME: u8 = 16;
const CHAIN: u8 = 32;

/// Where the file and the stack are: in the first half of 32 bits.
const BASE: u64 = 0x1000_0000;
const SP: u64 = 0x2000_0000;

/// Number of user frames at most.
const MAX_STACK: usize = 32;

/// `data` is the byte of bits; the number of bytes of the table, of 16 bits; the table, or with the bit a whole ELF file;
/// and 16 bits for each register and for each word of the stack.
pub fn run(data: &[u8]) -> bool {
    let Some((&[bits, low, high], rest)) = data.split_first_chunk() else { return false };
    let size = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
    let (table, words) = rest.split_at(size);
    // e_machine, whether it has 64 bits, the architecture, and the bits of registers.
    let (machine, is_64, arch, regs): (u16, bool, Arch, &[u32]) = match bits & MACHINE {
        0 => (62, true, Arch::X86, &[8, 7, 6, 1, 20]),
        1 => (3, false, Arch::X86, &[8, 7, 6, 1]),
        2 => (183, true, Arch::Arm64, &[32, 31, 29, 30, 19]),
        _ => (40, false, Arch::Arm, &[15, 13, 11, 14, 4]),
    };
    let big = bits & BIG != 0;
    let file = if bits & FILE != 0 {
        table.to_vec()
    } else {
        let name = if bits & DEBUG_FRAME != 0 { ".debug_frame" } else { ".eh_frame" };
        let mut elf = Elf::new(machine, is_64).section(name, table.to_vec());
        elf.big = big;
        elf.build()
    };
    let Ok(module) = Module::parse(perf_symbol::FileBytes::new(file)) else { return false };
    let module = Arc::new(module);

    let mut values = words.chunks_exact(2).map(|pair| value(u16::from_le_bytes([pair[0], pair[1]])));
    let mut set: Vec<_> = regs.iter().map(|&bit| (bit, values.next().unwrap_or(0))).collect();
    // Of the stack pointer, only the low bits are free.
    set.iter_mut().skip(1).take(1).for_each(|(_, sp)| *sp = SP | *sp & 0xff);
    set.sort_unstable();
    let chain = (bits & CHAIN != 0).then(|| {
        let user = 0xffff_ffff_ffff_fe00;
        [user].into_iter().chain(values.by_ref().take(4)).collect()
    });
    let width = if is_64 { 8 } else { 4 };
    let sample = StackSample {
        big,
        mappings: vec![
            (BASE, TEXT_OFFSET, 0, 1, "/x"),
            (BASE + TEXT, 0x1000, TEXT_OFFSET, 5, "/x"),
            (BASE + 0x10_0000, 0x1000, 0, 5, "//anon"),
        ],
        abi: if is_64 { 2 } else { 1 },
        regs: set,
        stack: values.fold(Bytes::new(big), |out, value| out.number(width, value)).out,
        chain,
        branches: None,
        has_stack: true,
        is_kernel: false,
    };
    if sample.stack.len() > 60_000 {
        return false;
    }

    let events: Events = [(sample.attr(), vec![])].into_iter().collect();
    let records = sample.records();
    let order = if big { Endianness::Big } else { Endianness::Little };
    let reader = Reader::from_records(events, order, &records);
    let mut session = Session::new();
    let mut unwinder = Unwinder::with_max_stack(arch, MAX_STACK);
    let mut module_of = |_: &Dso| Some(Arc::clone(&module));
    for record in reader.records() {
        let record = record.expect("the records are whole");
        session.update(&record).expect("the records are whole");
        let Some(at) = session.at(&record) else { continue };
        let mut walk = || -> (Vec<UnwoundFrame>, UnwoundStack) {
            let mut frames = Vec::new();
            let unwound =
                unwinder.unwind(&at, None, &mut module_of, &mut frames).expect("the sample is whole");
            (frames, unwound.expect("the sample has a stack"))
        };
        let first = walk();
        assert!((1..=MAX_STACK + 4).contains(&first.0.len()));
        assert_eq!(walk(), first);
    }
    true
}

/// A word that leads somewhere: to code, to the stack, or to a small number.
fn value(bits: u16) -> u64 {
    let low = u64::from(bits & 0x0fff);
    match bits >> 12 {
        0..=5 => BASE + TEXT + low,
        6..=10 => SP + low,
        11 => BASE + low,
        12 => BASE + 0x10_0000 + low,
        13 => (SP + low) << 32,
        14 => low,
        _ => low.wrapping_neg(),
    }
}
