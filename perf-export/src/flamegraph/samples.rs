//! The samples of all captures, those with everything in common counted together.

use std::num::NonZero;

use perf_profile::{Profile, SampleTotal, work::sorting::sort_by_key};

use super::events::FlameEvents;
use super::threads::FlameThreads;
use crate::html::numbers::push;

/// Number of parts into which the time is divided, if times are exact. Such profiles have at most 65,536 samples, so that more
/// parts cost few rows.
const EXACT_BUCKETS: u64 = 2048;
/// The least number of parts otherwise.
const BUCKETS: u64 = 512;

/// The key by which samples are added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct SampleKey {
    event: u32,
    node: u32,
    thread: u32,
    /// From 1 on; 0 without a time.
    bucket: u32,
}

/// The samples of all captures as bytes.
#[derive(Debug, Default)]
pub(super) struct FlameSamples {
    /// The rows of all events, one after the other.
    pub(super) bytes: Vec<u8>,
    /// Of each event, the number of its rows.
    pub(super) rows: Vec<usize>,
    /// Of each event, what each sample counts; `None` if samples count different numbers, which the rows then have.
    pub(super) periods: Vec<Option<u64>>,
    /// Nanoseconds from the first to the last sample, of the capture that is the longest one. `None` if no sample has a time.
    pub(super) duration: Option<u64>,
    pub(super) timeline: FlameTimeline,
}

impl FlameSamples {
    /// `node_of` has the node of each stack, by capture. `sorters` is the number of threads that sort.
    pub(super) fn of(
        profiles: &[Profile],
        events: &FlameEvents,
        threads: &FlameThreads,
        node_of: &[Vec<u32>],
        sorters: NonZero<usize>,
    ) -> Self {
        let spans = profiles.iter().filter_map(Profile::span);
        let duration = spans.map(|(first, last)| last.saturating_sub(first)).max();
        let resolution = profiles.iter().map(Profile::resolution).max().unwrap_or(1);
        let timeline = FlameTimeline::new(duration.unwrap_or(0), resolution);
        let mut list = Vec::new();
        for (capture, (profile, nodes)) in profiles.iter().zip(node_of).enumerate() {
            for sample in profile.samples() {
                let same = SampleKey {
                    event: events.number(capture, sample.event),
                    node: nodes.get(sample.stack as usize).copied().unwrap_or(0),
                    thread: threads.number(capture, sample.thread),
                    bucket: timeline.bucket(sample.time, profile.span()),
                };
                list.push((same, sample.total));
            }
        }
        sort_by_key(&mut list, sorters, |&(same, total): &(SampleKey, SampleTotal)| (same, total.period));
        list.dedup_by(|(same, total), (before, sum)| {
            let is_same = same == before;
            if is_same {
                sum.add(*total);
            }
            is_same
        });
        let mut samples = Self { duration, timeline, ..Self::default() };
        for event in 0..events.list.len() as u32 {
            let start = list.partition_point(|(same, _)| same.event < event);
            let end = list.partition_point(|(same, _)| same.event <= event);
            samples.push_event(list.get(start..end).unwrap_or_default());
        }
        samples
    }

    /// Appends the rows of an event: of each, by how much the node, the thread and the time grow. If one grows, the ones
    /// after it begin at 0. Then the number of samples, and what they count.
    fn push_event(&mut self, rows: &[(SampleKey, SampleTotal)]) {
        let period_of =
            |&(_, total): &(SampleKey, SampleTotal)| total.period.checked_div(total.samples).unwrap_or(0);
        let period = rows.first().map_or(0, period_of);
        let is_fixed = rows.iter().all(|(_, total)| period.checked_mul(total.samples) == Some(total.period));
        let mut before = SampleKey::default();
        for &(same, total) in rows {
            let out = &mut self.bytes;
            push(out, u64::from(same.node - before.node));
            if same.node != before.node {
                (before.thread, before.bucket) = (0, 0);
            }
            push(out, u64::from(same.thread - before.thread));
            if same.thread != before.thread {
                before.bucket = 0;
            }
            push(out, u64::from(same.bucket - before.bucket));
            push(out, total.samples);
            if !is_fixed {
                push(out, total.period);
            }
            before = same;
        }
        self.rows.push(rows.len());
        self.periods.push(is_fixed.then_some(period));
    }
}

/// The parts that the time is divided into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlameTimeline {
    /// Number of parts.
    pub(super) buckets: u64,
    /// The nanoseconds of all parts together.
    pub(super) length: u128,
}

impl FlameTimeline {
    /// Divides the time into equal parts, which are those that the samples were counted by if their times are not exact.
    fn new(duration: u64, resolution: u64) -> Self {
        if resolution == 1 {
            return Self { buckets: EXACT_BUCKETS, length: u128::from(duration) + 1 };
        }
        // Of another capture, which is longer, times may be exact.
        let mut part = resolution;
        while duration / part >= 2 * BUCKETS {
            part = part.saturating_mul(2);
        }
        let buckets = duration / part + 1;
        Self { buckets, length: u128::from(buckets) * u128::from(part) }
    }

    /// Returns the part of the time that a sample is in, from 1 on; 0 for a sample without a time.
    fn bucket(self, time: u64, span: Option<(u64, u64)>) -> u32 {
        let Some(since) = span.and_then(|(first, _)| time.checked_sub(first)) else { return 0 };
        let bucket = u128::from(since) * u128::from(self.buckets) / self.length.max(1);
        (bucket as u64).min(self.buckets.saturating_sub(1)) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_divided_evenly() {
        let of = |time| FlameTimeline::new(4095, 1).bucket(time, Some((1000, 5095)));
        assert_eq!([1000, 1001, 1002, 5095, u64::MAX].map(of), [1, 1, 2, 2048, 2048]);
        assert_eq!(of(999), 0);
        assert_eq!(FlameTimeline::new(0, 1).bucket(0, None), 0);
        assert_eq!(FlameTimeline::new(u64::MAX, 1).bucket(u64::MAX, Some((0, u64::MAX))), 2048);
    }

    #[test]
    fn parts_are_those_that_samples_were_counted_by() {
        let timeline = FlameTimeline::new(1000 * 64, 64);
        assert_eq!((timeline.buckets, timeline.length), (1001, 1001 * 64));
        let of = |time| timeline.bucket(time, Some((7, 7 + 64_000)));
        assert_eq!([6, 7, 70, 71, 7 + 63_999, 7 + 64_000, u64::MAX].map(of), [0, 1, 1, 2, 1000, 1001, 1001]);
        let of_longer = FlameTimeline::new(64 * 1024, 64);
        assert_eq!((of_longer.buckets, of_longer.length), (513, 513 * 128));
        // One part: all times.
        assert_eq!(FlameTimeline::new(u64::MAX - 1, u64::MAX).bucket(9, Some((0, u64::MAX))), 1);
    }
}
