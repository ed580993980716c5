//! The account of what edits left out of a capture.

use alloc::format;
use alloc::vec::Vec;

use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;

use crate::feature::FeatureSection;

/// What edits left out of a capture: the content of the feature [`FEATURE`](Self::FEATURE) of an edited file.
///
/// The section has a line of text for each field, such as `left_out: 12`. perf passes over it. A pipe has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditAccount {
    /// Number of samples that were left out.
    pub left_out: u64,
    /// One in so many of the selected samples was kept, with its own period; 1 for all.
    pub one_in: u64,
    /// The fields that were removed from samples, as far as events recorded them.
    pub removed: SampleType,
    /// Number of records of processes, mappings and the like that were left out, because they are of another time.
    pub side_band_left_out: u64,
    /// Number of records that were added, such as those of the state at the start of a span of time.
    pub added: u64,
}

impl Default for EditAccount {
    /// Returns the account of a capture that has everything.
    fn default() -> Self {
        Self { left_out: 0, one_in: 1, removed: SampleType(0), side_band_left_out: 0, added: 0 }
    }
}

impl EditAccount {
    /// The feature of an edited file. perf and simpleperf have no features near this number.
    pub const FEATURE: Feature = Feature(192);

    /// Parses the section. Skips lines with other names; `None` for other bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::rewrite::EditAccount;
    ///
    /// let account = EditAccount::parse(b"left_out: 12\none_in: 10\nremoved: 0x400\n").unwrap();
    /// assert_eq!((account.left_out, account.one_in), (12, 10));
    /// assert_eq!(account.encode(), b"left_out: 12\none_in: 10\nremoved: 0x400\n");
    /// ```
    #[must_use]
    pub fn parse(section: &[u8]) -> Option<Self> {
        let mut account = Self::default();
        for line in core::str::from_utf8(section).ok()?.lines() {
            let (name, value) = line.split_once(": ")?;
            match name {
                "left_out" => account.left_out = value.parse().ok()?,
                "one_in" => account.one_in = value.parse().ok().filter(|&factor| factor > 0)?,
                "removed" => {
                    let bits = u64::from_str_radix(value.strip_prefix("0x")?, 16).ok()?;
                    account.removed = SampleType(bits);
                }
                "side_band_left_out" => account.side_band_left_out = value.parse().ok()?,
                "added" => account.added = value.parse().ok()?,
                _ => {}
            }
        }
        Some(account)
    }

    /// Returns the account in a section; `None` for another feature and for other bytes.
    #[must_use]
    pub fn of(section: &FeatureSection<'_>) -> Option<Self> {
        Self::parse(section.bytes).filter(|_| section.feature == Self::FEATURE)
    }

    /// Returns the account of two captures as one; `None` if their samples have different weights.
    pub(super) fn joined(&self, other: &Self) -> Option<Self> {
        let left_out = self.left_out.saturating_add(other.left_out);
        let removed = SampleType(self.removed.0 | other.removed.0);
        let side_band_left_out = self.side_band_left_out.saturating_add(other.side_band_left_out);
        let added = self.added.saturating_add(other.added);
        let joined = Self { left_out, removed, side_band_left_out, added, ..*self };
        (self.one_in == other.one_in).then_some(joined)
    }

    /// Returns the section.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { left_out, one_in, removed, side_band_left_out, added } = self;
        let mut text = format!("left_out: {left_out}\none_in: {one_in}\nremoved: {:#x}\n", removed.0);
        for (name, value) in [("side_band_left_out", side_band_left_out), ("added", added)] {
            if *value > 0 {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_account_is_none() {
        assert_eq!(EditAccount::parse(b""), Some(EditAccount::default()));
        assert_eq!(EditAccount::parse(b"of_later: 7\n"), Some(EditAccount::default()));
        let wrong: [&[u8]; 8] = [
            b"\xff",
            b"left_out",
            b"left_out: -1",
            b"one_in: 0",
            b"removed: 7",
            b"removed: 0xg",
            b"side_band_left_out: x",
            b"added: x",
        ];
        for bytes in wrong {
            assert_eq!(EditAccount::parse(bytes), None, "{bytes:?}");
        }
    }
}
