//! What a capture with moved addresses has no more: features and records with addresses that are not moved.

use perf_parse::SampleLayout;
use perf_parse::abi::feature::Feature;
use perf_parse::abi::record::RecordType;
use perf_parse::file::write::{EventFields, FeaturePayloads};
use perf_parse::record::RawRecord;
use perf_parse::rewrite::{CaptureFilter, EditedRecord};

use super::redaction::{Redaction, SecretKind};

/// Leaves out what has addresses. A redaction of data leaves out most of it.
#[derive(Debug)]
pub(super) struct MovedAddresses(Redaction);

impl MovedAddresses {
    pub(super) fn new() -> Self {
        Self(Redaction::new(&[SecretKind::Raw]))
    }
}

impl CaptureFilter for MovedAddresses {
    fn features(&mut self, features: &mut FeaturePayloads) {
        self.0.features(features);
        for feature in [Feature::FILE, Feature::FILE2, Feature::INIT_MAP] {
            features.remove(feature);
        }
    }

    fn event(&mut self, event: &mut EventFields) {
        self.0.event(event);
    }

    fn record(&mut self, record: &RawRecord<'_>, layout: Option<&SampleLayout>) -> EditedRecord {
        match record.kind() {
            RecordType::KERNEL_SYMBOL | RecordType::DSO | RecordType::SYMBOL | RecordType::CALLCHAIN => {
                EditedRecord::LeftOut
            }
            _ => self.0.record(record, layout),
        }
    }
}
