//! The conversion of the times in a trace.

use perf_abi::auxtrace::{AuxtraceType, IntelBtsWord, IntelPtWord};
use perf_parse::record::user::{TimeConv, TimeConvShort};

use super::AuxInfo;

/// The conversion of the ticks of a trace to the time of records.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AuxTimes {
    conversion: Option<Conversion>,
}

/// A TIME_CONV record without its trailing bytes.
#[derive(Clone, Copy, Debug)]
struct Conversion {
    shift: u64,
    mult: u64,
    zero: u64,
    short: Option<TimeConvShort>,
}

impl AuxTimes {
    /// Takes the conversion of AUXTRACE_INFO, which perf uses for Intel's tracers, and else that of TIME_CONV.
    pub(super) fn of(info: Option<&AuxInfo>, record: Option<Self>) -> Self {
        let of_info = info.and_then(|info| {
            let [shift, mult, zero, is_valid] = match info.kind {
                AuxtraceType::INTEL_PT => [
                    IntelPtWord::TIME_SHIFT.0,
                    IntelPtWord::TIME_MULT.0,
                    IntelPtWord::TIME_ZERO.0,
                    IntelPtWord::CAP_USER_TIME_ZERO.0,
                ],
                AuxtraceType::INTEL_BTS => [
                    IntelBtsWord::TIME_SHIFT.0,
                    IntelBtsWord::TIME_MULT.0,
                    IntelBtsWord::TIME_ZERO.0,
                    IntelBtsWord::CAP_USER_TIME_ZERO.0,
                ],
                _ => return None,
            }
            .map(|word| info.word(word));
            is_valid.filter(|&is_valid| is_valid != 0)?;
            Some(Conversion { shift: shift?, mult: mult?, zero: zero?, short: None })
        });
        Self { conversion: of_info.or(record.and_then(|record| record.conversion)) }
    }

    /// Takes a TIME_CONV record. Without a valid `time_zero` it converts nothing.
    pub(super) fn of_record(record: &TimeConv<'_>) -> Self {
        let &TimeConv { time_shift: shift, time_mult: mult, time_zero: zero, short, .. } = record;
        let is_valid = short.is_none_or(|short| short.cap_user_time_zero != 0);
        Self { conversion: is_valid.then_some(Conversion { shift, mult, zero, short }) }
    }

    pub(super) fn time_at(&self, ticks: u64) -> Option<u64> {
        let Conversion { shift, mult, zero, short } = self.conversion?;
        let record = TimeConv { time_shift: shift, time_mult: mult, time_zero: zero, short, rest: &[] };
        Some(record.tsc_to_perf_time(ticks))
    }
}
