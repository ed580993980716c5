//! The Linux perf_event ABI as types and constants.
//!
//! The crate covers everything in `include/uapi/linux/perf_event.h`, and what the perf tool adds to it in a
//! `perf.data`. Each module covers one kernel concept and is named after it. The crate decodes single words
//! and the attr; [perf-parse](https://docs.rs/perf-parse) decodes records and files.
//!
//! - Every open value (a type, a flag word, a code) is a newtype with a public `.0`. A value that this crate
//!   does not know is kept unchanged and prints as its number.
//! - Every constant has its C name as a search alias: a search for `PERF_SAMPLE_CALLCHAIN` finds
//!   [`SampleType::CALLCHAIN`](sample_type::SampleType::CALLCHAIN). `NAMES` on each type lists its constants
//!   at run time.
//! - The `#[repr(C)]` structs are generic over the byte order and have alignment 1. They can be read without
//!   a copy from the bytes of any capture, on any host.
//!
//! # Examples
//!
//! Reads the header of a record and the fixed part of its payload:
//!
//! ```
//! use perf_abi::endian::LittleEndian;
//! use perf_abi::record::{Header, Misc, RawLost, RecordType};
//! use perf_abi::zerocopy::FromBytes;
//!
//! let bytes = [2, 0, 0, 0, 0, 0, 24, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0];
//! let (header, payload) = Header::<LittleEndian>::ref_from_prefix(&bytes).unwrap();
//! assert_eq!(RecordType(header.kind.get()), RecordType::LOST);
//! assert_eq!(usize::from(header.size.get()), bytes.len());
//! let (lost, _) = RawLost::<LittleEndian>::ref_from_prefix(payload).unwrap();
//! assert_eq!((lost.id.get(), lost.lost.get()), (7, 3));
//! ```
//!
//! # Features
//!
//! `serde`: `Serialize` and `Deserialize` for the values. A newtype is serialized as its number, so that values that
//! this crate does not know are kept. An [`Attr`](attr::Attr) is serialized as a map with the kernel's names of the
//! fields.
//!
//! The crate uses no std, no alloc and no unsafe code. The definitions were checked against kernel 7.3. "Since" names
//! the first release that has a feature.

#![no_std]
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

#[macro_use]
mod macros;

pub mod attr;
pub mod aux_area;
pub mod auxtrace;
pub mod branch;
pub mod breakpoint;
pub mod callchain;
pub mod data_src;
pub mod endian;
pub mod event;
pub mod feature;
pub mod file;
pub mod ioctl;
pub mod ksymbol;
pub mod mmap_page;
pub mod namespaces;
pub mod open;
pub mod provisional;
pub mod read_format;
pub mod record;
pub mod regs;
pub mod sample_type;
pub mod txn;
pub mod weight;

pub use macros::Name;
/// The crate of the byte-order types and of the traits that read the `#[repr(C)]` structs from bytes.
pub use zerocopy;

/// The examples of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
