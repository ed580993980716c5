//! Counts that user space reads itself, and the scaling of counts of a shared counter.

/// The source of an event's count for reads from user space.
///
/// Kernel: the comments in `struct perf_event_mmap_page`.
///
/// # Examples
///
/// ```
/// use perf_parse::ring::Pmc;
///
/// let counter = Pmc { index: 3, offset: 1000, pmc_width: 48 };
/// assert_eq!(counter.register(), Some(2)); // the operand of rdpmc
/// assert_eq!(counter.count(0xffff_ffff_fff0), Some(984)); // 16 short of the overflow
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pmc {
    /// `index`: one more than the register number; 0 while the event is on no counter.
    pub index: u32,
    /// `offset`: the number to add to the register's value.
    pub offset: i64,
    /// `pmc_width`: bits of the register.
    pub pmc_width: u16,
}

impl Pmc {
    /// Returns the register to read, as `rdpmc` numbers them; `None` while the event is on no counter.
    #[must_use]
    #[inline]
    pub const fn register(&self) -> Option<u32> {
        self.index.checked_sub(1)
    }

    /// Returns the count while the event is on no counter.
    #[must_use]
    #[inline]
    pub const fn idle_count(&self) -> u64 {
        self.offset as u64
    }

    /// Returns the count when the register reads `pmc`: the sum of `offset` and `pmc`, sign-extended from `pmc_width`
    /// bits.
    ///
    /// `None` for a `pmc_width` of 0 or above 64, from which no count can be computed. Use `read` instead.
    #[must_use]
    #[inline]
    pub fn count(&self, pmc: u64) -> Option<u64> {
        if self.pmc_width == 0 {
            return None;
        }
        let unused = 64_u32.checked_sub(u32::from(self.pmc_width))?;
        let extended = (pmc.checked_shl(unused)? as i64).checked_shr(unused)?;
        Some(self.offset.wrapping_add(extended) as u64)
    }
}

/// The time for which an event was enabled, and the part of it for which it was on a counter; in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterTimes {
    /// `time_enabled`.
    pub enabled: u64,
    /// `time_running`.
    pub running: u64,
}

impl CounterTimes {
    /// Returns these times `elapsed` nanoseconds later (see [`Clock::elapsed`](super::Clock::elapsed)). The event is
    /// enabled, and `on_counter` is whether it has been on a counter since.
    #[must_use]
    #[inline]
    pub const fn add_elapsed(self, elapsed: u64, on_counter: bool) -> Self {
        let running = if on_counter { self.running.wrapping_add(elapsed) } else { self.running };
        Self { enabled: self.enabled.wrapping_add(elapsed), running }
    }

    /// Estimates `count` as if the event had been on a counter all the time: `count * enabled / running`, rounded
    /// down.
    ///
    /// `None` if the event never was on a counter, or if the estimate does not fit in 64 bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::ring::CounterTimes;
    ///
    /// assert_eq!(CounterTimes { enabled: 3000, running: 1000 }.estimate(7), Some(21));
    /// assert_eq!(CounterTimes { enabled: 3000, running: 0 }.estimate(0), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn estimate(self, count: u64) -> Option<u64> {
        // The product of 64 and 64 bits cannot overflow 128 bits.
        let product = u128::from(count).wrapping_mul(u128::from(self.enabled));
        u64::try_from(product.checked_div(u128::from(self.running))?).ok()
    }
}
