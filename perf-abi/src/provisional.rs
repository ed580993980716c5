//! Parts of the ABI that are in review, and that no released kernel has.
//!
//! Nothing here is stable: a kernel may ship another layout, or none. A capture that has such parts was recorded by a
//! development kernel. Decoders refuse it by default and decode it only if asked to; in perf-parse, by
//! `SampleLayout::with_provisional_abi` and `Reader::with_provisional_abi`.
//!
//! A module here is named after what it adds. When a kernel ships the ABI, the types move to the module of their kernel
//! concept. A minor version of this crate may change or remove what is here. The README lists what is watched.

pub mod simd_regs;
