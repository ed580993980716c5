//! Events to open: every field of the attr.
//!
//! A [`Builder`] starts from an [`EventSpec`], which selects what is counted, or from an [`Attr`]. Each setter has the
//! kernel's name of its field. Fields that are not set are zero, so an event counts from the moment it is opened unless
//! it is [`disabled`](Builder::disabled).
//!
//! # Older kernels
//!
//! The attr is passed in the oldest version that holds the fields that are set. If the kernel knows less,
//! [`Builder::open`] finds out which parts it does not know, and its error names them. Parts that [`Builder::or_drop`]
//! allows are left out instead, and [`Counter::dropped`](crate::Counter::dropped) lists them. Nothing else is left
//! out.

mod check;
mod feature;
mod setters;

use alloc::ffi::CString;

use perf_abi::attr::{Attr, AttrFlags};
use perf_abi::open::OpenFlags;
use perf_abi::sample_type::SampleType;

pub(crate) use check::check;
pub use feature::AttrPart;

use crate::event::EventSpec;

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
    pub(crate) attr: Attr,
    /// The string that `config1` must point to.
    pub(crate) string: Option<CString>,
    /// Whether to try `precise_ip` from 3 down.
    pub(crate) precise_max: bool,
    pub(crate) flags: OpenFlags,
    pub(crate) optional: Vec<AttrPart>,
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
        if terms.aux_output == Some(true) {
            builder.attr.flags |= AttrFlags::AUX_OUTPUT;
        }
        if let Some(bytes) = terms.aux_sample_size.filter(|&bytes| bytes > 0) {
            builder.attr.sample_type |= SampleType::AUX;
            builder.attr.aux_sample_size = bytes;
        }
        builder.attr.aux_action |= terms.aux_action.unwrap_or_default();
        builder
    }
}

impl Builder {
    /// Starts from `event` and applies its terms for period, frequency, time, inheritance, depth of call chains, and AUX
    /// areas.
    ///
    /// The other terms (`call-graph`, `stack-size`, `overwrite`) need several fields and a matching ring, so they are
    /// left to the caller. If [`precise_max`](EventSpec::precise_max) is set, [`open`](Self::open) tries `precise_ip`
    /// 3, 2, 1 and 0.
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

    /// Allows `feature` to be left out if the kernel is too old for it.
    /// [`Counter::dropped`](crate::Counter::dropped) then lists its name.
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
}

/// Returns whether an event of this attr samples.
pub(crate) fn is_sampling(attr: &Attr) -> bool {
    attr.sample_period != 0 || attr.flags.contains(AttrFlags::FREQ)
}
