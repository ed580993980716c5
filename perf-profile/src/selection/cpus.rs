//! The selection of CPUs.

use core::fmt::{Display, Formatter};
use core::str::FromStr;

use crate::error::{ProfileError, SelectionField};

/// CPUs, as numbers and ranges: `0,2-3`. The default is all CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuRanges {
    /// First and last CPU of each range; empty for all CPUs.
    ranges: Vec<(u32, u32)>,
    text: String,
}

impl CpuRanges {
    /// Returns whether all CPUs are selected.
    #[must_use]
    pub fn are_all(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Returns whether a CPU is selected.
    #[inline]
    #[must_use]
    pub fn contain(&self, cpu: u32) -> bool {
        self.are_all() || self.ranges.iter().any(|&(first, last)| first <= cpu && cpu <= last)
    }
}

impl FromStr for CpuRanges {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some((first, last))
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let ranges = ranges.ok_or_else(|| ProfileError::Selection {
            field: SelectionField::Cpus,
            value: text.to_owned(),
            reason: "must be numbers and ranges of CPUs, for example 0,2-3".into(),
        })?;
        Ok(Self { ranges, text: text.to_owned() })
    }
}

impl Display for CpuRanges {
    /// Writes the text that was parsed; nothing for all CPUs.
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_numbers_and_ranges() {
        let cpus: CpuRanges = "0,2-3".parse().unwrap();
        assert_eq!((0..5).filter(|&cpu| cpus.contain(cpu)).collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(cpus.to_string(), "0,2-3");
        assert!(CpuRanges::default().contain(7));
        for text in ["", "3-2", "a", "1,", "1-2-3"] {
            let error = text.parse::<CpuRanges>().unwrap_err().to_string();
            assert_eq!(error, format!("cpu {text}: must be numbers and ranges of CPUs, for example 0,2-3"));
        }
    }
}
