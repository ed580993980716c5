//! Atomics and locks of rings: those of core and std, or those of loom in the test of all interleavings.

#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU64, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::Mutex;

#[cfg(loom)]
pub(crate) use loom::sync::Mutex;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, fence};
