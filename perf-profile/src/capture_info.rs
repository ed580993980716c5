//! The events and features of a capture.

use perf_abi::endian::Endianness;
use perf_abi::feature::Feature;
use perf_parse::event::Events;
use perf_parse::feature::{FeatureSection, Features};
use perf_parse::file::{Limits, Mode, Reader};

/// The events and features of a capture, as they are known before its records are read. They do not depend on where the records
/// come from.
///
/// Functions that need them take a [`Reader`] as well. A program that has records from elsewhere, such as rings, makes them
/// [`of`](Self::of) the events that it opened.
///
/// # Examples
///
/// Those of the records of one event, without features:
///
/// ```
/// use perf_parse::abi::attr::Attr;
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::event::Events;
/// use perf_parse::feature::Features;
/// use perf_profile::CaptureInfo;
///
/// let events: Events = [(Attr::default(), vec![])].into_iter().collect();
/// let features = Features::new(Endianness::Little);
/// let info = CaptureInfo::of(&events, &features);
/// assert!(info.is_complete());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CaptureInfo<'a> {
    events: &'a Events,
    features: &'a Features<'a>,
    mode: &'a Mode,
    limits: Limits,
}

impl<'a> CaptureInfo<'a> {
    /// Describes records without a container, whose events are all known.
    #[must_use]
    pub fn of(events: &'a Events, features: &'a Features<'a>) -> Self {
        Self { events, features, mode: &Mode::Ring, limits: Limits::default() }
    }

    /// Sets how the capture stores its records.
    pub(crate) fn of_mode(self, mode: &'a Mode) -> Self {
        Self { mode, ..self }
    }

    /// Bounds what a walk over the records holds, in place of the default limits or those of the reader.
    #[must_use]
    pub fn within(self, limits: &Limits) -> Self {
        Self { limits: *limits, ..self }
    }

    /// Returns the events.
    #[must_use]
    pub fn events(self) -> &'a Events {
        self.events
    }

    /// Returns the features.
    #[must_use]
    pub fn features(self) -> &'a Features<'a> {
        self.features
    }

    /// Returns a feature; `None` if it is not known.
    #[must_use]
    pub fn feature(self, feature: Feature) -> Option<FeatureSection<'a>> {
        self.features.get(feature)
    }

    /// Returns the byte order of the records.
    #[must_use]
    pub fn endianness(self) -> Endianness {
        self.features.endianness()
    }

    /// Returns how the capture stores its records.
    #[must_use]
    pub fn mode(self) -> &'a Mode {
        self.mode
    }

    /// Returns the limits of what a walk holds.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns whether all events are known. A pipe may have more later.
    #[must_use]
    pub fn is_complete(self) -> bool {
        !matches!(self.mode, Mode::Pipe)
    }
}

impl<'a> From<&'a Reader<'_>> for CaptureInfo<'a> {
    fn from(reader: &'a Reader<'_>) -> Self {
        let (events, features, mode) = (reader.events(), reader.features(), reader.mode());
        Self { events, features, mode, limits: *reader.limits() }
    }
}
