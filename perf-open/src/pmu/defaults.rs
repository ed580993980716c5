//! The defaults of a PMU's events.
//!
//! perf: `perf_pmu__get_default_config`, `tools/perf/arch`.

use perf_abi::attr::Attr;

use super::Pmu;

/// The target of a choice among several periods. It is the exponent: higher is less frequent.
const TARGET: u32 = 3;

impl Pmu {
    /// Returns the number in a file of `caps/`. `None` if there is no such file, or it is not a number of that radix.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_open::pmu::Pmus;
    ///
    /// if let Ok(pmu) = Pmus::new().get("intel_pt") {
    ///     println!("{:?}", pmu.cap("mtc", 10));
    /// }
    /// ```
    #[must_use]
    pub fn cap(&self, name: &str, radix: u32) -> Option<u64> {
        let text = self.caps.iter().find(|(known, _)| known == name).map(|(_, text)| text.trim())?;
        let digits = if radix == 16 { text.strip_prefix("0x").unwrap_or(text) } else { text };
        u64::from_str_radix(digits, radix).ok()
    }

    /// Returns the `config` of an event without terms: for `intel_pt` the time stamps, their periods and the branches
    /// that its `caps/` and `format/` list; 0 for other PMUs.
    ///
    /// [`parse`](crate::event::parse()) and [`Pmu::event`] start from it.
    ///
    /// perf: `intel_pt_default_config`, `tools/perf/arch/x86/util/intel-pt.c`.
    #[must_use]
    pub fn default_config(&self) -> u64 {
        if self.name != "intel_pt" {
            return 0;
        }
        let mut terms = vec![("tsc", 1)];
        let has_mtc = self.cap("mtc", 10).is_none_or(|has| has != 0);
        let mtc_periods = if has_mtc { self.cap("mtc_periods", 16).unwrap_or(0) } else { 0 };
        if let Some(period) = nearest(mtc_periods, TARGET) {
            terms.extend([("mtc", 1), ("mtc_period", period)]);
        }
        let has_psb = self.cap("psb_cyc", 10).is_none_or(|has| has != 0);
        if has_psb && mtc_periods != 0 {
            let period = nearest(self.cap("psb_periods", 16).unwrap_or(0), TARGET);
            terms.extend(period.map(|period| ("psb_period", period)));
        }
        if self.format("pt").is_some() && self.format("branch").is_some() {
            terms.extend([("pt", 1), ("branch", 1)]);
        }
        let mut attr = Attr::default();
        for (name, value) in terms {
            // perf sets none of the terms if one of them has no format.
            if !self.format(name).is_some_and(|format| format.set(&mut attr, value)) {
                return 0;
            }
        }
        attr.config
    }
}

/// Returns the number of the highest bit that is set and at most `target`, or else of the lowest bit; `None` if no bit is
/// set.
fn nearest(bits: u64, target: u32) -> Option<u64> {
    let up_to = bits & (u64::MAX >> 63_u32.saturating_sub(target));
    let bit = up_to.checked_ilog2().or((bits != 0).then(|| bits.trailing_zeros()));
    bit.map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_bit() {
        let of = |bits| nearest(bits, 3);
        assert_eq!((of(0), of(1), of(0b1000), of(0x3f)), (None, Some(0), Some(3), Some(3)));
        assert_eq!((of(0b11_0000), of(0b1_0010), of(1 << 63)), (Some(4), Some(1), Some(63)));
        assert_eq!(nearest(u64::MAX, 63), Some(63));
    }
}
