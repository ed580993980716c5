//! Decodes Linux perf_event records and samples, and the `perf.data` files that contain them.
//!
//! The crate has four parts. Each can be used alone:
//!
//! - **Records.** [`Records`] iterates over bytes that hold records one after another. [`RawRecord::decode`] decodes a
//!   record into a [`Record`], with the [`SampleLayout`] that was computed once from the event's attr.
//!   [`RawRecord::sample`] is the fast way to samples. A [`Sample`] is a lazy view: each getter of a leading field is
//!   one load, and [`Sample::tail`] walks the rest once. [`SampleBatch`] has the fields of many samples as columns. This
//!   part needs neither std nor alloc, and allocates nothing.
//! - **Captures** (feature `alloc`). [`Reader`] opens a `perf.data` by its path, as an open file, as anything
//!   that can seek, in memory, or as a stream.
//!   [`Reader::records`] walks over the records of a capture of any mode and byte order, each with its
//!   [event](EventRecord::event), and keeps the [`Account`](file::Account). [`feature`](mod@feature) has what the
//!   recorder knew about the machine, [`rewrite`](mod@rewrite) copies and repairs captures. [`file`](mod@file) has
//!   examples.
//! - **Rings.** [`ring::RingWalk`] walks over the data area of a mapping, recorded or live.
//!   [`ring::Dump`] opens a recorded mapping with its control page and its AUX area. [`ring`] has examples. This part
//!   needs neither std nor alloc, except that reading several rings in time order needs alloc.
//! - **Writing** (feature `alloc`). [`write`](mod@write) encodes records and samples from owned fields, for any attr,
//!   in either byte order.
//!
//! # Exactness
//!
//! Every field has the value that the kernel wrote. A value that this crate does not know is kept as a number. A record
//! is decoded to its last byte, or decoding returns an error with the offset and the kernel's name of the field. Where
//! the ABI is ambiguous, the decoder takes the reading that fits the record, and [`Readings`](sample::Readings) reports
//! which one. [`RawRecord::stale_bytes`] are bytes at the end of a record that the kernel did not write.
//!
//! # Hostile input
//!
//! No input causes a panic, an endless loop, or an allocation of more than a small multiple of its size. Counts are
//! checked against the remaining bytes before they are used. There is no unsafe code.
//!
//! # Byte order
//!
//! A capture is in the byte order of the machine that recorded it. [`Reader`] finds out which, and its records are
//! views of that order: [`Sample`] and [`Record`] need no type parameter. A program that knows the order when it is
//! compiled, such as a decoder of the machine's own rings, can give it as a type parameter: `Sample<'_, LittleEndian>`
//! is faster to decode. Pairs of 32-bit numbers and bit-fields, which a plain swap of bytes would get wrong, are
//! converted correctly.
//!
//! # Serialization
//!
//! With the feature `serde`, what is decoded implements `Serialize`:
//!
//! - A struct has its fields. A field that is `None` is left out. Fields that are `kind` in Rust are `type`, as in the
//!   kernel; the kind of an error remains `kind`.
//! - A record has the kernel's name of its type, such as `{"COMM": {"pid": 1, "tid": 1, "comm": "init"}}`. A record of the
//!   perf tool is within `USER`: `{"USER": {"STAT": {..}}}`. A section has the name of its feature. Variants of other enums
//!   have their names in snake case.
//! - A [`Sample`] has its leading fields, and the [`Tail`](sample::Tail) as `tail`. A tail that cannot be decoded does not
//!   fail: its [`Error`] is there as `fault`.
//! - Types, flags and other values of [`abi`] are numbers. An attr has the kernel's names.
//! - Names are recorded as bytes. They are strings if the format is human readable and the name is UTF-8, and bytes
//!   otherwise. Data, such as raw data and build ids, is always bytes, which JSON writes as an array of numbers.
//! - Lists are sequences. A [`Callchain`](sample::Callchain) is the sequence of its words. An entry of a section has the
//!   fields of its [`FieldValue`](feature::FieldValue): those of `EVENT_DESC` have no attr, which the events have.
//! - A [`Value`](tracepoint::Value) of a tracepoint is its number, `bool`, string, bytes or sequence.
//!
//! # Errors
//!
//! | kind | when | offset |
//! |---|---|---|
//! | [`Truncated`](ErrorKind::Truncated) | a record ends within a field | where the field begins |
//! | [`Residue`](ErrorKind::Residue) | bytes are left after the last field | where they begin |
//! | [`RecordSize`](ErrorKind::RecordSize) | the header's size is below 8 | 6, the size |
//! | [`AttrSize`](ErrorKind::AttrSize) | an attr's size is below 64 and not 0 | the size |
//! | [`Unterminated`](ErrorKind::Unterminated) | a string has no NUL | where the string begins |
//! | [`OutOfRange`](ErrorKind::OutOfRange) | a count or length exceeds what it counts in | the count |
//! | [`Malformed`](ErrorKind::Malformed) | bytes are not what their format requires | the bytes |
//! | [`Provisional`](ErrorKind::Provisional) | registers are of an ABI that no released kernel has | the bits of their ABI |
//! | [`UnknownBits`](ErrorKind::UnknownBits) | the attr asks for an unknown field | the attr's field; for `read_format`, the values |
//! | [`BothWeights`](ErrorKind::BothWeights) | the attr asks for both weights | the attr's `sample_type` |
//!
//! Offsets count from the start of the record; a [`FileError`] has the offset in the file.
//! [`FileErrorKind`](file::FileErrorKind) and [`TracingErrorKind`](tracepoint::TracingErrorKind) have their own tables.
//! A ring has [`RingError`](ring::RingError)s, with positions in the ring:
//!
//! | kind | when | position |
//! |---|---|---|
//! | [`Truncated`](ring::RingErrorKind::Truncated) | a record or a field is larger than the bytes that are left | the record; the field in the control page |
//! | [`RecordSize`](ring::RingErrorKind::RecordSize) | a record's size is below 8 or not a multiple of 8 | the record |
//! | [`Invalid`](ring::RingErrorKind::Invalid) | a field of the control page or of an AUX record has an impossible value | the field in the control page; the AUX data |
//! | [`Overwritten`](ring::RingErrorKind::Overwritten) | newer data has overwritten the requested data | `data_tail` in the control page; the AUX data |

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core,
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

#[cfg(feature = "alloc")]
mod account;
pub mod batch;
mod byte_str;
#[cfg(feature = "alloc")]
mod bytes;
mod cursor;
pub mod error;
#[cfg(feature = "alloc")]
pub mod event;
#[cfg(feature = "alloc")]
pub mod feature;
#[cfg(feature = "alloc")]
pub mod file;
#[cfg(feature = "alloc")]
pub mod index;
pub mod layout;
#[cfg(feature = "alloc")]
mod limits;
pub mod list;
mod raw;
pub mod record;
#[cfg(feature = "std")]
pub mod rewrite;
pub mod ring;
mod salvage;
pub mod sample;
#[cfg(feature = "serde")]
mod serialize;
#[cfg(feature = "alloc")]
pub mod tracepoint;
#[cfg(feature = "alloc")]
pub mod write;

pub use batch::SampleBatch;
pub use byte_str::ByteStr;
#[cfg(feature = "alloc")]
pub use error::FileError;
pub use error::{Error, ErrorKind};
#[cfg(feature = "alloc")]
pub use event::EventRecord;
#[cfg(feature = "alloc")]
pub use file::Reader;
#[cfg(feature = "alloc")]
pub use index::Index;
pub use layout::SampleLayout;
pub use perf_abi as abi;
pub use record::{RawRecord, Record, Records};
pub use sample::Sample;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
