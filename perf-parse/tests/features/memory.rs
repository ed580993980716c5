//! Sections are decoded without memory, whatever their counts.

use perf_parse::abi::endian::Endian;
use perf_parse::abi::feature::Feature;
use perf_parse::feature::{FeatureData, FeatureSection};
use perf_parse::file::{FileError, FileErrorKind};

use crate::in_both_orders;
use compare::feature::{section, walk};
use testdata::Bytes;
use testdata::memory::{Counting, Used, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

in_both_orders![lists_take_no_memory];

const NO_MEMORY: Used = Used { peak: 0, calls: 0 };

/// Decodes a section and walks over it. Returns the number of its values, or the fault, and the memory taken.
fn decode(section: &FeatureSection<'_>) -> (Result<usize, FileError>, Used) {
    measure(|| section.with_nr_cpus(u32::MAX).decode().map(|data: FeatureData<'_>| walk(data.value())))
}

fn lists_take_no_memory<O: Endian>() {
    const ITEMS: usize = 4000;
    // The smallest string, and the smallest list of two.
    let string = || Bytes::of::<O>().u32(1).raw(b"\0").out;
    let nothing = Vec::new;
    let number = |value: u32| Bytes::of::<O>().u32(value).out;
    let lists = [
        (Feature::CMDLINE, nothing(), string()),
        (Feature::CPU_TOPOLOGY, nothing(), string()),
        (Feature::NUMA_TOPOLOGY, nothing(), [vec![0; 20], string()].concat()),
        (Feature::PMU_MAPPINGS, nothing(), [number(1), string()].concat()),
        (Feature::GROUP_DESC, nothing(), [string(), vec![0; 8]].concat()),
        (Feature::CACHE, number(1), [vec![0; 16], string(), string(), string()].concat()),
        (Feature::BPF_BTF, nothing(), vec![0; 8]),
        (Feature::CPU_PMU_CAPS, nothing(), [string(), string()].concat()),
        (Feature::HYBRID_TOPOLOGY, nothing(), [string(), string()].concat()),
        (Feature::PMU_CAPS, nothing(), [number(0), string()].concat()),
        (Feature::CPU_DOMAIN_INFO, number(17), vec![0; 8]),
        (Feature::BPF_PROG_INFO, nothing(), [number(128), vec![0; 12 + 128]].concat()),
    ];
    for (feature, head, item) in lists {
        let (decoded, taken) = decode(&section::<O>(feature, 0, &[&head[..], &number(u32::MAX)].concat()));
        assert_eq!(taken, NO_MEMORY, "{feature}");
        assert_eq!(decoded.is_ok(), feature == Feature::CPU_DOMAIN_INFO, "{feature}");
        let (head, list) = (head.len(), [&head[..], &number(u32::MAX), &item.repeat(ITEMS)].concat());
        let (decoded, taken) = decode(&section::<O>(feature, 0, &list));
        assert_eq!(taken, NO_MEMORY, "{feature}");
        if feature == Feature::CPU_DOMAIN_INFO {
            // It has no count of CPUs.
            assert!(decoded.unwrap() > ITEMS);
            continue;
        }
        // The list was read to its last byte.
        let error = decoded.unwrap_err();
        let FileErrorKind::Feature { error, .. } = error.kind else { panic!("{error}") };
        assert!(error.offset as usize + item.len() > list.len() - item.len(), "{feature}: {error}");
        // With the right count, all of it is decoded and walked over.
        if feature != Feature::CPU_TOPOLOGY {
            let nr = number(ITEMS as u32);
            let list = [&list[..head], &nr, &list[head + nr.len()..]].concat();
            let (decoded, taken) = decode(&section::<O>(feature, 0, &list));
            assert_eq!(taken, NO_MEMORY, "{feature}");
            assert!(decoded.unwrap() > ITEMS, "{feature}");
        }
    }
    // The count of a memory topology has 64 bits.
    let nodes = Bytes::of::<O>().u64(1).u64(0).u64(u64::MAX).zeros(24 * ITEMS).out;
    let (decoded, taken) = decode(&section::<O>(Feature::MEM_TOPOLOGY, 0, &nodes));
    assert_eq!(decoded.unwrap_err().offset, nodes.len() as u64);
    assert_eq!(taken, NO_MEMORY);
}
