//! Counts that user space reads itself, and what to make of those of a shared counter.

/// Where the count of an event is to be read from user space.
///
/// Kernel: the comments in `struct perf_event_mmap_page`.
///
/// # Examples
///
/// ```
/// use perf_parse::ring::Counter;
///
/// let counter = Counter { index: 3, offset: 1000, pmc_width: 48 };
/// assert_eq!(counter.register(), Some(2)); // what rdpmc is asked for
/// assert_eq!(counter.count(0xffff_ffff_fff0), Some(984)); // 16 short of the overflow
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// `index`: one more than the register; 0 while the event is on no counter.
    pub index: u32,
    /// `offset`: what to add to what the register holds.
    pub offset: i64,
    /// `pmc_width`: bits of the register.
    pub pmc_width: u16,
}

impl Counter {
    /// The register to read, as `rdpmc` numbers them; `None` while the event is on no counter.
    #[must_use]
    #[inline]
    pub const fn register(&self) -> Option<u32> {
        self.index.checked_sub(1)
    }

    /// The count while the event is on no counter.
    #[must_use]
    #[inline]
    pub const fn resting(&self) -> u64 {
        self.offset as u64
    }

    /// The count when the register reads `pmc`: that, sign-extended from `pmc_width` bits, and `offset`.
    ///
    /// `None` for a `pmc_width` of 0 or beyond 64, of which nothing can be made: the count is to be had by `read`.
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

/// How long an event was enabled, and how long of that on a counter; in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// `time_enabled`.
    pub enabled: u64,
    /// `time_running`.
    pub running: u64,
}

impl Times {
    /// These times, `elapsed` nanoseconds later (see [`Clock::elapsed`](super::Clock::elapsed)), for an enabled event
    /// that has been on a counter since, or has not.
    #[must_use]
    #[inline]
    pub const fn advance(self, elapsed: u64, on_counter: bool) -> Self {
        let running = if on_counter { self.running.wrapping_add(elapsed) } else { self.running };
        Self { enabled: self.enabled.wrapping_add(elapsed), running }
    }

    /// What `count` would be, had the event been on a counter all the time: `count * enabled / running`, rounded down.
    ///
    /// `None` if it never was on one, or if the estimate does not fit in 64 bits.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::ring::Times;
    ///
    /// assert_eq!(Times { enabled: 3000, running: 1000 }.estimate(7), Some(21));
    /// assert_eq!(Times { enabled: 3000, running: 0 }.estimate(0), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn estimate(self, count: u64) -> Option<u64> {
        // Of 64 bits each: cannot overflow.
        let product = u128::from(count).wrapping_mul(u128::from(self.enabled));
        u64::try_from(product.checked_div(u128::from(self.running))?).ok()
    }
}
