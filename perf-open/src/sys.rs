//! System calls: all unsafe code of the crate, with safe functions around it.
//!
//! `read(2)` is std's, because an event is a `File`.

pub(crate) mod bpf;
pub(crate) mod consumer;
pub(crate) mod event_fd;
pub(crate) mod fork;
pub(crate) mod inode;
pub(crate) mod ioctl;
#[cfg(all(loom, test))]
pub(crate) mod kernel_writer;
pub(crate) mod mapping;
pub(crate) mod membarrier;
pub(crate) mod open;
pub(crate) mod poll;
pub(crate) mod prctl;
pub(crate) mod producer;
pub(crate) mod rdpmc;
pub(crate) mod rlimit;
pub(crate) mod sched;
pub(crate) mod signal;
pub(crate) mod sync;
#[cfg(loom)]
mod tracked;
