//! The number, extremes, mean and deviation of times.

/// The number, extremes, mean and deviation of times, each time taken once.
///
/// perf: `struct stats`, `tools/perf/util/stat.h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStats {
    count: u64,
    mean: f64,
    /// The sum of the squares of the differences from the mean.
    squares: f64,
    min: u64,
    max: u64,
}

impl Default for RunStats {
    fn default() -> Self {
        Self { count: 0, mean: 0.0, squares: 0.0, min: u64::MAX, max: 0 }
    }
}

impl RunStats {
    /// Takes a time. By Welford's method.
    pub fn add(&mut self, time: u64) {
        self.count += 1;
        let time_as_float = time as f64;
        let delta = time_as_float - self.mean;
        self.mean += delta / self.count as f64;
        self.squares += delta * (time_as_float - self.mean);
        (self.min, self.max) = (self.min.min(time), self.max.max(time));
    }

    /// Returns the number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean, rounded down; 0 without times.
    #[must_use]
    pub fn mean(&self) -> u64 {
        self.mean as u64
    }

    /// Returns the shortest time; `None` without times.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the longest time; 0 without times.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the standard error of the mean in percent of the mean; 0 for less than two times, or if the mean is 0.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        if self.count < 2 || self.mean == 0.0 {
            return 0.0;
        }
        let count = self.count as f64;
        100.0 * (self.squares / (count - 1.0) / count).sqrt() / self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up() {
        let mut stats = RunStats::default();
        assert_eq!((stats.min(), stats.max(), stats.mean(), stats.relative_error()), (None, 0, 0, 0.0));
        stats.add(4);
        assert_eq!((stats.min(), stats.max(), stats.mean(), stats.relative_error()), (Some(4), 4, 4, 0.0));
        stats.add(9);
        assert_eq!((stats.count(), stats.min(), stats.max(), stats.mean()), (2, Some(4), 9, 6));
        // The variance is 12.5, that of the mean 6.25.
        assert!((stats.relative_error() - 100.0 * 2.5 / 6.5).abs() < 1e-9);
    }
}
