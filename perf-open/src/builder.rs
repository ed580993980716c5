//! How to count: every field of the attr, and the opening.
//!
//! A [`Builder`] starts from an [`Event`], which says what is counted, or from an [`Attr`]. Each setter is named after
//! the kernel's field; what is not set is zero, so an event is on when it is opened unless [`disabled`](Builder::disabled).
//!
//! # Older kernels
//!
//! The attr is given at the oldest version that holds what is set. Where the kernel knows less, [`Builder::open`] finds
//! out what, and names it in the error; or leaves it out where [`Builder::or_drop`] allows it, and
//! [`Counter::dropped`] tells. Nothing is left out unasked.

mod check;
mod feature;
mod negotiate;
mod setters;

use alloc::ffi::CString;
use std::os::fd::AsFd;

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::open::OpenFlags;
use perf_abi::sample_type::SampleType;

pub(crate) use check::check;
pub use feature::Feature;

use self::negotiate::{Kernel, Unopened};
use crate::counter::Counter;
use crate::error::{Attempt, Error};
use crate::event::Event;
use crate::sys::open::{Place, Refusal, perf_event_open};
use crate::target::Target;

/// An event to be opened: what it counts, how, and what it records.
///
/// # Examples
///
/// ```
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::read_format::ReadFormat;
/// use perf_open::{Builder, Event, Target};
///
/// let counter = Builder::new(Event::software(SwId::TASK_CLOCK))
///     .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING)
///     .exclude_kernel(true)
///     .open(&Target::this_thread())?;
/// assert!(counter.read()?.value > 0);
///
/// // What could only fail is refused in words, and the kernel is not asked.
/// let error = Builder::new(Event::software(SwId::TASK_CLOCK)).sigtrap(true).open(&Target::this_thread());
/// assert_eq!(error.unwrap_err().fields(), ["sigtrap"]);
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    attr: Attr,
    /// What `config1` is to point to.
    string: Option<CString>,
    /// Whether to try `precise_ip` from 3 down.
    precise_max: bool,
    flags: OpenFlags,
    optional: Vec<Feature>,
}

impl From<Attr> for Builder {
    /// As the attr is; its `size` is not looked at.
    fn from(attr: Attr) -> Self {
        Self { attr, string: None, precise_max: false, flags: OpenFlags::FD_CLOEXEC, optional: Vec::new() }
    }
}

impl From<Event> for Builder {
    fn from(event: Event) -> Self {
        let Event { attr, string, precise_max, terms, .. } = event;
        let mut builder = Self { string, precise_max, ..Self::from(attr) };
        if let Some(period) = terms.period {
            builder = builder.sample_period(period);
        }
        if let Some(freq) = terms.freq {
            builder = builder.sample_freq(freq);
        }
        if let Some(inherit) = terms.inherit {
            builder = builder.inherit(inherit);
        }
        if let Some(entries) = terms.max_stack {
            builder = builder.sample_max_stack(entries);
        }
        if terms.time == Some(true) {
            builder.attr.sample_type |= SampleType::TIME;
        }
        builder
    }
}

impl Builder {
    /// `event`, with what its terms say of period, frequency, time, inheritance and depth of call chains.
    ///
    /// The other terms (`call-graph`, `stack-size`, `overwrite`) say what to record, which takes several fields and a
    /// ring to match: they are left to the caller. `precise_ip` is tried from 3 down where
    /// [`precise_max`](Event::precise_max) says so.
    #[must_use]
    pub fn new(event: Event) -> Self {
        Self::from(event)
    }

    /// The attr as it will be given to the kernel, but for its size and the address of a probe's string.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// The attr, to be changed as a whole.
    pub fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// Leaves `feature` out where the kernel is too old for it; [`Counter::dropped`] then tells its name.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::abi::attr::AttrFlags;
    /// use perf_open::abi::event::SwId;
    /// use perf_open::{Builder, Event, Target};
    ///
    /// let counter = Builder::new(Event::software(SwId::DUMMY))
    ///     .mmap(true)
    ///     .mmap2(true)
    ///     .build_id(true) // since Linux 5.12
    ///     .or_drop(AttrFlags::BUILD_ID)
    ///     .exclude_kernel(true)
    ///     .open(&Target::this_thread())?;
    /// assert!(counter.dropped().is_empty() || counter.dropped() == ["build_id"]);
    /// # Ok::<(), perf_open::Error>(())
    /// ```
    #[must_use]
    pub fn or_drop(mut self, feature: impl Into<Feature>) -> Self {
        self.optional.push(feature.into());
        self
    }

    /// Opens the event.
    ///
    /// # Errors
    ///
    /// Where the attr contradicts itself, before the kernel is asked; where the kernel is too old for a part of it,
    /// [`Error::fields`] names it; otherwise the kernel's errno with what it means for this event and target.
    ///
    /// On a kernel before 3.3 an event that does not fit beside the others is `ENOSPC`, later `EINVAL`; before 2.6.33,
    /// and with the NMI watchdog on, it is opened and counts nothing: `time_running` 0 tells. Before 2.6.34 the PMU's
    /// constraints were not checked at all.
    #[doc(alias = "perf_event_open")]
    pub fn open(&self, target: &Target<'_>) -> Result<Counter, Error> {
        self.open_at(target, None)
    }

    /// Opens the event as a member of the group that `leader` leads: they are on the PMU together or not at all.
    ///
    /// The target has to be the leader's. See [`Group`](crate::Group), which keeps both.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(&self, leader: &Counter, target: &Target<'_>) -> Result<Counter, Error> {
        self.open_at(target, Some(leader))
    }

    fn open_at(&self, target: &Target<'_>, leader: Option<&Counter>) -> Result<Counter, Error> {
        let (pid, cpu, flags) = target.arguments()?;
        check(&self.attr, leader.is_some())?;
        let place = Place { pid, cpu, group: leader.map(AsFd::as_fd), flags: self.flags | flags };
        let mut live = Live { place, string: self.string.as_deref() };
        let mut attr = self.attr;
        if self.precise_max {
            attr.flags = attr.flags.with_precise_ip(3);
        }
        loop {
            let Unopened { refusal, unknown } = match negotiate::open(&mut live, &attr, &self.optional) {
                Ok(opened) => return Ok(Counter::new(opened.event, opened.attr, opened.dropped, pid == 0)),
                Err(unopened) => unopened,
            };
            let precise = attr.flags.precise_ip();
            if self.precise_max && unknown.is_empty() && precise > 0 {
                attr.flags = attr.flags.with_precise_ip(precise.saturating_sub(1));
                continue;
            }
            let attempt =
                Attempt { attr: &attr, target, in_group: leader.is_some(), string: self.string.as_deref() };
            return Err(told(refusal, &unknown, &attempt));
        }
    }
}

/// The kernel that runs.
struct Live<'a> {
    place: Place<'a>,
    string: Option<&'a core::ffi::CStr>,
}

impl Kernel for Live<'_> {
    type Event = std::os::fd::OwnedFd;

    fn open(&mut self, attr: &Attr, version: AttrVersion) -> Result<Self::Event, Refusal> {
        perf_event_open(attr, version, self.string, self.place)
    }

    fn rejects(&mut self, attr: &Attr, version: AttrVersion) -> bool {
        let nowhere = Place { pid: 0, cpu: -1, group: None, flags: OpenFlags::NONE };
        let outcome = perf_event_open(attr, version, None, nowhere);
        outcome.is_err_and(|refusal| refusal.error.raw_os_error() == Some(libc::EINVAL))
    }
}

/// The error that a refusal is.
fn told(refusal: Refusal, unknown: &[(&'static str, Option<&'static str>)], attempt: &Attempt<'_>) -> Error {
    if unknown.is_empty() {
        let advice = attempt.advice(refusal.error.raw_os_error().unwrap_or_default());
        return Error::failed("perf_event_open", refusal.error, advice);
    }
    let words: Vec<String> = unknown
        .iter()
        .map(|(field, since)| match since {
            Some(since) => format!("{field} (since Linux {since})"),
            None => format!("{field} (bits that no kernel known to this crate has)"),
        })
        .collect();
    let advice = format!("this kernel does not know, or was built without, {}", words.join(", "));
    let fields = unknown.iter().map(|&(field, _)| field).collect();
    Error::failed("perf_event_open", refusal.error, advice).with_fields(fields)
}

/// Whether `attr` reads a group.
pub(crate) fn is_sampling(attr: &Attr) -> bool {
    attr.sample_period != 0 || attr.flags.contains(AttrFlags::FREQ)
}
