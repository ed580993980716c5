//! Applies records about the capture itself: attrs, names, features.

use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_abi::record::{RawHeaderEventType, RecordType};
use zerocopy::FromBytes;

use super::super::Account;
use super::super::events::Events;
use crate::error::{FileError, FileErrorKind};
use crate::feature::{FeatureData, Features};
use crate::record::user::UserRecord;
use crate::record::{RawRecord, Record};

/// Returns whether records of a type contain something about the capture.
#[inline]
pub(super) fn is_absorbed(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::HEADER_ATTR
            | RecordType::HEADER_EVENT_TYPE
            | RecordType::EVENT_UPDATE
            | RecordType::HEADER_FEATURE
            | RecordType::HEADER_TRACING_DATA
    )
}

/// The destinations of their contents.
pub(super) struct Absorb<'r, 'a> {
    pub(super) is_pipe: bool,
    pub(super) events: &'r mut Events,
    pub(super) features: &'r mut Features<'a>,
    pub(super) account: &'r mut Account,
}

impl Absorb<'_, '_> {
    /// Applies a record at `offset`. Ignores a record that cannot be decoded; a caller that decodes it gets the error.
    #[cold]
    pub(super) fn record<O: Endian>(&mut self, raw: &RawRecord<'_, O>, behind: &[u8], offset: u64) {
        let payload = offset.saturating_add(8);
        match raw.decode_user() {
            Ok(Record::User(UserRecord::HeaderAttr(it), _)) if self.is_pipe => {
                let ids_at = payload.saturating_add(it.bytes.len() as u64);
                self.events.add(it.attr(), (it.ids, ids_at), payload, self.account);
            }
            Ok(Record::User(UserRecord::HeaderEventType(it), _)) => {
                self.events.name_by_config(it.event_id, it.name);
            }
            Ok(Record::User(UserRecord::EventUpdate(it), kind)) if !self.events.update(&it) => {
                self.account.note(FileError::new(FileErrorKind::UnknownId { kind, id: it.id }, offset));
            }
            Ok(Record::User(UserRecord::HeaderFeature(it), _)) if self.is_pipe => {
                if let Some(feature) = it.feature() {
                    self.feature(feature, it.data, payload.saturating_add(8));
                }
            }
            Ok(Record::User(UserRecord::HeaderTracingData(_), _)) if self.is_pipe => {
                self.feature(Feature::TRACING_DATA, behind, offset.saturating_add(u64::from(raw.size())));
            }
            _ => {}
        }
    }

    /// Keeps a copy of a feature; a later one replaces an earlier one.
    fn feature(&mut self, feature: Feature, bytes: &[u8], offset: u64) {
        // The marker after the last feature has no bytes. Its number is one more than the recorder's last feature.
        if bytes.is_empty() {
            return;
        }
        self.features.set(feature, offset, Vec::from(bytes));
        if feature == Feature::EVENT_DESC {
            name_events(self.events, self.features, self.account);
        }
    }
}

/// Names the events by the feature `EVENT_DESC`. May be called again when there are more events.
pub(super) fn name_events(events: &mut Events, features: &Features<'_>, account: &mut Account) {
    let Some(section) = features.get(Feature::EVENT_DESC) else { return };
    let (data, fault) = section.decode_until_fault();
    if let Some(FeatureData::EventDesc(descs)) = data {
        for (index, event) in descs.events.iter().enumerate() {
            events.name(index, event.ids, event.name);
        }
    }
    if let Some(error) = fault {
        account.note_once(error);
    }
}

/// Maximum number of names in the event types of a file: the same as of events.
const MAX_EVENT_TYPES: usize = 1 << 16;

/// Names the events by the event types of a file of the first versions of perf.
pub(super) fn name_by_types<O: Endian>(events: &mut Events, section: &[u8]) -> Result<(), FileError> {
    let Ok(types) = <[RawHeaderEventType<O>]>::ref_from_bytes(section) else { return Ok(()) };
    if types.len() > MAX_EVENT_TYPES {
        let must = "the bytes of at most 65536 names, of 72 bytes each; no event is named";
        return Err(FileError::invalid("header.event_types.size", section.len() as u64, must, 64));
    }
    for it in types {
        let name = it.name.split(|&byte| byte == 0).next().unwrap_or_default();
        events.name_by_config(it.event_id.get(), name);
    }
    Ok(())
}
