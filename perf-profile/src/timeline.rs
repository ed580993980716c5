//! The activity of threads over time.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZero;

use crate::profile::{Profile, ProfileEvent, ProfileThread};

/// The samples of each thread in each part of the time of a profile.
///
/// # Examples
///
/// ```
/// # fn activity(profile: &perf_profile::Profile) {
/// use std::num::NonZero;
///
/// use perf_profile::ThreadTimeline;
///
/// const PARTS: NonZero<usize> = NonZero::new(100).unwrap();
/// let Some(timeline) = ThreadTimeline::of(profile, PARTS) else { return };
/// for event in &timeline.events {
///     for strip in &event.strips {
///         println!("{} {:?}", strip.tid, strip.samples);
///     }
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadTimeline<'a> {
    /// The times of the first and of the last sample, in nanoseconds.
    pub span: (u64, u64),
    /// Number of nanoseconds of a part.
    pub part: u64,
    /// The events of the profile, in its order.
    pub events: Vec<EventTimeline<'a>>,
}

/// The samples of an event by thread and time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventTimeline<'a> {
    /// The event.
    pub event: &'a ProfileEvent,
    /// The threads with samples, those with the most samples first, and equal ones by their ids.
    pub strips: Vec<ThreadStrip<'a>>,
}

/// The samples of a thread under one of its names.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ThreadStrip<'a> {
    /// The process.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// Its name, in any encoding.
    pub comm: &'a [u8],
    /// The number of samples in each part of the time.
    pub samples: Vec<u64>,
}

impl ThreadStrip<'_> {
    /// Returns the number of samples in all parts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.samples.iter().sum()
    }
}

impl EventTimeline<'_> {
    /// Returns the largest number of samples in a part of a thread; 0 without samples.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.strips.iter().flat_map(|strip| &strip.samples).max().copied().unwrap_or(0)
    }
}

impl<'a> ThreadTimeline<'a> {
    /// Divides the time of a profile into parts of equal length. `None` if no sample has a time. The profile must have the
    /// time of each sample: see [`TimeDetail::Each`](crate::TimeDetail::Each).
    #[must_use]
    pub fn of(profile: &'a Profile, parts: NonZero<usize>) -> Option<Self> {
        let (first, last) = profile.span()?;
        let part = (last - first) / parts.get() as u64 + 1;
        let events = profile.events().iter().zip(0..);
        let events = events.map(|(event, number)| strips(profile, event, number, parts.get(), (first, part)));
        Some(Self { span: (first, last), part, events: events.collect() })
    }
}

/// Returns the strips of an event with this number. `time` is that of the first sample, and the length of a part.
fn strips<'a>(
    profile: &'a Profile,
    event: &'a ProfileEvent,
    number: u32,
    parts: usize,
    (first, part): (u64, u64),
) -> EventTimeline<'a> {
    let mut strips: BTreeMap<(i32, i32, &[u8]), Vec<u64>> = BTreeMap::new();
    for sample in profile.samples().filter(|sample| sample.event == number) {
        let Some(ProfileThread { pid, tid, comm, .. }) = profile.threads().get(sample.thread as usize) else {
            continue;
        };
        let strip = strips.entry((*pid, *tid, comm)).or_insert_with(|| vec![0; parts]);
        // Times are within the span, so the part is one of them.
        if let Some(count) = strip.get_mut(((sample.time - first) / part) as usize) {
            *count += sample.total.samples;
        }
    }
    let strip = |((pid, tid, comm), samples)| ThreadStrip { pid, tid, comm, samples };
    let mut strips: Vec<_> = strips.into_iter().map(strip).collect();
    // The sort is stable, so that threads with equal sums stay in the order of their ids.
    strips.sort_by_key(|strip| Reverse(strip.total()));
    EventTimeline { event, strips }
}
