//! The features of a capture that are known before the first record.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use perf_abi::feature::Feature;
use perf_open::EventGroup;
use perf_parse::ByteStr;
use perf_parse::feature::{Entries, FeatureData, GroupDesc};
use perf_parse::file::write::FeaturePayloads;

use crate::host::ROOT;
use crate::session::EventSession;
use crate::{Error, RecordOptions, clock, host, tracing};

/// Returns the features that are known before the first record.
pub(crate) fn known(
    groups: &[EventGroup],
    session: &EventSession,
    options: &RecordOptions,
) -> Result<FeaturePayloads, Error> {
    let mut features = FeaturePayloads::new();
    let words = match options.command_line.is_empty() {
        true => std::env::args_os().map(OsStringExt::into_vec).collect(),
        false => options.command_line.clone(),
    };
    let words: Vec<_> = words.iter().map(|word| ByteStr::new(word)).collect();
    host::describe(Path::new(ROOT), &options.version, &words, &mut features)?;
    // The event for mappings, names and tasks may precede those of the groups.
    let in_groups: usize = groups.iter().map(|group| group.events.len()).sum();
    let mut first = session.events.len() - in_groups;
    let mut descriptions = Vec::new();
    for group in groups {
        if group.events.len() > 1 {
            descriptions.push(GroupDesc {
                name: group.name.as_deref().unwrap_or("{anon_group}").into(),
                leader_idx: u32::try_from(first).unwrap_or(u32::MAX),
                nr_members: u32::try_from(group.events.len()).unwrap_or(u32::MAX),
            });
        }
        first += group.events.len();
    }
    if !descriptions.is_empty() {
        features.set(&FeatureData::GroupDesc(Entries::from(&descriptions)))?;
    }
    if let Some(payload) = tracing::data(groups)? {
        features.raw(Feature::TRACING_DATA, &payload)?;
    }
    if let Some(clockid) = options.clockid {
        clock::describe(clockid, &mut features)?;
    }
    Ok(features)
}
