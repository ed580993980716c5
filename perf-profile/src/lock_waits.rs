//! Waits for locks one by one, which profiles and the reports of [`lock`](crate::lock) count.

mod counter;
mod event;
mod flags;
mod functions;
mod reader;
mod tracker;

pub use counter::WAIT_EVENTS;
pub(crate) use counter::{LockCounter, LockNote};
pub use event::{LockEvent, LockId, LockSample};
pub use flags::LockFlags;
pub(crate) use functions::LockFunctions;
pub use reader::LockReader;
pub use tracker::{LockCounts, LockTracker, LockWait};
