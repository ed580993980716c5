//! The samples of a profile: counted together where they have everything in common that is kept, or each alone.

mod grouped;
mod single;

use core::ops::Range;

use crate::sample::{Sample, TimeDetail};
use grouped::GroupedSamples;
use single::SingleSamples;

/// The samples of a profile.
#[derive(Debug)]
pub(crate) enum SampleList {
    Grouped(GroupedSamples),
    Single(SingleSamples),
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is the last one of the list, and keeps its number.
    Last,
    /// It is counted.
    Counted,
    /// It is left out, because it is beyond the limit.
    Beyond,
}

impl SampleList {
    pub(crate) fn new(times: TimeDetail) -> Self {
        match times {
            TimeDetail::Nothing => Self::Grouped(GroupedSamples::default()),
            TimeDetail::Spans => Self::Grouped(GroupedSamples::in_spans()),
            TimeDetail::Each => Self::Single(SingleSamples::default()),
        }
    }

    /// Adds a sample. `limit` is the largest number of samples of the list.
    pub(crate) fn add(&mut self, sample: &Sample, limit: usize) -> Admission {
        let limit = limit.min(u32::MAX as usize);
        match self {
            Self::Grouped(samples) => samples.add(sample, limit),
            Self::Single(samples) if samples.len() < limit => {
                samples.push(sample);
                Admission::Last
            }
            Self::Single(_) => Admission::Beyond,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Grouped(samples) => samples.rows().len(),
            Self::Single(samples) => samples.len(),
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<Sample> {
        match self {
            Self::Grouped(samples) => samples.rows().get(number as usize).copied(),
            Self::Single(samples) => samples.get(number),
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        Iter { samples: self, numbers: 0..self.len() as u32 }
    }

    /// Returns the number of nanoseconds of the spans of time that samples are counted in.
    pub(crate) fn span(&self) -> u64 {
        match self {
            Self::Grouped(samples) => samples.span(),
            Self::Single(_) => 1,
        }
    }

    /// Drops the samples for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: &mut dyn FnMut(&Sample) -> bool) {
        match self {
            Self::Grouped(samples) => samples.retain(keep),
            Self::Single(_) => {
                let mut kept = SingleSamples::default();
                self.iter().filter(keep).for_each(|sample| kept.push(&sample));
                *self = Self::Single(kept);
            }
        }
        self.finish();
    }

    /// Drops what only [`add`](Self::add) needs.
    pub(crate) fn finish(&mut self) {
        match self {
            Self::Grouped(samples) => samples.finish(),
            Self::Single(samples) => samples.finish(),
        }
    }
}

/// Samples, by their numbers.
#[derive(Clone, Debug)]
pub(crate) struct Iter<'a> {
    samples: &'a SampleList,
    numbers: Range<u32>,
}

impl Iterator for Iter<'_> {
    type Item = Sample;

    #[inline]
    fn next(&mut self) -> Option<Sample> {
        self.samples.get(self.numbers.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

/// Returns a sample for tests.
#[cfg(test)]
fn sample(stack: u32, time: u64) -> Sample {
    let total = crate::sample::SampleTotal { samples: 1, period: 100 };
    Sample { event: 0, thread: 1, cpu: None, time, stack, total }
}
