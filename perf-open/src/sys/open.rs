//! `perf_event_open(2)`.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::NativeEndian;
use perf_abi::open::OpenFlags;

/// Why the kernel did not open an event.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The errno.
    pub(crate) error: io::Error,
    /// The size of the attr that the kernel knows; of meaning where the error is `E2BIG`.
    pub(crate) kernel_size: u32,
}

/// The arguments behind the attr, as the kernel takes them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'fd> {
    /// A task, 0 for the calling thread, -1 for all, or a cgroup's directory.
    pub(crate) pid: i32,
    /// A cpu, or -1.
    pub(crate) cpu: i32,
    /// The group's leader.
    pub(crate) group: Option<BorrowedFd<'fd>>,
    /// How to open.
    pub(crate) flags: OpenFlags,
}

/// Opens an event. `attr` is written at `version`, which has room for all that is set in it; `string` is what its
/// `config1` is to point to.
pub(crate) fn perf_event_open(
    attr: &Attr,
    version: AttrVersion,
    string: Option<&CStr>,
    place: Place<'_>,
) -> Result<OwnedFd, Refusal> {
    let mut attr = *attr;
    if let Some(string) = string {
        attr.config1 = string.as_ptr().addr() as u64;
        // The kernel follows the number as a pointer: what it points to must count as reachable by others.
        string.as_ptr().expose_provenance();
    }
    let mut bytes = attr.write::<NativeEndian>(version).map_err(|error| Refusal {
        error: io::Error::new(io::ErrorKind::InvalidInput, error),
        kernel_size: version.size(),
    })?;
    let group = place.group.map_or(-1, |fd| fd.as_raw_fd());
    // SAFETY: `bytes` is owned here and outlives the call. The kernel reads as many bytes of it as its `size` field
    // says, which `Attr::write` set to at most the array's length, and writes nothing but that field. `config1`, where
    // it is an address, is read as a string: it is that of `string`, which outlives the call and ends with NUL, or the
    // caller's number, at which the kernel checks for itself what may be read.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            bytes.as_mut_ptr(),
            libc::c_long::from(place.pid),
            libc::c_long::from(place.cpu),
            libc::c_long::from(group),
            place.flags.0 as libc::c_ulong,
        )
    };
    match i32::try_from(fd) {
        // SAFETY: the kernel has just given this file descriptor to this call: it is open and nobody else's.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => {
            let [_, _, _, _, size @ ..] = bytes;
            let [a, b, c, d, ..] = size;
            Err(Refusal { error: io::Error::last_os_error(), kernel_size: u32::from_ne_bytes([a, b, c, d]) })
        }
    }
}
