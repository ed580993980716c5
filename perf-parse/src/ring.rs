//! Rings: what the kernel wrote into a mapping, read from a dump or where it lies.

#[cfg(feature = "alloc")]
mod merge;
#[cfg(feature = "alloc")]
mod oldest;

mod account;
mod area;
mod aux;
mod backward;
mod buffer;
mod clock;
mod count;
mod dump;
mod error;
mod forward;
mod page;
mod walk;

pub use account::Account;
pub use area::{DataArea, DecidedBy};
pub use aux::{AuxArea, AuxData};
pub use backward::Backward;
pub use buffer::Buffer;
pub use clock::{Clock, ShortClock};
pub use count::{Counter, Times};
pub use dump::{Direction, Dump};
pub use error::{RingError, RingErrorKind};
pub use forward::Forward;
#[cfg(feature = "alloc")]
pub use merge::{Merge, MergeError, RingRecord};
#[cfg(feature = "alloc")]
pub use oldest::OldestFirst;
pub use page::Page;
pub use walk::Torn;
