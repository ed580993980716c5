//! Checks whether features can be decoded.

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;

use super::FeatureSection;
use crate::error::FileError;
#[cfg(feature = "tracepoint")]
use crate::tracepoint::Tracepoints;
use crate::tracepoint::TracingData;

/// Decodes a feature, and calls `fault` with each error. A feature with an unknown layout has none. `nr_cpus` is the
/// feature `NRCPUS`, if the capture has it.
pub(in crate::file) fn check<O: Endian>(
    section: &FeatureSection<'_>,
    nr_cpus: Option<&FeatureSection<'_>>,
    mut fault: impl FnMut(FileError),
) {
    if section.feature == Feature::TRACING_DATA {
        return tracing_data(section, fault);
    }
    if let Err(error) = decode::<O>(section, nr_cpus) {
        fault(error);
    }
}

/// Checks tracing data and, with the feature `tracepoint`, the formats in it, each of which may have a fault.
fn tracing_data(section: &FeatureSection<'_>, mut fault: impl FnMut(FileError)) {
    match TracingData::parse(section.bytes) {
        #[cfg(feature = "tracepoint")]
        Ok(data) => {
            Tracepoints::new(&data).faults().iter().for_each(|it| fault(it.in_file(section)));
        }
        #[cfg(not(feature = "tracepoint"))]
        Ok(_) => {}
        Err(error) => fault(error.in_file(section)),
    }
}

fn decode<O: Endian>(
    section: &FeatureSection<'_>,
    nr_cpus: Option<&FeatureSection<'_>>,
) -> Result<(), FileError> {
    if !(Feature::FIRST..Feature::FEAT_BITS).contains(&section.feature.0) {
        return Err(FileError::invalid("feature", section.feature.0.into(), "from 1 to 255", section.offset));
    }
    match section.feature {
        Feature::BUILD_ID => section.build_ids::<O>().try_for_each(|it| it.map(drop)),
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => section.string::<O>().map(drop),
        Feature::NRCPUS => section.nr_cpus::<O>().map(drop),
        Feature::TOTAL_MEM => section.total_mem::<O>().map(drop),
        Feature::CMDLINE => section.strings::<O>().map(drop),
        Feature::EVENT_DESC => section.event_desc::<O>().try_for_each(|it| it.map(drop)),
        Feature::CPU_TOPOLOGY => {
            let nr_cpus = nr_cpus.map_or(Ok((0, 0)), |section| section.nr_cpus::<O>());
            nr_cpus.and_then(|(available, _)| section.cpu_topology::<O>(available)).map(drop)
        }
        Feature::NUMA_TOPOLOGY => section.numa_topology::<O>().map(drop),
        Feature::BRANCH_STACK | Feature::STAT => section.mark(),
        Feature::PMU_MAPPINGS => section.pmu_mappings::<O>().map(drop),
        Feature::GROUP_DESC => section.group_desc::<O>().map(drop),
        Feature::AUXTRACE => section.auxtrace::<O>().map(drop),
        Feature::CACHE => section.cache::<O>().map(drop),
        Feature::SAMPLE_TIME => section.sample_time::<O>().map(drop),
        Feature::MEM_TOPOLOGY => section.mem_topology::<O>().map(drop),
        Feature::CLOCKID => section.clockid::<O>().map(drop),
        Feature::DIR_FORMAT => section.dir_format::<O>().map(drop),
        Feature::BPF_PROG_INFO => section.bpf_prog_info::<O>().map(drop),
        Feature::BPF_BTF => section.bpf_btf::<O>().map(drop),
        Feature::COMPRESSED => section.compressed::<O>().map(drop),
        Feature::CPU_PMU_CAPS => section.cpu_pmu_caps::<O>().map(drop),
        Feature::CLOCK_DATA => section.clock_data::<O>().map(drop),
        Feature::HYBRID_TOPOLOGY => section.hybrid_topology::<O>().map(drop),
        Feature::PMU_CAPS => section.pmu_caps::<O>().map(drop),
        Feature::CPU_DOMAIN_INFO => section.cpu_domain_info::<O>().map(drop),
        Feature::E_MACHINE => section.e_machine::<O>().map(drop),
        Feature::CLN_SIZE => section.cln_size::<O>().map(drop),
        _ => Ok(()),
    }
}
