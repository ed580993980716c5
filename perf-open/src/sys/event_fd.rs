//! `eventfd(2)`: what to wait on for a ring that the program writes itself.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// A counter that can be waited on and does not block.
pub(crate) fn event_fd() -> io::Result<File> {
    // SAFETY: eventfd takes numbers.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}
