//! `FS_IOC_GETVERSION`: the generation of an inode.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// The type of the `request` parameter: `unsigned long` with glibc, `int` with musl.
#[cfg(not(target_env = "musl"))]
type Number = libc::c_ulong;
#[cfg(target_env = "musl")]
type Number = libc::c_int;

/// Returns the generation of the inode of a regular file. The caller has checked that it is one: a driver may give the
/// request another meaning.
///
/// Kernel: `FS_IOC_GETVERSION`, `include/uapi/linux/fs.h`.
pub(crate) fn generation(file: &File) -> io::Result<u32> {
    // The kernel writes an int, though the request is defined with a long.
    let mut generation = [0_u32; 2];
    // SAFETY: the descriptor is open, and the pointer is that of a live array which has room for a long.
    let result =
        unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETVERSION as Number, generation.as_mut_ptr()) };
    let [generation, _] = generation;
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(generation) }
}
