//! Captures with Intel PT traces, of packets and of events that are chosen at random.
//!
//! The packets are written by the tables of the Intel SDM. No capture of a real machine has most of them.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::auxtrace::AuxtraceType;
use perf_abi::event::EventType;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::file::Builder;

/// Type of the PMU in all captures.
pub const PMU: u32 = 8;

/// TSC at the end of the first buffer, when it was about to be written.
pub const REFERENCE: u64 = 0x10_0000_0000;

/// `config` of an event with all packets but those of branches: PassThru, CYC, power events, FUP on PTWRITE, TSC, MTC, PTWRITE,
/// Event Trace and an MTC period of 3.
pub const WITHOUT_BRANCHES: u64 =
    1 | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 9 | 1 << 10 | 1 << 12 | 3 << 14 | 1 << 31;

/// The 16 bytes of a PSB packet.
pub const PSB: [u8; 16] = [2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82];

/// Words of the AUXTRACE_INFO record: a TSC of 2 GHz that started at 1 ms, 20 ticks of it for one of the crystal clock, and Event
/// Trace.
#[must_use]
pub fn info() -> [u64; 18] {
    [
        u64::from(PMU),
        10,
        512,
        1_000_000,
        1,
        1 << 10,
        1 << 11,
        0,
        0,
        1,
        1 << 9,
        0xf << 14,
        20,
        1,
        1 << 1,
        20,
        0,
        1,
    ]
}

/// Returns a capture of CPU 0 with these buffers, each of which continues the one before it.
#[must_use]
pub fn capture(config: u64, buffers: &[Vec<u8>]) -> Vec<u8> {
    let sample_type =
        SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU;
    let flags = AttrFlags::SAMPLE_ID_ALL;
    let attr = Attr { kind: EventType(PMU), config, sample_period: 1, sample_type, flags, ..Attr::default() };
    let info = Bytes::new(false).u32(AuxtraceType::INTEL_PT.0).u32(0).u64s(&info());
    let mut file = Builder::new(false).event(attr, &[77]).data(info.record(RecordType::AUXTRACE_INFO.0, 0));
    let mut offset = 0;
    for trace in buffers {
        let padded = trace.len().next_multiple_of(8);
        // Size, offset, reference; index, thread, CPU, reserved.
        let record = Bytes::new(false).u64s(&[padded as u64, offset, REFERENCE]).u32(0).i32(-1).i32(0).u32(0);
        file = file
            .data(record.record(RecordType::AUXTRACE.0, 0))
            .data(Bytes::new(false).padded(trace, padded).out);
        offset += padded as u64;
    }
    file.build().bytes
}

/// Numbers that look random, and are the same for the same seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the numbers of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns the next number. xorshift64*.
    pub const fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below a limit.
    pub const fn below(&mut self, limit: u64) -> u64 {
        (self.word() >> 32) % limit
    }

    /// Returns a number of up to this many bits, small ones more often than others.
    pub const fn bits(&mut self, most: u64) -> u64 {
        let bits = self.below(most + 1);
        if bits == 0 { 0 } else { self.word() >> (64 - bits) }
    }

    fn one_of(&mut self, bytes: &[u8]) -> u8 {
        bytes[self.below(bytes.len() as u64) as usize]
    }
}

/// Appends a packet: its first bytes, and the `width` low bytes of a payload.
fn put(trace: &mut Vec<u8>, head: &[u8], width: usize, payload: u64) {
    trace.extend_from_slice(head);
    trace.extend_from_slice(&payload.to_le_bytes()[..width]);
}

/// Appends an address: TIP 0x0d, TIP.PGE 0x11, TIP.PGD 0x01 or FUP 0x1d.
pub fn address(trace: &mut Vec<u8>, head: u8, compression: u8, payload: u64) {
    let width = [0, 2, 4, 6, 6, 0, 8, 0][usize::from(compression)];
    put(trace, &[head | compression << 5], width, payload);
}

/// Appends a number of cycles.
pub fn cycles(trace: &mut Vec<u8>, count: u64) {
    let mut rest = count >> 5;
    trace.push((count as u8 & 0x1f) << 3 | u8::from(rest != 0) << 2 | 3);
    while rest != 0 {
        let byte = (rest as u8 & 0x7f) << 1;
        rest >>= 7;
        trace.push(byte | u8::from(rest != 0));
    }
}

/// Returns a trace of this many packets of all types, in any order, with some padding and some bytes that are no packet.
#[must_use]
pub fn packets(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut trace = PSB.to_vec();
    for _ in 0..count {
        packet(&mut trace, &mut random);
    }
    trace
}

fn packet(trace: &mut Vec<u8>, random: &mut Random) {
    let word = random.bits(64);
    match random.below(36) {
        0 => trace.resize(trace.len() + 1 + random.below(10) as usize, 0),
        1..=4 => trace.push((random.word() as u8 & 0xfe).max(4)),
        5 => put(trace, &[0x02, 0xa3], 6, word),
        6..=9 => {
            let head = random.one_of(&[0x0d, 0x11, 0x01, 0x1d]);
            // 5 and 7 are reserved.
            address(trace, head, random.below(8) as u8, word);
        }
        10 => put(trace, &[0x02, 0x43], 6, word),
        11 => put(trace, &[0x99], 1, random.below(64)),
        12 => trace.extend_from_slice(&[0x02, 0x83]),
        13 => put(trace, &[0x02, 0x03], 2, word),
        14 => put(trace, &[0x19], 7, word),
        15 => put(trace, &[0x59], 1, word),
        16 => put(trace, &[0x02, 0x73], 5, word),
        17 => cycles(trace, word),
        18 => put(trace, &[0x02, 0xc8], 5, word),
        19 => trace.extend_from_slice(&[0x02, 0xf3]),
        20 => trace.extend_from_slice(&PSB),
        21 => trace.extend_from_slice(&[0x02, 0x23]),
        22 => put(trace, &[0x02, 0xc3, 0x88], 8, word),
        23 => put(trace, &[0x02, 0x12 | (random.below(2) as u8) << 7], 4, word),
        24 => put(trace, &[0x02, 0x32 | (random.below(2) as u8) << 7], 8, word),
        25 => trace.extend_from_slice(&[0x02, random.one_of(&[0x62, 0xe2])]),
        26 => put(trace, &[0x02, 0xc2], 8, word),
        27 => put(trace, &[0x02, 0x22], 2, word),
        28 => put(trace, &[0x02, 0xa2], 5, word),
        29 => block(trace, random, true),
        30 => put(trace, &[0x02, 0x13], 2, word),
        31 => put(trace, &[0x02, 0x53, random.word() as u8], 8, word),
        // Cut off: what follows is read as its payload.
        32 => trace.extend_from_slice(&PSB[..random.below(16) as usize]),
        33 => trace.extend_from_slice(&[0x02, random.word() as u8]),
        34 => trace.push(random.word() as u8),
        _ => trace.extend_from_slice(&word.to_le_bytes()),
    }
}

/// Values of 4 or 8 bytes, with packets of the time between them if these are asked for.
fn block(trace: &mut Vec<u8>, random: &mut Random, timed: bool) {
    let short = random.below(2);
    put(trace, &[0x02, 0x63], 1, short << 7 | random.below(32));
    for _ in 0..random.below(6) {
        let value = random.word();
        put(trace, &[(random.below(32) as u8) << 3 | 4], if short == 1 { 4 } else { 8 }, value);
        match random.below(4) {
            0 if timed => put(trace, &[0x59], 1, value),
            1 if timed => cycles(trace, value & 0xfff),
            _ => {}
        }
    }
    if random.below(4) > 0 {
        trace.extend_from_slice(&[0x02, random.one_of(&[0x33, 0xb3])]);
    }
}

/// Returns a trace of this many events without branches, as a processor writes them: a PSB and the state, PTWRITE, power events,
/// events of Event Trace, overflows, and the packets of the time.
#[must_use]
pub fn events(seed: u64, count: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    // Before the reference.
    let mut time = Time { tsc: REFERENCE - 0x1000_0000, cbr: 20 };
    let mut trace = Vec::new();
    time.psb(&mut trace, &mut random);
    for _ in 0..count {
        time.pass(&mut trace, &mut random);
        event(&mut trace, &mut random, &mut time);
    }
    trace
}

/// A FUP packet with a new address.
fn flow_update(trace: &mut Vec<u8>, random: &mut Random) {
    let compression = random.one_of(&[1, 2, 3, 4, 6]);
    let payload = random.word() & 0x7fff_ffff_ffff;
    address(trace, 0x1d, compression, payload);
}

fn event(trace: &mut Vec<u8>, random: &mut Random, time: &mut Time) {
    let word = random.bits(64);
    match random.below(17) {
        0 => put(trace, &[0x02, 0x12], 4, word),
        1 => put(trace, &[0x02, 0x32], 8, word),
        2 | 3 => {
            put(trace, &[0x02, 0xb2], 8, word);
            if random.below(3) == 0 {
                trace.push(0);
            }
            flow_update(trace, random);
        }
        // MWAIT, the entry to a C-state, and the exit.
        4 | 5 => {
            put(trace, &[0x02, 0xc2], 8, word & 0x3_0000_00ff);
            if random.below(2) == 0 {
                put(trace, &[0x02, 0x22], 2, word >> 32);
            }
            trace.extend_from_slice(&[0x02, 0xe2]);
            flow_update(trace, random);
            time.tsc += 0x4000 + random.below(0x1_0000);
            time.tsc(trace);
            put(trace, &[0x02, 0xa2], 5, word & 0xfff);
        }
        6 => trace.extend_from_slice(&[0x02, 0x62]),
        7 => {
            trace.extend_from_slice(&[0x02, 0xe2]);
            flow_update(trace, random);
        }
        8 => put(trace, &[0x02, 0xa2], 5, word & 0xfff),
        9 => time.cbr(trace, random),
        10 => time.psb(trace, random),
        11 => {
            for _ in 0..random.below(4) {
                put(trace, &[0x02, 0x53, random.below(64) as u8], 8, word);
            }
            put(trace, &[0x02, 0x13], 2, 0x80 | random.below(14) | random.below(256) << 8);
            flow_update(trace, random);
        }
        12 => {
            put(trace, &[0x02, 0x13], 2, random.below(14) | random.below(256) << 8);
            flow_update(trace, random);
        }
        13 => {
            trace.extend_from_slice(&[0x02, 0xf3]);
            flow_update(trace, random);
        }
        // perf drops the events of a guest that the capture does not name: NR is 0.
        14 => put(trace, &[0x02, 0x43], 6, word << 1),
        15 => block(trace, random, false),
        _ => put(trace, &[0x02, 0xc3, 0x88], 8, word),
    }
}

/// The clocks of the processor.
struct Time {
    tsc: u64,
    cbr: u64,
}

impl Time {
    /// Time passes: MTC packets at each multiple of 8 ticks of the crystal clock, which are 160 ticks of the TSC, with CYC packets.
    fn pass(&mut self, trace: &mut Vec<u8>, random: &mut Random) {
        if random.below(3) > 0 {
            return;
        }
        for _ in 0..1 + random.below(3) {
            let next = (self.tsc / 160 + 1) * 160;
            if random.below(4) > 0 {
                cycles(trace, (next - self.tsc) * self.cbr / 20);
            }
            self.tsc = next;
            put(trace, &[0x59], 1, next / 160);
        }
        let some = random.below(100);
        cycles(trace, some * self.cbr / 20);
        self.tsc += some;
    }

    fn tsc(&self, trace: &mut Vec<u8>) {
        put(trace, &[0x19], 7, self.tsc);
        let (ctc, fast) = (self.tsc / 20, self.tsc % 20);
        put(trace, &[0x02, 0x73], 5, ctc & 0xffff | fast << 24);
    }

    fn cbr(&mut self, trace: &mut Vec<u8>, random: &mut Random) {
        self.cbr = 8 + random.below(30);
        put(trace, &[0x02, 0x03], 2, self.cbr);
    }

    fn psb(&mut self, trace: &mut Vec<u8>, random: &mut Random) {
        trace.extend_from_slice(&PSB);
        self.tsc(trace);
        self.cbr(trace, random);
        if random.below(2) == 0 {
            put(trace, &[0x02, 0x43], 6, random.word() << 1);
        }
        if random.below(2) == 0 {
            address(trace, 0x1d, 3, random.word() & 0x7fff_ffff_ffff);
        }
        trace.extend_from_slice(&[0x02, 0x23]);
    }
}
