//! Any bytes as the payload of any feature, in both byte orders.

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_parse::feature::FeatureSection;

use super::features;

/// The first byte of `data` is the number of the feature, the second is the number of CPUs, the rest is the payload.
pub fn run(data: &[u8]) -> bool {
    let Some((&[feature, nr_cpus], payload)) = data.split_first_chunk() else { return false };
    for order in [Endianness::Little, Endianness::Big] {
        let section = FeatureSection::new(Feature(feature.into()), 0x1000, payload, order);
        compare::feature::check(&section, nr_cpus.into());
        features::decode(&section, nr_cpus.into());
    }
    true
}
