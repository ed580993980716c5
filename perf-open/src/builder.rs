//! Opening an event: every field of the attr, and the call.
//!
//! A [`Builder`] starts from an [`EventSpec`], which selects what is counted, or from an [`Attr`]. Each setter has the
//! kernel's name of its field. Fields that are not set are zero, so an event counts from the moment it is opened unless
//! it is [`disabled`](Builder::disabled).
//!
//! # Older kernels
//!
//! The attr is passed in the oldest version that holds the fields that are set. If the kernel knows less,
//! [`Builder::open`] finds out which parts it does not know, and its error names them. Parts that [`Builder::or_drop`]
//! allows are left out instead, and [`Counter::dropped`] lists them. Nothing else is left out.

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
pub use feature::AttrPart;

use self::negotiate::{Kernel, Unopened};
use crate::counter::Counter;
use crate::error::{Attempt, Error};
use crate::event::EventSpec;
use crate::sys::open::{Place, Refusal, perf_event_open};
use crate::target::Target;

/// An event to open: what it counts, how, and what it records.
///
/// # Examples
///
/// ```no_run
/// use perf_open::abi::event::SwId;
/// use perf_open::abi::read_format::ReadFormat;
/// use perf_open::{Builder, EventSpec, Target};
///
/// let counter = Builder::new(EventSpec::software(SwId::TASK_CLOCK))
///     .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING)
///     .exclude_kernel(true)
///     .open(&Target::this_thread())?;
/// assert!(counter.read()?.value > 0);
///
/// // A request that can only fail returns an error without a system call.
/// let error = Builder::new(EventSpec::software(SwId::TASK_CLOCK)).sigtrap(true).open(&Target::this_thread());
/// assert_eq!(error.unwrap_err().fields(), ["sigtrap"]);
/// # Ok::<(), perf_open::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    attr: Attr,
    /// The string that `config1` must point to.
    string: Option<CString>,
    /// Whether to try `precise_ip` from 3 down.
    precise_max: bool,
    flags: OpenFlags,
    optional: Vec<AttrPart>,
}

impl From<Attr> for Builder {
    /// Copies the attr; its `size` is ignored.
    fn from(attr: Attr) -> Self {
        Self { attr, string: None, precise_max: false, flags: OpenFlags::FD_CLOEXEC, optional: Vec::new() }
    }
}

impl From<EventSpec> for Builder {
    fn from(event: EventSpec) -> Self {
        let EventSpec { attr, string, precise_max, terms, .. } = event;
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
    /// Starts from `event` and applies its terms for period, frequency, time, inheritance and depth of call chains.
    ///
    /// The other terms (`call-graph`, `stack-size`, `overwrite`) need several fields and a matching ring, so they are
    /// left to the caller. If [`precise_max`](EventSpec::precise_max) is set, [`open`](Self::open) tries `precise_ip` 3, 2,
    /// 1 and 0.
    #[must_use]
    pub fn new(event: EventSpec) -> Self {
        Self::from(event)
    }

    /// Returns the attr that the kernel will get, except for its size and the address of a probe's string.
    #[must_use]
    pub fn attr(&self) -> &Attr {
        &self.attr
    }

    /// Returns the attr for direct changes.
    pub fn attr_mut(&mut self) -> &mut Attr {
        &mut self.attr
    }

    /// Allows `feature` to be left out if the kernel is too old for it. [`Counter::dropped`] then lists its name.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use perf_open::abi::attr::AttrFlags;
    /// use perf_open::abi::event::SwId;
    /// use perf_open::{Builder, EventSpec, Target};
    ///
    /// let counter = Builder::new(EventSpec::software(SwId::DUMMY))
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
    pub fn or_drop(mut self, feature: impl Into<AttrPart>) -> Self {
        self.optional.push(feature.into());
        self
    }

    /// Opens the event.
    ///
    /// # Errors
    ///
    /// If the attr contradicts itself, before any system call. If the kernel is too old for a part of the attr;
    /// [`Error::fields`] names the part. Otherwise the kernel's errno, with its meaning for this event and target.
    ///
    /// If the event does not fit on the PMU together with the others of its group, the errno is `EINVAL`, and `ENOSPC`
    /// before Linux 3.3. Before 2.6.33, and with the NMI watchdog on, such an event opens but counts nothing:
    /// `time_running` stays 0. Before 2.6.34 the kernel does not check the constraints of the PMU at all.
    #[doc(alias = "perf_event_open")]
    pub fn open(&self, target: &Target<'_>) -> Result<Counter, Error> {
        self.open_at(target, None)
    }

    /// Opens the event as a member of the group of `leader`. All events of a group are on the PMU together, or none is.
    ///
    /// The target must be the leader's. [`Group`](crate::Group) keeps the leader and its members.
    ///
    /// # Errors
    ///
    /// The same as [`open`](Self::open).
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
            return Err(refusal_error(refusal, &unknown, &attempt));
        }
    }
}

/// The running kernel.
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

/// Returns the error that describes a refusal.
fn refusal_error(
    refusal: Refusal,
    unknown: &[(&'static str, Option<&'static str>)],
    attempt: &Attempt<'_>,
) -> Error {
    if unknown.is_empty() {
        let advice = attempt.advice(refusal.error.raw_os_error().unwrap_or_default());
        return Error::failed("perf_event_open", refusal.error, advice);
    }
    let words: Vec<String> = unknown
        .iter()
        .map(|(field, since)| match since {
            Some(since) => format!("{field} (since Linux {since})"),
            None => format!("{field} (bits that this crate does not know)"),
        })
        .collect();
    let advice = format!("this kernel does not know, or was built without, {}", words.join(", "));
    let fields = unknown.iter().map(|&(field, _)| field).collect();
    Error::failed("perf_event_open", refusal.error, advice).with_fields(fields)
}

/// Returns whether an event of this attr samples.
pub(crate) fn is_sampling(attr: &Attr) -> bool {
    attr.sample_period != 0 || attr.flags.contains(AttrFlags::FREQ)
}
