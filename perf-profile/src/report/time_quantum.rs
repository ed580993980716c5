//! The length of the spans of time that rows are grouped by.

use core::fmt;
use core::num::NonZero;
use core::str::FromStr;

/// A length of time: a number with `ns`, `us`, `ms` or `s`; without a unit, nanoseconds.
///
/// # Examples
///
/// ```
/// use perf_profile::report::TimeQuantum;
///
/// let quantum: TimeQuantum = "10ms".parse()?;
/// assert_eq!(quantum.nanoseconds(), 10_000_000);
/// # Ok::<(), perf_profile::report::TimeQuantumError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeQuantum(NonZero<u64>);

impl TimeQuantum {
    /// Makes a length of time from nanoseconds.
    #[must_use]
    pub const fn new(nanoseconds: NonZero<u64>) -> Self {
        Self(nanoseconds)
    }

    /// Returns the number of nanoseconds.
    #[must_use]
    pub const fn nanoseconds(self) -> u64 {
        self.0.get()
    }

    /// Returns the start of the span that a time is in.
    pub(super) fn start_of(self, time: u64) -> u64 {
        time - time % self.0
    }
}

impl Default for TimeQuantum {
    /// 100 ms, as perf has it.
    fn default() -> Self {
        Self(NonZero::new(100_000_000).unwrap_or(NonZero::<u64>::MIN))
    }
}

/// perf: `parse_time_quantum`, `tools/perf/builtin-report.c`.
impl FromStr for TimeQuantum {
    type Err = TimeQuantumError;

    /// # Errors
    ///
    /// If the text is no such number, or the time is 0 or has more than 64 bits of nanoseconds.
    fn from_str(text: &str) -> Result<Self, TimeQuantumError> {
        let fault = || TimeQuantumError { text: text.to_owned() };
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == ' ');
        let unit = text.get(digits.len()..).unwrap_or_default();
        let unit = match unit.trim() {
            "" | "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            _ => return Err(fault()),
        };
        let number: u64 = digits.parse().map_err(|_| fault())?;
        number.checked_mul(unit).and_then(NonZero::new).map(Self).ok_or_else(fault)
    }
}

/// A text that is no length of time. Displayed with the text first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeQuantumError {
    text: String,
}

impl fmt::Display for TimeQuantumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: must be a number with ns, us, ms or s, for example 10ms", self.text)
    }
}

impl core::error::Error for TimeQuantumError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_a_unit() {
        for (text, nanoseconds) in
            [("7", 7), ("7ns", 7), ("7 us", 7_000), ("7ms", 7_000_000), ("7s ", 7_000_000_000)]
        {
            assert_eq!(text.parse::<TimeQuantum>().unwrap().nanoseconds(), nanoseconds, "{text}");
        }
        let quantum = TimeQuantum::new(NonZero::new(10).unwrap());
        assert_eq!([0, 9, 10, 25].map(|time| quantum.start_of(time)), [0, 0, 10, 20]);
        assert_eq!(TimeQuantum::default().nanoseconds(), 100_000_000);
    }

    #[test]
    fn texts_that_are_no_length_of_time() {
        for text in ["", "ms", "0ms", "5h", "-1s", "1.5s", "99999999999999999999s", "18446744073709551615s"] {
            let error = text.parse::<TimeQuantum>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("{text}: must be a number with ns, us, ms or s, for example 10ms")
            );
        }
    }
}
