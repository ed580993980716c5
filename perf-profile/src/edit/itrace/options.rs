//! The letters of `--itrace`.

use core::fmt::{Display, Formatter};
use core::str::FromStr;
use std::error::Error;

use perf_abi::auxtrace::AuxtraceType;
use perf_aux::spe::SampleKinds;

use super::{PtKinds, TraceErrors};

/// Which samples are made of AUX data: the argument of perf's `--itrace`.
///
/// The default is what perf does without the option: all kinds of samples, of every record. Of Intel PT, these are the kinds that need
/// no instructions.
///
/// # Examples
///
/// ```
/// use perf_aux::spe::{SampleKind, SampleKinds};
/// use perf_profile::edit::{ItraceOptions, PeriodUnit};
///
/// let options: ItraceOptions = "i10ibl2".parse()?;
/// assert_eq!(options.kinds, SampleKinds::INSTRUCTIONS | SampleKinds::BRANCHES);
/// assert_eq!((options.period, options.unit, options.branch_stack), (10, PeriodUnit::Instructions, 2));
/// assert_eq!("i1k".parse::<ItraceOptions>().unwrap_err().to_string(), "at \"k\": must be a unit: i, t, ns, us or ms");
/// # Ok::<(), perf_profile::edit::ItraceOptionsError>(())
/// ```
///
/// perf: `itrace_parse_synth_opts`, `tools/perf/util/auxtrace.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItraceOptions {
    /// The kinds of samples of Arm SPE: letters `i b f m t a M`, and `c` and `r` as `b`, since the calls and returns among the branches of Arm
    /// SPE are not selected.
    pub kinds: SampleKinds,
    /// The period, which is that of the samples: every n-th record makes samples. 0 if letters are given without `i`, for every
    /// record, as in perf.
    pub period: u64,
    /// The unit of the period.
    pub unit: PeriodUnit,
    /// The largest number of branches in a branch stack; 0 for none. Letter `l`, without a number 64.
    pub branch_stack: u32,
    /// The kinds of samples of Intel PT: letters `p w I`.
    pub pt_kinds: PtKinds,
    /// The errors of the decoder of Intel PT that become records: letter `e`.
    pub errors: TraceErrors,
    /// Whether samples of Intel PT have no times: letter `Z`.
    #[doc(alias = "timeless_decoding")]
    pub ignores_times: bool,
    /// The letters that were given, of those that select samples.
    pub letters: ItraceLetters,
    // `#[non_exhaustive]` would also forbid `..ItraceOptions::default()` in other crates.
    #[doc(hidden)]
    pub non_exhaustive: (),
}

impl Default for ItraceOptions {
    fn default() -> Self {
        Self {
            kinds: SampleKinds::ALL,
            period: 1,
            unit: PeriodUnit::Instructions,
            branch_stack: 0,
            pt_kinds: PtKinds::ALL,
            errors: TraceErrors::ALL,
            ignores_times: false,
            letters: ItraceLetters::default(),
            non_exhaustive: (),
        }
    }
}

impl ItraceOptions {
    /// Returns the same kinds of samples, each of which counts at least 1: perf's have the period 0 without one in the letters, so
    /// that reports would count nothing.
    #[must_use]
    pub fn counted(self) -> Self {
        Self { period: self.period.max(1), ..self }
    }
}

/// A set of letters of `--itrace`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItraceLetters(u64);

impl ItraceLetters {
    /// Adds an ASCII letter; others are left out.
    fn add(&mut self, letter: char) {
        self.0 |= Self::bit(letter);
    }

    fn bit(letter: char) -> u64 {
        let number = u32::from(letter).wrapping_sub(u32::from('A'));
        1_u64.checked_shl(number).unwrap_or(0)
    }

    /// Returns the letters, in the order of the alphabet, capital ones first.
    pub fn iter(self) -> impl Iterator<Item = char> {
        ('A'..='z').filter(move |&letter| self.0 & Self::bit(letter) != 0)
    }

    /// Returns those of these letters that have no effect on the samples of a tracer: those of other tracers, and those that
    /// this crate does not make of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::auxtrace::AuxtraceType;
    /// use perf_profile::edit::ItraceOptions;
    ///
    /// let options: ItraceOptions = "ibpw".parse()?;
    /// assert!(options.letters.without_effect(AuxtraceType::INTEL_PT).iter().eq(['b', 'i']));
    /// assert!(options.letters.without_effect(AuxtraceType::ARM_SPE).iter().eq(['p', 'w']));
    /// # Ok::<(), perf_profile::edit::ItraceOptionsError>(())
    /// ```
    #[must_use]
    pub fn without_effect(self, tracer: AuxtraceType) -> Self {
        let with_effect = match tracer {
            AuxtraceType::ARM_SPE => "ibcrfmtaMl",
            AuxtraceType::INTEL_PT => "pwI",
            _ => "",
        };
        Self(self.0 & !with_effect.chars().map(Self::bit).fold(0, |all, bit| all | bit))
    }
}

/// The unit of a period of samples.
///
/// perf: `enum itrace_period_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeriodUnit {
    /// Instructions; of Arm SPE its records.
    Instructions,
    /// Ticks of the trace's clock.
    Ticks,
    /// Nanoseconds.
    Nanoseconds,
}

impl Display for PeriodUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::Instructions => "instructions",
            Self::Ticks => "ticks",
            Self::Nanoseconds => "nanoseconds",
        })
    }
}

/// Why letters of `--itrace` cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItraceOptionsError {
    /// The rest of the text, from the fault on.
    rest: String,
    must: &'static str,
}

impl Display for ItraceOptionsError {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        match self.rest.as_str() {
            "" => write!(f, "at the end: must be {}", self.must),
            rest => write!(f, "at {rest:?}: must be {}", self.must),
        }
    }
}

impl Error for ItraceOptionsError {}

/// perf's period without one.
const PERIOD: u64 = 100_000;
/// perf's size of a branch stack, and of a call chain, and the largest.
const BRANCH_STACK: u32 = 64;
const CALL_CHAIN: u32 = 16;
const MOST: u32 = 1024;
/// The letters that perf takes and that have no effect on these samples: transactions, other events, and how perf decodes.
const OTHERS: &str = "xoqAT";
/// The letters that select no samples.
const NOT_SELECTING: &str = "edqATZ";

impl FromStr for ItraceOptions {
    type Err = ItraceOptionsError;

    /// Reads letters as perf does, which passes over blanks and commas between them. Other letters of perf are read too, and have no
    /// effect: see [`ItraceLetters::without_effect`].
    fn from_str(text: &str) -> Result<Self, ItraceOptionsError> {
        let mut letters = Letters { rest: text };
        let mut options = Self {
            kinds: SampleKinds::NONE,
            period: 0,
            branch_stack: 0,
            unit: PeriodUnit::Instructions,
            pt_kinds: PtKinds::NONE,
            errors: TraceErrors::NONE,
            ignores_times: false,
            letters: ItraceLetters::default(),
            non_exhaustive: (),
        };
        let (mut has_period, mut period, mut unit) = (false, None, None);
        while let Some(letter) = letters.next() {
            if letter.is_ascii_alphabetic() && !NOT_SELECTING.contains(letter) {
                options.letters.add(letter);
            }
            match letter {
                ' ' | ',' => {}
                'i' | 'y' => {
                    has_period = true;
                    if letter == 'i' {
                        options.kinds |= SampleKinds::INSTRUCTIONS;
                    }
                    letters.skip_blanks();
                    if let Some(number) = letters.number()? {
                        period = Some(number);
                        letters.skip_blanks();
                        match letters.unit()? {
                            // perf reads no further.
                            None => break,
                            Some((of_number, factor)) => {
                                unit = Some(of_number);
                                period = Some(number.wrapping_mul(factor));
                            }
                        }
                    }
                }
                'c' | 'r' => options.kinds |= SampleKinds::BRANCHES,
                'l' | 'L' => {
                    let size = letters.size(BRANCH_STACK)?;
                    if letter == 'l' {
                        options.branch_stack = size;
                    }
                }
                'g' | 'G' => drop(letters.size(CALL_CHAIN)?),
                's' => {
                    if letters.number()?.is_none() {
                        return Err(letters.fault("a number of samples to skip"));
                    }
                }
                'e' => {
                    let removed = letters.signed('-')?;
                    options.errors = TraceErrors {
                        bad_packets: true,
                        overflows: !removed.contains('o'),
                        lost_data: !removed.contains('l'),
                    };
                }
                'd' => drop(letters.signed('-')?),
                'Z' => options.ignores_times = true,
                letter if OTHERS.contains(letter) => {}
                letter => match (SampleKinds::of_letter(letter), PtKinds::of_letter(letter)) {
                    (Some(kinds), _) => options.kinds |= kinds,
                    (_, Some(kinds)) => options.pt_kinds |= kinds,
                    _ => {
                        let rest =
                            text.get(text.len().saturating_sub(letters.rest.len() + letter.len_utf8())..);
                        let must = "letters of i b f m t a M l p w I e, or others of perf's";
                        return Err(ItraceOptionsError { rest: rest.unwrap_or_default().into(), must });
                    }
                },
            }
        }
        if has_period {
            options.period = period.unwrap_or(PERIOD);
            options.unit = unit.unwrap_or(PeriodUnit::Nanoseconds);
        }
        Ok(options)
    }
}

/// The letters that are left.
struct Letters<'t> {
    rest: &'t str,
}

impl Letters<'_> {
    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let letter = chars.next()?;
        self.rest = chars.as_str();
        Some(letter)
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', ',']);
    }

    fn fault(&self, must: &'static str) -> ItraceOptionsError {
        ItraceOptionsError { rest: self.rest.into(), must }
    }

    /// Reads a number; `None` without a digit.
    fn number(&mut self) -> Result<Option<u64>, ItraceOptionsError> {
        let end = self.rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(self.rest.len());
        let Some((digits, rest)) = self.rest.split_at_checked(end).filter(|(digits, _)| !digits.is_empty())
        else {
            return Ok(None);
        };
        let number = digits.parse().map_err(|_| self.fault("a number below 2^64"))?;
        self.rest = rest;
        Ok(Some(number))
    }

    /// Reads the unit of a period and its factor; `None` at the end.
    fn unit(&mut self) -> Result<Option<(PeriodUnit, u64)>, ItraceOptionsError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let units = [
            ("i", PeriodUnit::Instructions, 1),
            ("t", PeriodUnit::Ticks, 1),
            ("ns", PeriodUnit::Nanoseconds, 1),
            ("us", PeriodUnit::Nanoseconds, 1000),
            ("ms", PeriodUnit::Nanoseconds, 1_000_000),
        ];
        let found = units
            .iter()
            .find_map(|&(name, unit, factor)| Some((self.rest.strip_prefix(name)?, unit, factor)));
        let (rest, unit, factor) = found.ok_or_else(|| self.fault("a unit: i, t, ns, us or ms"))?;
        self.rest = rest;
        Ok(Some((unit, factor)))
    }

    /// Reads the size of a branch stack or call chain.
    fn size(&mut self, default: u32) -> Result<u32, ItraceOptionsError> {
        self.skip_blanks();
        let before = self.rest;
        let Some(number) = self.number()? else { return Ok(default) };
        let size = u32::try_from(number).ok().filter(|size| (1..=MOST).contains(size));
        size.ok_or(ItraceOptionsError { rest: before.into(), must: "a size from 1 to 1024" })
    }

    /// Reads letters with signs, such as `+o-l`. Returns those with one sign.
    fn signed(&mut self, sign: char) -> Result<String, ItraceOptionsError> {
        let mut of_sign = String::new();
        while let Some(rest) = self.rest.strip_prefix(['+', '-']) {
            let after = rest.trim_start_matches(|it: char| it.is_ascii_lowercase());
            let found = rest.get(..rest.len().saturating_sub(after.len())).unwrap_or_default();
            if found.is_empty() {
                return Err(self.fault("a sign and letters"));
            }
            if self.rest.starts_with(sign) {
                of_sign.push_str(found);
            }
            self.rest = after;
        }
        Ok(of_sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (SampleKinds, u64, PeriodUnit, u32) {
        let options: ItraceOptions = text.parse().unwrap();
        (options.kinds, options.period, options.unit, options.branch_stack)
    }

    /// perf 7.2 takes these.
    #[test]
    fn letters_as_perf_reads_them() {
        let (instructions, memory) = (SampleKinds::INSTRUCTIONS, SampleKinds::MEMORY);
        let (by_number, by_time) = (PeriodUnit::Instructions, PeriodUnit::Nanoseconds);
        assert_eq!(parsed("i1i"), (instructions, 1, by_number, 0));
        assert_eq!(parsed("i, 7 i,M"), (instructions | memory, 7, by_number, 0));
        assert_eq!(parsed("i"), (instructions, 100_000, by_time, 0));
        assert_eq!(parsed("i5"), (instructions, 5, by_time, 0));
        assert_eq!(parsed("i10usM"), (instructions | memory, 10_000, by_time, 0));
        assert_eq!(parsed("i2ms"), (instructions, 2_000_000, by_time, 0));
        assert_eq!(parsed("i9t"), (instructions, 9, PeriodUnit::Ticks, 0));
        assert_eq!(parsed("y3iM"), (memory, 3, by_number, 0));
        assert_eq!(parsed("cr"), (SampleKinds::BRANCHES, 0, by_number, 0));
        assert_eq!(parsed("bl"), (SampleKinds::BRANCHES, 0, by_number, 64));
        assert_eq!(parsed("l1024M"), (memory, 0, by_number, 1024));
        assert_eq!(parsed("L2g16Gs100e+o-ld+oxwpoIqqAZTM"), (memory, 0, by_number, 0));
        assert_eq!(parsed(""), (SampleKinds::NONE, 0, by_number, 0));
    }

    #[test]
    fn letters_of_intel_pt() {
        let options: ItraceOptions = "pI,e-o".parse().unwrap();
        assert_eq!(
            (options.kinds, options.pt_kinds),
            (SampleKinds::NONE, PtKinds::POWER_EVENTS | PtKinds::EVENT_TRACE)
        );
        assert_eq!(options.errors, TraceErrors { overflows: false, ..TraceErrors::ALL });
        assert!(!options.ignores_times);
        let options: ItraceOptions = "we-l+o-oZ".parse().unwrap();
        assert_eq!((options.pt_kinds, options.ignores_times), (PtKinds::PTWRITES, true));
        assert_eq!(options.errors, TraceErrors { bad_packets: true, ..TraceErrors::NONE });
        assert_eq!("ib".parse::<ItraceOptions>().unwrap().errors, TraceErrors::NONE);
        let default = ItraceOptions::default();
        assert_eq!((default.pt_kinds, default.errors), (PtKinds::ALL, TraceErrors::ALL));
    }

    #[test]
    fn letters_without_effect() {
        let without = |text: &str, tracer| {
            let options: ItraceOptions = text.parse().unwrap();
            options.letters.without_effect(tracer).iter().collect::<String>()
        };
        let all = "i1i,y,b,c,r,x,f,m,t,a,M,l,L,g,G,o,p,w,I,s7,e,d,q,A,T,Z";
        assert_eq!(without(all, AuxtraceType::INTEL_PT), "GLMabcfgilmorstxy");
        assert_eq!(without(all, AuxtraceType::ARM_SPE), "GILgopswxy");
        assert_eq!(without("pwIe", AuxtraceType::INTEL_PT), "");
        assert_eq!(without("pwIe", AuxtraceType::CS_ETM), "Ipw");
    }

    /// perf 7.2 refuses these.
    #[test]
    fn other_letters_are_refused() {
        let texts = [
            ("z", "at \"z\": must be letters of i b f m t a M l p w I e, or others of perf's"),
            ("MKb", "at \"Kb\": must be letters of i b f m t a M l p w I e, or others of perf's"),
            ("1", "at \"1\": must be letters of i b f m t a M l p w I e, or others of perf's"),
            ("i1y", "at \"y\": must be a unit: i, t, ns, us or ms"),
            ("i1n", "at \"n\": must be a unit: i, t, ns, us or ms"),
            ("l0", "at \"0\": must be a size from 1 to 1024"),
            ("g1025", "at \"1025\": must be a size from 1 to 1024"),
            ("s", "at the end: must be a number of samples to skip"),
            ("e+", "at \"+\": must be a sign and letters"),
            ("i18446744073709551616i", "at \"18446744073709551616i\": must be a number below 2^64"),
        ];
        for (text, why) in texts {
            assert_eq!(text.parse::<ItraceOptions>().unwrap_err().to_string(), why, "{text}");
        }
    }
}
