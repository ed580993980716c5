//! Feature sections with any contents, decoded as every feature.

use perf_abi::endian::Endian;
use perf_parse::file::{BpfProgInfo, FeatureSection, FileError};

use super::walk::show;

/// Decodes the section with every decoder. An error has an offset within the section, and no list is longer than the
/// section.
pub fn decode<O: Endian>(section: &FeatureSection<'_>, nr_cpus: u32) {
    let it = Checked { section };
    it.one(section.mark());
    it.one(section.string::<O>());
    it.list(section.strings::<O>());
    it.one(section.nr_cpus::<O>());
    it.one(section.total_mem::<O>());
    it.one(section.cln_size::<O>());
    it.one(section.e_machine::<O>());
    it.one(section.sample_time::<O>());
    it.one(section.clockid::<O>());
    it.one(section.clock_data::<O>());
    it.one(section.dir_format::<O>());
    it.one(section.compressed::<O>());
    it.list(section.numa_topology::<O>());
    it.list(section.cache::<O>());
    it.list(section.pmu_mappings::<O>());
    it.list(section.hybrid_topology::<O>());
    it.list(section.cpu_pmu_caps::<O>());
    it.list(section.group_desc::<O>());
    it.list(section.bpf_btf::<O>());
    if let Some(index) = it.one(section.auxtrace::<O>()) {
        assert_eq!(index.len(), section.bytes.len() / 16);
    }
    if let Some(topology) = it.one(section.cpu_topology::<O>(nr_cpus)) {
        assert!(topology.cpus.is_empty() || topology.cpus.len() == nr_cpus as usize);
    }
    if let Some(info) = it.one(section.cpu_domain_info::<O>()) {
        let domains = info.cpus.iter().map(|cpu| cpu.domains.len()).sum::<usize>();
        assert!(info.cpus.len() + domains <= section.bytes.len());
    }
    if let Some(caps) = it.one(section.pmu_caps::<O>()) {
        let pairs = caps.iter().map(|pmu| pmu.caps.len()).sum::<usize>();
        assert!(caps.len() + pairs <= section.bytes.len());
    }
    if let Some(memory) = it.one(section.mem_topology::<O>()) {
        for node in &memory.nodes {
            assert_eq!(node.blocks.iter().count() as u64, node.blocks.count());
            assert!(node.blocks.iter().all(|block| block < node.blocks.nbits()));
        }
    }
    for program in it.one(section.bpf_prog_info::<O>()).into_iter().flatten() {
        arrays(&program);
    }
    it.series(section.event_desc::<O>());
    it.series(section.build_ids::<O>());
}

/// Checks that the arrays of a BPF program are within its data.
fn arrays<O: Endian>(program: &BpfProgInfo<'_, O>) {
    let lengths = [
        program.jited_prog_insns().map_or(0, <[u8]>::len),
        program.xlated_prog_insns().map_or(0, <[u8]>::len),
        program.map_ids().map_or(0, size_of_val),
        program.jited_ksyms().map_or(0, size_of_val),
        program.jited_func_lens().map_or(0, size_of_val),
    ];
    assert!(lengths.into_iter().sum::<usize>() <= program.data.len());
    assert!(program.name().len() <= 16);
}

/// Checks of anything decoded from a section.
struct Checked<'s> {
    section: &'s FeatureSection<'s>,
}

impl Checked<'_> {
    fn one<T: core::fmt::Debug>(&self, decoded: Result<T, FileError>) -> Option<T> {
        match decoded {
            Ok(value) => {
                show(&value);
                Some(value)
            }
            Err(error) => {
                let end = self.section.offset + self.section.bytes.len() as u64;
                assert!((self.section.offset..=end).contains(&error.offset), "{error}");
                assert!(!error.to_string().is_empty());
                None
            }
        }
    }

    /// Checks a list: each item uses some bytes of the section.
    fn list<T: core::fmt::Debug>(&self, decoded: Result<Vec<T>, FileError>) {
        if let Some(list) = self.one(decoded) {
            assert!(list.len() <= self.section.bytes.len());
        }
    }

    /// Does the same as [`list`](Self::list) for an iterator. An error, which uses no bytes, ends it.
    fn series<T: core::fmt::Debug>(&self, items: impl Iterator<Item = Result<T, FileError>>) {
        let (mut count, mut failed) = (0, false);
        for item in items {
            assert!(!failed);
            failed = self.one(item).is_none();
            count += 1;
        }
        assert!(count <= self.section.bytes.len() + usize::from(failed));
    }
}
