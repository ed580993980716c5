//! The events of a capture: their attrs, ids and names, and the event of each record.

use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_abi::attr::{Attr, ReadAttr};
use perf_abi::endian::{ByteOrder, Endian};
use perf_abi::record::{MAX_EVENT_NAME, RecordType};

use super::Event;
use super::dispatch::Dispatch;
use crate::account::Account;
use crate::error::{FileError, FileErrorKind};
use crate::feature::Entries;
use crate::layout::Mmap2Layout;
use crate::layout::SampleLayout;
use crate::limits::Limits;
use crate::record::RawRecord;
use crate::record::user::{EventUpdate, EventUpdateData};

/// The events of a capture, in the order in which the capture lists them.
#[derive(Clone, Debug)]
pub struct Events {
    list: Vec<Arc<Event>>,
    dispatch: Dispatch,
    /// Maximum number of events, maximum number of ids, and number of ids that may still be added.
    most: usize,
    most_ids: usize,
    ids_left: usize,
    /// Whether the samples of the events are decoded if they are of the provisional ABI.
    has_provisional_abi: bool,
}

/// No events, with the default [`Limits`].
impl Default for Events {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

/// A sequence of the events.
#[cfg(feature = "serde")]
impl serde::Serialize for Events {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.list.iter().map(|event| &**event))
    }
}

/// Maximum number of events for which events are looked up by their `config`.
const MAX_NAMED_BY_CONFIG: usize = 1024;

/// Collects attrs, each with the ids that the records of its event carry. A capture without a header, such as a ring,
/// needs them from the caller. An id that several attrs have belongs to the first of them.
impl FromIterator<(Attr, Vec<u64>)> for Events {
    fn from_iter<I: IntoIterator<Item = (Attr, Vec<u64>)>>(attrs: I) -> Self {
        let mut events = Self::default();
        for (attr, ids) in attrs {
            let event = Event::new(events.list.len(), ReadAttr { attr, tail: &[] }, ids);
            events.dispatch.place(&event);
            events.list.push(Arc::new(event));
        }
        events.index();
        events
    }
}

impl core::ops::Deref for Events {
    type Target = [Arc<Event>];

    fn deref(&self) -> &[Arc<Event>] {
        &self.list
    }
}

impl Events {
    /// Creates an empty list with the given limits.
    pub(crate) fn within(limits: &Limits) -> Self {
        let (most, ids) = (limits.events, limits.ids);
        Self {
            list: Vec::new(),
            dispatch: Dispatch::default(),
            most,
            most_ids: ids,
            ids_left: ids,
            has_provisional_abi: false,
        }
    }

    /// Reserves room for `count` events, up to the limit.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.list.reserve_exact(count.min(self.most));
    }

    /// Indexes the events by the ids that they have now.
    pub(crate) fn index(&mut self) {
        self.dispatch.index(&self.list);
    }

    /// Adds an event, but does not index its ids; notes its faults. `offset` is the offset of its attr in the capture,
    /// `ids_at` that of its ids.
    pub(crate) fn push(
        &mut self,
        read: ReadAttr<'_>,
        (ids, ids_at): (impl ExactSizeIterator<Item = u64>, u64),
        offset: u64,
        account: &mut Account,
    ) {
        let mut leave_out = |field, limit: usize, of, offset| {
            account.note(FileError::new(FileErrorKind::Limit { field, limit: limit as u64, of }, offset));
        };
        if self.list.len() >= self.most {
            return leave_out("attr", self.most, "events", offset);
        }
        let mut held = Vec::new();
        if ids.len() <= self.ids_left {
            self.ids_left = self.ids_left.saturating_sub(ids.len());
            held.extend(ids);
        } else {
            leave_out("attr.ids", self.most_ids, "ids of events", ids_at);
        }
        let mut event = Event::new(self.list.len(), read, held);
        if self.has_provisional_abi {
            event.decode_provisional_abi();
        }
        if let Some(error) = event.fault() {
            let at = offset.saturating_add(u64::from(error.offset));
            account.note(FileError::new(FileErrorKind::Layout(error), at));
        }
        self.dispatch.place(&event);
        self.list.push(Arc::new(event));
    }

    /// Adds the event of a HEADER_ATTR record, whose attr is at `offset` and whose ids are at `ids_at`; notes its
    /// faults.
    pub(crate) fn add(
        &mut self,
        read: ReadAttr<'_>,
        ids: (impl ExactSizeIterator<Item = u64>, u64),
        offset: u64,
        account: &mut Account,
    ) {
        let (index, ids_at) = (self.list.len(), ids.1);
        self.push(read, ids, offset, account);
        let shared = self
            .list
            .get_mut(index)
            .and_then(|event| self.dispatch.add(index, &mut Arc::make_mut(event).ids));
        if let Some(id) = shared {
            account.note(shared_id(id, ids_at));
        }
    }

    /// Removes from each event the ids that belong to another event. Returns the events that lose ids, each with the
    /// first id that it loses. Call it after the events are named: names are matched by all ids of an event.
    pub(crate) fn leave_own_ids(&mut self) -> Vec<(usize, u64)> {
        self.dispatch.leave_own(&mut self.list)
    }

    /// Returns the event whose records carry an id; `None` if no event has it.
    #[must_use]
    pub fn by_id(&self, id: u64) -> Option<&Arc<Event>> {
        self.list.get(self.index_of_id(id)?)
    }

    /// Returns the index of the event with this id.
    pub(crate) fn index_of_id(&self, id: u64) -> Option<usize> {
        self.dispatch.find(id)
    }

    /// Returns the index of the event that an EVENT_UPDATE record describes. Id 0 is the first event, which may have no ids.
    ///
    /// perf: `evlist__id2evsel`, `tools/perf/util/evlist.c`.
    pub(crate) fn index_of_update(&self, id: u64) -> Option<usize> {
        self.index_of_id(id).or((id == 0 && !self.list.is_empty()).then_some(0))
    }

    /// Returns whether an EVENT_UPDATE record changes an event.
    pub(crate) fn is_changed_by(&self, it: &EventUpdate<'_>) -> bool {
        let event = self.index_of_update(it.id).and_then(|index| self.list.get(index));
        event.is_some_and(|event| {
            let update = event.update.as_deref();
            match it.data {
                EventUpdateData::Name(name) => event.name.as_deref() != Some(name),
                EventUpdateData::Unit(unit) => update.and_then(|it| it.unit.as_deref()) != Some(unit),
                EventUpdateData::Scale(scale) => update.and_then(|it| it.scale) != Some(scale),
                _ => false,
            }
        })
    }

    /// Applies an EVENT_UPDATE record, if an event has its id.
    pub(crate) fn update(&mut self, it: &EventUpdate<'_>) {
        let Some(event) = self.index_of_update(it.id).and_then(|index| self.list.get_mut(index)) else {
            return;
        };
        // Records that were already returned keep the unchanged event.
        let event = Arc::make_mut(event);
        match it.data {
            EventUpdateData::Name(name) => event.name = Some(Vec::from(name)),
            EventUpdateData::Unit(unit) => event.update.get_or_insert_default().unit = Some(Vec::from(unit)),
            EventUpdateData::Scale(scale) => event.update.get_or_insert_default().scale = Some(scale),
            // A set of CPUs can be far larger than the record that encodes it. A caller that needs it decodes the
            // record.
            _ => {}
        }
    }

    /// Names the event that has exactly these `ids`: the event at `index`, or else the event of the first or the last
    /// id.
    ///
    /// perf writes names in the order of the events. Other tools may not; then the ids identify the event.
    pub(crate) fn name(&mut self, index: usize, ids: Entries<'_, u64>, name: &[u8]) {
        let has_ids = |index: &usize| {
            self.list.get(*index).is_some_and(|event| event.ids.iter().copied().eq(ids.iter()))
        };
        // An id may belong to another event. One of the first and the last id nearly always identifies the event.
        let by_ids =
            [ids.iter().next(), ids.iter().last()].map(|id| id.and_then(|id| self.dispatch.find(id)));
        let index = [Some(index)].into_iter().chain(by_ids).flatten().find(has_ids);
        if let Some(event) = index.and_then(|index| self.list.get_mut(index)) {
            Arc::make_mut(event).name = Some(Vec::from(name));
        }
    }

    /// Names the events with this `type` and `config` that have no name yet, as simpleperf does.
    pub(crate) fn name_by_type(&mut self, kind: u32, config: u64, name: &[u8]) {
        // The limits have the same reason as those of `name_by_config`.
        if self.list.len() > MAX_NAMED_BY_CONFIG || name.len() > MAX_EVENT_NAME {
            return;
        }
        let is_meant = |event: &Event| event.attr.kind.0 == kind && event.attr.config == config;
        for event in self.list.iter_mut().filter(|event| event.name.is_none() && is_meant(event)) {
            Arc::make_mut(event).name = Some(Vec::from(name));
        }
    }

    /// Adds ids to events, each with the index of its event, as an EVENT_ID record does. Notes an index that no event has, and
    /// an id of another event. `offset` is that of the record's fields.
    pub(crate) fn add_ids(
        &mut self,
        ids: impl Iterator<Item = (u64, u64)>,
        offset: u64,
        account: &mut Account,
    ) {
        for (index, id) in ids {
            let at = usize::try_from(index).unwrap_or(usize::MAX);
            let Some(event) = self.list.get_mut(at) else {
                account.note(FileError::invalid("event_id.attr_id", index, "the index of an event", offset));
                return;
            };
            match self.dispatch.find(id) {
                None => {}
                // Walks over a capture may see the same record again.
                Some(known) if known == at => continue,
                Some(_) => {
                    account.note(shared_id(id, offset));
                    continue;
                }
            }
            if self.ids_left == 0 {
                let kind = FileErrorKind::Limit {
                    field: "event_id",
                    limit: self.most_ids as u64,
                    of: "ids of events",
                };
                account.note(FileError::new(kind, offset));
                return;
            }
            self.ids_left = self.ids_left.saturating_sub(1);
            let mut more = alloc::vec![id];
            self.dispatch.add(at, &mut more);
            Arc::make_mut(event).ids.append(&mut more);
        }
    }

    /// Names the events with this `config` that have no name yet. The first versions of perf wrote names this way.
    pub(crate) fn name_by_config(&mut self, config: u64, name: &[u8]) {
        // Such files have few events. The limits bound the time for many names and many events, and the memory for a
        // long name of many events.
        if self.list.len() > MAX_NAMED_BY_CONFIG || name.len() > MAX_EVENT_NAME {
            return;
        }
        for event in self.list.iter_mut().filter(|event| event.attr.config == config && event.name.is_none())
        {
            Arc::make_mut(event).name = Some(Vec::from(name));
        }
    }

    /// Decodes the samples of the provisional ABI of all events, and of those that are added.
    pub(crate) fn decode_provisional_abi(&mut self) {
        self.has_provisional_abi = true;
        self.list.iter_mut().for_each(|event| Arc::make_mut(event).decode_provisional_abi());
    }

    /// Sets the layout of the MMAP2 records whose bytes fit both layouts.
    pub(crate) fn set_mmap2_layout(&mut self, layout: Option<Mmap2Layout>) {
        self.list.iter_mut().for_each(|event| Arc::make_mut(event).layout.mmap2 = layout);
    }

    /// Returns the index of a record's event; `None` for the records of the perf tool, which have no event.
    ///
    /// # Errors
    ///
    /// [`UnknownId`](FileErrorKind::UnknownId) and [`UnknownEvent`](FileErrorKind::UnknownEvent).
    #[inline]
    pub fn of<O: ByteOrder>(&self, record: &RawRecord<'_, O>) -> Result<Option<usize>, FileErrorKind> {
        if record.kind().is_user() {
            return Ok(None);
        }
        match self.index_of(record) {
            Some(index) => Ok(Some(index)),
            None => Err(unknown(record.kind(), self.unknown_id(*record))),
        }
    }

    /// Returns the index of the event of a kernel record; `None` if it is unknown.
    #[inline]
    pub(crate) fn index_of<O: ByteOrder>(&self, record: &RawRecord<'_, O>) -> Option<usize> {
        // With one event, no lookup is needed.
        if self.list.len() == 1 {
            return Some(0);
        }
        self.dispatch.event(&self.list, record)
    }

    /// Returns the index of the event of a sample with this payload, if there are several events; `None` if it is unknown.
    #[inline(always)]
    pub(super) fn index_of_sample<O: Endian>(&self, payload: &[u8]) -> Option<usize> {
        self.dispatch.event_of_sample::<O>(payload)
    }

    /// Returns whether the samples of all events can be decoded, and have the same leading fields.
    pub(super) fn has_one_head(&self) -> bool {
        self.dispatch.has_one_head()
    }

    /// Returns whether the samples of an event have fields after the leading ones.
    pub(super) fn has_tails(&self) -> bool {
        self.dispatch.has_tails()
    }

    /// Returns the layout of a kernel record; `None` if its event is unknown, and for a sample that cannot be decoded.
    pub(crate) fn layout_of<O: ByteOrder>(&self, record: &RawRecord<'_, O>) -> Option<&SampleLayout> {
        let event = self.list.get(self.index_of(record)?)?;
        (record.kind() != RecordType::SAMPLE || !event.is_faulty).then_some(&event.layout)
    }

    /// Returns the id of a record whose event is unknown, if it has one.
    #[cold]
    pub(crate) fn unknown_id<O: ByteOrder>(&self, record: RawRecord<'_, O>) -> Option<u64> {
        self.dispatch.id(&self.list, &record)
    }

    /// Returns the time of a kernel record. Does not look up its event if the time is at the same place in the records
    /// of all events.
    #[inline(always)]
    pub(crate) fn time_of<O: ByteOrder>(&self, record: &RawRecord<'_, O>) -> Option<u64> {
        match self.dispatch.time(record) {
            Some(time) => Some(time),
            None => self.time_of_event(*record),
        }
    }

    #[inline(never)]
    fn time_of_event<O: ByteOrder>(&self, record: RawRecord<'_, O>) -> Option<u64> {
        record.time(&self.list.get(self.index_of(&record)?)?.layout)
    }
}

/// Returns the fault of an event with an id that an earlier event has. The id and the records that carry it belong to
/// the earlier event.
#[cold]
pub(crate) fn shared_id(id: u64, offset: u64) -> FileError {
    FileError::invalid(
        "attr.ids",
        id,
        "an id that no earlier event has; the id stays with the earlier event",
        offset,
    )
}

/// Returns the reason why the event of a record with this id is unknown.
#[cold]
pub(crate) fn unknown(kind: RecordType, id: Option<u64>) -> FileErrorKind {
    match id {
        Some(id) => FileErrorKind::UnknownId { kind, id },
        None => FileErrorKind::UnknownEvent { kind },
    }
}
