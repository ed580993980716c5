//! Feature sections.

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_parse::file::{FeatureSection, FileError};

/// Decodes a feature and everything that it returns lazily.
///
/// # Errors
///
/// That of the section.
pub fn decode<O: Endian>(section: &FeatureSection<'_>, nr_cpus: u32) -> Result<(), FileError> {
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
        Feature::CPU_TOPOLOGY => section.cpu_topology::<O>(nr_cpus).map(drop),
        Feature::NUMA_TOPOLOGY => section.numa_topology::<O>().map(drop),
        Feature::BRANCH_STACK | Feature::STAT => section.mark(),
        Feature::PMU_MAPPINGS => section.pmu_mappings::<O>().map(drop),
        Feature::GROUP_DESC => section.group_desc::<O>().map(drop),
        Feature::AUXTRACE => section.auxtrace::<O>().map(drop),
        Feature::CACHE => section.cache::<O>().map(drop),
        Feature::SAMPLE_TIME => section.sample_time::<O>().map(drop),
        Feature::MEM_TOPOLOGY => section.mem_topology::<O>().map(|it| {
            for node in it.nodes {
                assert_eq!(node.blocks.iter().count() as u64, node.blocks.count());
            }
        }),
        Feature::CLOCKID => section.clockid::<O>().map(drop),
        Feature::DIR_FORMAT => section.dir_format::<O>().map(drop),
        Feature::BPF_PROG_INFO => section.bpf_prog_info::<O>().map(|programs| {
            for it in programs {
                assert!(it.name().len() <= 16);
                let bytes = [it.jited_prog_insns(), it.xlated_prog_insns()];
                let numbers = [it.map_ids(), it.jited_func_lens()];
                let taken = bytes.iter().flatten().map(|all| all.len()).sum::<usize>()
                    + numbers.iter().flatten().map(|all| size_of_val(*all)).sum::<usize>()
                    + it.jited_ksyms().map_or(0, size_of_val);
                assert!(taken <= 5 * it.data.len());
            }
        }),
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
