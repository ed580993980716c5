//! Feature sections with any contents, decoded as every feature.

use perf_parse::feature::{BpfProgInfo, FeatureData, FeatureSection, FieldValue};

use super::walk::show;

/// Decodes the section as every feature. An error has an offset within the section, and no list is longer than the
/// section. What is encoded is decoded again.
pub fn decode(section: &FeatureSection<'_>, nr_cpus: u32) {
    let FeatureSection { offset, bytes, .. } = *section;
    let end = offset + bytes.len() as u64;
    for &feature in FeatureData::KNOWN {
        let as_feature =
            |bytes| FeatureSection::new(feature, offset, bytes, section.endianness()).with_nr_cpus(nr_cpus);
        let (data, fault) = as_feature(bytes).decode_until_fault();
        if let Some(error) = fault {
            assert!((offset..=end).contains(&error.offset), "{error}");
            assert!(!error.to_string().is_empty());
        }
        assert_eq!(as_feature(bytes).decode().err(), fault);
        let Some(data) = data else { continue };
        show(&data);
        assert_eq!(data.feature(), feature);
        // A value has at least one byte of the section; objects, and the numbers of CPUs and PMUs, are a few more.
        assert!(values(data.value()) <= 8 * bytes.len() + 16, "{feature}");
        check(&data, bytes, nr_cpus);
        // Build ids get their lengths. Without CPUs, an empty list of dies cannot be distinguished from padding.
        if matches!(data, FeatureData::BuildId(_)) || nr_cpus == 0 {
            continue;
        }
        if let Ok(encoded) = data.encode(section.endianness()) {
            assert_eq!(as_feature(&encoded).decode(), Ok(data));
        }
    }
}

/// Checks the guarantees of a decoded section.
fn check(data: &FeatureData<'_>, bytes: &[u8], nr_cpus: u32) {
    match data {
        FeatureData::Auxtrace(index) => assert_eq!(index.len(), bytes.len() / 16),
        FeatureData::CpuTopology(it) => {
            assert!(it.cpus.is_empty() || it.cpus.len() == nr_cpus as usize);
            assert!(it.dies.is_none_or(|dies| dies.die_ids.len() == it.cpus.len()));
        }
        FeatureData::MemTopology(it) => {
            for node in it.nodes {
                assert_eq!(node.blocks.iter().count() as u64, node.blocks.count());
                assert!(node.blocks.iter().all(|block| block < node.blocks.nbits));
            }
        }
        FeatureData::BpfProgInfo(programs) => programs.iter().for_each(|program| arrays(&program)),
        _ => {}
    }
}

/// Checks that the arrays of a BPF program are within its data.
fn arrays(program: &BpfProgInfo<'_>) {
    let lengths = [
        program.jited_prog_insns().map_or(0, <[u8]>::len),
        program.xlated_prog_insns().map_or(0, <[u8]>::len),
        program.map_ids().map_or(0, |all| 4 * all.iter().count()),
        program.jited_ksyms().map_or(0, |all| 8 * all.iter().count()),
        program.jited_func_lens().map_or(0, |all| 4 * all.iter().count()),
    ];
    assert!(lengths.into_iter().all(|length| length <= program.data.len()));
    assert!(program.name().len() <= 16);
}

/// Returns the number of values in a value.
fn values(value: FieldValue<'_>) -> usize {
    let mut count = 1;
    match value {
        FieldValue::Object(fields) => fields.each(&mut |_, value| count += values(value)),
        FieldValue::List(items) => items.each(&mut |value| count += values(value)),
        _ => {}
    }
    count
}
