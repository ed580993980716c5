//! Time from a cycle counter: the arithmetic for the numbers in the control page.

/// Converts cycles of the hardware clock (`rdtsc`, `cntvct_el0`, `rdtime`) to nanoseconds and back.
///
/// Products are computed in 128 bits and cannot overflow. A result is truncated to the 64 bits of a time, as in the
/// kernel. The kernel's header and perf compute with a quotient and a remainder. The results are equal for every
/// shift up to 32; for larger shifts their products overflow.
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
    /// `time_mult`: the factor for cycles.
    pub mult: u32,
    /// `time_shift`: the right shift of the product.
    pub shift: u16,
    /// `time_offset`: the negated scaled cycles at the moment to which `time_enabled` and `time_running` refer.
    /// `None` if the page does not have it (`cap_user_time`).
    pub offset: Option<u64>,
    /// `time_zero`: the time of samples when the cycles were 0. `None` if the page does not have it
    /// (`cap_user_time_zero`), because the event uses a clock of its own.
    pub zero: Option<u64>,
    /// Present for a clock of fewer than 64 bits. `None` for a clock of 64 bits, and for kernels before 5.9, which do
    /// not report this.
    pub short: Option<ShortClock>,
}

/// A hardware clock of fewer than 64 bits (`cap_user_time_short`); since Linux 5.9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortClock {
    /// `time_cycles`: the cycles in 64 bits at a recent moment.
    pub cycles: u64,
    /// `time_mask`: the bits that the clock has.
    pub mask: u64,
}

impl ShortClock {
    /// Extends a clock value to 64 bits: returns the first value from `self.cycles` on that matches it.
    #[must_use]
    #[inline]
    pub const fn widen(&self, cycles: u64) -> u64 {
        self.cycles.wrapping_add(cycles.wrapping_sub(self.cycles) & self.mask)
    }
}

impl Clock {
    /// Returns the nanoseconds from the time at which `time_enabled` and `time_running` were written to the time at
    /// which the clock reads `cycles`, for [`CounterTimes::add_elapsed`](super::CounterTimes::add_elapsed). `None` if the
    /// page does not have `time_offset`.
    #[must_use]
    #[inline]
    pub fn elapsed(&self, cycles: u64) -> Option<u64> {
        Some(self.offset?.wrapping_add(self.scale(cycles)))
    }

    /// Returns the time of samples, in nanoseconds, when the clock reads `cycles`; `None` if the page does not have
    /// `time_zero`.
    #[must_use]
    #[inline]
    pub fn time(&self, cycles: u64) -> Option<u64> {
        Some(self.zero?.wrapping_add(self.scale(cycles)))
    }

    /// Returns the cycles, in 64 bits, at a time of samples. The resolutions of cycles and times differ, so a
    /// conversion there and back may lose precision.
    ///
    /// `None` if the page does not have `time_zero`, or has impossible numbers: a `time_mult` of 0, or a `time_shift`
    /// of 64 or more.
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

    /// Converts cycles to nanoseconds.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "cut off as in the kernel's header")]
    fn scale(&self, cycles: u64) -> u64 {
        let cycles = self.short.map_or(cycles, |short| short.widen(cycles));
        // The product of 64 and 32 bits cannot overflow 128 bits.
        let product = u128::from(cycles).wrapping_mul(u128::from(self.mult));
        product.checked_shr(u32::from(self.shift)).map_or(0, |time| time as u64)
    }
}
