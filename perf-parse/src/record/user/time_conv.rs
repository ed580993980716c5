//! The conversion of the CPU's time stamps to nanoseconds.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The conversion of the CPU's time stamps to nanoseconds.
///
/// perf: `struct perf_record_time_conv`.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TimeConv<'a> {
    /// Bits to shift the product of counter and factor to the right.
    pub time_shift: u64,
    /// The factor.
    pub time_mult: u64,
    /// Time in nanoseconds at which the counter was 0.
    pub time_zero: u64,
    /// The fields that extend a counter that wraps; `None` in records of perf before 5.10, which do not have them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub short: Option<TimeConvShort>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub rest: &'a [u8],
}

/// The fields that extend a counter that wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TimeConvShort {
    /// Value of the counter at which the conversion was read.
    pub time_cycles: u64,
    /// The bits that the counter has.
    pub time_mask: u64,
    /// Whether `time_zero` is valid.
    pub cap_user_time_zero: u8,
    /// Whether the counter wraps, so that the other fields are needed.
    pub cap_user_time_short: u8,
}

impl<'a> TimeConv<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let it = at.fixed::<wire::RawTimeConv<O>>("time_shift")?;
        let short = match at.rest() {
            [] => None,
            _ => Some(at.fixed::<wire::TimeConvShort<O>>("time_cycles")?),
        };
        Ok(Self {
            time_shift: it.time_shift.get(),
            time_mult: it.time_mult.get(),
            time_zero: it.time_zero.get(),
            short: short.map(|short| TimeConvShort {
                time_cycles: short.time_cycles.get(),
                time_mask: short.time_mask.get(),
                cap_user_time_zero: short.cap_user_time_zero,
                cap_user_time_short: short.cap_user_time_short,
            }),
            rest: at.take_rest(),
        })
    }

    /// Returns the time of the event's clock, in nanoseconds, at which the CPU's counter was `tsc`.
    ///
    /// The result equals perf's bit by bit: `time_shift` and `time_mult` are as wide as in the control page (16 and
    /// 32 bits), and sums and products wrap at 64 bits. The split of `tsc` at `time_shift` loses nothing for a shift
    /// of at most 32; kernels write no larger one. A shift of 64 or more, which C leaves undefined, returns
    /// `time_zero`.
    ///
    /// The result is comparable with the `time` of records only if `time_zero` is valid. A record with
    /// [`short`](Self::short) reports this in `cap_user_time_zero`. Older records were written only if it is valid.
    ///
    /// perf: `tsc_to_perf_time`, `tools/perf/util/tsc.c`.
    #[must_use]
    pub fn tsc_to_perf_time(&self, tsc: u64) -> u64 {
        let tsc = match self.short.filter(|short| short.cap_user_time_short != 0) {
            Some(short) => {
                let start = short.time_cycles;
                start.wrapping_add(tsc.wrapping_sub(start) & short.time_mask)
            }
            None => tsc,
        };
        let zero = self.time_zero;
        let mult = self.time_mult & u64::from(u32::MAX);
        let shift = self.time_shift & u64::from(u16::MAX);
        let Some(unit) = u32::try_from(shift).ok().and_then(|shift| 1_u64.checked_shl(shift)) else {
            return zero;
        };
        let whole = (tsc >> shift).wrapping_mul(mult);
        let part = (tsc & unit.wrapping_sub(1)).wrapping_mul(mult) >> shift;
        zero.wrapping_add(whole).wrapping_add(part)
    }
}
