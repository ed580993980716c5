//! How the cpu's time stamps become nanoseconds.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// How the cpu's time stamps become nanoseconds.
///
/// perf: `struct perf_record_time_conv`.
#[derive(Clone, Copy, Debug)]
pub struct TimeConv<'a, O: Endian> {
    /// Shift, factor and offset.
    pub scale: &'a wire::TimeConv<O>,
    /// How a counter that wraps is extended; `None` in records of perf before 5.10, which end before it.
    pub short: Option<&'a wire::TimeConvShort<O>>,
    /// What stands behind the fields; see [`UserRecord::rest`](super::UserRecord::rest).
    pub rest: &'a [u8],
}

impl<'a, O: Endian> TimeConv<'a, O> {
    pub(super) fn parse(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let scale = at.fixed("time_shift")?;
        let short = if at.rest().is_empty() { None } else { Some(at.fixed("time_cycles")?) };
        Ok(Self { scale, short, rest: at.take_rest() })
    }

    /// The time of the event's clock, in nanoseconds, at which the cpu's counter was `tsc`.
    ///
    /// The same number as perf's, bit by bit: `time_shift` and `time_mult` are as wide as in the control page (16 and 32
    /// bits), and sums and products wrap at 64 bits. The split of `tsc` at `time_shift` loses nothing as long as that
    /// is at most 32, which it is in all that kernels write; a shift of 64 or more, which C leaves open, gives
    /// `time_zero`.
    ///
    /// It is what records have as `time` only if `time_zero` holds: a record with [`short`](Self::short) says so in
    /// `cap_user_time_zero`; older ones were written only if it does.
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
