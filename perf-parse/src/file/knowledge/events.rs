//! The events that are known, and the event of each record.

use alloc::boxed::Box;
use alloc::sync::Arc;

use perf_abi::endian::Endian;

use crate::bytes::MovingArc;
use crate::event::{Event, EventOf, Events};
use crate::record::RawRecord;

/// The events of the opened capture, until a record changes them.
#[derive(Clone, Debug)]
pub(in crate::file) struct KnownEvents<'r> {
    held: EventStorage<'r>,
    only: SoleEvent<'r>,
}

/// Both variants have a pointer at the same offset, so that reading the events needs no branch.
#[derive(Clone, Debug)]
enum EventStorage<'r> {
    Opened(&'r Events),
    Changed(Box<Events>),
}

/// The event of every kernel record, if there is one event.
#[derive(Clone, Debug)]
enum SoleEvent<'r> {
    Opened(&'r Arc<Event>),
    Changed(Arc<Event>),
    None,
}

impl<'r> KnownEvents<'r> {
    /// The events of an opened capture.
    pub(in crate::file) fn opened(events: &'r Events) -> Self {
        Self::new(EventStorage::Opened(events))
    }

    /// The events of a capture that is being opened.
    pub(in crate::file) fn found(events: Events) -> Self {
        Self::new(EventStorage::Changed(Box::new(events)))
    }

    fn new(held: EventStorage<'r>) -> Self {
        let mut known = Self { held, only: SoleEvent::None };
        known.settle();
        known
    }

    fn settle(&mut self) {
        self.only = match &self.held {
            EventStorage::Opened(events) if events.len() == 1 => {
                events.first().map_or(SoleEvent::None, SoleEvent::Opened)
            }
            EventStorage::Changed(events) if events.len() == 1 => {
                events.first().map_or(SoleEvent::None, |event| SoleEvent::Changed(Arc::clone(event)))
            }
            _ => SoleEvent::None,
        };
    }

    #[inline(always)]
    pub(in crate::file) fn get(&self) -> &Events {
        match &self.held {
            EventStorage::Opened(events) => events,
            EventStorage::Changed(events) => events,
        }
    }

    /// Returns the events of the opened capture; `None` if a record changed them.
    pub(in crate::file) fn opened_events(&self) -> Option<&'r Events> {
        match self.held {
            EventStorage::Opened(events) => Some(events),
            EventStorage::Changed(_) => None,
        }
    }

    /// Changes the events. Records that were already returned keep the unchanged event.
    pub(in crate::file) fn change(&mut self, change: impl FnOnce(&mut Events)) {
        self.only = SoleEvent::None;
        if let EventStorage::Opened(events) = self.held {
            self.held = EventStorage::Changed(Box::new(events.clone()));
        }
        if let EventStorage::Changed(events) = &mut self.held {
            change(events);
        }
        self.settle();
    }

    pub(in crate::file) fn into_events(self) -> Events {
        match self.held {
            EventStorage::Opened(events) => events.clone(),
            EventStorage::Changed(events) => *events,
        }
    }

    /// Returns the event of every kernel record; `None` if there are several events.
    #[inline(always)]
    pub(in crate::file) fn only(&self) -> Option<EventOf<'r>> {
        match &self.only {
            SoleEvent::Opened(event) => Some(EventOf::Opened(event)),
            SoleEvent::Changed(event) => Some(EventOf::Changed(MovingArc::new(Arc::clone(event)))),
            SoleEvent::None => None,
        }
    }

    /// Returns the event of a kernel record.
    #[inline(always)]
    pub(in crate::file) fn of_several<O: Endian>(&self, raw: RawRecord<'_, O>) -> EventOf<'r> {
        if let EventStorage::Opened(events) = self.held {
            if let Some(event) = find(events, &raw) {
                return EventOf::Opened(event);
            }
        }
        match self.find_changed(raw) {
            Ok(event) => EventOf::Changed(MovingArc::new(event)),
            Err(Some(id)) => EventOf::UnknownId(id),
            Err(None) => EventOf::Unknown,
        }
    }

    /// Returns the event of a kernel record that is not among those of the opened capture; the error is the id of an
    /// unknown event. It does not return the type that its caller returns, so that the caller keeps that value in
    /// registers.
    #[inline(never)]
    fn find_changed<O: Endian>(&self, raw: RawRecord<'_, O>) -> Result<Arc<Event>, Option<u64>> {
        match find(self.get(), &raw) {
            Some(event) => Ok(Arc::clone(event)),
            None => Err(self.get().unknown_id(raw)),
        }
    }
}

#[inline(always)]
fn find<'e, O: Endian>(events: &'e Events, raw: &RawRecord<'_, O>) -> Option<&'e Arc<Event>> {
    events.get(events.index_of(raw)?)
}
