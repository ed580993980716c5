//! The features of a capture, as an edit writes them.

use alloc::vec::Vec;

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;

use super::step::RepairStep;
use super::{OF_CONTAINER, tracing};
use crate::error::FileError;
use crate::file::EventRecords;
use crate::file::write::{FeaturePayloads, WriteFileError};

/// Removes the features for which the container has no room, and returns them.
pub(super) fn without_room(
    features: &mut FeaturePayloads,
    has_room: fn(Feature, &[u8]) -> bool,
) -> Vec<Feature> {
    let all = features.iter().filter(|(feature, payload)| !has_room(*feature, payload));
    let dropped: Vec<_> = all.map(|(feature, _)| feature).collect();
    dropped.iter().for_each(|&feature| drop(features.remove(feature)));
    dropped
}

/// Copies the features that can be decoded and for which the container has room, and returns the others.
pub(super) fn copy(
    records: &mut EventRecords<'_>,
    features: &mut FeaturePayloads,
    has_room: fn(Feature, &[u8]) -> bool,
    report: &mut dyn FnMut(RepairStep<'_>),
) -> Result<Vec<Feature>, WriteFileError> {
    let noted = records.account().diagnostics.clone();
    let mut faults = records.check_features();
    let is_faulty = |feature| faults.iter().any(|&(of, _)| of == feature);
    let hostname = records.features().get(Feature::HOSTNAME).filter(|_| !is_faulty(Feature::HOSTNAME));
    let has_hostname = features.endianness() == Endianness::Little || hostname.is_some();
    let mut dropped = Vec::new();
    let mut unfit = Vec::new();
    for section in records.features().iter().filter(|section| !OF_CONTAINER.contains(&section.feature)) {
        let (feature, number) = (section.feature, section.feature.0);
        if matches!(number, 32..64) && !has_hostname {
            let must = "below 32 in a big-endian file without HOSTNAME";
            let error = FileError::invalid("feature", u64::from(number), must, section.offset);
            unfit.push((feature, error));
            dropped.push(feature);
        } else if !has_room(feature, section.bytes) {
            dropped.push(feature);
        } else if !is_faulty(feature) {
            features.raw(feature, section.bytes)?;
        } else {
            let is_tracing_data = feature == Feature::TRACING_DATA;
            match is_tracing_data.then(|| tracing::of_good_formats(section.bytes)).flatten() {
                Some(good) => features.raw(feature, &good)?,
                None => dropped.push(feature),
            }
        }
    }
    faults.append(&mut unfit);
    for (_, error) in faults {
        records.account_mut().note_once(error);
        if !noted.contains(&error) {
            report(RepairStep::Unreadable { data_file: 0, error });
        }
    }
    dropped.sort_unstable();
    Ok(dropped)
}
