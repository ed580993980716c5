//! An open event: its counts, and what can be done to it.

use core::ffi::CStr;
use core::time::Duration;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::ThreadId;

use perf_abi::attr::Attr;
use perf_abi::endian::NativeEndian;
use perf_abi::ioctl::{IocFlags, Request};
use perf_abi::read_format::ReadFormat;
use perf_parse::sample::Read;

use crate::builder::{self, Builder};
use crate::count::Count;
use crate::error::{Error, requests};
use crate::sys::{ioctl, poll, prctl};

/// Bytes of a read of one event: a value, two times, an id, a number of lost samples.
const SINGLE: usize = 5 * 8;

/// An open event. Closed when dropped; a group's members count on by themselves when their leader is.
///
/// Any thread may use it, several at a time; the kernel takes care.
///
/// # Examples
///
/// ```
/// use perf_open::abi::event::SwId;
/// use perf_open::{Builder, Event, Target};
///
/// let faults = Builder::new(Event::software(SwId::PAGE_FAULTS))
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
    /// The thread that is counted, where it is the one that opened the event.
    thread: Option<ThreadId>,
}

impl AsFd for Counter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl From<Counter> for OwnedFd {
    fn from(counter: Counter) -> Self {
        counter.file.into()
    }
}

/// What there is to be had of an event that was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ready {
    /// Records were written, as many as `wakeup_events` or `wakeup_watermark` asks for. C: `POLLIN`.
    pub records: bool,
    /// The event will write no more: the task has ended (since Linux 3.18), or there is no ring, neither its own nor
    /// another's by [`Counter::set_output`]. C: `POLLHUP`.
    pub hangup: bool,
    /// A pinned event could not be kept on the PMU, or the PMU is gone. C: `POLLERR`; since Linux 6.15.
    pub error: bool,
}

impl Ready {
    fn of(revents: libc::c_short) -> Self {
        Self {
            records: revents & libc::POLLIN != 0,
            hangup: revents & libc::POLLHUP != 0,
            error: revents & libc::POLLERR != 0,
        }
    }
}

impl Counter {
    /// `own`: whether it is the calling thread that is counted.
    pub(crate) fn new(fd: OwnedFd, attr: Attr, dropped: Vec<&'static str>, own: bool) -> Self {
        let thread = own.then(|| std::thread::current().id());
        Self { file: File::from(fd), attr, dropped, thread }
    }

    /// Whether it is the calling thread that is counted.
    pub(crate) fn is_of_this_thread(&self) -> bool {
        self.thread == Some(std::thread::current().id())
    }

    /// The attr as the kernel took it: without what was [`dropped`](Self::dropped), its `size` that of the version it
    /// was given at. Of a probe `config1` is 0, not the address that its string had.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// What [`Builder::or_drop`] allowed to leave out and the kernel is too old for, by the kernel's names.
    #[must_use]
    pub fn dropped(&self) -> &[&'static str] {
        &self.dropped
    }

    /// The counter's value and what else its `read_format` asks for. Allocates nothing.
    ///
    /// # Errors
    ///
    /// Where `read_format` has `GROUP`, which [`read_group`](Self::read_group) is for; where a pinned event could not be
    /// kept on the PMU, which the kernel tells by an end of file.
    pub fn read(&self) -> Result<Count, Error> {
        if self.attr.read_format.contains(ReadFormat::GROUP) {
            let why = "read_format has PERF_FORMAT_GROUP: the counts of the group are read together";
            return Err(Error::refused("read", "read_format", why));
        }
        let mut bytes = [0; SINGLE];
        let read = self.read_into(&mut bytes)?;
        Count::all(&read).next().ok_or_else(|| Error::refused("read", "read_format", "the read is empty"))
    }

    /// The counts of all events of the group, the leader's first, then the members' in the order they were opened.
    ///
    /// # Errors
    ///
    /// Where `read_format` lacks `GROUP`; where the pinned group could not be kept on the PMU.
    pub fn read_group(&self) -> Result<Vec<Count>, Error> {
        if !self.attr.read_format.contains(ReadFormat::GROUP) {
            let why = "read_format lacks PERF_FORMAT_GROUP: only this event can be read";
            return Err(Error::refused("read", "read_format", why));
        }
        // How many events the group has is not known here. The kernel says if there is too little room.
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

    /// A read as the kernel gives it, of whatever format, into a buffer of the caller's.
    ///
    /// # Errors
    ///
    /// `ENOSPC` where the buffer is too small: a value, an id and a number of lost samples, 8 bytes each, for every
    /// event, and 24 more. Otherwise as [`read`](Self::read).
    pub fn read_into<'b>(&self, buffer: &'b mut [u8]) -> Result<Read<'b, NativeEndian>, Error> {
        let failed = |error| Error::failed("read", error, "");
        let len = (&self.file).read(buffer).map_err(|error| {
            let advice = requests::read(error.raw_os_error());
            Error::failed("read", error, advice)
        })?;
        if len == 0 {
            let why =
                "end of file: the pinned event could not be kept on the PMU and is in error; enable it again";
            return Err(Error::refused("read", "pinned", why));
        }
        let read = buffer.get(..len).unwrap_or_default();
        Read::from_bytes(read, self.attr.read_format)
            .map_err(|error| failed(io::Error::new(io::ErrorKind::InvalidData, error)))
    }

    /// Waits until the event's ring has records, the task ends, or the time is over; `None` waits for ever.
    ///
    /// # Errors
    ///
    /// `EINTR` where a signal came in between.
    pub fn poll(&self, timeout: Option<Duration>) -> Result<Ready, Error> {
        let ready = poll::poll(&[self.as_fd()], timeout)
            .map_err(|error| Error::failed("poll", error, "a signal came; wait again"))?;
        Ok(ready.first().copied().map(Ready::of).unwrap_or_default())
    }

    /// The kernel's id of the event, as samples and group reads bear it.
    ///
    /// # Errors
    ///
    /// `ENOTTY` on kernels before 3.12, where [`Count::id`] has it.
    #[doc(alias = "PERF_EVENT_IOC_ID")]
    pub fn id(&self) -> Result<u64, Error> {
        ioctl::id(self.as_fd()).map_err(|error| self.failed(Request::ID, error))
    }

    /// Starts counting. Of a leader, this starts those of the group's members that are not off themselves.
    ///
    /// # Errors
    ///
    /// As the kernel says; none is usual.
    #[doc(alias = "PERF_EVENT_IOC_ENABLE")]
    pub fn enable(&self) -> Result<(), Error> {
        self.told(Request::ENABLE, ioctl::enable(self.as_fd(), IocFlags::NONE))
    }

    /// Starts every event of the group, whichever of them this is.
    ///
    /// Linux 2.6.31 to 3.4 acts on this event alone, as often as the group has members.
    ///
    /// # Errors
    ///
    /// As [`enable`](Self::enable).
    #[doc(alias = "PERF_IOC_FLAG_GROUP")]
    pub fn enable_group(&self) -> Result<(), Error> {
        self.told(Request::ENABLE, ioctl::enable(self.as_fd(), IocFlags::GROUP))
    }

    /// Stops counting; the count stays. Of a leader, this stops the group.
    ///
    /// # Errors
    ///
    /// As [`enable`](Self::enable).
    #[doc(alias = "PERF_EVENT_IOC_DISABLE")]
    pub fn disable(&self) -> Result<(), Error> {
        self.told(Request::DISABLE, ioctl::disable(self.as_fd(), IocFlags::NONE))
    }

    /// Stops every event of the group, whichever of them this is. Broken as [`enable_group`](Self::enable_group) was.
    ///
    /// # Errors
    ///
    /// As [`enable`](Self::enable).
    pub fn disable_group(&self) -> Result<(), Error> {
        self.told(Request::DISABLE, ioctl::disable(self.as_fd(), IocFlags::GROUP))
    }

    /// Sets the count to 0. The times go on: the kernel has no way to set them back.
    ///
    /// # Errors
    ///
    /// As [`enable`](Self::enable).
    #[doc(alias = "PERF_EVENT_IOC_RESET")]
    pub fn reset(&self) -> Result<(), Error> {
        self.told(Request::RESET, ioctl::reset(self.as_fd(), IocFlags::NONE))
    }

    /// Sets the count of every event of the group to 0. Broken as [`enable_group`](Self::enable_group) was.
    ///
    /// # Errors
    ///
    /// As [`enable`](Self::enable).
    pub fn reset_group(&self) -> Result<(), Error> {
        self.told(Request::RESET, ioctl::reset(self.as_fd(), IocFlags::GROUP))
    }

    /// Enables the event for `overflows` overflows more, after which it is off.
    ///
    /// Each overflow signals whoever asked for signals, with `POLL_IN`, the last with `POLL_HUP`.
    ///
    /// # Errors
    ///
    /// Where `overflows` is 0, whose meaning is undefined, or the event does not sample: these before the kernel is
    /// asked. `EINVAL` for an event that is inherited.
    #[doc(alias = "PERF_EVENT_IOC_REFRESH")]
    pub fn refresh(&self, overflows: u32) -> Result<(), Error> {
        let refused = |field, why| Err(Error::refused(Request::REFRESH.c_name, field, why));
        if overflows == 0 {
            return refused("", "0 overflows: what the kernel does then is not defined");
        }
        if !builder::is_sampling(&self.attr) {
            return refused("sample_period", "the event counts and does not sample: it has no overflows");
        }
        self.told(Request::REFRESH, ioctl::refresh(self.as_fd(), overflows))
    }

    /// Sets the period, or the frequency where the event was opened with one.
    ///
    /// The software clocks turn their frequency into a period when they are opened: of them it is the period,
    /// nanoseconds, that this sets.
    ///
    /// It holds at once since Linux 3.14 (on arm since 3.7), before from the next overflow on; before 2.6.36 the request
    /// always fails.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an event that does not sample, a period of 0 or above 63 bits, a frequency above
    /// [`max_sample_rate`](crate::limits::max_sample_rate).
    #[doc(alias = "PERF_EVENT_IOC_PERIOD")]
    pub fn period(&self, period: u64) -> Result<(), Error> {
        self.told(Request::PERIOD, ioctl::period(self.as_fd(), period))
    }

    /// Sends the records to the ring of `output`, which has to be mapped; `None` undoes it.
    ///
    /// # Errors
    ///
    /// `EINVAL` where the two are not of one cpu or one task, differ in clock or in `write_backward`, or this event has
    /// a ring of its own.
    #[doc(alias = "PERF_EVENT_IOC_SET_OUTPUT")]
    pub fn set_output(&self, output: Option<&Self>) -> Result<(), Error> {
        self.told(Request::SET_OUTPUT, ioctl::set_output(self.as_fd(), output.map(AsFd::as_fd)))
    }

    /// Sets the filter: of a tracepoint an expression over its fields (`prev_pid != 0 && prev_comm ~ "bash*"`), of an AUX
    /// PMU address ranges (`filter 0x1000/0x100@/bin/true`), which replace those before. Since Linux 2.6.33.
    ///
    /// # Errors
    ///
    /// `EINVAL` where the expression cannot be parsed, or the event can have no filter; `EEXIST` where a tracepoint's
    /// event has one already, which stays until it is closed.
    #[doc(alias = "PERF_EVENT_IOC_SET_FILTER")]
    pub fn set_filter(&self, filter: &CStr) -> Result<(), Error> {
        self.told(Request::SET_FILTER, ioctl::set_filter(self.as_fd(), filter))
    }

    /// Attaches the BPF program whose file descriptor is `program`: to a tracepoint or a probe, where it runs at each hit
    /// and may keep it from being recorded; since Linux 4.9 to an event that samples. Since Linux 4.1.
    ///
    /// # Errors
    ///
    /// `EINVAL` where the program is not of the event's kind, `EEXIST` where the event has a program, `EPERM` without
    /// `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    #[doc(alias = "PERF_EVENT_IOC_SET_BPF")]
    pub fn set_bpf(&self, program: impl AsFd) -> Result<(), Error> {
        self.told(Request::SET_BPF, ioctl::set_bpf(self.as_fd(), program.as_fd()))
    }

    /// Pauses the ring, or resumes it. What is recorded while it is paused is lost, and told by a LOST record; overflows
    /// still signal. Since Linux 4.7.
    ///
    /// # Errors
    ///
    /// `EINVAL` where the event has no ring.
    #[doc(alias = "PERF_EVENT_IOC_PAUSE_OUTPUT")]
    pub fn pause_output(&self, pause: bool) -> Result<(), Error> {
        self.told(Request::PAUSE_OUTPUT, ioctl::pause_output(self.as_fd(), pause))
    }

    /// The ids of the BPF programs on this tracepoint, those that other events have attached to it included. Since
    /// Linux 4.16.
    ///
    /// # Errors
    ///
    /// `EINVAL` for an event that is no tracepoint, `EPERM` without `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    #[doc(alias = "PERF_EVENT_IOC_QUERY_BPF")]
    pub fn query_bpf(&self) -> Result<Vec<u32>, Error> {
        // More programs than this a tracepoint may not have.
        const MOST: usize = 64;
        let mut words = [0; 2 + MOST];
        ioctl::query_bpf(self.as_fd(), &mut words).map_err(|error| self.failed(Request::QUERY_BPF, error))?;
        let [_, count, ids @ ..] = &words;
        let count = usize::try_from(*count).unwrap_or(MOST).min(MOST);
        Ok(ids.iter().take(count).copied().collect())
    }

    /// Changes a breakpoint without opening it anew: its address, length and accesses, and whether it is on. Nothing
    /// else of `event` may differ from what this was opened with. Since Linux 4.17.
    ///
    /// # Errors
    ///
    /// Where `event` contradicts itself; `EOPNOTSUPP` for an event that is no breakpoint; `EINVAL` where something else
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

    fn told(&self, request: Request, result: io::Result<()>) -> Result<(), Error> {
        result.map_err(|error| self.failed(request, error))
    }

    fn failed(&self, request: Request, error: io::Error) -> Error {
        let advice = requests::advice(request, &self.attr, error.raw_os_error());
        Error::failed(request.c_name, error, advice)
    }
}

/// Enables every event that the calling thread opened, on whomever; not those that others opened on it, nor those that
/// other threads of the process opened.
///
/// Members of groups too, on Linux 6.18 at least; the manual says that they are left as they are.
///
/// # Errors
///
/// `EINVAL` where the kernel has no perf_event.
#[doc(alias = "PR_TASK_PERF_EVENTS_ENABLE")]
pub fn enable_task() -> Result<(), Error> {
    prctl::task_perf_events(true).map_err(|error| Error::failed("PR_TASK_PERF_EVENTS_ENABLE", error, ""))
}

/// Disables every event that the calling thread opened, as [`enable_task`] enables them.
///
/// # Errors
///
/// As [`enable_task`].
#[doc(alias = "PR_TASK_PERF_EVENTS_DISABLE")]
pub fn disable_task() -> Result<(), Error> {
    prctl::task_perf_events(false).map_err(|error| Error::failed("PR_TASK_PERF_EVENTS_DISABLE", error, ""))
}
