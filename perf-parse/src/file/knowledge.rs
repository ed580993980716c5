//! What is known about a capture: the events and features that are found when it is opened, and the changes that
//! records make to them.

mod events;

pub(super) use events::KnownEvents;

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use perf_abi::endian::Endian;
use perf_abi::feature::Feature;
use perf_abi::record::{RawHeaderEventType, RecordType};
use zerocopy::FromBytes;

use crate::account::Account;
use crate::bytes::RecordBytes;
use crate::error::{FileError, FileErrorKind};
use crate::event::{EventOf, Events, RecordPosition};
use crate::feature::{FeatureData, Features};
use crate::layout::Mmap2Layout;
use crate::record::user::UserRecord;
use crate::record::{RawRecord, Record, SplitJoiner};

/// The events and features of a capture, as far as a walk has read it.
///
/// Initially the events and features that were known when the capture was opened; a record may change them.
#[derive(Clone, Debug)]
pub(crate) struct Knowledge<'r> {
    events: KnownEvents<'r>,
    features: Cow<'r, Features<'r>>,
    /// The features, with their offsets, that were checked.
    checked: BTreeSet<(Feature, u64)>,
    is_pipe: bool,
    /// The offset in the first data file up to which records were applied when the capture was opened.
    applied: u64,
    /// The faults of the records that were applied since: at most [`Limits::diagnostics`].
    faults: Vec<FileError>,
    /// The pieces of a record that describes the capture.
    split: SplitJoiner,
}

impl<'r> Knowledge<'r> {
    pub(super) fn new(
        events: KnownEvents<'r>,
        features: Cow<'r, Features<'r>>,
        is_pipe: bool,
        applied: u64,
    ) -> Self {
        Self {
            events,
            features,
            checked: BTreeSet::new(),
            is_pipe,
            applied,
            faults: Vec::new(),
            split: SplitJoiner::of_descriptions(),
        }
    }

    #[inline(always)]
    pub(super) fn events(&self) -> &Events {
        self.events.get()
    }

    pub(super) fn features(&self) -> &Features<'r> {
        &self.features
    }

    /// Decodes each feature that was not checked before. Returns their faults.
    pub(super) fn check_features(&mut self) -> Vec<(Feature, FileError)> {
        let mut faults = Vec::new();
        for section in self.features.iter() {
            // A later section of a pipe replaces an earlier one, and has another offset.
            if self.checked.insert((section.feature, section.offset)) {
                section.check(|error| faults.push((section.feature, error)));
            }
        }
        faults
    }

    pub(super) fn into_parts(self) -> (Events, Features<'r>) {
        (self.events.into_events(), self.features.into_owned())
    }

    /// Returns the faults of the records that were applied since the capture was opened.
    #[cfg(feature = "std")]
    pub(super) fn faults(&self) -> &[FileError] {
        &self.faults
    }

    /// Returns the knowledge for a walk that applies no record again.
    #[cfg(feature = "std")]
    pub(super) fn complete(self) -> Self {
        Self { applied: u64::MAX, ..self }
    }

    /// Notes that the records before `offset` were applied.
    pub(super) fn set_applied(&mut self, offset: u64) {
        self.applied = offset;
    }

    /// Sets the layout of the MMAP2 records whose bytes fit both layouts, if it is known.
    pub(super) fn set_mmap2_layout(&mut self, layout: Option<Mmap2Layout>) {
        if layout.is_some() {
            self.events.change(|events| events.set_mmap2_layout(layout));
        }
    }

    pub(super) fn is_pipe(&self) -> bool {
        self.is_pipe
    }

    pub(super) fn applied(&self) -> u64 {
        self.applied
    }

    /// Returns the events of the opened capture; `None` if a record changed them.
    pub(super) fn opened_events(&self) -> Option<&'r Events> {
        self.events.opened_events()
    }

    /// Returns the event of a record.
    pub(super) fn event_of<O: Endian>(&self, raw: RawRecord<'_, O>) -> EventOf<'r> {
        if raw.kind().is_user() {
            return EventOf::None;
        }
        self.events.only().unwrap_or_else(|| self.events.of_several(raw))
    }

    /// Returns the event of a kernel record.
    #[inline(always)]
    pub(super) fn event_of_kernel<O: Endian>(&self, bytes: &RecordBytes<'_>) -> EventOf<'r> {
        if let Some(event) = self.events.only() {
            return event;
        }
        self.events.of_several::<O>(bytes.raw().typed(()))
    }

    /// Applies a record at `place` that describes the capture: its events or features. Notes contradictions. Ignores a
    /// record that cannot be decoded, because a caller that decodes the record gets the error.
    #[inline]
    pub(super) fn absorb<O: Endian>(
        &mut self,
        raw: &RawRecord<'_, O>,
        trailing: &[u8],
        place: RecordPosition,
        account: &mut Account,
    ) {
        let is_applied = place.offset < self.applied && (place.data_file == 0 || self.applied == u64::MAX);
        if is_about_capture(raw.kind()) && !is_applied {
            let noted = account.diagnostics.len();
            self.apply(raw, trailing, place.offset, account);
            self.faults.extend(account.diagnostics.get(noted..).unwrap_or_default());
        }
    }

    /// Applies a record at `offset`.
    #[cold]
    pub(super) fn apply<O: Endian>(
        &mut self,
        raw: &RawRecord<'_, O>,
        trailing: &[u8],
        offset: u64,
        account: &mut Account,
    ) {
        let payload = offset.saturating_add(8);
        match raw.decode_user() {
            Ok(Record::User(UserRecord::HeaderAttr(it), _)) if self.is_pipe => {
                let ids_at = payload.saturating_add(it.bytes.len() as u64);
                self.events.change(|events| events.add(it.attr(), (it.ids.iter(), ids_at), payload, account));
            }
            Ok(Record::User(UserRecord::HeaderEventType(it), _)) => {
                self.events.change(|events| events.name_by_config(it.event_id, it.name));
            }
            Ok(Record::User(UserRecord::EventUpdate(it), kind)) => {
                if self.events().index_of_update(it.id).is_none() {
                    account.note(FileError::new(FileErrorKind::UnknownId { kind, id: it.id }, offset));
                } else if self.events().is_changed_by(&it) {
                    self.events.change(|events| events.update(&it));
                }
            }
            Ok(Record::User(UserRecord::HeaderFeature(it), _)) if self.is_pipe => {
                if let Some(feature) = it.feature() {
                    self.add_feature(feature, it.data, payload.saturating_add(8), account);
                }
            }
            Ok(Record::User(UserRecord::HeaderTracingData(_), _)) => {
                let is_known = !self.is_pipe && self.features.get(Feature::TRACING_DATA).is_some();
                if let Some(data) = raw.inner_data().filter(|_| !is_known) {
                    self.add_feature(Feature::TRACING_DATA, data, payload.saturating_add(4), account);
                } else if self.is_pipe {
                    let at = offset.saturating_add(u64::from(raw.size()));
                    self.add_feature(Feature::TRACING_DATA, trailing, at, account);
                }
            }
            Ok(Record::User(UserRecord::EventId(it), _)) => {
                let ids = it.entries.iter().map(|it| (it.attr_id, it.event_id));
                self.events.change(|events| events.add_ids(ids, payload, account));
            }
            Ok(Record::User(UserRecord::TracingData(it), _))
                if self.features.get(Feature::TRACING_DATA).is_none() =>
            {
                self.add_feature(Feature::TRACING_DATA, it.data, payload.saturating_add(4), account);
            }
            Ok(Record::User(UserRecord::Split(_) | UserRecord::SplitEnd, kind)) => {
                let mut split = core::mem::take(&mut self.split);
                match split.push(&raw.untyped()) {
                    Ok(Some(joined)) => self.apply::<O>(&joined.typed(()), &[], offset, account),
                    Ok(None) => {}
                    Err(error) => account.note(FileError::new(FileErrorKind::Record { kind, error }, offset)),
                }
                self.split = split;
            }
            _ => {}
        }
    }

    /// Returns whether a record that describes the capture was begun and not ended: its pieces are in several records.
    pub(super) fn is_joining(&self) -> bool {
        self.split.is_joining()
    }

    /// Keeps a copy of a feature; a later one replaces an earlier one.
    fn add_feature(&mut self, feature: Feature, bytes: &[u8], offset: u64, account: &mut Account) {
        // The marker after the last feature has no bytes. Its number is one more than the recorder's last feature.
        if bytes.is_empty() {
            return;
        }
        self.features.to_mut().set(feature, offset, Vec::from(bytes));
        if feature == Feature::EVENT_DESC {
            self.name_events(account);
        }
    }

    /// Names the events by the feature EVENT_DESC, which perf of Linux 4.14 writes before the attrs of a pipe.
    pub(super) fn name_events(&mut self, account: &mut Account) {
        let features = &self.features;
        self.events.change(|events| name_events(events, features, account));
    }
}

/// Returns whether records of a type describe the capture.
#[inline]
fn is_about_capture(kind: RecordType) -> bool {
    matches!(
        kind,
        RecordType::HEADER_ATTR
            | RecordType::HEADER_EVENT_TYPE
            | RecordType::EVENT_UPDATE
            | RecordType::HEADER_FEATURE
            | RecordType::HEADER_TRACING_DATA
            | RecordType::SPLIT
            | RecordType::SPLIT_END
            | RecordType::EVENT_ID
            | RecordType::TRACING_DATA
    )
}

/// Names the events by the feature `EVENT_DESC`. May be called again when there are more events.
pub(super) fn name_events(events: &mut Events, features: &Features<'_>, account: &mut Account) {
    let Some(section) = features.get(Feature::EVENT_DESC) else { return };
    let (data, fault) = section.decode_until_fault();
    if let Some(FeatureData::EventDesc(descs)) = data {
        for (index, event) in descs.events.iter().enumerate() {
            events.name(index, event.ids, &event.name);
        }
    }
    if let Some(error) = fault {
        account.note_once(error);
    }
}

/// Names the events without a name by the `META_INFO` of simpleperf, by type and config. A fault of the section is noted when
/// the features are checked.
pub(super) fn name_by_meta_info(events: &mut Events, features: &Features<'_>) {
    if let Ok(Some(info)) = features.meta_info() {
        info.event_types()
            .take(MAX_EVENT_TYPES)
            .for_each(|it| events.name_by_type(it.kind, it.config, &it.name));
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
