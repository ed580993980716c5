//! The call that opens an event, and its errors.

mod advice;
mod negotiate;

use std::os::fd::{AsFd, OwnedFd};

use perf_abi::attr::{Attr, AttrVersion};
use perf_abi::open::OpenFlags;

use self::advice::OpenAttempt;
use self::negotiate::{EventOpener, OpenFailure};
use crate::builder::{Builder, check};
use crate::counter::Counter;
use crate::error::Error;
use crate::sys::open::{KernelRefusal, OpenArguments, perf_event_open};
use crate::target::Target;

impl Builder {
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
    /// The target must be the leader's. [`CounterGroup`](crate::CounterGroup) keeps the leader and its members.
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
        let place = OpenArguments { pid, cpu, group: leader.map(AsFd::as_fd), flags: self.flags | flags };
        let mut live = RunningKernel { place, string: self.string.as_deref() };
        let mut attr = self.attr;
        if self.precise_max {
            attr.flags = attr.flags.with_precise_ip(3);
        }
        loop {
            let OpenFailure { refusal, unknown } = match negotiate::open(&mut live, &attr, &self.optional) {
                Ok(opened) => return Ok(Counter::new(opened.event, opened.attr, opened.dropped, pid == 0)),
                Err(unopened) => unopened,
            };
            let precise = attr.flags.precise_ip();
            if self.precise_max && unknown.is_empty() && precise > 0 {
                attr.flags = attr.flags.with_precise_ip(precise.saturating_sub(1));
                continue;
            }
            let attempt = OpenAttempt {
                attr: &attr,
                target,
                in_group: leader.is_some(),
                string: self.string.as_deref(),
            };
            return Err(refusal_error(refusal, &unknown, &attempt));
        }
    }
}

/// The running kernel.
struct RunningKernel<'a> {
    place: OpenArguments<'a>,
    string: Option<&'a core::ffi::CStr>,
}

impl EventOpener for RunningKernel<'_> {
    type Event = OwnedFd;

    fn open(&mut self, attr: &Attr, version: AttrVersion) -> Result<Self::Event, KernelRefusal> {
        perf_event_open(attr, version, self.string, self.place)
    }

    fn rejects(&mut self, attr: &Attr, version: AttrVersion) -> bool {
        let nowhere = OpenArguments { pid: 0, cpu: -1, group: None, flags: OpenFlags::NONE };
        let outcome = perf_event_open(attr, version, None, nowhere);
        outcome.is_err_and(|refusal| refusal.error.raw_os_error() == Some(libc::EINVAL))
    }
}

/// Returns the error that describes a refusal.
fn refusal_error(
    refusal: KernelRefusal,
    unknown: &[(&'static str, Option<&'static str>)],
    attempt: &OpenAttempt<'_>,
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
