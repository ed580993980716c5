//! The events of a capture, and its records with their events.
//!
//! [`EventRecord`] is a record of a capture with its place and its event. [`Events`] finds the event of a record.

mod batch;
mod dispatch;
mod events;
mod position;
mod record;

pub use events::Events;
pub use position::RecordPosition;
pub use record::EventRecord;

pub(crate) use events::shared_id;
pub(crate) use record::EventOf;

use alloc::boxed::Box;
use alloc::vec::Vec;

use perf_abi::attr::{Attr, ReadAttr};

use crate::error::Error;
use crate::layout::SampleLayout;

/// An event of a capture.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Event {
    /// The event's index in the list of [events](Events).
    pub index: usize,
    /// The event's attr: what it counts and records.
    pub attr: Attr,
    /// The bytes of a newer kernel's attr after the fields that this crate knows; empty for an attr of a known size.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub attr_tail: Box<[u8]>,
    /// The layout of the event's records.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub layout: SampleLayout,
    /// Whether the event's samples cannot be decoded: see [`fault`](Self::fault).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) is_faulty: bool,
    /// The ids that the event's records carry: one for each CPU or task that the event was opened for. An id that an
    /// earlier event has is not in the list.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::slice"))]
    pub ids: Vec<u64>,
    /// The event's name, as the user gave it: from the feature `EVENT_DESC`, an EVENT_UPDATE record, or the event types
    /// of old files. `None` if the capture has none of these.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "crate::serialize::text_or_none", skip_serializing_if = "Option::is_none")
    )]
    pub name: Option<Vec<u8>>,
    /// The values of EVENT_UPDATE records other than the name; `None` if there are none.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "unboxed", skip_serializing_if = "Option::is_none")
    )]
    pub update: Option<Box<Update>>,
}

/// The unit and the scale of an event's counts.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Update {
    /// The unit of the counts.
    #[cfg_attr(
        feature = "serde",
        serde(serialize_with = "crate::serialize::text_or_none", skip_serializing_if = "Option::is_none")
    )]
    pub unit: Option<Vec<u8>>,
    /// The factor by which to multiply the counts.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub scale: Option<f64>,
}

impl Event {
    pub(crate) fn new(index: usize, read: ReadAttr<'_>, ids: Vec<u64>) -> Self {
        Self {
            index,
            attr: read.attr,
            attr_tail: Box::from(read.tail),
            layout: SampleLayout::of_known(&read.attr),
            is_faulty: SampleLayout::new(&read.attr).is_err(),
            ids,
            name: None,
            update: None,
        }
    }

    /// Decodes the samples of the provisional ABI from now on.
    pub(crate) fn decode_provisional_abi(&mut self) {
        self.layout = self.layout.with_provisional_abi();
    }

    /// Returns the reason why the event's samples cannot be decoded: the attr asks for a field that this crate does not
    /// know. `None` if the samples can be decoded. The event's other records can always be decoded.
    #[must_use]
    pub fn fault(&self) -> Option<Error> {
        if self.is_faulty { SampleLayout::new(&self.attr).err() } else { None }
    }
}

/// Serializes an update as if it were not boxed: serde has boxes only where it allocates.
#[cfg(feature = "serde")]
fn unboxed<S: serde::Serializer>(update: &Option<Box<Update>>, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&update.as_deref(), to)
}
