//! Percentiles of times, in bounded memory.

use std::collections::BTreeMap;

/// The distribution of times. Percentiles are at most 1/32 (3.1 %) too high; the extremes, the sum and the number are exact.
///
/// Times below 64 are kept as they are; above, each power of two has 32 buckets of one width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    buckets: BTreeMap<u16, u64>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

/// The number of bits of a time that its bucket keeps after the first one.
const BITS: u32 = 5;

fn bucket(time: u64) -> u16 {
    let shift = time.checked_ilog2().unwrap_or(0).saturating_sub(BITS);
    // At most 59 << 5 and 63.
    ((shift << BITS) as u16).saturating_add((time >> shift) as u16)
}

/// Returns the longest time of a bucket.
fn longest(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    let shift = (bucket >> BITS).saturating_sub(1);
    let low = (bucket - (shift << BITS)) << shift;
    low + ((1 << shift) - 1)
}

impl Histogram {
    /// Takes a time.
    pub fn add(&mut self, time: u64) {
        *self.buckets.entry(bucket(time)).or_default() += 1;
        self.min = if self.count == 0 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
    }

    /// Returns the number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the times.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns the shortest time; 0 without times.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.min
    }

    /// Returns the longest time; 0 without times.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the mean, rounded down; 0 without times.
    #[must_use]
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.count).unwrap_or(0)
    }

    /// Returns a time that so many percent of the times do not exceed; 0 without times.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        let wanted = (self.count as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut before = 0;
        for (&bucket, &count) in &self.buckets {
            before += count;
            if before >= wanted {
                return longest(bucket).clamp(self.min, self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_its_bucket() {
        let mut times: Vec<u64> = (0..1000).collect();
        for power in 0..64 {
            let power = 1_u64 << power;
            times.extend([power - 1, power, power + 1, power + power / 3]);
        }
        times.push(u64::MAX);
        times.sort_unstable();
        let mut before = 0;
        for time in times {
            let (bucket, longest) = (bucket(time), longest(bucket(time)));
            assert!(bucket >= before, "{time}");
            before = bucket;
            assert!(longest >= time && longest - time <= time / 32, "{time} {longest}");
            assert_eq!(super::bucket(longest), bucket, "{time}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_times() {
        let mut times: Vec<u64> = (0..997_u64).map(|it| it * it * 31 % 50_021).collect();
        let mut histogram = Histogram::default();
        times.iter().for_each(|&time| histogram.add(time));
        times.sort_unstable();
        for percent in [0.0, 1.0, 50.0, 90.0, 99.0, 100.0] {
            let place = (times.len() as f64 * percent / 100.0).ceil().max(1.0) as usize - 1;
            let (exact, got) = (times[place], histogram.percentile(percent));
            assert!(got >= exact && got - exact <= exact / 32, "{percent}: {exact} {got}");
        }
        assert_eq!((histogram.min(), histogram.max()), (times[0], times[996]));
        assert_eq!(histogram.sum(), times.iter().sum());
        assert_eq!(Histogram::default().percentile(50.0), 0);
    }
}
