//! Rings: what the kernel wrote into a mapping, read from a dump or where it lies.
//!
//! [`Forward`] and [`Backward`] walk over the records of a data area.

mod backward;
mod buffer;
mod error;
mod forward;
mod walk;

pub use backward::Backward;
pub use buffer::Buffer;
pub use error::{RingError, RingErrorKind};
pub use forward::Forward;
pub use walk::Torn;
