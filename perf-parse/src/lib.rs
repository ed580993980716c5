//! Decodes Linux perf_event records and samples, and the `perf.data` files around them.
//!
//! x
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::cast_possible_truncation,
        reason = "a test that indexes wrongly should fail loudly"
    )
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod cursor;
pub mod error;
#[cfg(feature = "alloc")]
pub mod file;
pub mod layout;
pub mod record;
pub mod sample;
#[cfg(feature = "alloc")]
pub mod write;

pub use error::{Error, ErrorKind};
pub use layout::SampleLayout;
pub use perf_abi as abi;
pub use record::{RawRecord, Record, Records};
pub use sample::Sample;
