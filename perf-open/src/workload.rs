//! A command to measure. It waits before its exec until the events are open.

use alloc::ffi::CString;
use core::time::Duration;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::error::Error;
use crate::sys::fork;

/// A child process that waits, then executes a command.
///
/// Open events on its [`pid`](Self::pid) with `enable_on_exec`, then call [`start`](Self::start). They count the
/// command from its first instruction and nothing of the child before it. The child has the environment, the working
/// directory and the standard streams of this process.
///
/// If it is dropped before [`start`](Self::start), the child ends without executing the command. If it is dropped after
/// that, the command continues to run.
///
/// # Examples
///
/// ```
/// use perf_open::workload::Workload;
/// let mut workload = Workload::prepare("true".as_ref(), [])?;
/// // Open events on `workload.pid()` here.
/// workload.start()?;
/// assert!(workload.wait()?.success());
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Debug)]
pub struct Workload {
    pid: libc::pid_t,
    /// The child has the other end, which its exec closes.
    channel: UnixStream,
    has_started: bool,
    end: Option<(ExitStatus, CpuTime)>,
}

/// The cpu time of a command and of those of its children that it has waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// The time in user space.
    pub user: Duration,
    /// The time in the kernel.
    pub system: Duration,
}

impl Workload {
    /// Starts the child. A `program` without a slash is searched for in `PATH`.
    ///
    /// # Errors
    ///
    /// If there is no such program, if an argument contains a NUL byte, or if no process can be created.
    pub fn prepare(program: &OsStr, arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Error> {
        let path = find(program)?;
        let failed = |error| Error::failed("fork", error, "");
        let c_string = |bytes: Vec<u8>| {
            CString::new(bytes).map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidInput, error)))
        };
        let words = [program.to_owned()].into_iter().chain(arguments);
        let words = words.map(|word| c_string(word.into_vec())).collect::<Result<Vec<_>, _>>()?;
        let environment =
            env::vars_os().map(|(name, value)| c_string([name.as_bytes(), b"=", value.as_bytes()].concat()));
        let environment = environment.collect::<Result<Vec<_>, _>>()?;
        let (channel, childs) = UnixStream::pair().map_err(failed)?;
        let path = c_string(path.into_os_string().into_vec())?;
        let pid =
            fork::fork_exec(&path, &words, &environment, childs.as_fd(), channel.as_fd()).map_err(failed)?;
        Ok(Self { pid, channel, has_started: false, end: None })
    }

    /// Returns the process id. It is the same before and after the exec.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.unsigned_abs()
    }

    /// Makes the child execute the command, and waits until the exec has happened.
    ///
    /// # Errors
    ///
    /// If the program cannot be executed, with the errno of `execve(2)`. The child has then ended.
    pub fn start(&mut self) -> Result<(), Error> {
        let failed = |error, advice| Err(Error::failed("execve", error, advice));
        self.has_started = true;
        if let Err(error) = self.channel.write_all(&[1]) {
            return failed(error, "the child has ended before it was started");
        }
        let mut errno = [0; 4];
        match self.channel.read_exact(&mut errno) {
            // The exec closed the child's end.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
            Err(error) => failed(error, ""),
            Ok(()) => {
                // The child ends by itself, so the result of the wait does not matter.
                let _ = self.wait();
                let error = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
                let is_format = error.raw_os_error() == Some(libc::ENOEXEC);
                failed(
                    error,
                    if is_format { "the file is not a program; a script must begin with #!" } else { "" },
                )
            }
        }
    }

    /// Returns how the command ended; `None` while it runs. Does not block.
    ///
    /// # Errors
    ///
    /// If the child cannot be waited for, because another part of this program has already done so.
    pub fn try_wait(&mut self) -> Result<Option<ExitStatus>, Error> {
        self.wait_for(false)
    }

    /// Waits for the command to end.
    ///
    /// # Errors
    ///
    /// The same as [`try_wait`](Self::try_wait).
    pub fn wait(&mut self) -> Result<ExitStatus, Error> {
        loop {
            if let Some(status) = self.wait_for(true)? {
                return Ok(status);
            }
        }
    }

    /// Returns the cpu time of the command; `None` until a wait has found that it ended.
    #[must_use]
    pub fn cpu_time(&self) -> Option<CpuTime> {
        self.end.map(|(_, time)| time)
    }

    /// Sends `SIGTERM` to the command.
    ///
    /// # Errors
    ///
    /// If the child has ended, or if this process may no longer send it signals.
    pub fn terminate(&mut self) -> Result<(), Error> {
        if self.end.is_some() {
            let error = io::Error::from_raw_os_error(libc::ESRCH);
            return Err(Error::failed("kill", error, "the command has ended"));
        }
        fork::kill(self.pid, libc::SIGTERM).map_err(|error| Error::failed("kill", error, ""))
    }

    fn wait_for(&mut self, block: bool) -> Result<Option<ExitStatus>, Error> {
        if self.end.is_none() {
            let end = fork::wait(self.pid, block).map_err(|error| Error::failed("wait4", error, ""))?;
            self.end = end.map(|(status, usage)| {
                let time = CpuTime { user: duration(usage.ru_utime), system: duration(usage.ru_stime) };
                (ExitStatus::from_raw(status), time)
            });
        }
        Ok(self.end.map(|(status, _)| status))
    }
}

impl Drop for Workload {
    fn drop(&mut self) {
        if !self.has_started {
            // The child reads an end of file and exits.
            let _ = self.channel.shutdown(std::net::Shutdown::Both);
            let _ = self.wait();
        }
    }
}

/// Converts a time from the kernel, which is never negative.
fn duration(time: libc::timeval) -> Duration {
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or_default());
    seconds.saturating_add(Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or_default()))
}

/// Returns the path of a program.
fn find(program: &OsStr) -> Result<PathBuf, Error> {
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if program.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(program));
    }
    let path = env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
    env::split_paths(&path).map(|folder| folder.join(program)).find(|path| is_program(path)).ok_or_else(
        || {
            let error = io::Error::from_raw_os_error(libc::ENOENT);
            Error::failed(
                "execve",
                error,
                format!("no folder of PATH contains {}", program.to_string_lossy()),
            )
        },
    )
}
