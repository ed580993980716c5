//! The samples of a profile: counted together where they have everything in common that is kept, or each alone.

mod alone;
mod counted;

use core::ops::Range;

use crate::sample::{Sample, Times};
use alone::Alone;
use counted::Counted;

/// The samples of a profile.
#[derive(Debug)]
pub(crate) enum SampleList {
    Counted(Counted),
    Alone(Alone),
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is the last one of the list, and keeps its number.
    Last,
    /// It is counted.
    Counted,
    /// It is left out, because it is beyond the limit.
    Beyond,
}

impl SampleList {
    pub(crate) fn new(times: Times) -> Self {
        match times {
            Times::Nothing => Self::Counted(Counted::default()),
            Times::Spans => Self::Counted(Counted::in_spans()),
            Times::Each => Self::Alone(Alone::default()),
        }
    }

    /// Adds a sample. `limit` is the largest number of samples of the list.
    pub(crate) fn add(&mut self, sample: &Sample, limit: usize) -> Added {
        let limit = limit.min(u32::MAX as usize);
        match self {
            Self::Counted(samples) => samples.add(sample, limit),
            Self::Alone(samples) if samples.len() < limit => {
                samples.push(sample);
                Added::Last
            }
            Self::Alone(_) => Added::Beyond,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Counted(samples) => samples.rows().len(),
            Self::Alone(samples) => samples.len(),
        }
    }

    pub(crate) fn get(&self, number: u32) -> Option<Sample> {
        match self {
            Self::Counted(samples) => samples.rows().get(number as usize).copied(),
            Self::Alone(samples) => samples.get(number),
        }
    }

    pub(crate) fn iter(&self) -> Iter<'_> {
        Iter { samples: self, numbers: 0..self.len() as u32 }
    }

    /// Returns the number of nanoseconds of the spans of time that samples are counted in.
    pub(crate) fn span(&self) -> u64 {
        match self {
            Self::Counted(samples) => samples.span(),
            Self::Alone(_) => 1,
        }
    }

    /// Drops the samples for which `keep` returns false.
    pub(crate) fn retain(&mut self, keep: &mut dyn FnMut(&Sample) -> bool) {
        match self {
            Self::Counted(samples) => samples.retain(keep),
            Self::Alone(_) => {
                let mut kept = Alone::default();
                self.iter().filter(keep).for_each(|sample| kept.push(&sample));
                *self = Self::Alone(kept);
            }
        }
        self.finish();
    }

    /// Drops what only [`add`](Self::add) needs.
    pub(crate) fn finish(&mut self) {
        match self {
            Self::Counted(samples) => samples.finish(),
            Self::Alone(samples) => samples.finish(),
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
    let total = crate::sample::Total { samples: 1, period: 100 };
    Sample { event: 0, thread: 1, cpu: None, time, stack, total }
}
