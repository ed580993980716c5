//! The mean of several runs.

/// The mean of the values of several runs, and its standard error.
///
/// # Examples
///
/// ```
/// use perf_record::stat::RunMean;
///
/// let mean = RunMean::of(&[8.0, 10.0, 12.0]).unwrap();
/// assert_eq!(mean.value, 10.0);
/// assert!((mean.error - 1.1547).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunMean {
    /// The mean.
    pub value: f64,
    /// The standard error; 0 for a single value.
    pub error: f64,
}

impl RunMean {
    /// Returns the mean; `None` for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|each| (each - value).powi(2)).sum();
        let error = if values.len() == 1 { 0.0 } else { (squares / (n - 1.0) / n).sqrt() };
        Some(Self { value, error })
    }

    /// Returns the standard error as a percentage of the mean; 0 if the mean is 0.
    #[must_use]
    pub fn error_percent(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { 100.0 * self.error / self.value.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::RunMean;

    #[test]
    fn of_some_runs() {
        assert_eq!(RunMean::of(&[]), None);
        assert_eq!(RunMean::of(&[7.0]), Some(RunMean { value: 7.0, error: 0.0 }));
        // The deviations are 2, 0 and 2: a variance of 4, a standard error of the root of 4/3.
        let mean = RunMean::of(&[8.0, 10.0, 12.0]).unwrap();
        assert_eq!(mean.value, 10.0);
        assert!((mean.error - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{mean:?}");
        assert!((mean.error_percent() - 11.547).abs() < 1e-3, "{mean:?}");
    }

    #[test]
    fn nothing_is_no_percent_off() {
        assert_eq!(RunMean::of(&[0.0, 0.0]).unwrap().error_percent(), 0.0);
    }
}
