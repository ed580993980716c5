//! `poll(2)`.

use core::time::Duration;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Waits until one of the descriptors is ready, and returns the `revents` of each. `None` waits forever. All are 0 if
/// the timeout expires.
pub(crate) fn poll(fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Vec<libc::c_short>> {
    let mut polled: Vec<libc::pollfd> =
        fds.iter().map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 }).collect();
    let count = libc::nfds_t::try_from(polled.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // Round up, so that a short wait does not busy-loop. The call's maximum is 24 days.
    let millis =
        timeout.map_or(-1, |wait| i32::try_from(wait.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX));
    // SAFETY: `polled` has `count` elements and outlives the call; the kernel reads and writes them in place.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), count, millis) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(polled.iter().map(|fd| fd.revents).collect())
}
