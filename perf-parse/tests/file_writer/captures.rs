//! Captures of perf that are read and written again are the same to the last byte.

use alloc::collections::BTreeSet;

use perf_parse::abi::endian::LittleEndian;
use perf_parse::abi::feature::Feature;
use perf_parse::file::FeatureSection;
use perf_parse::file::write::Features;

use compare::rewrite::{File, events, rewrite, writer};

/// The captures in file mode that are whole and not compressed.
const CAPTURES: [&str; 26] = [
    "plain",
    "callchain",
    "dwarf",
    "raw",
    "group_read",
    "ids",
    "identifier",
    "switch",
    "namespaces",
    "cgroups",
    "buildid_mmap",
    "intr_regs",
    "user_regs",
    "user_regs_32",
    "mem",
    "everything",
    "maps",
    "tasks",
    "inherit_stat",
    "lost",
    "throttle",
    "bpf",
    "breakpoint",
    "uprobe",
    "overwrite",
    "system_wide",
];

#[test]
fn what_perf_wrote_is_written_alike() {
    for name in CAPTURES {
        let original = std::fs::read(testdata::path(&format!("{name}.data"))).unwrap();
        let file = File::open(&original).unwrap();
        assert_eq!(file.account().diagnostics, [], "{name}");
        let written = rewrite(&file, writer(&events(&file)));
        let again = File::open(&written).unwrap();

        // Header, ids, attrs and records.
        let data = file.header().data;
        let end = usize::try_from(data.offset + data.size).unwrap();
        let differ = original[..end].iter().zip(&written[..end]).position(|(theirs, ours)| theirs != ours);
        assert_eq!(differ, None, "{name}");
        // perf reserves entries in the table for features that it then does not write. Without them the sections move
        // to lower offsets.
        let sections = |file: &File<'_>| {
            let first = file.features()[0].offset;
            let section = |it: &FeatureSection<'_>| (it.feature, it.offset - first, it.bytes.to_vec());
            file.features().iter().map(section).collect::<Vec<_>>()
        };
        assert_eq!(sections(&again), sections(&file), "{name}");
        let table = u64::try_from(end + 16 * again.features().len()).unwrap();
        assert_eq!(again.features()[0].offset, table, "{name}");
    }
}

/// Reads a section and encodes it again from its values; returns false for features that this test does not decode.
fn again(file: &File<'_>, feature: Feature, to: &mut Features<LittleEndian>) -> bool {
    type O = LittleEndian;
    let section = file.feature(feature).unwrap();
    match feature {
        Feature::HOSTNAME
        | Feature::OSRELEASE
        | Feature::VERSION
        | Feature::ARCH
        | Feature::CPUDESC
        | Feature::CPUID => to.string(feature, section.string::<O>().unwrap()).unwrap(),
        Feature::CMDLINE => to.cmdline(&section.strings::<O>().unwrap()).unwrap(),
        Feature::NRCPUS => {
            let (available, online) = section.nr_cpus::<O>().unwrap();
            to.nr_cpus(available, online);
        }
        Feature::TOTAL_MEM => to.total_mem(section.total_mem::<O>().unwrap()),
        Feature::SAMPLE_TIME => {
            let (first, last) = section.sample_time::<O>().unwrap();
            to.sample_time(first, last);
        }
        Feature::CLOCKID => to.clockid(section.clockid::<O>().unwrap()),
        Feature::CLOCK_DATA => to.clock_data(&section.clock_data::<O>().unwrap()),
        Feature::CPU_TOPOLOGY => {
            let (nr_cpus, _) = file.feature(Feature::NRCPUS).unwrap().nr_cpus::<O>().unwrap();
            to.cpu_topology(&section.cpu_topology::<O>(nr_cpus).unwrap()).unwrap();
        }
        Feature::PMU_MAPPINGS => to.pmu_mappings(&section.pmu_mappings::<O>().unwrap()).unwrap(),
        Feature::GROUP_DESC => to.group_desc(&section.group_desc::<O>().unwrap()).unwrap(),
        Feature::BUILD_ID => {
            let ids: Result<Vec<_>, _> = section.build_ids::<O>().collect();
            to.build_ids(&ids.unwrap()).unwrap();
        }
        _ => return false,
    }
    true
}

#[test]
fn features_are_made_as_perf_makes_them() {
    let mut compared = BTreeSet::new();
    for name in CAPTURES {
        let original = std::fs::read(testdata::path(&format!("{name}.data"))).unwrap();
        let file = File::open(&original).unwrap();
        let mut features = Features::new();
        for section in file.features() {
            if again(&file, section.feature, &mut features) {
                assert_eq!(features.get(section.feature), Some(section.bytes), "{name}: {}", section.feature);
                compared.insert(section.feature);
            }
        }
    }
    // All features with an encoder except HYBRID_TOPOLOGY.
    assert_eq!(compared.len(), 16, "{compared:?}");
}
