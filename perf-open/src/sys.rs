//! The system calls: the only unsafe code of the crate, behind safe functions.

pub(crate) mod ioctl;
pub(crate) mod open;
