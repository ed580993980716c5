//! `ioctl(2)`: the twelve requests of an event.
//!
//! Each function is safe for any open file descriptor: what it passes stays valid during the call and is as large as
//! the request requires. The callers pass descriptors of events.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::endian::NativeEndian;
use perf_abi::ioctl::{IocFlags, Request};

/// The type of the `request` parameter: `unsigned long` with glibc, `int` with musl.
#[cfg(not(target_env = "musl"))]
type Number = libc::c_ulong;
#[cfg(target_env = "musl")]
type Number = libc::c_int;

fn outcome(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes a request whose argument is a number.
///
/// # Safety
///
/// The kernel must not interpret the argument of `request` as an address.
unsafe fn number(fd: BorrowedFd<'_>, request: Request, argument: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed. The argument is not an address, as the caller guarantees.
    outcome(unsafe { libc::ioctl(fd.as_raw_fd(), request.native() as Number, argument) })
}

/// Makes a request whose argument is an address.
///
/// # Safety
///
/// `argument` must be valid for everything that the kernel reads and writes there for `request`.
unsafe fn pointer<T>(fd: BorrowedFd<'_>, request: Request, argument: *mut T) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed. The argument is valid, as the caller guarantees.
    outcome(unsafe { libc::ioctl(fd.as_raw_fd(), request.native() as Number, argument) })
}

pub(crate) fn enable(fd: BorrowedFd<'_>, flags: IocFlags) -> io::Result<()> {
    // SAFETY: the argument is a word of flags.
    unsafe { number(fd, Request::ENABLE, libc::c_ulong::from(flags.0)) }
}

pub(crate) fn disable(fd: BorrowedFd<'_>, flags: IocFlags) -> io::Result<()> {
    // SAFETY: the argument is a word of flags.
    unsafe { number(fd, Request::DISABLE, libc::c_ulong::from(flags.0)) }
}

pub(crate) fn reset(fd: BorrowedFd<'_>, flags: IocFlags) -> io::Result<()> {
    // SAFETY: the argument is a word of flags.
    unsafe { number(fd, Request::RESET, libc::c_ulong::from(flags.0)) }
}

pub(crate) fn refresh(fd: BorrowedFd<'_>, overflows: u32) -> io::Result<()> {
    // SAFETY: the argument is a count.
    unsafe { number(fd, Request::REFRESH, libc::c_ulong::from(overflows)) }
}

pub(crate) fn period(fd: BorrowedFd<'_>, mut period: u64) -> io::Result<()> {
    // SAFETY: the kernel reads one 64-bit number, which stays valid during the call.
    unsafe { pointer(fd, Request::PERIOD, &raw mut period) }
}

/// Redirects the records of `fd` to the ring of `output`. `None` ends the redirection.
pub(crate) fn set_output(fd: BorrowedFd<'_>, output: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let output = output.map_or(-1, |output| output.as_raw_fd());
    // SAFETY: the argument is a file descriptor or -1.
    unsafe { number(fd, Request::SET_OUTPUT, libc::c_long::from(output) as libc::c_ulong) }
}

pub(crate) fn set_filter(fd: BorrowedFd<'_>, filter: &CStr) -> io::Result<()> {
    // SAFETY: the kernel reads a string, which stays valid during the call and ends with a NUL. It writes nothing.
    unsafe { pointer(fd, Request::SET_FILTER, filter.as_ptr().cast_mut()) }
}

pub(crate) fn id(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut id = 0_u64;
    // SAFETY: the kernel writes one 64-bit number, and `id` has room for it.
    unsafe { pointer(fd, Request::ID, &raw mut id) }?;
    Ok(id)
}

pub(crate) fn set_bpf(fd: BorrowedFd<'_>, program: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the argument is a file descriptor.
    unsafe { number(fd, Request::SET_BPF, libc::c_long::from(program.as_raw_fd()) as libc::c_ulong) }
}

pub(crate) fn pause_output(fd: BorrowedFd<'_>, pause: bool) -> io::Result<()> {
    // SAFETY: the argument is 0 or 1.
    unsafe { number(fd, Request::PAUSE_OUTPUT, libc::c_ulong::from(pause)) }
}

/// Reads the ids of BPF programs. `words` is a `perf_event_query_bpf`: `ids_len`, `prog_cnt`, then the ids. This
/// function sets `ids_len` to the number of ids that fit.
pub(crate) fn query_bpf(fd: BorrowedFd<'_>, words: &mut [u32]) -> io::Result<()> {
    let room = words.len().checked_sub(2).and_then(|room| u32::try_from(room).ok());
    let (Some(room), Some(ids_len)) = (room, words.first_mut()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    *ids_len = room;
    // SAFETY: the kernel reads `ids_len`, and writes `prog_cnt` and after it at most `ids_len` ids. `words` has room
    // for all of them.
    unsafe { pointer(fd, Request::QUERY_BPF, words.as_mut_ptr()) }
}

/// `version` must have room for all fields that are set in `attr`.
pub(crate) fn modify_attributes(fd: BorrowedFd<'_>, attr: &Attr, version: AttrVersion) -> io::Result<()> {
    let mut bytes = attr
        .write::<NativeEndian>(version)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    // SAFETY: the kernel reads as many bytes as the `size` field contains, which `Attr::write` set to the length
    // of the slice. It writes nothing except that field.
    unsafe { pointer(fd, Request::MODIFY_ATTRIBUTES, bytes.as_mut_ptr()) }
}
