//! Captures with Arm SPE data, and random SPE data.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::EventType;
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::file::Builder;

/// The PMU's type number in the captures.
pub const PMU_TYPE: u32 = 8;
/// The thread whose data the captures have.
pub const TID: i32 = 7;

/// A capture with one AUX area.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// The CPU's id and the events that it can filter by, in metadata of version 2. Otherwise the version is 1.
    pub cpu: Option<(u64, u64)>,
    /// The feature `CPUID`.
    pub cpuid: Option<&'static str>,
    /// Whether records have times: the ticks of SPE are converted with this shift, factor and time of tick 0.
    pub time_conv: Option<[u64; 3]>,
    /// The data, padded with zeros to a multiple of 8.
    pub data: Vec<u8>,
}

impl Capture {
    /// The fields that an SPE event of perf records, with those that its samples can be printed with.
    fn sample_type(&self) -> SampleType {
        let always = SampleType::IP
            | SampleType::TID
            | SampleType::ADDR
            | SampleType::CPU
            | SampleType::PERIOD
            | SampleType::WEIGHT
            | SampleType::DATA_SRC
            | SampleType::PHYS_ADDR
            | SampleType::IDENTIFIER;
        if self.time_conv.is_some() { always | SampleType::TIME } else { always }
    }

    /// Returns the words of the AUXTRACE_INFO record, of CPU 0.
    #[must_use]
    pub fn info_words(&self) -> Vec<u64> {
        let kind = PMU_TYPE.into();
        match self.cpu {
            None => vec![kind, 0],
            Some((midr, filter)) => {
                vec![2, 4, kind, 1, 0x1010_1010_1010_1010, 0, 4, midr, kind, 1024, filter]
            }
        }
    }

    /// Returns the file. It is little-endian, and the offset of the data is a multiple of 16, so that packets that align
    /// the data do so in the file as they did in the AUX area.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let bytes = || Bytes::new(false);
        let attr = Attr {
            kind: EventType(PMU_TYPE),
            sample_period: 1024,
            sample_type: self.sample_type(),
            flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::MMAP | AttrFlags::COMM | AttrFlags::TASK,
            ..Attr::default()
        };
        let trailer = |bytes: Bytes| {
            let bytes = bytes.i32(TID).i32(TID);
            let bytes = if self.time_conv.is_some() { bytes.u64(1) } else { bytes };
            bytes.u32(0).u32(0).u64(5)
        };
        let info = bytes().u32(4).u32(0).u64s(&self.info_words()).record(70, 0);
        let comm = trailer(bytes().i32(TID).i32(TID).padded(b"prog", 8)).record(3, 0);
        let mmap = bytes().i32(TID).i32(TID).u64s(&[0x40_0000, 0x1_0000, 0]).padded(b"/bin/prog", 16);
        let mmap = trailer(mmap).record(1, 2);
        let mut file = Builder::new(false).event(attr, &[5]);
        // perf reads it with AUXTRACE_INFO, so it must be before that.
        if let Some([shift, mult, zero]) = self.time_conv {
            let conv = bytes().u64s(&[shift, mult, zero, 0, u64::MAX]).u8(1).zeros(7);
            file = file.data(conv.record(79, 0));
        }
        file = file.data(info).data(comm).data(mmap);
        let data = bytes().padded(&self.data, self.data.len().next_multiple_of(8)).out;
        let area = bytes().u64s(&[data.len() as u64, 0, 0]).u32(0).i32(TID).i32(0).u32(0).record(71, 0);
        let round = || bytes().record(68, 0);
        if !(file.build().data + file.data.len() + area.len()).is_multiple_of(16) {
            file = file.data(round());
        }
        file = file.data(area).data(data).data(round());
        file = file.feature(6, bytes().string("aarch64").out).feature(7, bytes().u32(4).u32(4).out);
        match self.cpuid {
            Some(cpuid) => file.feature(9, bytes().string(cpuid).out).build().bytes,
            None => file.build().bytes,
        }
    }
}

/// Random SPE data, the same in every run for a seed.
#[derive(Clone, Debug)]
pub struct RandomPackets {
    state: u64,
    /// The data so far.
    pub out: Vec<u8>,
}

impl RandomPackets {
    /// Starts without data.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed, out: Vec::new() }
    }

    /// Returns the next number: `splitmix64`.
    fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.number() % end
    }

    /// Returns a number of few, some or many set bits.
    fn word(&mut self) -> u64 {
        let (a, b, c) = (self.number(), self.number(), self.number());
        match self.below(4) {
            0 => a & b & c,
            1 => a & 0xff,
            2 => a >> self.below(64),
            _ => a,
        }
    }

    fn packet(&mut self, header: &[u8], payload: u64, size: usize) {
        self.out.extend_from_slice(header);
        self.out.extend_from_slice(&payload.to_le_bytes()[..size]);
    }

    /// Appends packets of any kind, short and extended, with any payload; alignments, padding, and bytes that are none.
    #[must_use]
    pub fn any(mut self, count: usize) -> Self {
        for _ in 0..count {
            let (low, high, word) = (self.below(8) as u8, self.below(4) as u8, self.word());
            let size = 1 << high;
            match self.below(16) {
                0 => self.out.push(1),
                1 => self.packet(&[0x71], word, 8),
                2 | 3 => self.packet(&[0xb0 | low], word, 8),
                4 => self.packet(&[0x20 | high, 0xb0 | low], word, 8),
                5 => self.packet(&[0x98 | low], word, 2),
                6 => self.packet(&[0x20 | high, 0x98 | low], word, 2),
                7 => self.packet(&[0x64 | high], word, 4),
                8..=10 => self.packet(&[0x48 | high], word, 1),
                11 | 12 => self.packet(&[0x42 | high << 4], word, size),
                13 => self.packet(&[0x43 | high << 4], word, size),
                14 => self.out.push(word as u8),
                _ => match self.below(3) {
                    0 => self.packet(&[0x20 | high, 0], 0, 0),
                    zeros => self.out.resize(self.out.len() + usize::from(low) * zeros as usize, 0),
                },
            }
        }
        self
    }

    /// Appends records: an operation each, with what the hardware records of it, and some of what it does not.
    #[must_use]
    pub fn records(mut self, count: usize) -> Self {
        for _ in 0..count {
            self.record();
        }
        self
    }

    fn record(&mut self) {
        let (pc, target) = (self.word(), self.word());
        self.packet(&[0xb0], pc, 8);
        let class = self.below(3) as u8;
        let payload = self.word();
        self.packet(&[0x48 | class], payload, 1);
        let events = self.word() & self.word() & 0x3ff_ffff;
        self.packet(&[0x72], events, 8);
        let cycles = self.word();
        self.packet(&[0x98], cycles, 2);
        if self.below(2) == 0 {
            self.packet(&[0xb1], target, 8);
        }
        if self.below(2) == 0 {
            self.packet(&[0xb2], pc.wrapping_mul(3), 8);
            self.packet(&[0xb3], target.wrapping_mul(5), 8);
        }
        if self.below(3) == 0 {
            self.packet(&[0xb4], pc.wrapping_mul(7), 8);
        }
        if self.below(3) == 0 {
            let (header, tid) = (0x64 | self.below(2) as u8, self.below(100));
            self.packet(&[header], tid, 4);
        }
        if self.below(2) == 0 {
            let source = self.below(20);
            self.packet(&[0x43], source, 1);
        }
        match self.below(32) {
            // Neither ends the record as the hardware does.
            0 => self.out.push(0xff),
            1 => self.packet(&[0x4b], 0, 1),
            number if number < 16 => self.out.push(1),
            _ => {
                let ticks = self.word();
                self.packet(&[0x71], ticks, 8);
            }
        }
    }
}
