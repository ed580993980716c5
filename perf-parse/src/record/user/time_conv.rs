//! The conversion of the CPU's time stamps to nanoseconds.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// The conversion of the CPU's time stamps to nanoseconds.
///
/// perf: `struct perf_record_time_conv`.
#[derive(Clone, Copy, Debug)]
pub struct TimeConv<'a, O: Endian> {
    /// Shift, factor and offset.
    pub scale: &'a wire::RawTimeConv<O>,
    /// The fields that extend a counter that wraps; `None` in records of perf before 5.10, which do not have them.
    pub short: Option<&'a wire::TimeConvShort<O>>,
    /// The bytes after the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> TimeConv<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let scale = at.fixed("time_shift")?;
        let short = if at.rest().is_empty() { None } else { Some(at.fixed("time_cycles")?) };
        Ok(Self { scale, short, rest: at.take_rest() })
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
                let start = short.time_cycles.get();
                start.wrapping_add(tsc.wrapping_sub(start) & short.time_mask.get())
            }
            None => tsc,
        };
        let zero = self.scale.time_zero.get();
        let mult = self.scale.time_mult.get() & u64::from(u32::MAX);
        let shift = self.scale.time_shift.get() & u64::from(u16::MAX);
        let Some(unit) = u32::try_from(shift).ok().and_then(|shift| 1_u64.checked_shl(shift)) else {
            return zero;
        };
        let whole = (tsc >> shift).wrapping_mul(mult);
        let part = (tsc & unit.wrapping_sub(1)).wrapping_mul(mult) >> shift;
        zero.wrapping_add(whole).wrapping_add(part)
    }
}
