//! **This version is empty**: it has no item that could be used. It keeps the name and the place of the crate that
//! will capture live from Linux perf_event.
//!
//! What it is going to hold:
//!
//! - opening counters and groups of them: `perf_event_open(2)`, its ioctls, and what the running kernel supports;
//! - reading counts, by `read(2)` and in user space;
//! - reading records and AUX data from mapped rings, each byte once and none torn;
//! - the PMUs and events that `/sys/bus/event_source` lists.
//!
//! To decode what others captured, in a file, from a pipe or out of a ring, use `perf-parse`; the ABI itself, attr and
//! ioctl numbers included, is in `perf-abi`. Neither needs this crate.

#![no_std]
