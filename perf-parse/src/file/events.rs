//! The events of a capture: their attrs, ids and names, and which one a record is of.

mod dispatch;
mod section;

pub(super) use section::{leave_shared_ids, read};

use alloc::boxed::Box;
use alloc::vec::Vec;

use perf_abi::attr::{Attr, ReadAttr};
use perf_abi::endian::{Endian, U64};
use perf_abi::record::{MAX_EVENT_NAME, RecordType};

use super::account::Account;
use super::error::{FileError, FileErrorKind};
use super::limits::Limits;
use crate::error::Error;
use crate::layout::SampleLayout;
use crate::record::RawRecord;
use crate::record::user::{EventUpdate, EventUpdateData};
use dispatch::Dispatch;

/// An event of a capture.
#[derive(Clone, Debug)]
pub struct Event {
    /// What it counts and records.
    pub attr: Attr,
    /// What a newer kernel's attr has behind the fields that this crate knows; empty for an attr of a known size.
    pub attr_tail: Box<[u8]>,
    /// Where everything is in its records.
    pub layout: SampleLayout,
    /// Why its samples cannot be decoded: the attr asks for what this crate does not know. Its other records can.
    pub fault: Option<Error>,
    /// The ids that records carry for it: one a cpu or task that it was opened for. None of them is an earlier event's.
    pub ids: Vec<u64>,
    /// Its name, as the user gave it: from the feature `EVENT_DESC`, an EVENT_UPDATE record, or the event types of old
    /// files. `None` where the capture has none of these.
    pub name: Option<Vec<u8>>,
    /// What EVENT_UPDATE records said of it beyond its name; `None` for nothing.
    pub update: Option<Box<Update>>,
}

/// How a count of an event is to be read.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// The unit of its counts.
    pub unit: Option<Vec<u8>>,
    /// What its counts are to be multiplied by.
    pub scale: Option<f64>,
}

impl Event {
    fn new(read: ReadAttr<'_>, ids: Vec<u64>) -> Self {
        Self {
            attr: read.attr,
            attr_tail: Box::from(read.tail),
            layout: SampleLayout::of_known(&read.attr),
            fault: SampleLayout::new(&read.attr).err(),
            ids,
            name: None,
            update: None,
        }
    }
}

/// The events of a capture, in the order it lists them.
#[derive(Clone, Debug)]
pub struct Events {
    list: Vec<Event>,
    dispatch: Dispatch,
    /// Events at most, their ids at most, and how many of those there may still be.
    most: usize,
    most_ids: usize,
    ids_left: usize,
}

/// None, of which there may be as many as [`Limits`] has by default.
impl Default for Events {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

/// Events at most that names are looked for by their `config`.
const MAX_NAMED_BY_CONFIG: usize = 1024;

/// Of attrs, each with the ids that records carry for it: what a capture without a header, as of a ring, has to be given. An
/// id that several of them have is the first one's.
impl FromIterator<(Attr, Vec<u64>)> for Events {
    fn from_iter<I: IntoIterator<Item = (Attr, Vec<u64>)>>(attrs: I) -> Self {
        let mut events = Self::default();
        for (attr, ids) in attrs {
            let event = Event::new(ReadAttr { attr, tail: &[] }, ids);
            events.dispatch.place(&event);
            events.list.push(event);
        }
        events.index();
        events
    }
}

impl core::ops::Deref for Events {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.list
    }
}

impl Events {
    /// None yet, and no more than the limits allow.
    pub(super) fn within(limits: &Limits) -> Self {
        let (most, ids) = (limits.events, limits.ids);
        Self { list: Vec::new(), dispatch: Dispatch::default(), most, most_ids: ids, ids_left: ids }
    }

    /// Makes room for `count`: as many as there may be, at most.
    fn reserve(&mut self, count: usize) {
        self.list.reserve_exact(count.min(self.most));
    }

    /// Looks events up by the ids that they have now.
    fn index(&mut self) {
        self.dispatch.index(&self.list);
    }

    /// Adds an event, but not its ids to those that are looked up; notes what is wrong with it. `offset` is where its attr is
    /// in the capture, `ids_at` where its ids are.
    fn push<O: Endian>(
        &mut self,
        read: ReadAttr<'_>,
        (ids, ids_at): (&[U64<O>], u64),
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
            held.extend(ids.iter().map(|id| id.get()));
        } else {
            leave_out("attr.ids", self.most_ids, "ids of events", ids_at);
        }
        let event = Event::new(read, held);
        if let Some(error) = event.fault {
            let at = offset.saturating_add(u64::from(error.offset));
            account.note(FileError::new(FileErrorKind::Layout(error), at));
        }
        self.dispatch.place(&event);
        self.list.push(event);
    }

    /// Adds the event of a HEADER_ATTR record, whose attr is at `offset` and whose ids are at `ids_at`; notes what is wrong
    /// with it.
    pub(super) fn add<O: Endian>(
        &mut self,
        read: ReadAttr<'_>,
        ids: (&[U64<O>], u64),
        offset: u64,
        account: &mut Account,
    ) {
        let index = self.list.len();
        self.push(read, ids, offset, account);
        let shared = self.list.get_mut(index).and_then(|event| self.dispatch.add(index, &mut event.ids));
        if let Some(id) = shared {
            account.note(shared_id(id, ids.1));
        }
    }

    /// Returns the index of the event with this id.
    pub(super) fn index_of_id(&self, id: u64) -> Option<usize> {
        self.dispatch.find(id)
    }

    /// Applies an EVENT_UPDATE record; whether there is an event of its id.
    pub(super) fn update<O: Endian>(&mut self, it: &EventUpdate<'_, O>) -> bool {
        let Some(event) = self.index_of_id(it.id).and_then(|index| self.list.get_mut(index)) else {
            return false;
        };
        match it.data {
            EventUpdateData::Name(name) => event.name = Some(Vec::from(name)),
            EventUpdateData::Unit(unit) => event.update.get_or_insert_default().unit = Some(Vec::from(unit)),
            EventUpdateData::Scale(scale) => event.update.get_or_insert_default().scale = Some(scale),
            // A set of cpus can be far larger than the record that tells it: who wants it asks the record.
            _ => {}
        }
        true
    }

    /// Names the event that has just these `ids`: the one at `index`, or else the one that records of
    /// the first or the last id are of.
    ///
    /// perf writes names in the order of the events; where another tool did not, the ids tell.
    pub(super) fn name<O: Endian>(&mut self, index: usize, ids: &[U64<O>], name: &[u8]) {
        let has_ids = |index: &usize| {
            let ids = ids.iter().map(|id| id.get());
            self.list.get(*index).is_some_and(|event| event.ids.iter().copied().eq(ids))
        };
        // Events may share ids: the first and the last of them lead to the event often enough.
        let by_ids = [ids.first(), ids.last()].map(|id| id.and_then(|id| self.dispatch.find(id.get())));
        let index = [Some(index)].into_iter().chain(by_ids).flatten().find(has_ids);
        if let Some(event) = index.and_then(|index| self.list.get_mut(index)) {
            event.name = Some(Vec::from(name));
        }
    }

    /// Names the events of a `config` that have no name yet, as the first tools wrote names.
    pub(super) fn name_by_config(&mut self, config: u64, name: &[u8]) {
        // Those tools had a handful. Each of many names is not looked for among each of many events, nor is a long one
        // given to many.
        if self.list.len() > MAX_NAMED_BY_CONFIG || name.len() > MAX_EVENT_NAME {
            return;
        }
        for event in self.list.iter_mut().filter(|event| event.attr.config == config && event.name.is_none())
        {
            event.name = Some(Vec::from(name));
        }
    }

    /// The index of a record's event; `None` for the perf tool's own records, which have none.
    ///
    /// # Errors
    ///
    /// [`UnknownId`](FileErrorKind::UnknownId) and [`UnknownEvent`](FileErrorKind::UnknownEvent).
    #[inline]
    pub fn of<O: Endian>(&self, record: &RawRecord<'_, O>) -> Result<Option<usize>, FileErrorKind> {
        if record.kind().is_user() {
            return Ok(None);
        }
        match self.index_of(record) {
            Some(index) => Ok(Some(index)),
            None => Err(unknown(record.kind(), self.unknown_id(*record))),
        }
    }

    /// The index of the event of a record of the kernel's; `None` where it cannot be told.
    #[inline]
    pub(super) fn index_of<O: Endian>(&self, record: &RawRecord<'_, O>) -> Option<usize> {
        // Of one event there is nothing to be looked up.
        if self.list.len() == 1 {
            return Some(0);
        }
        self.dispatch.event(&self.list, record)
    }

    /// The id of a record whose event cannot be told, where it has one.
    #[cold]
    pub(super) fn unknown_id<O: Endian>(&self, record: RawRecord<'_, O>) -> Option<u64> {
        self.dispatch.id(&self.list, &record)
    }

    /// When a record of the kernel's was made: without a look at its event, where all have the time at one place.
    #[inline(always)]
    pub(super) fn time_of<O: Endian>(&self, record: &RawRecord<'_, O>) -> Option<u64> {
        match self.dispatch.time(record) {
            Some(time) => Some(time),
            None => self.time_of_event(*record),
        }
    }

    #[inline(never)]
    fn time_of_event<O: Endian>(&self, record: RawRecord<'_, O>) -> Option<u64> {
        record.time(&self.list.get(self.index_of(&record)?)?.layout)
    }
}

/// An event has an id that an earlier one has: records that carry it are the earlier one's, and so is the id.
#[cold]
fn shared_id(id: u64, offset: u64) -> FileError {
    FileError::invalid("attr.ids", id, "an id that no earlier event has: it stays with that event", offset)
}

/// Why the event of a record cannot be told, which has this id.
#[cold]
pub(super) fn unknown(kind: RecordType, id: Option<u64>) -> FileErrorKind {
    match id {
        Some(id) => FileErrorKind::UnknownId { kind, id },
        None => FileErrorKind::UnknownEvent { kind },
    }
}
