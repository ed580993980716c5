//! Formats: which bits of an attr a term of a PMU sets.

use nom::Parser;
use nom::bytes::complete::take_till;
use nom::character::complete::{char, u64 as decimal};
use nom::combinator::{map_opt, opt};
use nom::multi::separated_list1;
use nom::sequence::preceded;
use perf_abi::attr::Attr;

use super::lex::{LexFault, LexResult, expect, whole};
use crate::lookup::TextError;

/// A word of an attr whose meaning the PMU defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConfigWord {
    /// `config`. Since Linux 2.6.31.
    Config,
    /// `config1`. Since Linux 2.6.39.
    Config1,
    /// `config2`. Since Linux 2.6.39.
    Config2,
    /// `config3`. Since Linux 6.3.
    Config3,
    /// `config4`. Since Linux 6.19.
    Config4,
}

impl ConfigWord {
    /// All words, with their names in sysfs and in event strings.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Config, "config"),
        (Self::Config1, "config1"),
        (Self::Config2, "config2"),
        (Self::Config3, "config3"),
        (Self::Config4, "config4"),
    ];

    /// Returns the word with that name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|&(_, known)| known == name).map(|(word, _)| word)
    }

    /// Borrows this word of `attr`.
    pub fn of_attr(self, attr: &mut Attr) -> &mut u64 {
        match self {
            Self::Config => &mut attr.config,
            Self::Config1 => &mut attr.config1,
            Self::Config2 => &mut attr.config2,
            Self::Config3 => &mut attr.config3,
            Self::Config4 => &mut attr.config4,
        }
    }
}

/// The bits of a word that a term sets. Bit 0 of the term's value goes to the lowest of them, and so on.
///
/// Kernel: `Documentation/ABI/testing/sysfs-bus-event_source-devices-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PmuFormat {
    /// The word.
    pub word: ConfigWord,
    /// Its bits.
    pub mask: u64,
}

impl PmuFormat {
    /// Returns the largest value that fits.
    #[must_use]
    pub fn max(&self) -> u64 {
        match self.mask.count_ones() {
            0 => 0,
            bits => u64::MAX >> 64_u32.saturating_sub(bits),
        }
    }

    /// Spreads `value` over the bits; `None` if it does not fit.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::pmu::parse_format;
    ///
    /// let event = parse_format("config:0-7,32-35")?;
    /// assert_eq!(event.place(0x3c), Some(0x3c));
    /// assert_eq!(event.place(0xabc), Some(0xa_0000_00bc));
    /// assert_eq!(event.place(0x1000), None);
    /// # Ok::<(), perf_open::pmu::TextError>(())
    /// ```
    #[must_use]
    pub fn place(&self, value: u64) -> Option<u64> {
        let (mut mask, mut left, mut placed) = (self.mask, value, 0);
        while mask != 0 {
            let lowest = mask & mask.wrapping_neg();
            if left & 1 != 0 {
                placed |= lowest;
            }
            left >>= 1;
            mask ^= lowest;
        }
        (left == 0).then_some(placed)
    }

    /// Replaces the bits in `attr` with `value`. If it does not fit, returns `false` and changes nothing.
    #[must_use]
    pub fn set(&self, attr: &mut Attr, value: u64) -> bool {
        let word = self.word.of_attr(attr);
        self.place(value).map(|placed| *word = *word & !self.mask | placed).is_some()
    }
}

/// Parses the text of a file of `format/`: `config:0-7,21`, `config1:3`.
///
/// Bits may be listed in any order and more than once; like perf, this treats them as a set.
///
/// # Errors
///
/// If the text is not a word, a colon, and ranges of bits below 64, or if a range is descending.
pub fn parse_format(text: &str) -> Result<PmuFormat, TextError> {
    let bits = preceded(expect("`:`", char(':')), separated_list1(char(','), range));
    let (word, ranges) = whole(text.trim_end(), "`,` or the end", (word, bits))?;
    Ok(PmuFormat { word, mask: ranges.into_iter().fold(0, |mask, range| mask | range) })
}

/// Parses the word, up to the colon.
fn word(text: &str) -> LexResult<'_, ConfigWord> {
    let name = map_opt(take_till(|c| c == ':'), ConfigWord::of);
    expect("`config`, `config1`, `config2`, `config3` or `config4`", name)(text)
}

/// Parses a bit, or the first and last of several. Returns their mask.
fn range(text: &str) -> LexResult<'_, u64> {
    let (after, first) = bit(text)?;
    let (rest, last) = opt(preceded(char('-'), bit)).parse(after)?;
    let last = last.unwrap_or(first);
    let from_first = u64::MAX << first;
    let to_last = u64::MAX >> 63_u32.saturating_sub(last);
    match from_first & to_last {
        0 => Err(nom::Err::Failure(LexFault { at: text, expected: "a range that runs upwards" })),
        mask => Ok((rest, mask)),
    }
}

/// Parses the number of a bit.
fn bit(text: &str) -> LexResult<'_, u32> {
    let small = |number| u32::try_from(number).ok().filter(|&bit| bit < 64);
    expect("a bit below 64", map_opt(decimal, small))(text)
}
