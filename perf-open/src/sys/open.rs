//! `perf_event_open(2)`.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::NativeEndian;
use perf_abi::open::OpenFlags;

/// The refusal of the kernel to open an event.
#[derive(Debug)]
pub(crate) struct KernelRefusal {
    /// The errno.
    pub(crate) error: io::Error,
    /// The size of the attr that the kernel knows. Only meaningful if the error is `E2BIG`.
    pub(crate) kernel_size: u32,
}

/// The arguments after the attr, in the form of the system call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenArguments<'fd> {
    /// A thread, 0 for the calling thread, -1 for all threads, or the descriptor of a cgroup's directory.
    pub(crate) pid: i32,
    /// A cpu, or -1 for any.
    pub(crate) cpu: i32,
    /// The leader of the group; `None` for an event that is not a member.
    pub(crate) group: Option<BorrowedFd<'fd>>,
    /// The flags of the system call.
    pub(crate) flags: OpenFlags,
}

/// Opens an event. `version` must have room for all fields that are set in `attr`. `config1` points to `string` if
/// there is one.
pub(crate) fn perf_event_open(
    attr: &Attr,
    version: AttrVersion,
    string: Option<&CStr>,
    place: OpenArguments<'_>,
) -> Result<OwnedFd, KernelRefusal> {
    let mut attr = *attr;
    if let Some(string) = string {
        attr.config1 = string.as_ptr().addr() as u64;
        // The kernel uses the number as a pointer, so its provenance must be exposed.
        string.as_ptr().expose_provenance();
    }
    let mut bytes = attr.write::<NativeEndian>(version).map_err(|error| KernelRefusal {
        error: io::Error::new(io::ErrorKind::InvalidInput, error),
        kernel_size: version.size(),
    })?;
    let group = place.group.map_or(-1, |fd| fd.as_raw_fd());
    // SAFETY: `bytes` is a local that outlives the call. The kernel reads as many bytes of it as its `size` field
    // contains, which `Attr::write` set to the length of the slice. It writes nothing except that field. If
    // `config1` is an address, the kernel reads a string there. It is either the address of `string`, which outlives
    // the call and ends with a NUL, or the caller's number, for which the kernel itself checks which memory may be
    // read.
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
        // SAFETY: the kernel has just returned this descriptor from this call: it is open and has no other owner.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => {
            let error = io::Error::last_os_error();
            let size = bytes.get(4..).and_then(|from| from.first_chunk());
            Err(KernelRefusal { error, kernel_size: size.map_or(0, |size| u32::from_ne_bytes(*size)) })
        }
    }
}

/// Returns the errno with which a filter of system calls refuses every call; `None` if the kernel itself answers.
///
/// The kernel checks the flags first: flags that it does not know are `EINVAL`. A filter answers before that.
pub(crate) fn filtered() -> Option<i32> {
    // SAFETY: no kernel knows all of these flags, so it returns EINVAL before it looks at the other arguments. One that
    // did would get a null pointer for the attr, which it checks.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            core::ptr::null_mut::<u8>(),
            0 as libc::c_long,
            -1 as libc::c_long,
            -1 as libc::c_long,
            libc::c_ulong::MAX,
        )
    };
    let errno = io::Error::last_os_error().raw_os_error();
    errno.filter(|&errno| fd < 0 && errno != libc::EINVAL && errno != libc::EFAULT)
}
