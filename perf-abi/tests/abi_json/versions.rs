//! The versions of the attr: their sizes, and what each added.

use std::collections::BTreeSet;
use std::mem::offset_of;

use perf_abi::attr::{Attr, AttrVersion, RawAttr};
use perf_abi::endian::LittleEndian;
use serde_json::Value;

use crate::Facts;

/// The end of each field that a version added, by its C name.
fn end_of(field: &str) -> usize {
    type Raw = RawAttr<LittleEndian>;
    match field {
        "bp_len" | "config2" | "kprobe_addr/probe_offset" => offset_of!(Raw, config2) + 8,
        "branch_sample_type" => offset_of!(Raw, branch_sample_type) + 8,
        "sample_regs_user" => offset_of!(Raw, sample_regs_user) + 8,
        "sample_stack_user" => offset_of!(Raw, sample_stack_user) + 4,
        "clockid" => offset_of!(Raw, clockid) + 4,
        "sample_regs_intr" => offset_of!(Raw, sample_regs_intr) + 8,
        "aux_watermark" => offset_of!(Raw, aux_watermark) + 4,
        "sample_max_stack" => offset_of!(Raw, sample_max_stack) + 2,
        "__reserved_2" => offset_of!(Raw, reserved_2) + 2,
        "aux_sample_size" => offset_of!(Raw, aux_sample_size) + 4,
        "aux_action" => offset_of!(Raw, aux_action) + 4,
        "sig_data" => offset_of!(Raw, sig_data) + 8,
        "config3" => offset_of!(Raw, config3) + 8,
        "config4" => offset_of!(Raw, config4) + 8,
        _ => panic!("{field} is no field of a later version"),
    }
}

#[test]
fn sizes_and_additions() {
    let facts = Facts::load();
    let versions = facts.table("attr_versions");
    assert_eq!(versions.len(), AttrVersion::ALL.len());
    let mut before = None;
    for (number, version) in AttrVersion::ALL.iter().copied().enumerate() {
        let entry = &versions[&number.to_string()];
        assert_eq!(entry["size"].as_u64(), Some(version.size().into()), "VER{number}");
        let Some(before) = before.replace(version) else {
            assert_eq!(offset_of!(RawAttr<LittleEndian>, config1) + 8, version.size() as usize);
            continue;
        };
        let AttrVersion(start) = before;
        let added: Vec<&str> = entry["adds"].as_array().unwrap().iter().map(name_of).collect();
        let ends: BTreeSet<usize> = added.iter().map(|field| end_of(field)).collect();
        assert!(
            ends.iter().all(|&end| end > start as usize && end <= version.size() as usize),
            "VER{number}"
        );
        assert!(ends.contains(&(version.size() as usize)), "VER{number} ends with a field it added");
        for field in added {
            let alias = if field == "bp_len" || field.starts_with("kprobe_addr") { "config2" } else { field };
            let attr = with(alias);
            assert_eq!(
                before.check(&attr).map_err(|error| (error.field, error.needs)),
                Err((alias, version))
            );
            assert_eq!(version.check(&attr), Ok(()));
            assert_eq!(attr.oldest_version(), version);
        }
    }
    assert_eq!(AttrVersion::NEWEST.size() as usize, size_of::<RawAttr<LittleEndian>>());
}

/// `clockid (4.1; was __reserved_2)` is about `clockid`.
fn name_of(added: &Value) -> &str {
    added.as_str().unwrap().split(" (").next().unwrap()
}

/// An attr of which one field is set.
fn with(field: &str) -> Attr {
    let mut attr = Attr::default();
    match field {
        "config2" => attr.config2 = 1,
        "branch_sample_type" => attr.branch_sample_type.0 = 1,
        "sample_regs_user" => attr.sample_regs_user = 1,
        "sample_stack_user" => attr.sample_stack_user = 1,
        "clockid" => attr.clockid = -1,
        "sample_regs_intr" => attr.sample_regs_intr = 1,
        "aux_watermark" => attr.aux_watermark = 1,
        "sample_max_stack" => attr.sample_max_stack = 1,
        "__reserved_2" => attr.reserved_2 = 1,
        "aux_sample_size" => attr.aux_sample_size = 1,
        "aux_action" => attr.aux_action.0 = 1,
        "sig_data" => attr.sig_data = 1,
        "config3" => attr.config3 = 1,
        "config4" => attr.config4 = 1,
        _ => panic!("{field} is no field of a later version"),
    }
    attr
}
