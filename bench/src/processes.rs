//! Samples of a thousand processes with a hundred mappings each, which a program makes in memory.

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::record::{CpuMode, Misc};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::record::{Comm, FileId, Mmap2};
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Reader, Record};
use perf_session::Session;

/// Processes, and mappings of each.
const PROCESSES: u64 = 1000;
const MAPPINGS: u64 = 100;

/// Mappings of the kernel: its text, and modules.
const MODULES: u64 = 60;

/// Mappings in which most addresses of a process are, and most of the kernel.
const FEW: u64 = 8;

/// CPUs on which the processes run.
const CPUS: u64 = 16;

/// Number of samples for which a process runs on average, where processes run for a while.
pub(crate) const SLICE: u64 = 16;

/// The shape of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Number of samples of a CPU until another process runs there, on average.
    pub(crate) slice: u64,
    /// Whether seven of eight addresses are in a few mappings of the process, and of the kernel. Otherwise all mappings are
    /// equally probable.
    pub(crate) is_local: bool,
    /// The call chains; `None` for samples without them.
    pub(crate) chain: Option<Chain>,
}

/// The shape of call chains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Number of frames of the kernel and of the process.
    pub(crate) kernel: u64,
    pub(crate) user: u64,
    /// Whether every other frame is in another mapping. Otherwise the next frame is in another mapping at random, in one
    /// of three cases.
    pub(crate) pairs: bool,
}

impl Chain {
    /// Number of frames.
    pub(crate) fn frames(&self) -> u64 {
        self.kernel + self.user
    }
}

/// Chains of the process alone, with pairs of frames in one mapping.
pub(crate) const PAIRS: Chain = Chain { kernel: 0, user: 20, pairs: true };

/// Chains with runs of frames in one mapping, whose length cannot be predicted.
pub(crate) const RUNS: Chain = Chain { kernel: 6, user: 20, pairs: false };

/// The first address of a process, and of the kernel.
const USER: u64 = 0x5555_5555_0000;
const KERNEL: u64 = 0xffff_ffff_8100_0000;

/// Addresses from the start of one mapping to the start of the next, and those that are mapped.
const STEP: u64 = 0x10_0000;
const SIZE: u64 = 0x8000;

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 20
    }

    /// An address in one of `count` mappings. If it is local, then in seven of eight cases in one of a few.
    fn address(&mut self, base: u64, count: u64, is_local: bool) -> u64 {
        let random = self.next();
        let number = if is_local && !random.is_multiple_of(8) {
            random / 8 % FEW * (count / FEW)
        } else {
            random % count
        };
        base + number * STEP + self.next() % SIZE
    }
}

/// Returns the event of the samples.
pub(crate) fn events(shape: &Shape) -> Events {
    let leading = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    let chain = if shape.chain.is_some() { SampleType::CALLCHAIN } else { SampleType::NONE };
    Events::from_iter([(Attr { sample_type: leading | chain, ..Attr::default() }, vec![1000])])
}

/// Returns `count` samples. All processes are equally probable.
pub(crate) fn samples(events: &Events, shape: &Shape, count: u64) -> Vec<u8> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut running = [0; CPUS as usize];
    running.fill_with(|| random.next() % PROCESSES);
    let mut bytes = Vec::new();
    for n in 0..count {
        let cpu = n % CPUS;
        if random.next().is_multiple_of(shape.slice) {
            running[cpu as usize] = random.next() % PROCESSES;
        }
        let pid = 1000 + running[cpu as usize] as i32;
        let callchain = shape.chain.map(|chain| words(&mut random, shape.is_local, &chain));
        let is_kernel = shape.chain.is_some_and(|chain| chain.kernel > 0);
        let mode = if is_kernel { CpuMode::KERNEL } else { CpuMode::USER };
        // The instruction pointer is the first frame of the chain.
        let ip = callchain
            .as_ref()
            .map_or_else(|| random.address(USER, MAPPINGS, shape.is_local), |words| words[1]);
        let fields = SampleFields {
            ip: Some(ip),
            pid_tid: Some((pid, pid)),
            time: Some(1_000_000_000_000 + n * 250_000),
            cpu: Some(cpu as u32),
            period: Some(1_000_000 + n % 1000),
            callchain,
            ..SampleFields::default()
        };
        write::sample::<LittleEndian>(&mut bytes, &events[0].layout, mode.into(), &fields)
            .expect("the fields are those of the event");
    }
    bytes
}

/// Returns the words of a call chain.
fn words(random: &mut Random, is_local: bool, chain: &Chain) -> Vec<u64> {
    let mut words = Vec::new();
    let parts = [
        (CallchainContext::KERNEL, chain.kernel, KERNEL, MODULES),
        (CallchainContext::USER, chain.user, USER, MAPPINGS),
    ];
    for (context, count, base, mappings) in parts {
        if count > 0 {
            words.push(context.0);
        }
        let mut address = 0;
        for depth in 0..count {
            let is_other = if chain.pairs { depth % 2 == 0 } else { random.next().is_multiple_of(3) };
            address = if is_other || depth == 0 {
                random.address(base, mappings, is_local)
            } else {
                address ^ 0x80
            };
            words.push(address);
        }
    }
    words
}

/// Returns a session that knows the processes, their mappings, and those of the kernel.
pub(crate) fn session(events: &Events) -> Session {
    let mut bytes = Vec::new();
    for number in 0..MODULES {
        let filename = format!("[module_{number}]");
        put(&mut bytes, events, CpuMode::KERNEL, &mapping(-1, KERNEL + number * STEP, STEP, &filename));
    }
    for n in 0..PROCESSES {
        let pid = 1000 + n as i32;
        put(&mut bytes, events, CpuMode::USER, &Record::Comm(Comm { pid, tid: pid, comm: b"process" }));
        for number in 0..MAPPINGS {
            let filename = format!("/usr/lib/lib{number}.so");
            put(&mut bytes, events, CpuMode::USER, &mapping(pid, USER + number * STEP, SIZE, &filename));
        }
    }
    let mut session = Session::new();
    for record in Reader::from_records(events.clone(), Endianness::Little, &bytes).records() {
        session.update(&record.expect("it was just written")).expect("it was just written");
    }
    session
}

fn mapping(pid: i32, addr: u64, len: u64, filename: &str) -> Record<'_, LittleEndian> {
    let id = FileId::Inode { maj: 8, min: 1, ino: addr / STEP, ino_generation: 0 };
    let (prot_flags, filename) = (Some((5, 2)), filename.as_bytes());
    Record::Mmap2(Mmap2 { pid, tid: pid, addr, len, pgoff: 0, id, prot_flags, filename })
}

/// Appends a record that is not a sample.
fn put(bytes: &mut Vec<u8>, events: &Events, mode: CpuMode, record: &Record<'_, LittleEndian>) {
    let trailer = SampleIdFields::default();
    write::record(bytes, &events[0].layout, Misc::from(mode), record, &trailer)
        .expect("the record can be written");
}
