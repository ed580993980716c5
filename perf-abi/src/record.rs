//! Records: the header, the record types, the `misc` bits, and the fixed part of each payload.

mod kernel;
mod misc;
mod schedstat;
mod simpleperf;
mod stat;
mod types;
mod user;

pub use kernel::*;
pub use misc::{CpuMode, Misc, MiscNames};
pub use schedstat::*;
pub use simpleperf::*;
pub use stat::*;
pub use types::RecordType;
pub use user::*;

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, U16, U32};

/// The header of every record.
///
/// Kernel: `struct perf_event_header`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_event_header")]
pub struct Header<O: Endian> {
    /// The type of the record, a [`RecordType`]. C: `type`.
    pub kind: U32<O>,
    /// Bits whose meaning depends on the type, a [`Misc`].
    pub misc: U16<O>,
    /// Bytes of the whole record: this header, the payload and the `sample_id` trailer.
    pub size: U16<O>,
}

impl<O: Endian> Header<O> {
    /// Returns a header with these native values.
    #[must_use]
    pub fn new(kind: RecordType, misc: Misc, size: u16) -> Self {
        Self { kind: U32::new(kind.0), misc: U16::new(misc.0), size: U16::new(size) }
    }
}
