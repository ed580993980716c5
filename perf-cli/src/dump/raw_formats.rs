//! The formats of the raw data of a capture's samples.

use perf_abi::regs::Arch;
use perf_aux::ibs::{AmdCpu, IbsCaps, IbsPmu, IbsPmus, IbsText};
use perf_aux::perf_text::PerfText;
use perf_parse::event::Event;
use perf_parse::feature::FeatureData;
use perf_parse::file::Reader;

use super::tracepoints::Formats;
use crate::render::ibs::Ibs;
use crate::render::raw_format::RawFormat;

/// The formats of the raw data of a capture's samples, found once.
#[derive(Debug, Default)]
pub(super) struct RawFormats<'a> {
    tracepoints: Formats<'a>,
    ibs_pmus: IbsPmus,
    ibs_text: IbsText,
}

/// The format of an event.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawFormatId {
    /// The index of a tracepoint.
    Tracepoint(usize),
    Ibs(IbsPmu),
}

impl<'a> RawFormats<'a> {
    /// Finds the formats in the features of a capture. `arch` is the architecture of the recorded machine.
    ///
    /// perf recognises Instruction-Based Sampling by the features too, and not in a stream, whose features are records.
    pub(super) fn new(reader: &'a Reader<'_>, arch: Option<Arch>) -> Self {
        let tracepoints = Formats::new(reader);
        let cpuid = reader.features().cpu_id().ok().flatten();
        let cpu = cpuid.and_then(|cpuid| AmdCpu::of_cpuid(cpuid.as_bytes()));
        let Some(cpu) = cpu.filter(|_| arch == Some(Arch::X86)) else {
            return Self { tracepoints, ..Self::default() };
        };
        let (mut ibs_pmus, mut caps) = (IbsPmus::default(), IbsCaps::NONE);
        for section in reader.features() {
            match section.decode() {
                Ok(FeatureData::PmuMappings(all)) => {
                    let all: Vec<_> = all.iter().collect();
                    ibs_pmus = IbsPmus::of_mappings(all.iter().map(|pmu| (pmu.kind, &*pmu.name)));
                }
                Ok(FeatureData::PmuCaps(all)) => {
                    for pmu in all.iter().filter(|pmu| *pmu.pmu_name == *b"ibs_op") {
                        let names: Vec<_> = pmu.caps.iter().collect();
                        caps = IbsCaps::of_names(names.iter().map(|cap| &*cap.name));
                    }
                }
                _ => {}
            }
        }
        Self { tracepoints, ibs_pmus, ibs_text: IbsText { cpu, caps, release: PerfText::V6_1 } }
    }

    /// Returns the format of an event's raw data; `None` if it is unknown.
    pub(super) fn of(&self, event: &Event) -> Option<RawFormatId> {
        let tracepoint = self.tracepoints.of(event).map(RawFormatId::Tracepoint);
        tracepoint.or_else(|| self.ibs_pmus.pmu(event.attr.kind).map(RawFormatId::Ibs))
    }

    /// Returns the format that [`of`](Self::of) found.
    #[inline]
    pub(super) fn get(&self, id: RawFormatId) -> Option<RawFormat<'_>> {
        match id {
            RawFormatId::Tracepoint(index) => self.tracepoints.get(index).map(RawFormat::Tracepoint),
            RawFormatId::Ibs(pmu) => Some(RawFormat::Ibs(Ibs { pmu, text: self.ibs_text })),
        }
    }
}
