//! `fork(2)`, and the child until its `execve(2)`.

use core::ptr;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// The exit status of a child that could not execute its program, the same as a shell's.
const NOT_EXECUTED: libc::c_int = 127;

/// Returns pointers to the strings, and a null pointer at the end.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// Forks a child that waits for a byte on `channel`, then executes `program`. Returns the child's pid.
///
/// If the exec fails, the child writes the errno to `channel` and exits. It also exits if this process closes
/// `other_end`; the child closes its own copy. Both descriptors must be close-on-exec. The signals of the child are at
/// their defaults: none is blocked, and `SIGPIPE` is not ignored.
pub(crate) fn fork_exec(
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
    channel: BorrowedFd<'_>,
    other_end: BorrowedFd<'_>,
) -> io::Result<libc::pid_t> {
    // Allocate before the fork: in the child, the allocator may be locked by a thread that no longer exists.
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    let (channel, other_end) = (channel.as_raw_fd(), other_end.as_raw_fd());
    // SAFETY: after a fork of a process with threads, the child may only call async-signal-safe functions. `transform`
    // calls no others and does not return.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => transform(program, &arguments, &environment, channel, other_end),
        pid => Ok(pid),
    }
}

/// The code of the child. Calls only async-signal-safe functions and allocates nothing.
fn transform(
    program: &CStr,
    arguments: &[*const libc::c_char],
    environment: &[*const libc::c_char],
    channel: RawFd,
    other_end: RawFd,
) -> ! {
    // SAFETY: the child does not use this descriptor.
    unsafe { libc::close(other_end) };
    let mut go = 0_u8;
    // SAFETY: at most one byte is written, and `go` has room for one.
    let read = unsafe { libc::read(channel, (&raw mut go).cast(), 1) };
    if read == 1 {
        // SAFETY: the type consists of integers, for which zero is a valid value.
        let mut none: libc::sigset_t = unsafe { core::mem::zeroed() };
        // SAFETY: `none` is a valid signal set that may be written.
        unsafe { libc::sigemptyset(&raw mut none) };
        // SAFETY: `none` is a valid signal set; the null pointer means that the old set is not written.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) };
        // SAFETY: the default action calls no function of this program.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        // SAFETY: the program, the arguments and the environment are strings with a NUL at the end. They were allocated
        // before the fork, which copied them. Both arrays end with a null pointer.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes();
        // SAFETY: four bytes are read, and `errno` has four. If nobody reads them, there is nothing more to do.
        unsafe { libc::write(channel, errno.as_ptr().cast(), errno.len()) };
    }
    // SAFETY: `_exit` ends the process without running the exit handlers of the parent.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

/// Returns the wait status and the resource usage of a child that has ended. If it still runs: `None`, or waits if
/// `block`.
pub(crate) fn wait(pid: libc::pid_t, block: bool) -> io::Result<Option<(libc::c_int, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: the type consists of integers, for which zero is a valid value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    let options = if block { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: the kernel writes an `int` and a `rusage`, and `status` and `usage` have room for them.
        match unsafe { libc::wait4(pid, &raw mut status, options, &raw mut usage) } {
            -1 => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            0 => return Ok(None),
            _ => return Ok(Some((status, usage))),
        }
    }
}

/// Sends a signal to a process.
pub(crate) fn kill(pid: libc::pid_t, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: kill takes two numbers.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
