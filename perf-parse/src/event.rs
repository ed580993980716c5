//! The events of a capture, and its records with their events.
//!
//! [`EventRecord`] is a record of a capture with its place and its event. [`Events`] finds the event of a record.

mod dispatch;
mod events;
mod place;
mod record;

pub use events::{Event, Events, Update};
pub use place::Place;
pub use record::EventRecord;

pub(crate) use events::shared_id;
pub(crate) use record::EventOf;
