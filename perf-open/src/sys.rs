//! The system calls: the only unsafe code of the crate, behind safe functions.
//!
//! `read(2)` is std's: an event is a `File`.

pub(crate) mod consumer;
pub(crate) mod event_fd;
pub(crate) mod fork;
pub(crate) mod ioctl;
pub(crate) mod mapping;
pub(crate) mod membarrier;
pub(crate) mod open;
pub(crate) mod poll;
pub(crate) mod prctl;
pub(crate) mod producer;
pub(crate) mod rdpmc;
pub(crate) mod signal;
