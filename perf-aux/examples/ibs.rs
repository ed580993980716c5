//! Prints the samples of AMD Instruction-Based Sampling in a capture as perf prints them: `ibs CAPTURE [6.1]`. With 6.1, as
//! perf 6.1 does; otherwise as perf 7.2.

use core::error::Error;

use perf_aux::ibs::{AmdCpu, FetchSample, IbsCaps, IbsPmu, IbsPmus, IbsText, OpSample};
use perf_aux::perf_text::PerfText;
use perf_parse::Reader;
use perf_parse::feature::FeatureData;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "perf.data".to_owned());
    let is_6_1 = args.next().is_some_and(|release| release == "6.1");
    let release = if is_6_1 { PerfText::V6_1 } else { PerfText::V7_2 };
    let bytes = std::fs::read(path)?;
    let reader = Reader::new(&bytes)?;

    let (mut pmus, mut text) = (IbsPmus::default(), IbsText { release, ..IbsText::default() });
    for section in reader.features() {
        match section.decode()? {
            FeatureData::CpuId(cpuid) => text.cpu = AmdCpu::of_cpuid(&cpuid).unwrap_or_default(),
            FeatureData::PmuMappings(all) => {
                let all: Vec<_> = all.iter().collect();
                pmus = IbsPmus::of_mappings(all.iter().map(|pmu| (pmu.kind, &*pmu.name)));
            }
            FeatureData::PmuCaps(all) => {
                for pmu in all.iter().filter(|pmu| *pmu.pmu_name == *b"ibs_op") {
                    let caps: Vec<_> = pmu.caps.iter().collect();
                    text.caps = IbsCaps::of_names(caps.iter().map(|cap| &*cap.name));
                }
            }
            _ => {}
        }
    }
    for record in reader.records() {
        let record = record?;
        let pmu = record.event().and_then(|event| pmus.pmu(event.attr.kind));
        let tail = record.tail()?;
        let (Some(pmu), Some(raw)) = (pmu, tail.and_then(|tail| tail.raw)) else { continue };
        match pmu {
            IbsPmu::Fetch => {
                let sample = FetchSample::parse(raw)?;
                if sample.is_valid() {
                    println!("{}", sample.text(text));
                }
            }
            IbsPmu::Op => {
                let sample = OpSample::parse(raw)?;
                if sample.is_valid() {
                    println!("{}", sample.text(text));
                }
            }
        }
    }
    Ok(())
}
