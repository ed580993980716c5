//! Captures of Arm CoreSight.

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::event::EventType;
use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;

use crate::Bytes;
use crate::file::Builder;

/// Type of the events of `cs_etm` in these captures.
pub const PMU_TYPE: u32 = 12;

const ID: u64 = 5;

/// Returns the block of an ETMv4 in metadata from version 1 on.
#[must_use]
pub const fn etmv4(cpu: u64, trace_id: u64) -> [u64; 11] {
    [0x4040_4040_4040_4040, cpu, 8, 0xc001, trace_id, 0x2800_0ea1, 0x4100_f403, 0x488, 0, 0xcc, u64::MAX]
}

/// Returns a capture with the metadata and, if it is not empty, the trace of an AUX area.
///
/// # Panics
///
/// If a record would be larger than records can be.
#[must_use]
pub fn capture(words: &[u64], trace: &[u8]) -> Vec<u8> {
    let bytes = || Bytes::new(false);
    let attr = Attr {
        kind: EventType(PMU_TYPE),
        sample_period: 1,
        sample_type: SampleType::IDENTIFIER
            | SampleType::IP
            | SampleType::TID
            | SampleType::TIME
            | SampleType::CPU,
        flags: AttrFlags::SAMPLE_ID_ALL,
        ..Attr::default()
    };
    let info = bytes().u32(3).u32(0).u64s(words).record(70, 0); // type: CS_ETM
    let (size, at) = (trace.len() as u64, info.len());
    let mut file = Builder::new(false).event(attr, &[ID]).data(info);
    let mut index = bytes().u64(0); // nr
    if !trace.is_empty() {
        let auxtrace = bytes().u64s(&[size, 0, 0]).u32(0).i32(-1).u32(0).u32(0).record(71, 0);
        // aux_offset, aux_size, flags, then the trailer: TID, TIME, CPU, IDENTIFIER.
        let aux = bytes().u64s(&[0, size, 0]).u32(7).u32(7).u64s(&[5, 0, ID]).record(11, 0);
        let header = auxtrace.len() as u64;
        file = file.data(auxtrace).data(trace).data(aux);
        index = bytes().u64(1).u64((file.build().data + at) as u64).u64(header);
    }
    let mappings = bytes().u32(1).u32(PMU_TYPE).string("cs_etm");
    let features = [
        (Feature::ARCH, bytes().string("aarch64")),
        (Feature::NRCPUS, bytes().u32(8).u32(8)),
        (Feature::PMU_MAPPINGS, mappings),
        (Feature::AUXTRACE, index),
    ];
    let file = features.into_iter().fold(file, |file, (feature, bytes)| file.feature(feature.0, bytes.out));
    file.build().bytes
}
