//! Samples of many processes with many mappings each, which a program makes in memory.

use perf_abi::attr::Attr;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::{Endianness, LittleEndian};
use perf_abi::record::{CpuMode, Misc};
use perf_abi::sample_type::SampleType;
use perf_parse::event::Events;
use perf_parse::record::{Comm, FileId, Mmap2};
use perf_parse::sample::Reading;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Reader, Record};
use perf_session::Session;

use crate::random::Random;

/// Mappings of the kernel: its text, and modules.
const MODULES: u64 = 60;

/// CPUs on which the processes run.
const CPUS: u64 = 16;

/// The shape of a capture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Whether processes and mappings repeat as in real captures: see [`RUN`], [`OF_PROCESSES`] and [`OF_MAPPINGS`].
    /// Otherwise each sample is in any process and each address in any mapping, all with the same probability.
    pub(crate) is_local: bool,
    /// Processes, and mappings of each.
    pub(crate) processes: u64,
    pub(crate) mappings: u64,
    /// The call chains; `None` for samples without them.
    pub(crate) chain: Option<Chain>,
}

impl Shape {
    /// A thousand processes with a hundred mappings each, without call chains.
    pub(crate) fn new(is_local: bool) -> Self {
        Self { is_local, processes: 1000, mappings: 100, chain: None }
    }
}

/// Number of samples of a CPU until another process runs there, on average. In two system-wide captures of machines that
/// compiled, it was 3.0 and 3.6.
const RUN: u64 = 3;

/// When another process runs on a CPU: in how many of 100 cases it is the process that ran there second last, third last
/// and so on. In the remaining cases it is any process. In the two captures, it was one of the last five in 93 of 100
/// cases: 18 to 22, 24 to 25, 31 to 34, 16 to 17.
const OF_PROCESSES: &[u64] = &[0, 20, 24, 32, 17];

/// In how many of 100 cases an instruction pointer is in the mapping in which that of the process was last, in the one
/// before that, and so on. In the remaining cases it is in any mapping. In three system-wide captures, 71 to 83 % of the
/// samples of user code were in the last mapping of their thread, and 94 to 99 % in one of its last four. These are the
/// lowest figures of both.
const OF_MAPPINGS: &[u64] = &[71, 14, 6, 3];

/// The shape of call chains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// Number of frames of the kernel and of the process.
    pub(crate) kernel: u64,
    pub(crate) user: u64,
    /// Whether every other frame is in another mapping. Otherwise the next frame is in another mapping at random, in one
    /// of five cases: in six captures, it was in 6 to 18 % of the cases for user code, and never for the kernel.
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

/// Numbers, of which those that were chosen lately are chosen again. The last one is the first.
struct Recent(Vec<u64>);

impl Recent {
    /// Returns the numbers below `count`, in any order.
    fn new(random: &mut Random, count: u64) -> Self {
        let mut numbers: Vec<_> = (0..count).collect();
        for last in (1..numbers.len()).rev() {
            numbers.swap(last, random.next() as usize % (last + 1));
        }
        Self(numbers)
    }

    /// Chooses a number: in `shares[0]` of 100 cases the last one, in `shares[1]` the one before it, and so on. In the
    /// remaining cases any number.
    fn choose(&mut self, random: &mut Random, shares: &[u64]) -> u64 {
        let percent = random.next() % 100;
        let mut sum = 0;
        let at = shares.iter().position(|share| {
            sum += share;
            percent < sum
        });
        let at = at.unwrap_or_else(|| random.next() as usize % self.0.len());
        let number = self.0.remove(at);
        self.0.insert(0, number);
        number
    }
}

/// The mappings of a process or of the kernel.
struct Space {
    base: u64,
    /// Those of the instruction pointers, and of the frames that are in another mapping than the frame before.
    innermost: Recent,
    others: Recent,
}

impl Space {
    fn new(random: &mut Random, base: u64, mappings: u64) -> Self {
        Self { base, innermost: Recent::new(random, mappings), others: Recent::new(random, mappings) }
    }

    /// Returns an instruction pointer.
    fn ip(&mut self, random: &mut Random, shares: &[u64]) -> u64 {
        let number = self.innermost.choose(random, shares);
        self.base + number * STEP + random.next() % SIZE
    }

    /// Returns an address in another mapping than `address`.
    fn other(&mut self, random: &mut Random, shares: &[u64], address: u64) -> u64 {
        loop {
            let number = self.others.choose(random, shares);
            if number != (address - self.base) / STEP {
                return self.base + number * STEP + random.next() % SIZE;
            }
        }
    }
}

/// Returns the event of the samples.
pub(crate) fn events(shape: &Shape) -> Events {
    let leading = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU | SampleType::PERIOD;
    let chain = if shape.chain.is_some() { SampleType::CALLCHAIN } else { SampleType::NONE };
    Events::from_iter([(Attr { sample_type: leading | chain, ..Attr::default() }, vec![1000])])
}

/// Returns `count` samples, of one CPU after the other.
pub(crate) fn samples(events: &Events, shape: &Shape, count: u64) -> Vec<u8> {
    let random = &mut Random(0x9e37_79b9_7f4a_7c15);
    let (run, of_processes, of_mappings) =
        if shape.is_local { (RUN, OF_PROCESSES, OF_MAPPINGS) } else { (1, &[][..], &[][..]) };
    let mut kernel = Space::new(random, KERNEL, MODULES);
    let mut spaces: Vec<_> = (0..shape.processes).map(|_| Space::new(random, USER, shape.mappings)).collect();
    let mut cpus: Vec<_> = (0..CPUS).map(|_| Recent::new(random, shape.processes)).collect();
    let mut bytes = Vec::new();
    for n in 0..count {
        let processes = &mut cpus[(n % CPUS) as usize];
        if random.is_one_of(run) {
            processes.choose(random, of_processes);
        }
        let process = processes.0[0];
        let pid = 1000 + process as i32;
        let space = &mut spaces[process as usize];
        let callchain = shape.chain.map(|chain| words(random, &mut kernel, space, of_mappings, &chain));
        let is_kernel = shape.chain.is_some_and(|chain| chain.kernel > 0);
        let mode = if is_kernel { CpuMode::KERNEL } else { CpuMode::USER };
        // The instruction pointer is the first frame of the chain.
        let ip = callchain.as_ref().map_or_else(|| space.ip(random, of_mappings), |words| words[1]);
        let fields = SampleFields {
            ip: Some(ip),
            pid_tid: Some((pid, pid)),
            time: Some(1_000_000_000_000 + n * 250_000),
            cpu: Some((n % CPUS) as u32),
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
fn words(
    random: &mut Random,
    kernel: &mut Space,
    process: &mut Space,
    shares: &[u64],
    chain: &Chain,
) -> Vec<u64> {
    let mut words = Vec::new();
    let parts =
        [(CallchainContext::KERNEL, chain.kernel, kernel), (CallchainContext::USER, chain.user, process)];
    for (context, count, space) in parts {
        if count > 0 {
            words.push(context.0);
        }
        let mut address = 0;
        for depth in 0..count {
            let is_other = if chain.pairs { depth % 2 == 0 } else { random.is_one_of(5) };
            address = match depth {
                0 => space.ip(random, shares),
                _ if is_other => space.other(random, shares, address),
                _ => address ^ 0x80,
            };
            words.push(address);
        }
    }
    words
}

/// Returns a session that knows the processes, their mappings, and those of the kernel.
pub(crate) fn session(events: &Events, shape: &Shape) -> Session {
    let mut bytes = Vec::new();
    for number in 0..MODULES {
        let filename = format!("[module_{number}]");
        put(&mut bytes, events, CpuMode::KERNEL, &mapping(-1, KERNEL + number * STEP, STEP, &filename));
    }
    for n in 0..shape.processes {
        let pid = 1000 + n as i32;
        put(&mut bytes, events, CpuMode::USER, &Record::Comm(Comm { pid, tid: pid, comm: b"process" }));
        for number in 0..shape.mappings {
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
    Record::Mmap2(Mmap2 {
        pid,
        tid: pid,
        addr,
        len,
        pgoff: 0,
        id,
        prot_flags,
        reading: Reading::Certain,
        filename,
    })
}

/// Appends a record that is not a sample.
fn put(bytes: &mut Vec<u8>, events: &Events, mode: CpuMode, record: &Record<'_, LittleEndian>) {
    let trailer = SampleIdFields::default();
    write::record(bytes, &events[0].layout, Misc::from(mode), record, &trailer)
        .expect("the record can be written");
}
