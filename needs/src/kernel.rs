//! Tries which events the kernel allows this process to open.
//!
//! Shares no code with the crates under test: if those open events wrongly, tests fail instead of being skipped.

/// The target that an event counts.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// This thread, on any CPU.
    Here,
    /// Everything that runs on this thread's current CPU.
    Cpu,
    /// Process 1, which belongs to another user unless we are root.
    Pid1,
}

pub(crate) use imp::{breakpoint, cycles, is_root, software, tracepoint, uprobe};

#[cfg(target_os = "linux")]
mod imp {
    use std::io::{Error, ErrorKind};
    use std::os::fd::{FromRawFd, OwnedFd};

    use super::Target;

    /// The attr's second version: 72 bytes, as 64-bit words. Linux accepts it since 2.6.33.
    type Attr = [u64; 9];

    const CONFIG: usize = 1;
    const FLAGS: usize = 5;
    /// `wakeup_events` and `bp_type`, 32 bits each.
    const BP_TYPE: usize = 6;
    /// `bp_addr`, or the path of a uprobe.
    const BP_ADDR: usize = 7;
    /// `bp_len`.
    const BP_LEN: usize = 8;

    /// Returns a word of two 32-bit fields.
    const fn pair(first: u32, second: u32) -> u64 {
        let (low, high) = if cfg!(target_endian = "big") { (second, first) } else { (first, second) };
        low as u64 | (high as u64) << 32
    }

    /// Returns the flag bit at its position in the C bit field.
    const fn flag(place: u32) -> u64 {
        if cfg!(target_endian = "big") { 1 << (63 - place) } else { 1 << place }
    }

    /// `exclude_kernel` and `exclude_hv`.
    const USER_ALONE: u64 = flag(5) | flag(6);

    fn attr(kind: u32, config: u64) -> Attr {
        let mut attr = [0; 9];
        attr[0] = pair(kind, 72);
        attr[CONFIG] = config;
        attr
    }

    fn open(mut attr: Attr, target: Target) -> Result<OwnedFd, Error> {
        const CLOEXEC: libc::c_ulong = 8;
        // SAFETY: it has no arguments and accesses no memory of ours.
        let here = unsafe { libc::sched_getcpu() };
        let (pid, cpu): (libc::pid_t, libc::c_int) = match target {
            Target::Here => (0, -1),
            Target::Cpu => (-1, here),
            Target::Pid1 => (1, -1),
        };
        let group: libc::c_int = -1;
        // SAFETY: the first word of the attr contains its size, and the attr is writable memory of this function. The
        // path that it may point to outlives the call, and the kernel only reads it.
        let fd =
            unsafe { libc::syscall(libc::SYS_perf_event_open, attr.as_mut_ptr(), pid, cpu, group, CLOEXEC) };
        let fd = i32::try_from(fd).map_err(|_| Error::from(ErrorKind::InvalidData))?;
        if fd < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the kernel has just returned this descriptor, and nothing else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }

    fn told(opened: Result<OwnedFd, Error>, what: &str) -> Result<(), String> {
        opened.map(drop).map_err(|error| format!("perf_event_open of {what}: {error}"))
    }

    pub(crate) fn software(target: Target, user_alone: bool) -> Result<(), String> {
        const SOFTWARE: u32 = 1;
        const CPU_CLOCK: u64 = 0;
        let mut attr = attr(SOFTWARE, CPU_CLOCK);
        attr[FLAGS] = if user_alone { USER_ALONE } else { 0 };
        let of = match target {
            Target::Here => "this thread",
            Target::Cpu => "a cpu",
            Target::Pid1 => "process 1",
        };
        let what = if user_alone { "user space" } else { "user space and kernel" };
        told(open(attr, target), &format!("cpu-clock, {what}, {of}"))
    }

    pub(crate) fn breakpoint() -> Result<(), String> {
        const BREAKPOINT: u32 = 5;
        const WRITE: u32 = 2;
        static WATCHED: u64 = 0;
        let mut attr = attr(BREAKPOINT, 0);
        attr[FLAGS] = USER_ALONE;
        attr[BP_TYPE] = pair(0, WRITE);
        attr[BP_ADDR] = (&raw const WATCHED).addr() as u64;
        attr[BP_LEN] = 8;
        told(open(attr, Target::Here), "a breakpoint")
    }

    pub(crate) fn tracepoint(id: u64) -> Result<(), String> {
        const TRACEPOINT: u32 = 2;
        told(open(attr(TRACEPOINT, id), Target::Here), "sched:sched_switch")
    }

    /// Requests a probe in a file that does not exist. The kernel looks for the file only if it allows probes.
    pub(crate) fn uprobe(kind: u64) -> Result<(), String> {
        let kind = u32::try_from(kind).map_err(|error| error.to_string())?;
        let path = c"/no/such/file";
        let mut attr = attr(kind, 0);
        attr[BP_ADDR] = path.as_ptr().addr() as u64;
        match open(attr, Target::Here) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            opened => told(opened, "a uprobe"),
        }
    }

    pub(crate) fn cycles() -> Result<(), String> {
        const HARDWARE: u32 = 0;
        const CYCLES: u64 = 0;
        let mut attr = attr(HARDWARE, CYCLES);
        attr[FLAGS] = USER_ALONE;
        told(open(attr, Target::Here), "cycles")
    }

    pub(crate) fn is_root() -> bool {
        // SAFETY: it has no arguments and accesses no memory of ours.
        unsafe { libc::geteuid() == 0 }
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    use super::Target;

    fn no_linux() -> Result<(), String> {
        Err("this is not Linux".to_owned())
    }

    pub(crate) fn software(_: Target, _: bool) -> Result<(), String> {
        no_linux()
    }

    pub(crate) fn breakpoint() -> Result<(), String> {
        no_linux()
    }

    pub(crate) fn tracepoint(_: u64) -> Result<(), String> {
        no_linux()
    }

    pub(crate) fn uprobe(_: u64) -> Result<(), String> {
        no_linux()
    }

    pub(crate) fn cycles() -> Result<(), String> {
        no_linux()
    }

    pub(crate) fn is_root() -> bool {
        false
    }
}
