//! `fork(2)`, and what a child does until its `execve(2)`.

use core::ptr;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// The exit status of a child that could not become what it was to be, as a shell's.
const NOT_EXECUTED: libc::c_int = 127;

/// Pointers to strings, and the null pointer at their end.
fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
}

/// Forks a child that waits for a byte on `channel`, then becomes `program`.
///
/// If it cannot, it writes the errno to `channel` and ends; it ends too where `other_end`, which it closes for itself, is
/// closed here. Both are to be closed by the exec. The child's signals are at their defaults: none blocked, `SIGPIPE` not ignored.
///
/// Gives the child's pid.
pub(crate) fn fork_exec(
    program: &CStr,
    arguments: &[CString],
    environment: &[CString],
    channel: BorrowedFd<'_>,
    other_end: BorrowedFd<'_>,
) -> io::Result<libc::pid_t> {
    // Made before the fork: behind it, another thread's lock on the allocator may never be released.
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    let (channel, other_end) = (channel.as_raw_fd(), other_end.as_raw_fd());
    // SAFETY: the child of a process with threads may only call async-signal-safe functions, which is all that `transform`
    // does, and it does not return.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => transform(program, &arguments, &environment, channel, other_end),
        pid => Ok(pid),
    }
}

/// What the child does. Calls nothing that is not async-signal-safe, and allocates nothing.
fn transform(
    program: &CStr,
    arguments: &[*const libc::c_char],
    environment: &[*const libc::c_char],
    channel: RawFd,
    other_end: RawFd,
) -> ! {
    // SAFETY: nothing of the child's uses this descriptor.
    unsafe { libc::close(other_end) };
    let mut go = 0_u8;
    // SAFETY: one byte is written at most, for which `go` is.
    let read = unsafe { libc::read(channel, (&raw mut go).cast(), 1) };
    if read == 1 {
        // SAFETY: the type is plain numbers, for which zero is a value.
        let mut none: libc::sigset_t = unsafe { core::mem::zeroed() };
        // SAFETY: `none` is a set of signals, to be written.
        unsafe { libc::sigemptyset(&raw mut none) };
        // SAFETY: `none` is a set of signals; nothing is written through the null pointer.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) };
        // SAFETY: the default action is no function of this program.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
        // SAFETY: the program, the arguments and the environment are strings that end with NUL, made before the fork
        // and copied by it; both arrays end with a null pointer.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes();
        // SAFETY: four bytes are read, which `errno` has. If nobody reads them there is nothing more to be done.
        unsafe { libc::write(channel, errno.as_ptr().cast(), errno.len()) };
    }
    // SAFETY: ends the process without running what the parent has registered for its own end.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

/// The wait status of a child that has ended, and what it used; `None` while it runs, unless `block`.
pub(crate) fn wait(pid: libc::pid_t, block: bool) -> io::Result<Option<(libc::c_int, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: the type is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    let options = if block { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: the kernel writes a number and a `rusage`, for which these are.
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
    // SAFETY: takes two numbers.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
