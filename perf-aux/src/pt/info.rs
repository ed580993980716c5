//! The parameters of a trace: what the AUXTRACE_INFO record and the event's attr say.

use core::fmt;

use perf_abi::auxtrace::{AuxtraceType, IntelPtWord};
use perf_parse::record::user::{AuxtraceInfo, TimeConv};

/// The parameters of a trace.
///
/// The masks are those of [`Config`]: they are parameters, because each machine may have the bits elsewhere.
///
/// perf: `intel_pt_process_auxtrace_info`, `tools/perf/util/intel-pt.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Info<'a> {
    /// The PMU's type number: the type of the events whose traces these are.
    pub pmu_type: u32,
    /// Bits to shift the product of counter and factor to the right.
    pub time_shift: u64,
    /// The factor of the time stamp counter; 0 if it is not known.
    pub time_mult: u64,
    /// Time in nanoseconds at which the time stamp counter was 0.
    pub time_zero: u64,
    /// Whether `time_zero` is valid.
    pub cap_user_time_zero: bool,
    /// Mask of the bit that requests TSC packets.
    pub tsc_bit: u64,
    /// Mask of the bit that disables the compression of returns.
    pub noretcomp_bit: u64,
    /// How context switches were recorded: 0 not at all, 1 by tracepoint, 2 and 3 by records of threads and of CPUs.
    pub have_sched_switch: u64,
    /// Whether the trace is a snapshot, so that buffers may overlap.
    pub snapshot_mode: bool,
    /// Whether each CPU had its own buffer. Otherwise each thread had one.
    pub per_cpu_mmaps: bool,
    /// Mask of the bit that requests MTC packets; 0 in captures of perf before 4.3.
    pub mtc_bit: u64,
    /// Mask of the bits with the MTC period.
    pub mtc_freq_bits: u64,
    /// Numerator of the ratio of time stamp counter to core crystal clock.
    pub tsc_ctc_n: u32,
    /// Denominator of the ratio of time stamp counter to core crystal clock; 0 if the ratio is not known.
    pub tsc_ctc_d: u32,
    /// Mask of the bit that requests CYC packets.
    pub cyc_bit: u64,
    /// The highest ratio of core to bus clock without turbo; 0 if the capture does not have it. See [`Self::max_ratio`].
    pub max_nonturbo_ratio: u32,
    /// Text of the address filters; empty if there are none.
    pub filter: &'a [u8],
    /// Whether the processor has Event Trace, whose MODE.Exec packets have the interrupt flag.
    pub cap_event_trace: bool,
}

/// A record that does not have the parameters of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InfoError {
    /// The record is about another tracer.
    Tracer(AuxtraceType),
    /// The record has too few words.
    TooFewWords {
        /// Number of words that the record has.
        words: usize,
        /// Number of words that it must have at least.
        required: usize,
    },
}

impl<'a> Info<'a> {
    /// Number of words of the oldest perf that traces.
    const REQUIRED: usize = IntelPtWord::PER_CPU_MMAPS.0 + 1;

    /// Decodes an AUXTRACE_INFO record.
    ///
    /// # Errors
    ///
    /// [`InfoError::Tracer`] if the record is about another tracer, [`InfoError::TooFewWords`] if a parameter or the filter is missing.
    pub fn new(record: &AuxtraceInfo<'a>) -> Result<Self, InfoError> {
        if record.kind != AuxtraceType::INTEL_PT {
            return Err(InfoError::Tracer(record.kind));
        }
        let words = record.words.len();
        let require = |required: usize| {
            if words < required { Err(InfoError::TooFewWords { words, required }) } else { Ok(()) }
        };
        require(Self::REQUIRED)?;
        let word = |index: IntelPtWord| record.words.get(index.0).unwrap_or(0);
        // Newer perfs wrote several words more at once; perf ignores some of them without the others.
        let clocks = |index| if words > IntelPtWord::CYC_BIT.0 { word(index) } else { 0 };
        let filter_len = usize::try_from(word(IntelPtWord::FILTER_STR_LEN)).unwrap_or(usize::MAX);
        // With its NUL, padded to whole words.
        let filter_words = if filter_len == 0 { 0 } else { (filter_len / 8).saturating_add(1) };
        let filter_end = IntelPtWord::COUNT.saturating_add(filter_words);
        if filter_words > 0 {
            require(filter_end)?;
        }
        let text = record.words.as_bytes().get(IntelPtWord::COUNT.saturating_mul(8)..);
        Ok(Self {
            pmu_type: low(word(IntelPtWord::PMU_TYPE)),
            time_shift: word(IntelPtWord::TIME_SHIFT),
            time_mult: word(IntelPtWord::TIME_MULT),
            time_zero: word(IntelPtWord::TIME_ZERO),
            cap_user_time_zero: word(IntelPtWord::CAP_USER_TIME_ZERO) != 0,
            tsc_bit: word(IntelPtWord::TSC_BIT),
            noretcomp_bit: word(IntelPtWord::NORETCOMP_BIT),
            have_sched_switch: word(IntelPtWord::HAVE_SCHED_SWITCH),
            snapshot_mode: word(IntelPtWord::SNAPSHOT_MODE) != 0,
            per_cpu_mmaps: word(IntelPtWord::PER_CPU_MMAPS) != 0,
            mtc_bit: clocks(IntelPtWord::MTC_BIT),
            mtc_freq_bits: clocks(IntelPtWord::MTC_FREQ_BITS),
            tsc_ctc_n: low(clocks(IntelPtWord::TSC_CTC_N)),
            tsc_ctc_d: low(clocks(IntelPtWord::TSC_CTC_D)),
            cyc_bit: clocks(IntelPtWord::CYC_BIT),
            max_nonturbo_ratio: low(word(IntelPtWord::MAX_NONTURBO_RATIO)),
            filter: text.and_then(|text| text.get(..filter_len)).unwrap_or_default(),
            cap_event_trace: record.words.get(filter_end).is_some_and(|word| word != 0),
        })
    }

    /// Returns the time of the event's clock in nanoseconds at which the time stamp counter had this value.
    ///
    /// `None` if the capture does not say how they relate.
    #[must_use]
    pub fn time(&self, tsc: u64) -> Option<u64> {
        let Self { time_shift, time_mult, time_zero, .. } = *self;
        let conversion = TimeConv { time_shift, time_mult, time_zero, short: None, rest: &[] };
        self.cap_user_time_zero.then(|| conversion.tsc_to_perf_time(tsc))
    }

    /// Returns the frequency of the time stamp counter in Hz; `None` if the capture does not say it.
    ///
    /// perf: `intel_pt_ns_to_ticks` of a second.
    #[must_use]
    pub fn tsc_frequency(&self) -> Option<u64> {
        const SECOND: u128 = 1_000_000_000;
        let shift = u32::try_from(self.time_shift).ok().filter(|&shift| shift < 64)?;
        let mult = self.time_mult & u64::from(u32::MAX);
        u64::try_from(SECOND.unbounded_shl(shift).checked_div(mult.into())?).ok()
    }

    /// Returns the highest ratio of core to bus clock without turbo: as recorded, or computed for a bus clock of 100 MHz.
    ///
    /// `None` if the capture has neither it nor the frequency of the time stamp counter.
    #[must_use]
    pub fn max_ratio(&self) -> Option<u32> {
        let computed = || u32::try_from(self.tsc_frequency()?.saturating_add(50_000_000) / 100_000_000).ok();
        Some(self.max_nonturbo_ratio)
            .filter(|&ratio| ratio != 0)
            .or_else(computed)
            .filter(|&ratio| ratio != 0)
    }

    /// Returns the frequency of the bus clock in kHz; `None` if the capture does not say it.
    #[must_use]
    #[doc(alias = "cbr2khz")]
    pub fn bus_khz(&self) -> Option<u64> {
        self.tsc_frequency()?.checked_div(self.max_ratio()?.into()).map(|hertz| hertz / 1000)
    }
}

/// The low half of a word.
const fn low(word: u64) -> u32 {
    (word & 0xffff_ffff) as u32
}

/// What was traced: the field `config` of the event's attr, which is the register IA32_RTIT_CTL but for some bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config(pub u64);

impl Config {
    /// Returns whether power events were traced.
    #[must_use]
    #[doc(alias = "INTEL_PT_CFG_PWR_EVT_EN")]
    pub const fn has_power_events(self) -> bool {
        self.0 & 1 << 4 != 0
    }

    /// Returns whether branches were traced. They are, unless the user chose all bits (`pt`) without `branch`.
    #[must_use]
    #[doc(alias = "INTEL_PT_CFG_BRANCH_EN")]
    pub const fn has_branches(self) -> bool {
        self.0 & 1 == 0 || self.0 & 1 << 13 != 0
    }

    /// Returns whether Event Trace was on.
    #[must_use]
    #[doc(alias = "INTEL_PT_CFG_EVT_EN")]
    pub const fn has_event_trace(self) -> bool {
        self.0 & 1 << 31 != 0
    }

    /// Returns the MTC period: the lowest bit of the core crystal clock that MTC packets have, at most 15.
    #[must_use]
    pub fn mtc_period(self, info: &Info<'_>) -> u32 {
        let mask = info.mtc_freq_bits;
        let period = (self.0 & mask).checked_shr(mask.trailing_zeros()).unwrap_or(0);
        low(period.min(15))
    }
}

impl fmt::Display for InfoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tracer(kind) => write!(f, "AUXTRACE_INFO: the tracer is {kind}, not INTEL_PT"),
            Self::TooFewWords { words, required } => {
                write!(
                    f,
                    "AUXTRACE_INFO: {words} words, where the parameters of Intel PT take at least {required}"
                )
            }
        }
    }
}

impl core::error::Error for InfoError {}
