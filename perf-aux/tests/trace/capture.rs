//! Captures with traces, written field by field.

use perf_parse::abi::attr::{Attr, AttrFlags};
use perf_parse::abi::event::EventType;
use perf_parse::abi::sample_type::SampleType;
use testdata::Bytes;
use testdata::file::Builder;

/// The type of the tracer's PMU.
pub(crate) const PMU: u32 = 6;

/// The bit of `config` that requests time stamps.
pub(crate) const TSC_BIT: u64 = 0x400;

/// An AUX area.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) idx: u32,
    pub(crate) tid: i32,
    pub(crate) cpu: i32,
}

/// The area of a CPU.
pub(crate) const fn of_cpu(cpu: i32) -> Area {
    Area { idx: cpu as u32, tid: -1, cpu }
}

/// The area of a thread.
pub(crate) const fn of_thread(idx: u32, tid: i32) -> Area {
    Area { idx, tid, cpu: -1 }
}

/// The fields of a trailer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trailer {
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) time: u64,
    pub(crate) cpu: u32,
}

/// Makes the records of one byte order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorder {
    pub(crate) big: bool,
}

impl Recorder {
    pub(crate) fn bytes(self) -> Bytes {
        Bytes::new(self.big)
    }

    /// AUXTRACE_INFO.
    pub(crate) fn info(self, kind: u32, words: &[u64]) -> Vec<u8> {
        self.bytes().u32(kind).u32(0).u64s(words).record(70, 0)
    }

    /// AUXTRACE_INFO of Intel PT.
    pub(crate) fn intel_pt(self, is_snapshot: bool) -> Vec<u8> {
        let words =
            [6, 31, 1_789_569_706, 18_446_744_041_015_200_657, 1, TSC_BIT, 0x800, 0, is_snapshot.into(), 1];
        let more = [0x200, 0x3_c000, 100, 2, 2, 12, 0, 0];
        self.info(1, &[&words[..], &more].concat())
    }

    /// AUXTRACE, and the data after it.
    pub(crate) fn piece(self, area: Area, offset: u64, reference: u64, data: &[u8]) -> Vec<u8> {
        let record = self.bytes().u64s(&[data.len() as u64, offset, reference]).u32(area.idx);
        [&record.i32(area.tid).i32(area.cpu).u32(0).record(71, 0), data].concat()
    }

    fn trailer(self, bytes: Bytes, at: Trailer) -> Bytes {
        bytes.i32(at.pid).i32(at.tid).u64(at.time).u32(at.cpu).u32(0)
    }

    /// AUX.
    pub(crate) fn aux(self, offset: u64, size: u64, flags: u64, at: Trailer) -> Vec<u8> {
        self.trailer(self.bytes().u64s(&[offset, size, flags]), at).record(11, 0)
    }

    /// ITRACE_START.
    pub(crate) fn itrace_start(self, pid: i32, tid: i32, at: Trailer) -> Vec<u8> {
        self.trailer(self.bytes().i32(pid).i32(tid), at).record(12, 0)
    }

    /// SWITCH.
    pub(crate) fn switch(self, is_out: bool, at: Trailer) -> Vec<u8> {
        self.trailer(self.bytes(), at).record(14, u16::from(is_out) << 13)
    }

    /// SWITCH_CPU_WIDE. The process of the other thread has its id without the last digit.
    pub(crate) fn switch_cpu_wide(self, is_out: bool, other: i32, at: Trailer) -> Vec<u8> {
        self.trailer(self.bytes().i32(other - other % 10).i32(other), at).record(15, u16::from(is_out) << 13)
    }

    /// AUX_OUTPUT_HW_ID.
    pub(crate) fn hardware_id(self, id: u64, at: Trailer) -> Vec<u8> {
        self.trailer(self.bytes().u64(id), at).record(21, 0)
    }

    /// AUXTRACE_ERROR.
    pub(crate) fn error(self, code: u32, cpu: i32, tid: i32, ip: u64, message: &str) -> Vec<u8> {
        let fields = self.bytes().u32(1).u32(code).i32(cpu).i32(tid).i32(tid).u32(1).u64(ip).u64(77);
        fields.padded(message.as_bytes(), (message.len() + 1).next_multiple_of(8)).record(72, 0)
    }

    /// A file with an event of the tracer.
    pub(crate) fn file(self, config: u64, records: &[Vec<u8>]) -> Vec<u8> {
        self.builder(config, records).build().bytes
    }

    pub(crate) fn builder(self, config: u64, records: &[Vec<u8>]) -> Builder {
        Builder::new(self.big).event(tracer(config), &[7]).data(records.concat())
    }
}

/// The attr of an event of the tracer.
pub(crate) fn tracer(config: u64) -> Attr {
    Attr {
        kind: EventType(PMU),
        config,
        sample_period: 1,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::EXCLUDE_KERNEL,
        ..Attr::default()
    }
}

/// Data that differs at each position.
pub(crate) fn noise(from: u64, bytes: usize) -> Vec<u8> {
    let words =
        (0..bytes.div_ceil(8) as u64).map(|word| (from + word + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut all: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    all.truncate(bytes);
    all
}

/// The PSB packet of Intel PT.
pub(crate) const PSB: [u8; 16] = [2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82];

/// A block of an Intel PT trace: a PSB, its time stamp if it has one, and other packets without addresses, so that a decoder
/// needs no code.
pub(crate) fn block(tsc: Option<u64>, seed: u8, packets: u8) -> Vec<u8> {
    let mut out = PSB.to_vec();
    if let Some(tsc) = tsc {
        out.push(0x19);
        out.extend_from_slice(&tsc.to_le_bytes()[..7]);
    }
    // CBR and PSBEND.
    out.extend_from_slice(&[2, 3, 12, 0, 2, 0x23]);
    for packet in 0..packets {
        match packet % 3 {
            // MTC, PAD, CBR
            0 => out.extend_from_slice(&[0x59, seed.wrapping_add(packet)]),
            1 => out.push(0),
            _ => out.extend_from_slice(&[2, 3, seed | 1, 0]),
        }
    }
    out
}
