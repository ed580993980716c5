//! Decodes Linux perf_event records and samples, and the `perf.data` files around them.
//!
//! Five levels, each usable without the ones above it:
//!
//! - **Records.** [`Records`] hops from header to header over bytes that lie end to end. [`RawRecord::decode`] makes a
//!   [`Record`] of one, by the [`SampleLayout`] computed once from the event's attr; [`RawRecord::sample`] is the fast way
//!   to samples. A [`Sample`] is a lazy view: the getters of its leading fields are one load each, [`Sample::tail`] walks
//!   the rest once. All of it works without std and without alloc, and allocates nothing.
//! - **Captures** (feature `alloc`). [`AnyReader::open`] takes a `perf.data` in memory, [`AnyReader::stream`] one that is
//!   read once. [`Reader::next`] gives its records, in whatever mode it was written, tells each one's event, and keeps
//!   the [`Account`](file::Account). [`file`](mod@file) has examples.
//! - **Rings.** [`ring::Forward`] and [`ring::Backward`] walk over the data area of a mapping, recorded or live;
//!   [`ring::Dump`] opens a recorded one with its control page and its AUX area. [`ring`] has examples. No std, no alloc;
//!   several rings by time need alloc.
//! - **Writing** (feature `alloc`). [`write`](mod@write) makes records and samples of owned fields, for any attr, in either
//!   byte order.
//!
//! # Exactness
//!
//! Every field comes out as the kernel wrote it; what this crate does not know passes through as its number. A record
//! is consumed exactly or is an error, with the offset and the kernel's name of the field. Where the ABI is ambiguous,
//! the reading that fits the record is taken, and [`Readings`](sample::Readings) says which.
//!
//! # Hostile input
//!
//! No input panics, loops without end, or allocates more than a small multiple of its size. Counts are checked against
//! the bytes that remain before anything is done with them. There is no unsafe code.
//!
//! # Byte order
//!
//! A type parameter, [`Endian`](abi::endian::Endian), decided once when a capture is opened: [`AnyReader`] has a variant
//! for each. What a plain swap of bytes would get wrong (pairs of 32-bit numbers, bit-fields) is taken care of.
//!
//! # Errors
//!
//! | kind | when | offset |
//! |---|---|---|
//! | [`Truncated`](ErrorKind::Truncated) | a record ends within a field | where the field begins |
//! | [`Residue`](ErrorKind::Residue) | bytes are left behind the last field | where they begin |
//! | [`RecordSize`](ErrorKind::RecordSize) | the header's size is below 8 | 6, the size |
//! | [`AttrSize`](ErrorKind::AttrSize) | an attr's size is below 64 and not 0 | the size |
//! | [`Unterminated`](ErrorKind::Unterminated) | a string has no NUL | where the string begins |
//! | [`OutOfRange`](ErrorKind::OutOfRange) | a count or length exceeds what it counts in | the count |
//! | [`UnknownBits`](ErrorKind::UnknownBits) | the attr asks for an unknown field | the attr's field; for `read_format`, the values |
//! | [`BothWeights`](ErrorKind::BothWeights) | the attr asks for both weights | the attr's `sample_type` |
//!
//! Offsets are from the start of the record; a [`FileError`] adds where that is in the file. [`FileErrorKind`](file::FileErrorKind)
//! and [`TracingErrorKind`](tracepoint::TracingErrorKind) have tables of their own. A ring has
//! [`RingError`](ring::RingError)s of its own, at positions in the ring:
//!
//! | kind | when | position |
//! |---|---|---|
//! | [`Truncated`](ring::RingErrorKind::Truncated) | a record's size, or a field's, exceeds what there is | the record; the field in the control page |
//! | [`RecordSize`](ring::RingErrorKind::RecordSize) | a record's size is below 8 or no multiple of 8 | the record |
//! | [`Invalid`](ring::RingErrorKind::Invalid) | a field of the control page or an AUX record cannot be | the field in the control page; the AUX data |
//! | [`Overwritten`](ring::RingErrorKind::Overwritten) | newer data is where the asked for was | `data_tail` in the control page; the AUX data |

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
pub mod ring;
pub mod sample;
#[cfg(feature = "alloc")]
pub mod tracepoint;
#[cfg(feature = "alloc")]
pub mod write;

pub use error::{Error, ErrorKind};
#[cfg(feature = "alloc")]
pub use file::{AnyReader, FileError, Reader};
pub use layout::SampleLayout;
pub use perf_abi as abi;
pub use record::{RawRecord, Record, Records};
pub use sample::Sample;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
