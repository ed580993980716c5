//! Captures of AMD Instruction-Based Sampling.

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::file::Builder;

/// Type of the events of `ibs_fetch` in these captures.
pub const FETCH_TYPE: u32 = 9;
/// Type of the events of `ibs_op` in these captures.
pub const OP_TYPE: u32 = 10;

/// The machine that a capture names in its header.
#[derive(Clone, Copy, Debug)]
pub struct IbsMachine<'a> {
    /// Family of the CPU.
    pub family: u32,
    /// Model of the CPU.
    pub model: u32,
    /// Names of the capabilities of `ibs_op` in sysfs.
    pub caps: &'a [&'a str],
}

/// Returns the raw data of a sample: the capabilities, and the registers in order.
#[must_use]
pub fn raw(caps: u32, registers: &[u64]) -> Vec<u8> {
    Bytes::new(false).u32(caps).u64s(registers).out
}

/// Returns a capture with samples of this event: its type, and the raw data of each sample.
#[must_use]
pub fn capture(machine: &IbsMachine<'_>, kind: u32, samples: &[Vec<u8>]) -> Vec<u8> {
    let attr = Attr {
        kind: EventType(kind),
        sample_period: 100_000,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::RAW,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let mut file = Builder { version: AttrVersion::VER5, ..Builder::new(false) }.event(attr, &[]);
    for (time, raw) in (1..).zip(samples) {
        let padding = (raw.len() + 4).next_multiple_of(8) - raw.len() - 4;
        let sample = Bytes::new(false)
            .u64(0x40_1000) // ip
            .u32(7) // pid
            .u32(7) // tid
            .u64(time)
            .u32((raw.len() + padding) as u32)
            .raw(raw)
            .zeros(padding);
        file.data.extend(sample.record(9, 2));
    }
    let IbsMachine { family, model, caps } = machine;
    let text = |text: &str| Bytes::new(false).string(text).out;
    let mappings = Bytes::new(false)
        .u32(2) // nr
        .u32(FETCH_TYPE) // type
        .string("ibs_fetch") // name
        .u32(OP_TYPE) // type
        .string("ibs_op"); // name
    let pmu_caps = Bytes::new(false).u32(1).u32(caps.len() as u32); // nr_pmu, nr_caps
    let pmu_caps = caps.iter().fold(pmu_caps, |bytes, cap| bytes.string(cap).string("1")).string("ibs_op");
    let mut features = vec![
        (Feature::ARCH, text("x86_64")),
        (Feature::CPUID, text(&format!("AuthenticAMD,{family},{model},0"))),
        (Feature::PMU_MAPPINGS, mappings.out),
        (Feature::PMU_CAPS, pmu_caps.out),
    ];
    features.sort_by_key(|(feature, _)| *feature);
    let file = features.into_iter().fold(file, |file, (feature, bytes)| file.feature(feature.0, bytes));
    file.build().bytes
}
