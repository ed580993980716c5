//! An open event: its counts and the requests on it.

mod requests;

use core::ffi::CStr;
use core::time::Duration;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::thread::ThreadId;

use perf_abi::attr::Attr;
use perf_abi::endian::NativeEndian;
use perf_abi::ioctl::{IocFlags, Request};
use perf_abi::read_format::ReadFormat;
use perf_parse::sample::Read;

use crate::builder::{self, Builder};
use crate::count::Count;
use crate::error::Error;
use crate::sys::{ioctl, poll, prctl};

/// Bytes of a read of one event: a value, two times, an id, and a number of lost samples.
const SINGLE: usize = 5 * 8;

/// An open event.
///
/// Dropping it closes the event. The members of a group continue to count on their own after their leader is closed.
/// Several threads may use a counter at the same time; the kernel synchronises the requests.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::{Builder, EventSpec, Target};
///
/// let faults = Builder::new(EventSpec::software(SwId::PAGE_FAULTS))
///     .disabled(true)
///     .exclude_kernel(true)
///     .open(&Target::this_thread())?;
/// faults.enable()?;
/// let pages = vec![1_u8; 1 << 20];
/// faults.disable()?;
/// assert!(faults.read()?.value > 0, "{} bytes were touched", pages.len());
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Debug)]
pub struct Counter {
    file: File,
    attr: Attr,
    dropped: Vec<&'static str>,
    /// The counted thread, if it is the one that opened the event.
    thread: Option<ThreadId>,
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for Counter {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl From<Counter> for OwnedFd {
    fn from(counter: Counter) -> Self {
        counter.file.into()
    }
}

/// The readiness that [`Counter::poll`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Readiness {
    /// The ring has a wakeup: as many records were written as `wakeup_events` or `wakeup_watermark` asks for. C:
    /// `POLLIN`.
    pub records: bool,
    /// The event will write no more records: the task has ended (since Linux 3.18), or the event has no ring, neither
    /// its own nor another event's through [`Counter::set_output`]. C: `POLLHUP`.
    pub hangup: bool,
    /// A pinned event could not be kept on the PMU, or the PMU was removed. C: `POLLERR`; since Linux 6.15.
    pub error: bool,
}

impl Readiness {
    fn of(revents: libc::c_short) -> Self {
        Self {
            records: revents & libc::POLLIN != 0,
            hangup: revents & libc::POLLHUP != 0,
            error: revents & libc::POLLERR != 0,
        }
    }
}

impl Counter {
    /// `own`: whether the event counts the calling thread.
    pub(crate) fn new(fd: OwnedFd, attr: Attr, dropped: Vec<&'static str>, own: bool) -> Self {
        let thread = own.then(|| std::thread::current().id());
        Self { file: File::from(fd), attr, dropped, thread }
    }

    /// Returns the counter of a descriptor that was opened elsewhere: received from another process over a socket,
    /// inherited, or from `pidfd_getfd`.
    ///
    /// `attr` must be the attr that the event was opened with; the kernel does not return it. It decides how reads are
    /// decoded ([`read_format`](Attr::read_format)) and the layout of the records of a [`Ring`](crate::Ring).
    ///
    /// # Errors
    ///
    /// `ENOTTY` if the descriptor is not an event, and on kernels before 3.12.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use std::os::fd::OwnedFd;
    /// use perf_open::abi::event::SwId;
    /// use perf_open::{Builder, Counter, EventSpec, Target};
    ///
    /// let opened = Builder::new(EventSpec::software(SwId::PAGE_FAULTS)).open(&Target::this_thread())?;
    /// let attr = *opened.attr();
    /// // The descriptor travels to another process, by SCM_RIGHTS.
    /// let received = Counter::from_fd(OwnedFd::from(opened), attr)?;
    /// println!("{}", received.read()?.value);
    /// # Ok::<(), perf_open::Error>(())
    /// ```
    pub fn from_fd(fd: OwnedFd, attr: Attr) -> Result<Self, Error> {
        let counter = Self::new(fd, attr, Vec::new(), false);
        ioctl::id(counter.as_fd()).map_err(|error| {
            let advice = match error.raw_os_error() {
                Some(libc::ENOTTY) => "the descriptor is not an event of perf_event_open",
                _ => "",
            };
            Error::failed(Request::ID.c_name, error, advice)
        })?;
        Ok(counter)
    }

    /// Returns whether the event counts the calling thread.
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == Some(std::thread::current().id())
    }

    /// Returns the attr as the kernel accepted it: without the [`dropped`](Self::dropped) parts, and with the `size` of
    /// the version that was passed.
    ///
    /// For a probe, `config1` is 0, not the address of its string.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Returns the kernel's names of the parts that were left out: [`Builder::or_drop`] allowed it, and the kernel is
    /// too old for them.
    #[must_use]
    pub fn dropped(&self) -> &[&'static str] {
        &self.dropped
    }

    /// Reads the value, and whatever else the event's `read_format` includes. Allocates nothing.
    ///
    /// # Errors
    ///
    /// If `read_format` has `GROUP`: use [`read_group`](Self::read_group). If a pinned event could not be kept on the
    /// PMU; the kernel reports this as an end of file.
    pub fn read(&self) -> Result<Count, Error> {
        if self.attr.read_format.contains(ReadFormat::GROUP) {
            let why = "read_format has PERF_FORMAT_GROUP: use read_group";
            return Err(Error::refused("read", "read_format", why));
        }
        let mut bytes = [0; SINGLE];
        let read = self.read_into(&mut bytes)?;
        Count::all(&read).next().ok_or_else(|| Error::refused("read", "read_format", "the read is empty"))
    }

    /// Reads the counts of all events of the group: the leader's first, then the members' in the order they were
    /// opened.
    ///
    /// # Errors
    ///
    /// If `read_format` lacks `GROUP`. If the pinned group could not be kept on the PMU.
    pub fn read_group(&self) -> Result<Vec<Count>, Error> {
        if !self.attr.read_format.contains(ReadFormat::GROUP) {
            let why = "read_format lacks PERF_FORMAT_GROUP: use read";
            return Err(Error::refused("read", "read_format", why));
        }
        // The number of events in the group is not known here. The kernel reports a buffer that is too small.
        let mut bytes = vec![0; 512];
        loop {
            match self.read_into(&mut bytes) {
                Ok(read) => return Ok(Count::all(&read).collect()),
                Err(error) if error.errno() == Some(libc::ENOSPC) => {
                    bytes.resize(bytes.len().saturating_mul(2), 0)
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads into the caller's buffer and returns a view of it, with any `read_format`. Allocates nothing.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if the buffer is too small. Each event takes up to 24 bytes (a value, an id, a number of lost samples),
    /// and the read up to 24 more. Otherwise the same as [`read`](Self::read).
    pub fn read_into<'b>(&self, buffer: &'b mut [u8]) -> Result<Read<'b, NativeEndian>, Error> {
        let failed = |error| Error::failed("read", error, "");
        let len = (&self.file).read(buffer).map_err(|error| {
            let advice = requests::read(error.raw_os_error());
            Error::failed("read", error, advice)
        })?;
        if len == 0 {
            let why = "end of file: the pinned event could not be kept on the PMU; enable it again";
            return Err(Error::refused("read", "pinned", why));
        }
        let read = buffer.get(..len).unwrap_or_default();
        Read::from_bytes(read, self.attr.read_format)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    /// Waits until the event's ring has a wakeup, the task ends, or the timeout expires. `None` waits forever.
    ///
    /// # Errors
    ///
    /// `EINTR` if a signal interrupted the wait.
    pub fn poll(&self, timeout: Option<Duration>) -> Result<Readiness, Error> {
        let ready = poll::poll(&[self.as_fd()], timeout)
            .map_err(|error| Error::failed("poll", error, "a signal came; wait again"))?;
        Ok(ready.first().copied().map(Readiness::of).unwrap_or_default())
    }

    /// Returns the kernel's id of the event, which samples and group reads contain.
    ///
    /// # Errors
    ///
    /// `ENOTTY` on kernels before 3.12; there, read the id from [`Count::id`].
    #[doc(alias = "PERF_EVENT_IOC_ID")]
    pub fn id(&self) -> Result<u64, Error> {
        ioctl::id(self.as_fd()).map_err(|error| self.failed(Request::ID, error))
    }

    /// Starts counting. Enabling a leader also starts those members of its group that are enabled themselves.
    ///
    /// # Errors
    ///
    /// The kernel's errno. `ENODEV` if the PMU was removed; no other error is expected.
    #[doc(alias = "PERF_EVENT_IOC_ENABLE")]
    pub fn enable(&self) -> Result<(), Error> {
        self.explain(Request::ENABLE, ioctl::enable(self.as_fd(), IocFlags::NONE))
    }

    /// Starts every event of the group. `self` may be any of its events.
    ///
    /// Linux 2.6.31 to 3.4 enables only this event, once per member of the group.
    ///
    /// # Errors
    ///
    /// The same as [`enable`](Self::enable).
    #[doc(alias = "PERF_IOC_FLAG_GROUP")]
    pub fn enable_group(&self) -> Result<(), Error> {
        self.explain(Request::ENABLE, ioctl::enable(self.as_fd(), IocFlags::GROUP))
    }

    /// Stops counting and keeps the count. Disabling a leader stops its whole group.
    ///
    /// # Errors
    ///
    /// The same as [`enable`](Self::enable).
    #[doc(alias = "PERF_EVENT_IOC_DISABLE")]
    pub fn disable(&self) -> Result<(), Error> {
        self.explain(Request::DISABLE, ioctl::disable(self.as_fd(), IocFlags::NONE))
    }

    /// Stops every event of the group. `self` may be any of its events. Has the bug of
    /// [`enable_group`](Self::enable_group).
    ///
    /// # Errors
    ///
    /// The same as [`enable`](Self::enable).
    pub fn disable_group(&self) -> Result<(), Error> {
        self.explain(Request::DISABLE, ioctl::disable(self.as_fd(), IocFlags::GROUP))
    }

    /// Sets the count to 0. The times continue; the kernel cannot reset them.
    ///
    /// # Errors
    ///
    /// The same as [`enable`](Self::enable).
    #[doc(alias = "PERF_EVENT_IOC_RESET")]
    pub fn reset(&self) -> Result<(), Error> {
        self.explain(Request::RESET, ioctl::reset(self.as_fd(), IocFlags::NONE))
    }

    /// Sets the count of every event of the group to 0. Has the bug of [`enable_group`](Self::enable_group).
    ///
    /// # Errors
    ///
    /// The same as [`enable`](Self::enable).
    pub fn reset_group(&self) -> Result<(), Error> {
        self.explain(Request::RESET, ioctl::reset(self.as_fd(), IocFlags::GROUP))
    }

    /// Enables the event for `overflows` more overflows. The kernel disables it after the last one.
    ///
    /// With [`signal::deliver`](crate::signal::deliver), each overflow sends a signal with `POLL_IN`, and the last one
    /// with `POLL_HUP`.
    ///
    /// # Errors
    ///
    /// If `overflows` is 0, which has no defined meaning, or if the event does not sample; both before any system call.
    /// `EINVAL` for an inherited event.
    #[doc(alias = "PERF_EVENT_IOC_REFRESH")]
    pub fn refresh(&self, overflows: u32) -> Result<(), Error> {
        let refused = |field, why| Err(Error::refused(Request::REFRESH.c_name, field, why));
        if overflows == 0 {
            return refused("", "0 overflows: the kernel defines no meaning for 0");
        }
        if !builder::is_sampling(&self.attr) {
            return refused("sample_period", "the event does not sample, so it has no overflows");
        }
        self.explain(Request::REFRESH, ioctl::refresh(self.as_fd(), overflows))
    }

    /// Sets the sample period, or the frequency if the event was opened with one.
    ///
    /// The kernel converts the frequency of a software clock event to a period when the event is opened. For these
    /// events this sets the period, in nanoseconds.
    ///
    /// The new value applies at once since Linux 3.14 (on arm since 3.7), and from the next overflow on before that.
    /// Before 2.6.36 the request always fails.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event does not sample, the period is 0 or exceeds 63 bits, or the frequency exceeds
    /// [`max_sample_rate`](crate::limits::max_sample_rate).
    #[doc(alias = "PERF_EVENT_IOC_PERIOD")]
    pub fn period(&self, period: u64) -> Result<(), Error> {
        self.explain(Request::PERIOD, ioctl::period(self.as_fd(), period))
    }

    /// Redirects the event's records to the ring of `output`, which must be mapped. `None` ends the redirection.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the two events are not of the same cpu or the same task, if they differ in clock or in
    /// `write_backward`, or if this event has a ring of its own.
    #[doc(alias = "PERF_EVENT_IOC_SET_OUTPUT")]
    pub fn set_output(&self, output: Option<&Self>) -> Result<(), Error> {
        self.explain(Request::SET_OUTPUT, ioctl::set_output(self.as_fd(), output.map(AsFd::as_fd)))
    }

    /// Sets the event's filter. Since Linux 2.6.33.
    ///
    /// For a tracepoint it is an expression over the fields (`prev_pid != 0 && prev_comm ~ "bash*"`). For an AUX PMU it
    /// is a list of address ranges (`filter 0x1000/0x100@/bin/true`), which replaces the previous list.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the filter cannot be parsed or the event cannot have one. `EEXIST` if a tracepoint event already has
    /// a filter; that filter stays until the event is closed.
    #[doc(alias = "PERF_EVENT_IOC_SET_FILTER")]
    pub fn set_filter(&self, filter: &CStr) -> Result<(), Error> {
        self.explain(Request::SET_FILTER, ioctl::set_filter(self.as_fd(), filter))
    }

    /// Attaches a BPF program, given by its file descriptor. Since Linux 4.1.
    ///
    /// On a tracepoint or a probe it runs at each hit and can prevent the record. Since Linux 4.9 it can also be
    /// attached to a sampling event.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the type of the program does not match the event, `EEXIST` if the event already has a program,
    /// `EPERM` without `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub fn set_bpf(&self, program: impl AsFd) -> Result<(), Error> {
        self.explain(Request::SET_BPF, ioctl::set_bpf(self.as_fd(), program.as_fd()))
    }

    /// Pauses or resumes the ring. Since Linux 4.7.
    ///
    /// Records are lost while the ring is paused; a LOST record reports how many. Overflows still send signals.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event has no ring.
    #[doc(alias = "PERF_EVENT_IOC_PAUSE_OUTPUT")]
    pub fn pause_output(&self, pause: bool) -> Result<(), Error> {
        self.explain(Request::PAUSE_OUTPUT, ioctl::pause_output(self.as_fd(), pause))
    }

    /// Returns the ids of the BPF programs that are attached to this tracepoint, by any event. Since Linux 4.16.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the event is not a tracepoint, `EPERM` without `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    #[doc(alias = "PERF_EVENT_IOC_QUERY_BPF")]
    pub fn query_bpf(&self) -> Result<Vec<u32>, Error> {
        // The kernel's maximum number of programs on a tracepoint.
        const MOST: usize = 64;
        let mut words = [0; 2 + MOST];
        ioctl::query_bpf(self.as_fd(), &mut words).map_err(|error| self.failed(Request::QUERY_BPF, error))?;
        let [_, count, ids @ ..] = &words;
        let count = usize::try_from(*count).unwrap_or(MOST).min(MOST);
        Ok(ids.iter().take(count).copied().collect())
    }

    /// Changes the address, length, accesses and `disabled` of an open breakpoint. All other fields of `event` must be
    /// those that it was opened with. Since Linux 4.17.
    ///
    /// # Errors
    ///
    /// If `event` contradicts itself. `EOPNOTSUPP` if the open event is not a breakpoint. `EINVAL` if another field
    /// differs.
    #[doc(alias = "PERF_EVENT_IOC_MODIFY_ATTRIBUTES")]
    pub fn modify_attributes(&mut self, event: &Builder) -> Result<(), Error> {
        let attr = event.attr();
        builder::check(attr, false)?;
        let version = attr.oldest_version();
        ioctl::modify_attributes(self.as_fd(), attr, version)
            .map_err(|error| self.failed(Request::MODIFY_ATTRIBUTES, error))?;
        self.attr = Attr { size: version.size(), ..*attr };
        Ok(())
    }

    fn explain(&self, request: Request, result: io::Result<()>) -> Result<(), Error> {
        result.map_err(|error| self.failed(request, error))
    }

    fn failed(&self, request: Request, error: io::Error) -> Error {
        let advice = requests::advice(request, &self.attr, error.raw_os_error());
        Error::failed(request.c_name, error, advice)
    }
}

/// Enables every event that the calling thread opened, on any target.
///
/// Events that other threads opened are not enabled, whether they belong to the same process or count the calling
/// thread. Members of groups are enabled too, at least on Linux 6.18; the manual page says that they are not.
///
/// # Errors
///
/// `EINVAL` if the kernel has no perf_event.
#[doc(alias = "PR_TASK_PERF_EVENTS_ENABLE")]
pub fn enable_task() -> Result<(), Error> {
    prctl::task_perf_events(true).map_err(|error| Error::failed("PR_TASK_PERF_EVENTS_ENABLE", error, ""))
}

/// Disables every event that the calling thread opened. The counterpart of [`enable_task`].
///
/// # Errors
///
/// The same as [`enable_task`].
#[doc(alias = "PR_TASK_PERF_EVENTS_DISABLE")]
pub fn disable_task() -> Result<(), Error> {
    prctl::task_perf_events(false).map_err(|error| Error::failed("PR_TASK_PERF_EVENTS_DISABLE", error, ""))
}
