//! The memory for hostile sections is in proportion to their bytes, not to the counts in them.

use perf_parse::abi::endian::Endian;
use perf_parse::abi::feature::Feature;
use perf_parse::file::FeatureSection;

use compare::feature::decode;
use testdata::Bytes;
use testdata::memory::{Counting, measure};

use crate::in_both_orders;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

in_both_orders![lists_take_memory_by_their_bytes];

fn lists_take_memory_by_their_bytes<O: Endian>() {
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
        for items in [0, ITEMS] {
            let nr = if feature == Feature::CPU_DOMAIN_INFO { number(0) } else { number(u32::MAX) };
            let bytes = [head.clone(), nr, item.repeat(items)].concat();
            let section = FeatureSection::new(feature, 0, &bytes);
            let taken = measure(|| _ = decode::<O>(&section, u32::MAX)).1.peak;
            let most = 16 * bytes.len() + 256;
            assert!(taken <= most, "{feature}: {taken} bytes for a section of {}", bytes.len());
            assert!(items == 0 || taken >= bytes.len() / 8, "{feature}: the list was not read, {taken}");
        }
    }
    // The count of a memory topology has 64 bits.
    let nodes = Bytes::of::<O>().u64(1).u64(0).u64(u64::MAX).zeros(24 * ITEMS).out;
    let section = FeatureSection::new(Feature::MEM_TOPOLOGY, 0, &nodes);
    assert!(measure(|| _ = decode::<O>(&section, 0)).1.peak <= 16 * nodes.len());
}
