//! The account of what edits left out of a capture.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use perf_abi::feature::Feature;
use perf_abi::sample_type::SampleType;

use crate::feature::FeatureSection;

/// What edits left out of a capture, and changed: the content of the feature [`FEATURE`](Self::FEATURE) of an edited file.
///
/// The section has a line of text for each field, such as `left_out: 12`. perf passes over it. A pipe has none.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The kinds of secrets that were redacted, in alphabetical order, such as `comms`.
    pub redacted: Vec<String>,
    /// The captures whose clocks were moved, by their number among those that were merged, from 1, and the nanoseconds that
    /// were added to their times.
    pub clock_offsets: Vec<(u64, i64)>,
    /// Number of ids of events that were replaced, because several captures had them.
    pub renumbered: u64,
    /// The fields that were added to samples: IDENTIFIER, to tell apart the events of several captures.
    pub added_fields: SampleType,
    /// The [release of perf](super::PerfRelease) for which the capture was written, such as `perf-6.1`; `None` for any.
    pub release: Option<String>,
    /// Number of names of functions that were stored in the capture.
    pub names: u64,
    /// Number of frames whose names were not stored, such as guesses.
    pub names_left_out: u64,
}

impl Default for EditAccount {
    /// Returns the account of a capture that has everything.
    fn default() -> Self {
        Self::NOTHING
    }
}

impl EditAccount {
    /// The account of a capture that has everything.
    pub(super) const NOTHING: Self = Self {
        left_out: 0,
        one_in: 1,
        removed: SampleType(0),
        side_band_left_out: 0,
        added: 0,
        redacted: Vec::new(),
        clock_offsets: Vec::new(),
        renumbered: 0,
        added_fields: SampleType(0),
        release: None,
        names: 0,
        names_left_out: 0,
    };

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
                "removed" => account.removed = fields(value)?,
                "redacted" => account.redacted = value.split(',').map(String::from).collect(),
                "clock_offset" => {
                    let (capture, offset) = value.split_once('=')?;
                    account.clock_offsets.push((capture.parse().ok()?, offset.parse().ok()?));
                }
                "side_band_left_out" => account.side_band_left_out = value.parse().ok()?,
                "added" => account.added = value.parse().ok()?,
                "renumbered" => account.renumbered = value.parse().ok()?,
                "added_fields" => account.added_fields = fields(value)?,
                "for" => account.release = Some(String::from(value)),
                "names" => account.names = value.parse().ok()?,
                "names_left_out" => account.names_left_out = value.parse().ok()?,
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
        let release = self.release.clone().filter(|_| self.release == other.release);
        let joined = Self { release, ..self.and(&Self { one_in: 1, ..other.clone() }) };
        (self.one_in == other.one_in).then_some(joined)
    }

    /// Returns the account of two edits, one after the other.
    pub(super) fn and(&self, later: &Self) -> Self {
        let mut redacted = [&self.redacted[..], &later.redacted].concat();
        redacted.sort_unstable();
        redacted.dedup();
        Self {
            left_out: self.left_out.saturating_add(later.left_out),
            one_in: self.one_in.saturating_mul(later.one_in),
            removed: SampleType(self.removed.0 | later.removed.0),
            side_band_left_out: self.side_band_left_out.saturating_add(later.side_band_left_out),
            added: self.added.saturating_add(later.added),
            redacted,
            clock_offsets: [&self.clock_offsets[..], &later.clock_offsets].concat(),
            renumbered: self.renumbered.saturating_add(later.renumbered),
            added_fields: SampleType(self.added_fields.0 | later.added_fields.0),
            release: later.release.clone().or_else(|| self.release.clone()),
            names: self.names.max(later.names),
            names_left_out: self.names_left_out.max(later.names_left_out),
        }
    }

    /// Returns the section.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { left_out, one_in, removed, redacted, clock_offsets, added_fields, release, .. } = self;
        let mut text = format!("left_out: {left_out}\none_in: {one_in}\nremoved: {:#x}\n", removed.0);
        for (name, value) in [
            ("side_band_left_out", self.side_band_left_out),
            ("added", self.added),
            ("renumbered", self.renumbered),
            ("names", self.names),
            ("names_left_out", self.names_left_out),
        ] {
            if value > 0 {
                text.push_str(&format!("{name}: {value}\n"));
            }
        }
        if !redacted.is_empty() {
            text.push_str(&format!("redacted: {}\n", redacted.join(",")));
        }
        for (capture, offset) in clock_offsets {
            text.push_str(&format!("clock_offset: {capture}={offset}\n"));
        }
        if added_fields.0 != 0 {
            text.push_str(&format!("added_fields: {:#x}\n", added_fields.0));
        }
        if let Some(release) = release {
            text.push_str(&format!("for: {release}\n"));
        }
        text.into_bytes()
    }
}

/// Parses fields of samples, in hexadecimal.
fn fields(text: &str) -> Option<SampleType> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(SampleType)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_account_is_none() {
        assert_eq!(EditAccount::parse(b""), Some(EditAccount::default()));
        assert_eq!(EditAccount::parse(b"of_later: 7\n"), Some(EditAccount::default()));
        let wrong: [&[u8]; 14] = [
            b"\xff",
            b"left_out",
            b"left_out: -1",
            b"one_in: 0",
            b"removed: 7",
            b"removed: 0xg",
            b"side_band_left_out: x",
            b"added: x",
            b"clock_offset: 1",
            b"clock_offset: 1=x",
            b"renumbered: x",
            b"added_fields: 7",
            b"names: x",
            b"names_left_out: x",
        ];
        for bytes in wrong {
            assert_eq!(EditAccount::parse(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn every_field_is_kept() {
        let account = EditAccount {
            left_out: 1,
            one_in: 2,
            removed: SampleType::RAW,
            redacted: ["comms", "paths"].map(String::from).to_vec(),
            clock_offsets: [(1, 5), (3, i64::MIN)].to_vec(),
            renumbered: 7,
            added_fields: SampleType::IDENTIFIER,
            side_band_left_out: 8,
            added: 9,
            release: Some(String::from("perf-6.1")),
            names: 10,
            names_left_out: 11,
        };
        assert_eq!(EditAccount::parse(&account.encode()), Some(account.clone()));
        let both = account.joined(&account).unwrap();
        assert_eq!((both.side_band_left_out, both.added), (16, 18));
        assert_eq!((both.left_out, both.renumbered, both.clock_offsets.len()), (2, 14, 4));
        assert_eq!((&both.redacted, both.added_fields), (&account.redacted, account.added_fields));
        assert_eq!(account.joined(&EditAccount::default()), None);
    }
}
