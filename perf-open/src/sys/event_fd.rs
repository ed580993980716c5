//! `eventfd(2)`: the descriptor to wait on for a ring that the program writes itself.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// Returns a new non-blocking eventfd.
pub(crate) fn event_fd() -> io::Result<File> {
    // SAFETY: eventfd takes two numbers and accesses no memory of this process.
    let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and has no other owner.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}
