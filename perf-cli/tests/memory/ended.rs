//! A program that ended, with what the kernel counted for it.

use std::process::Command;

/// How a program ended, and what it used.
pub(crate) struct Ended {
    pub(crate) status: libc::c_int,
    /// The exit status; `None` if a signal ended the program.
    pub(crate) code: Option<libc::c_int>,
    pub(crate) usage: libc::rusage,
}

impl Ended {
    /// Returns the maximum resident size in bytes.
    pub(crate) fn resident(&self) -> usize {
        // `ru_maxrss` is in units of 1024 bytes.
        self.usage.ru_maxrss as usize * 1024
    }
}

/// Runs a program to its end.
#[allow(clippy::zombie_processes, reason = "wait4 waits for it")]
pub(crate) fn run(command: &mut Command) -> Ended {
    let child = command.spawn().unwrap();
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: all zeros is a valid `rusage`, which contains only numbers.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    // SAFETY: `pid` is a child that nothing else waits for, and both pointers are valid for writes during the call.
    let ended = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    assert_eq!(ended, pid, "{}", std::io::Error::last_os_error());
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    Ended { status, code, usage }
}
