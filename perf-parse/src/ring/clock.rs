//! Time from a cycle counter: the arithmetic that the control page gives the numbers for.

/// How cycles of the hardware clock (`rdtsc`, `cntvct_el0`, `rdtime`) become nanoseconds, and back.
///
/// Products are taken in 128 bits, so that none overflows; what does not fit in the 64 bits of a time is cut off as
/// the kernel does. The form with quotient and remainder by which the kernel's header and perf compute gives the
/// same numbers, for every shift up to 32, beyond which its own products overflow.
///
/// Kernel: the comments in `struct perf_event_mmap_page`; perf: `tools/perf/util/tsc.c`.
///
/// # Examples
///
/// ```
/// use perf_parse::ring::Clock;
///
/// // 3 GHz: a third of a nanosecond a cycle.
/// let clock = Clock { mult: 357_913_941, shift: 30, offset: Some(0), zero: Some(1000), short: None };
/// assert_eq!(clock.time(3_000_000_000), Some(1_000_000_999));
/// assert_eq!(clock.cycles(1_000_001_000), Some(3_000_000_002));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// `time_mult`: what cycles are multiplied by.
    pub mult: u32,
    /// `time_shift`: what the product is then shifted right by.
    pub shift: u16,
    /// `time_offset`: the scaled cycles at the moment that `time_enabled` and `time_running` are of, negated. `None`
    /// where the page does not give it (`cap_user_time`).
    pub offset: Option<u64>,
    /// `time_zero`: the time of samples when the cycles were 0. `None` where the page does not give it
    /// (`cap_user_time_zero`), as the event has a clock of its own.
    pub zero: Option<u64>,
    /// For a clock of fewer than 64 bits; `None` for one of 64, or of a kernel before 5.9, which does not say.
    pub short: Option<ShortClock>,
}

/// A hardware clock of fewer than 64 bits (`cap_user_time_short`); since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortClock {
    /// `time_cycles`: the cycles, in 64 bits, at a recent moment.
    pub cycles: u64,
    /// `time_mask`: the bits that the clock has.
    pub mask: u64,
}

impl ShortClock {
    /// What the clock read, in 64 bits: the first such moment from `self.cycles` on.
    #[must_use]
    #[inline]
    pub const fn widen(&self, cycles: u64) -> u64 {
        self.cycles.wrapping_add(cycles.wrapping_sub(self.cycles) & self.mask)
    }
}

impl Clock {
    /// Nanoseconds since `time_enabled` and `time_running` were written, when the clock reads `cycles`: for
    /// [`Times::advance`](super::Times::advance). `None` if the page does not give `time_offset`.
    #[must_use]
    #[inline]
    pub fn elapsed(&self, cycles: u64) -> Option<u64> {
        Some(self.offset?.wrapping_add(self.scale(cycles)))
    }

    /// The time of samples, in nanoseconds, when the clock reads `cycles`; `None` if the page does not give
    /// `time_zero`.
    #[must_use]
    #[inline]
    pub fn time(&self, cycles: u64) -> Option<u64> {
        Some(self.zero?.wrapping_add(self.scale(cycles)))
    }

    /// The cycles, in 64 bits, at a time of samples. As times are coarser than cycles or cycles than times, going
    /// there and back may lose a part.
    ///
    /// `None` if the page does not give `time_zero`, or numbers that cannot be: a `time_mult` of 0, a `time_shift`
    /// from 64 on.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "cut off as in the kernel's header")]
    pub fn cycles(&self, time: u64) -> Option<u64> {
        let time = u128::from(time.wrapping_sub(self.zero?));
        if self.shift >= 64 {
            return None;
        }
        let shifted = time.checked_shl(u32::from(self.shift))?;
        shifted.checked_div(u128::from(self.mult)).map(|cycles| cycles as u64)
    }

    /// Cycles in nanoseconds.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "cut off as in the kernel's header")]
    fn scale(&self, cycles: u64) -> u64 {
        let cycles = self.short.map_or(cycles, |short| short.widen(cycles));
        // Of 64 and 32 bits: cannot overflow.
        let product = u128::from(cycles).wrapping_mul(u128::from(self.mult));
        product.checked_shr(u32::from(self.shift)).map_or(0, |time| time as u64)
    }
}
