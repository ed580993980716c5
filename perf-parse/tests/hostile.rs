//! The guarantees of SECURITY.md for hostile input, tested with captures that are truncated, mutated or made up: no
//! panic, no endless loop, no memory out of proportion.
//!
//! A separate test binary, because its allocator counts.

#![cfg(feature = "std")]

#[path = "hostile/allocator.rs"]
mod allocator;
#[cfg(any(feature = "ruzstd", feature = "zstd"))]
#[path = "hostile/bombs.rs"]
mod bombs;
#[allow(dead_code, reason = "shared with the tests of files, which use all of it")]
#[path = "file/build.rs"]
mod build;
#[allow(dead_code, reason = "shared with the tests of features, which use all of it")]
#[path = "features/bytes.rs"]
mod bytes;
#[path = "hostile/captures.rs"]
mod captures;
#[allow(dead_code, reason = "shared with the tests of files, which use all of it")]
#[path = "common/mod.rs"]
mod common;
#[path = "hostile/drive.rs"]
mod drive;
#[allow(dead_code, reason = "shared with the tests of features, which use all of it")]
#[path = "features/every.rs"]
mod every;
#[path = "hostile/fields.rs"]
mod fields;
#[path = "hostile/kinds.rs"]
mod kinds;
#[path = "hostile/mutations.rs"]
mod mutations;
#[path = "hostile/worst.rs"]
mod worst;
