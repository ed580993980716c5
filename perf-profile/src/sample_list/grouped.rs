//! Samples that are counted together: those at all times, or those in a span of time.

use core::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use super::Admission;
use crate::sample::Sample;
use crate::table::numbering::Numbering;

/// Number of rows up to which times are exact.
const EXACT: usize = 1 << 16;

/// The largest number of spans, once times are no longer exact.
const SPANS: u64 = 1024;

/// The spans that the time is divided into.
#[derive(Clone, Copy, Debug, Default)]
struct Spans {
    /// The start of the first span, and the last time; `None` before the first sample with a time.
    times: Option<(u64, u64)>,
    /// The logarithm of the number of nanoseconds of a span.
    shift: u32,
}

impl Spans {
    fn count(&self) -> u64 {
        let duration = self.times.map_or(0, |(first, last)| last - first);
        duration.checked_shr(self.shift).unwrap_or(0).saturating_add(1)
    }

    fn is_exact(&self) -> bool {
        self.shift == 0
    }

    fn add(&mut self, time: u64) {
        let (first, last) = self.times.unwrap_or((time, time));
        let first = if self.is_exact() { first.min(time) } else { first };
        self.times = Some((first, last.max(time)));
    }

    /// Returns the start of the span of a time. Times before the first span are in the first one.
    fn start_of(&self, time: u64) -> u64 {
        let Some((first, _)) = self.times.filter(|_| !self.is_exact()) else { return time };
        first + (time.saturating_sub(first) & u64::MAX.checked_shl(self.shift).unwrap_or(0))
    }
}

/// Returns what rows differ in, as words, which take fewer steps to hash and to compare than the fields.
#[inline]
fn same(&Sample { event, thread, cpu, stack, time, .. }: &Sample) -> (u64, u64, u64, u64) {
    let cpu = cpu.map_or(0, |cpu| u64::from(cpu) + 1);
    (u64::from(event) << 32 | u64::from(thread), u64::from(stack), cpu, time)
}

/// Samples, those with everything in common counted together, in the order of the first one of each row.
#[derive(Debug, Default)]
pub(crate) struct GroupedSamples {
    rows: Vec<Sample>,
    /// The numbers of the rows, by what they [differ in](same); empty as long as times are exact, as few samples are the same
    /// then.
    numbering: Numbering,
    hasher: DefaultHashBuilder,
    /// `None` if samples at all times are counted together.
    spans: Option<Spans>,
}

impl GroupedSamples {
    /// Returns a list of samples that are counted together if they are in the same span of time.
    ///
    /// A span is a nanosecond, and each sample a row, until there are [`EXACT`] rows. From then on there are at most [`SPANS`]
    /// spans: a time after the last span makes all spans twice as long, as often as needed. They become longer, too, rather
    /// than that a sample is beyond the limit.
    pub(crate) fn in_spans() -> Self {
        Self { spans: Some(Spans::default()), ..Self::default() }
    }

    pub(crate) fn rows(&self) -> &[Sample] {
        &self.rows
    }

    /// Returns the number of nanoseconds of a span.
    pub(crate) fn span(&self) -> u64 {
        self.spans.map_or(1, |spans| 1_u64.checked_shl(spans.shift).unwrap_or(u64::MAX))
    }

    /// Adds a sample. A time of 0 is none.
    pub(crate) fn add(&mut self, sample: &Sample, limit: usize) -> Admission {
        if let Some(spans) = self.spans.as_mut().filter(|_| sample.time > 0) {
            spans.add(sample.time);
            if !spans.is_exact() && spans.count() > SPANS {
                self.lengthen_spans();
            }
        }
        loop {
            let row = Sample { time: self.time_of(sample.time), ..*sample };
            let is_exact = self.spans.as_ref().is_some_and(Spans::is_exact);
            let has_room = self.rows.len() < if is_exact { EXACT.min(limit) } else { limit };
            if is_exact && has_room {
                self.rows.push(row);
                return Admission::Counted;
            }
            if has_room {
                let is_new = self.count(row, self.rows.len());
                // With longer spans, rows get other numbers.
                return if is_new && self.spans.is_none() { Admission::Last } else { Admission::Counted };
            }
            if !is_exact && self.add_to_known(&row) {
                return Admission::Counted;
            }
            if !self.lengthen_spans() {
                return Admission::Beyond;
            }
        }
    }

    pub(crate) fn retain(&mut self, keep: &mut dyn FnMut(&Sample) -> bool) {
        self.rows.retain(keep);
    }

    pub(crate) fn finish(&mut self) {
        self.numbering = Numbering::default();
    }

    fn time_of(&self, time: u64) -> u64 {
        self.spans.filter(|_| time > 0).map_or(0, |spans| spans.start_of(time))
    }

    /// Adds to the row with everything in common. Returns whether there is one.
    fn add_to_known(&mut self, row: &Sample) -> bool {
        let Self { rows, numbering, hasher, .. } = self;
        let of_row = same(row);
        let is_same = |number: u32| rows.get(number as usize).map(same) == Some(of_row);
        let known = numbering.find(hasher.hash_one(of_row), is_same);
        let known = known.and_then(|number| rows.get_mut(number as usize));
        known.map(|known| known.total.add(row.total)).is_some()
    }

    /// Adds to the row with everything in common, which is one of the first `kept`. If there is none, makes this the row after
    /// them. Returns whether it is new.
    fn count(&mut self, row: Sample, kept: usize) -> bool {
        let Self { rows, numbering, hasher, .. } = self;
        let of_row = same(&row);
        let is_same = |number: u32| rows.get(number as usize).map(same) == Some(of_row);
        let hash_of = |number: u32| rows.get(number as usize).map_or(0, |row| hasher.hash_one(same(row)));
        let number = numbering.number(hasher.hash_one(of_row), is_same, hash_of) as usize;
        let is_new = number == kept;
        match rows.get_mut(number) {
            Some(place) if is_new => *place = row,
            Some(known) => known.total.add(row.total),
            None => rows.push(row),
        }
        is_new
    }

    /// Makes the spans at least twice as long, so that there are at most [`SPANS`]. Returns whether that was possible.
    fn lengthen_spans(&mut self) -> bool {
        let can_be_longer = |spans: &&mut Spans| spans.is_exact() || spans.count() > 1;
        let Some(spans) = self.spans.as_mut().filter(can_be_longer) else { return false };
        spans.shift += 1;
        while spans.count() > SPANS {
            spans.shift += 1;
        }
        self.numbering.clear();
        let rows = self.rows.len();
        let mut kept = 0;
        // The rows that stay are moved to the front, so that there is no second list.
        for number in 0..rows {
            let Some(&row) = self.rows.get(number) else { break };
            let row = Sample { time: self.time_of(row.time), ..row };
            kept += usize::from(self.count(row, kept));
        }
        self.rows.truncate(kept);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const ALL: usize = usize::MAX;

    fn samples(counted: &GroupedSamples) -> u64 {
        counted.rows().iter().map(|row| row.total.samples).sum()
    }

    #[test]
    fn without_spans_times_do_not_matter() {
        let mut counted = GroupedSamples::default();
        let added = [(1, 5), (2, 6), (1, 7)].map(|(stack, time)| counted.add(&sample(stack, time), ALL));
        assert_eq!(added, [Admission::Last, Admission::Last, Admission::Counted]);
        let rows: Vec<_> =
            counted.rows().iter().map(|row| (row.stack, row.time, row.total.samples)).collect();
        assert_eq!((rows, counted.span()), (vec![(1, 0, 2), (2, 0, 1)], 1));
        assert_eq!(
            (counted.add(&sample(3, 8), 2), counted.add(&sample(2, 8), 2)),
            (Admission::Beyond, Admission::Counted)
        );
    }

    #[test]
    fn few_rows_have_exact_times() {
        let mut counted = GroupedSamples::in_spans();
        // Out of order, and one without a time.
        let times =
            (0..EXACT as u64).map(|number| if number == 7 { 0 } else { 1 << 40 | (number ^ 1) << 20 });
        for time in times.clone() {
            assert_eq!(counted.add(&sample(0, time), ALL), Admission::Counted);
        }
        assert_eq!((counted.span(), samples(&counted)), (1, EXACT as u64));
        assert!(counted.rows().iter().map(|row| row.time).eq(times));
        counted.add(&sample(1, 1 << 50), ALL);
        assert!(counted.span() > 1);
        // The sample without a time still has none.
        let without: Vec<_> = counted.rows().iter().filter(|row| row.time < 1 << 40).collect();
        assert_eq!((without.len(), without[0].time, without[0].total.samples), (1, 0, 1));
    }

    #[test]
    fn rows_do_not_grow_with_the_samples() {
        let mut counted = GroupedSamples::in_spans();
        let start = 1_000_000_007;
        for number in 0..1_000_000_u64 {
            counted.add(&sample((number % 3) as u32, start + number * 1000), ALL);
        }
        let (span, last) = (counted.span(), 999_999_000);
        assert_eq!(samples(&counted), 1_000_000);
        let spans = last / span + 1;
        assert!((SPANS / 2 < spans) && spans <= SPANS, "{spans} of {span}");
        assert_eq!(counted.rows().len() as u64, 3 * spans);
        // Each row has the samples of its span.
        for row in counted.rows() {
            let since = row.time - start;
            let is_in =
                |number: &u64| number % 3 == u64::from(row.stack) && number * 1000 / span == since / span;
            let around = (since / 1000).saturating_sub(2)..((since + span) / 1000 + 2).min(1_000_000);
            assert_eq!((since % span, row.total.samples), (0, around.filter(is_in).count() as u64));
        }
        // A sample before the first span.
        counted.add(&sample(0, 3), ALL);
        assert_eq!((counted.rows()[0].time, counted.rows().len() as u64), (start, 3 * spans));
    }

    #[test]
    fn samples_of_one_time_are_counted_together() {
        let mut counted = GroupedSamples::in_spans();
        for _ in 0..2 * EXACT {
            counted.add(&sample(0, 5), ALL);
        }
        assert_eq!((samples(&counted), counted.rows().len(), counted.span()), (2 * EXACT as u64, 1, 2));
        assert_eq!(counted.rows()[0].time, 5);
    }

    #[test]
    fn spans_become_longer_before_samples_are_left_out() {
        let mut counted = GroupedSamples::in_spans();
        for (number, time) in [(0, 1), (1, 1 << 20), (0, u64::MAX), (1, u64::MAX - 1), (2, 1)] {
            assert_eq!(counted.add(&sample(number, time), 3), Admission::Counted);
        }
        assert_eq!((samples(&counted), counted.rows().len(), counted.span()), (5, 3, u64::MAX));
        assert_eq!(counted.add(&sample(3, 9), 3), Admission::Beyond);
        assert_eq!(counted.add(&sample(2, u64::MAX), 3), Admission::Counted);
    }
}
