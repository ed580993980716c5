//! Converts the feature sections that `perfdata` prints to the shape of quipper's metadata messages.
//!
//! Only this file of the tests contains the expected keys and shapes under `header.features`.

use serde_json::{Value, json};

use crate::compare::Object;

/// Names of the features by number, from 1.
pub(crate) const NAMES: [&str; 34] = [
    "TRACING_DATA",
    "BUILD_ID",
    "HOSTNAME",
    "OSRELEASE",
    "VERSION",
    "ARCH",
    "NRCPUS",
    "CPUDESC",
    "CPUID",
    "TOTAL_MEM",
    "CMDLINE",
    "EVENT_DESC",
    "CPU_TOPOLOGY",
    "NUMA_TOPOLOGY",
    "BRANCH_STACK",
    "PMU_MAPPINGS",
    "GROUP_DESC",
    "AUXTRACE",
    "STAT",
    "CACHE",
    "SAMPLE_TIME",
    "MEM_TOPOLOGY",
    "CLOCKID",
    "DIR_FORMAT",
    "BPF_PROG_INFO",
    "BPF_BTF",
    "COMPRESSED",
    "CPU_PMU_CAPS",
    "CLOCK_DATA",
    "HYBRID_TOPOLOGY",
    "PMU_CAPS",
    "CPU_DOMAIN_INFO",
    "E_MACHINE",
    "CLN_SIZE",
];

/// The features in the captures that quipper keeps, as a mask.
const KEPT_BY_QUIPPER: u64 = 0x4003_fffc;

/// Returns the metadata of PerfDataProto, with the names of its fields.
///
/// Leaves out a feature that is absent or has another shape. The comparison then reports it as missing.
pub(crate) fn metadata(features: &Object) -> Object {
    let mut metadata = Object::new();
    metadata.insert("metadata_mask".into(), json!([mask(features)]));
    for (key, value) in [
        ("string_metadata", strings(features)),
        ("build_ids", features.get("BUILD_ID").cloned()),
        ("uint32_metadata", cpus(features)),
        ("uint64_metadata", features.get("TOTAL_MEM").map(|kb| json!([{"type": 10, "data": [kb]}]))),
        ("cpu_topology", features.get("CPU_TOPOLOGY").cloned()),
        ("pmu_mappings", features.get("PMU_MAPPINGS").cloned()),
        ("group_desc", features.get("GROUP_DESC").cloned()),
        ("numa_topology", features.get("NUMA_TOPOLOGY").cloned()),
        ("hybrid_topology", features.get("HYBRID_TOPOLOGY").map(hybrid_topology)),
    ] {
        if let Some(value) = value {
            metadata.insert(key.into(), value);
        }
    }
    metadata
}

/// Returns the events, each with `name` and `ids`.
pub(crate) fn event_desc(features: &Object) -> Option<&Vec<Value>> {
    features.get("EVENT_DESC")?.as_array()
}

/// Returns the wall clock minus the clock of the samples, in nanoseconds.
pub(crate) fn clock_offset(features: &Object) -> Option<i64> {
    let clock = features.get("CLOCK_DATA")?;
    Some(clock["wall_clock_ns"].as_i64()? - clock["clockid_time_ns"].as_i64()?)
}

/// Returns `HASH NAME` for each build ID, in the format of `perf buildid-list`.
pub(crate) fn build_id_list(features: &Object) -> Option<Vec<String>> {
    let entries = features.get("BUILD_ID")?.as_array()?;
    let line =
        |entry: &Value| Some(format!("{} {}", entry["build_id"].as_str()?, entry["filename"].as_str()?));
    entries.iter().map(line).collect()
}

fn mask(features: &Object) -> u64 {
    let bit = |name: &String| NAMES.iter().position(|known| known == name).map_or(0, |index| 2 << index);
    features.keys().map(bit).sum::<u64>() & KEPT_BY_QUIPPER
}

fn strings(features: &Object) -> Option<Value> {
    let mut strings = Object::new();
    for (key, feature) in [
        ("hostname", "HOSTNAME"),
        ("kernel_version", "OSRELEASE"),
        ("perf_version", "VERSION"),
        ("architecture", "ARCH"),
        ("cpu_description", "CPUDESC"),
        ("cpu_id", "CPUID"),
    ] {
        if let Some(value) = features.get(feature) {
            strings.insert(key.into(), json!({"value": value}));
        }
    }
    if let Some(words) = features.get("CMDLINE").and_then(Value::as_array) {
        let tokens: Vec<_> = words.iter().map(|word| json!({"value": word})).collect();
        let whole: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        strings.insert("perf_command_line_token".into(), tokens.into());
        strings.insert("perf_command_line_whole".into(), json!({"value": whole.join(" ")}));
    }
    (!strings.is_empty()).then(|| strings.into())
}

fn cpus(features: &Object) -> Option<Value> {
    let cpus = features.get("NRCPUS")?;
    let data = [cpus.get("nr_cpus_available")?, cpus.get("nr_cpus_online")?];
    Some(json!([{"type": 7, "data": data}]))
}

/// Adds `cpu_list`, the expanded ranges of `cpus`, to each PMU.
fn hybrid_topology(pmus: &Value) -> Value {
    let mut pmus = pmus.clone();
    for pmu in pmus.as_array_mut().into_iter().flatten() {
        if let Some(list) = pmu["cpus"].as_str().and_then(cpu_list) {
            pmu["cpu_list"] = list.into();
        }
    }
    pmus
}

fn cpu_list(ranges: &str) -> Option<Vec<u64>> {
    let mut list = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        list.extend(first.parse::<u64>().ok()?..=last.parse().ok()?);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_take_the_shape_of_the_messages() {
        let features = json!({
            "HOSTNAME": "h", "CMDLINE": ["perf", "record"], "TOTAL_MEM": 9, "CACHE": [],
            "NRCPUS": {"nr_cpus_available": 4, "nr_cpus_online": 3},
            "HYBRID_TOPOLOGY": [{"pmu_name": "p", "cpus": "0-2,5"}],
        });
        let expected = json!({
            "metadata_mask": [1 << 3 | 1 << 7 | 1 << 10 | 1 << 11 | 1 << 30],
            "string_metadata": {
                "hostname": {"value": "h"},
                "perf_command_line_token": [{"value": "perf"}, {"value": "record"}],
                "perf_command_line_whole": {"value": "perf record"},
            },
            "uint32_metadata": [{"type": 7, "data": [4, 3]}],
            "uint64_metadata": [{"type": 10, "data": [9]}],
            "hybrid_topology": [{"pmu_name": "p", "cpus": "0-2,5", "cpu_list": [0, 1, 2, 5]}],
        });
        assert_eq!(Value::from(metadata(features.as_object().unwrap())), expected);
    }
}
