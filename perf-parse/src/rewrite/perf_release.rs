//! Releases of perf that an edited capture is written for.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use perf_abi::attr::{AttrFlags, AttrVersion};
use perf_abi::branch::BranchSampleType;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;

use crate::event::Events;
use crate::file::write::{EventFields, FeaturePayloads};

/// A release of perf that a capture is written for: what it refuses is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PerfRelease {
    /// perf 6.1. It refuses attrs of more than 128 bytes, which have `config3` or later fields, and types of records that it does
    /// not know, such as COMPRESSED2, BPF_METADATA and those of simpleperf. It misreads branch stacks with counters, warns of
    /// features after PMU_CAPS, and does not find deferred call chains.
    ///
    /// perf: `read_attr`, `perf_session__process_event` and `perf_header__process_sections`, `tools/perf/util`.
    V6_1,
}

impl PerfRelease {
    /// Returns the name, such as `perf-6.1`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V6_1 => "perf-6.1",
        }
    }

    /// Returns the size of the newest attrs that the release reads.
    pub(super) const fn attr_version(self) -> AttrVersion {
        match self {
            Self::V6_1 => AttrVersion::VER7,
        }
    }

    /// Returns whether the release knows a type of records.
    pub(super) fn has(self, kind: RecordType) -> bool {
        match self {
            Self::V6_1 => match kind.is_user() {
                true => kind.0 <= RecordType::FINISHED_INIT.0,
                false => kind.0 <= RecordType::AUX_OUTPUT_HW_ID.0,
            },
        }
    }

    /// Returns the fields of samples that the release would misread.
    pub(super) fn misread(self, events: &Events) -> SampleType {
        let has_counters = |attr: &perf_abi::attr::Attr| {
            attr.sample_type.contains(SampleType::BRANCH_STACK)
                && attr.branch_sample_type.contains(BranchSampleType::COUNTERS)
        };
        match self {
            Self::V6_1 if events.iter().any(|event| has_counters(&event.attr)) => SampleType::BRANCH_STACK,
            Self::V6_1 => SampleType::NONE,
        }
    }

    /// Removes the features that the release does not know, but for those of other writers, such as the account of an edit.
    /// Returns them.
    pub(super) fn remove_features(self, features: &mut FeaturePayloads) -> Vec<Feature> {
        let is_newer = |feature: &Feature| match self {
            Self::V6_1 => (Feature::CPU_DOMAIN_INFO.0..128).contains(&feature.0),
        };
        let newer: Vec<_> = features.iter().map(|(feature, _)| feature).filter(is_newer).collect();
        newer.iter().for_each(|&feature| drop(features.remove(feature)));
        newer
    }

    /// Removes what the release does not know from an attr. Returns the names of the fields that were set.
    pub(super) fn adapt(self, event: &mut EventFields) -> Vec<String> {
        let attr = &mut event.attr;
        let mut removed = Vec::new();
        for (name, field) in [("config3", &mut attr.config3), ("config4", &mut attr.config4)] {
            if core::mem::take(field) != 0 {
                removed.push(String::from(name));
            }
        }
        if !core::mem::take(&mut event.attr_tail).iter().all(|&byte| byte == 0) {
            removed.push(format!("bytes after {} of the attr", self.attr_version().size()));
        }
        let deferred = AttrFlags::DEFER_CALLCHAIN | AttrFlags::DEFER_OUTPUT;
        if attr.flags.0 & deferred.0 != 0 {
            attr.flags = attr.flags.without(deferred);
            removed.push(String::from("defer_callchain"));
        }
        attr.size = attr.size.min(self.attr_version().size());
        removed
    }
}

/// What is left out for a release.
#[derive(Debug, Default)]
pub(super) struct ReleaseLosses {
    parts: Vec<String>,
    /// The number of records of each type.
    records: BTreeMap<RecordType, u64>,
}

impl ReleaseLosses {
    /// Removes what the release does not know from features and events.
    pub(super) fn adapt(
        &mut self,
        release: PerfRelease,
        features: &mut FeaturePayloads,
        events: &mut [EventFields],
    ) {
        self.parts.extend(release.remove_features(features).iter().map(ToString::to_string));
        for (index, event) in events.iter_mut().enumerate() {
            let removed = release.adapt(event).into_iter();
            self.parts.extend(removed.map(|field| format!("{field} of event {index}")));
        }
    }

    /// Counts a record.
    pub(super) fn add(&mut self, kind: RecordType) {
        let count = self.records.entry(kind).or_default();
        *count = count.saturating_add(1);
    }

    /// Returns the texts of all.
    pub(super) fn texts(self) -> Vec<String> {
        let records = self.records.into_iter().map(|(kind, count)| format!("{count} of type {kind}"));
        self.parts.into_iter().chain(records).collect()
    }
}
