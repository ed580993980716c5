//! Captures of memory accesses as `perf c2c record` writes them, chosen at random, and the program that they are of.

use std::fs;
use std::path::Path;

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::data_src::{
    DataSrc, MemBlk, MemHops, MemLock, MemLvl, MemLvlNum, MemOp, MemRemote, MemSnoop, MemSnoopx,
};
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::elf::{Elf, TEXT_OFFSET};
use crate::file::Builder;

/// What is recorded, and of what machine.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The path of the program in the capture.
    pub program: &'a str,
    /// The number that the accesses follow from.
    pub seed: u64,
    /// The number of accesses.
    pub count: u64,
    /// `ARCH`: with `aarch64`, perf shows what peers had.
    pub arch: &'a str,
    /// Whether samples have physical addresses, and their nodes are known.
    pub has_physical: bool,
    /// Whether samples have call chains.
    pub has_chains: bool,
    /// Whether some accesses are of the kernel, whose map and symbols are those of the machine that reads the capture.
    pub has_kernel: bool,
    /// Whether any bit of the source may be set, and not only those that go together.
    pub is_wild: bool,
    /// Whether the accesses are not chosen, but have each combination of the bits of the source that count, in order, each on
    /// its own line of the cache. There are [`COMBINATIONS`].
    pub is_every: bool,
}

/// The functions of the program: name, place in the code, size.
const FUNCTIONS: [(&str, u64, u64); 4] = [
    ("main", 0, 64),
    ("count_up", 64, 100),
    ("a_function_with_a_name_longer_than_thirty_letters", 176, 64),
    ("read", 256, 40),
];

/// The address of the program's code.
const CODE: u64 = 0x40_0000;
/// The address of memory that each process has for itself.
const HEAP: u64 = 0x60_0000;
/// The address of a file that the processes share.
const AREA: u64 = 0x7f00_0000_0000;
/// The address of data of the kernel.
const KERNEL: u64 = 0xffff_8880_1234_5600;

/// The address of the kernel's code.
const KERNEL_TEXT: u64 = 0xffff_ffff_8100_0000;

/// Bytes of a block of memory that belongs to one node.
const BLOCK: u64 = 0x800_0000;

/// The threads: process, thread, name.
const THREADS: [(i32, i32, &str); 5] =
    [(100, 100, "alpha"), (100, 101, "alpha"), (100, 102, "a_longer_name"), (200, 200, "b"), (200, 201, "b")];

/// The number of CPUs, the first half of which are on node 0 and the others on node 1.
const CPUS: u64 = 8;

/// The program: an ELF file whose functions make the accesses.
#[must_use]
pub fn program() -> Vec<u8> {
    let mut elf = Elf::new(62, true);
    elf.functions = FUNCTIONS.to_vec();
    elf.build()
}

/// Writes the program `prog` and the capture `perf.data` into a folder; the program has that path in the capture.
///
/// # Panics
///
/// If they cannot be written, or the folder's path is not UTF-8.
pub fn write(folder: &Path, recording: Recording<'_>) {
    let path = folder.join("prog");
    fs::write(&path, program()).expect("the program can be written");
    let recording = Recording { program: path.to_str().expect("the path is UTF-8"), ..recording };
    fs::write(folder.join("perf.data"), capture(recording)).expect("the capture can be written");
}

/// A generator of numbers: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Returns the source of a load or a store that a machine may report.
fn source(random: &mut Random, is_store: bool) -> DataSrc {
    if is_store {
        let (hit, miss) = (MemLvl::L1 | MemLvl::HIT, MemLvl::L1 | MemLvl::MISS);
        let lvl = random.one(&[hit, hit, miss, MemLvl::NA, MemLvl::HIT | MemLvl::UNC]);
        return DataSrc(0).with_op(MemOp::STORE).with_lvl(lvl).with_snoop(MemSnoop::NA);
    }
    let load = DataSrc(0).with_op(MemOp::LOAD);
    let of = |lvl: MemLvl, snoop: MemSnoop| load.with_lvl(lvl).with_snoop(snoop);
    let (hit, none) = (MemLvl::HIT, MemSnoop::NO_SNOOP);
    let remote = load.with_remote(MemRemote::REMOTE);
    let peer = |lvl: MemLvl| load.with_lvl(lvl).with_snoop(MemSnoop::NA).with_snoopx(MemSnoopx::PEER);
    random.one(&[
        of(hit | MemLvl::L1, none).with_lvl_num(MemLvlNum::L1),
        of(hit | MemLvl::LFB, none),
        of(hit | MemLvl::L2, none),
        of(hit | MemLvl::L3, MemSnoop::HIT),
        of(hit | MemLvl::L3, MemSnoop::HITM),
        of(hit | MemLvl::L3, MemSnoop::HITM).with_lock(MemLock::LOCKED),
        of(hit | MemLvl::L3, MemSnoop::HITM).with_blk(MemBlk::ADDR),
        of(hit | MemLvl::REM_CCE1, MemSnoop::HITM),
        of(hit | MemLvl::REM_CCE1, MemSnoop::HIT),
        of(hit | MemLvl::LOC_RAM, MemSnoop::MISS).with_blk(MemBlk::DATA),
        of(hit | MemLvl::LOC_RAM, MemSnoop::HIT),
        of(hit | MemLvl::REM_RAM1, MemSnoop::HIT),
        of(hit | MemLvl::UNC, MemSnoop::NA),
        of(hit | MemLvl::IO, MemSnoop::NA),
        of(MemLvl::MISS | MemLvl::L3, MemSnoop::NA),
        remote.with_lvl(hit).with_snoop(MemSnoop::HITM),
        remote.with_hops(MemHops::HOPS_0).with_lvl(hit | MemLvl::L2).with_snoop(MemSnoop::HITM),
        peer(hit | MemLvl::L2),
        peer(hit | MemLvl::L3),
        peer(MemLvl::REM_CCE1 | hit),
    ])
}

/// The number of combinations of the bits of the source that count.
pub const COMBINATIONS: u64 = 1 << 20;

/// Returns a combination by its number: loads and stores with all levels, snoops by other caches, and whether the level is remote.
#[must_use]
pub fn combination(number: u64) -> DataSrc {
    let bits = |first: u32, count: u32| (number >> first) & ((1 << count) - 1);
    let flag = |first: u32| bits(first, 1) != 0;
    DataSrc(0)
        .with_lvl(MemLvl(bits(0, 14) as u16))
        .with_snoop(MemSnoop(
            if flag(14) { MemSnoop::HIT.0 } else { 0 } | if flag(15) { MemSnoop::HITM.0 } else { 0 },
        ))
        .with_snoopx(if flag(16) { MemSnoopx::PEER } else { MemSnoopx(0) })
        .with_remote(if flag(17) { MemRemote::REMOTE } else { MemRemote(0) })
        .with_hops(if flag(18) { MemHops::HOPS_1 } else { MemHops(0) })
        .with_op(if flag(19) { MemOp::STORE } else { MemOp::LOAD })
}

/// Returns the capture.
#[must_use]
pub fn capture(recording: Recording<'_>) -> Vec<u8> {
    let Recording { program, seed, count, arch, has_physical, has_chains, has_kernel, is_wild, is_every } =
        recording;
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let new = || Bytes::new(false);
    let mut sample_type = SampleType::IP
        | SampleType::TID
        | SampleType::TIME
        | SampleType::ADDR
        | SampleType::ID
        | SampleType::CPU
        | SampleType::PERIOD
        | SampleType::WEIGHT
        | SampleType::DATA_SRC;
    if has_physical {
        sample_type |= SampleType::PHYS_ADDR;
    }
    if has_chains {
        sample_type |= SampleType::CALLCHAIN;
    }
    let attr = |config| Attr {
        kind: EventType::RAW,
        config,
        sample_type,
        flags: AttrFlags::EXCLUDE_GUEST | AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::COMM,
        ..Attr::default()
    };
    let (loads, stores) = (attr(0x1cd), attr(0x82d0));
    let mut file = Builder::new(false).event(loads, &[1]).event(stores, &[2]);
    file.version = AttrVersion::VER7;

    let mmap =
        |pid: i32, start: u64, size: u64, offset: u64, inode: u64, prot: u32, flags: u32, name: &str| {
            let fixed = new().i32(pid).i32(pid).u64s(&[start, size, offset]);
            let device = u32::from(inode != 0);
            let fixed = fixed.u32(8 * device).u32(device).u64s(&[inode, device.into()]).u32(prot).u32(flags);
            fixed.padded(name.as_bytes(), (name.len() + 1).next_multiple_of(8)).record(10, 2)
        };
    for pid in [100, 200] {
        file = file
            .data(mmap(pid, CODE, 0x1000, TEXT_OFFSET, 77, 5, 2, program))
            .data(mmap(pid, HEAP, 0x400_0000, 0, 0, 3, 2, "[heap]"))
            .data(mmap(pid, AREA, 0x10_0000, 0x2000, 99, 3, 1, "/dev/shm/area"));
    }
    if has_kernel {
        let text = mmap(-1, KERNEL_TEXT, 0x100_0000, KERNEL_TEXT, 0, 5, 0, "[kernel.kallsyms]_text");
        file = file.data([&text[..4], &[1, 0], &text[6..]].concat());
    }
    for (pid, tid, comm) in THREADS {
        let name = new().i32(pid).i32(tid).padded(comm.as_bytes(), (comm.len() + 1).next_multiple_of(8));
        file = file.data(name.record(3, 0));
    }
    for number in 0..count {
        let (pid, tid, _) = random.one(&THREADS);
        let is_store = random.below(3) == 0;
        let is_kernel = random.below(12) == 0 && has_kernel;
        let function = random.one(&FUNCTIONS);
        let place = function.1 + 4 * random.below(4);
        let ip = match (is_kernel, random.below(40)) {
            (true, _) => KERNEL_TEXT + 0x1000 + 4 * random.below(3),
            (false, 0) => 0x1234_0000,
            (false, _) => CODE + place,
        };
        let line = random.one(&[0, 0, 0, 1, 2, 5, 9]) * 64;
        let base = match random.below(14) {
            0 => 0,
            1 => 0x5000_0000,
            2 => CODE + 0x200,
            3..=5 => AREA,
            _ if is_kernel => KERNEL,
            _ => HEAP,
        };
        let addr = if base == 0 { 0 } else { base + line + random.one(&[0, 0, 8, 16, 40, 56]) };
        let mut source = source(&mut random, is_store);
        if is_wild && random.below(2) == 0 {
            source = DataSrc(random.next() << 20 ^ random.next() & 0x1ff_ffff_ffff);
        }
        let addr = if is_every { HEAP + 64 * number } else { addr };
        if is_every {
            source = combination(number);
        }
        let physical = match random.below(20) {
            0 => 0,
            1 => 64 * BLOCK,
            _ => (line / 64 + random.below(2)) % 8 * BLOCK + addr % 0x1000,
        };
        let mut sample =
            new().u64(ip).i32(pid).i32(tid).u64s(&[1000 + number * 10, addr, 1 + u64::from(is_store)]);
        sample = sample.u32(random.below(CPUS) as u32).u32(0).u64(1000);
        if has_chains {
            let (context, inner) = if is_kernel { (-128_i64, ip) } else { (-512, ip) };
            let caller = CODE + random.one(&FUNCTIONS).1 + 9;
            sample = match is_kernel {
                true => sample.u64s(&[4, context as u64, inner, -512_i64 as u64, caller]),
                false => sample.u64s(&[3, context as u64, inner, caller]),
            };
        }
        sample = sample.u64s(&[30 + random.below(900), source.0]);
        if has_physical {
            sample = sample.u64(physical);
        }
        file = file.data(sample.record(9, if is_kernel { 1 } else { 2 }));
    }
    for (number, section) in features(arch, &[loads, stores]) {
        file = file.feature(number, section.out);
    }
    file.build().bytes
}

/// Returns the sections of features: two nodes with four CPUs each, and the blocks of memory of each.
fn features(arch: &str, events: &[Attr; 2]) -> Vec<(u32, Bytes)> {
    let new = || Bytes::new(false);
    let names = if arch == "aarch64" {
        ["arm_spe_0/ts_enable=1,load_filter=1,min_latency=30/", "arm_spe_0/ts_enable=1,store_filter=1/"]
    } else {
        ["cpu/mem-loads,ldlat=30/P", "cpu/mem-stores/P"]
    };
    let size = AttrVersion::VER7.size();
    let mut descriptions = new().u32(2).u32(size);
    for ((attr, name), id) in events.iter().zip(names).zip(1..) {
        descriptions = descriptions.attr(attr, size as usize).u32(1).string(name).u64(id);
    }
    let numa = new()
        .u32(2)
        .u32(0)
        .u64s(&[4 << 20, 1 << 20])
        .string("0-3")
        .u32(1)
        .u64s(&[4 << 20, 1 << 20])
        .string("4-7");
    // Blocks 0 to 3 and 4 to 7, in bitmaps of 8 bits.
    let memory = new().u64s(&[1, BLOCK, 2]).u64s(&[0, 8, 8, 0x0f]).u64s(&[1, 8, 8, 0xf0]);
    vec![
        (4, new().string("6.1.0")),
        (5, new().string("6.1.0")),
        (6, new().string(arch)),
        (7, new().u32(CPUS as u32).u32(CPUS as u32)),
        (12, descriptions),
        (14, numa),
        (22, memory),
    ]
}
