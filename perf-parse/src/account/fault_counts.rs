//! The number of faults of each kind.

use crate::error::FileErrorKind;

/// The number of faults of each [kind](FileErrorKind::name), whatever their offsets and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts([u64; FileErrorKind::NAMES.len()]);

impl FaultCounts {
    /// Counts a fault.
    pub fn add(&mut self, kind: &FileErrorKind) {
        if let Some(count) = self.0.get_mut(kind.index()) {
            *count = count.saturating_add(1);
        }
    }

    /// Adds the counts of `other`.
    pub fn add_all(&mut self, other: &Self) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count = count.saturating_add(more);
        }
    }

    /// Returns the sum over all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the kinds that occurred, by [name](FileErrorKind::name), with the number of their faults.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        FileErrorKind::NAMES.into_iter().zip(self.0).filter(|&(_, count)| count != 0)
    }
}

/// A map from the names of the kinds that occurred to the number of their faults.
#[cfg(feature = "serde")]
impl serde::Serialize for FaultCounts {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        crate::serialize::Map(|| self.iter()).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_counted_by_itself() {
        let mut counts = FaultCounts::default();
        assert_eq!((counts.total(), counts.iter().count()), (0, 0));
        for (times, bytes) in [(1, 8), (2, 16)] {
            (0..times).for_each(|_| counts.add(&FileErrorKind::Skipped { bytes }));
        }
        counts.add(&FileErrorKind::NotPerfData);
        let mut sum = counts;
        sum.add_all(&counts);
        assert!(sum.iter().eq([("not_perf_data", 2), ("skipped", 6)]));
        assert_eq!(sum.total(), 8);
    }

    #[test]
    fn a_count_that_is_full_stays_so() {
        let mut counts = FaultCounts([u64::MAX; FileErrorKind::NAMES.len()]);
        let all = counts;
        counts.add(&FileErrorKind::NotPerfData);
        counts.add_all(&all);
        assert_eq!((counts, counts.total()), (all, u64::MAX));
    }
}
