//! The mean of several runs.

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) value: f64,
    /// The standard error; 0 for a single value.
    pub(crate) error: f64,
}

impl Mean {
    /// Returns the mean; `None` for no values.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
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
    pub(crate) fn error_percent(self) -> f64 {
        if self.value == 0.0 { 0.0 } else { 100.0 * self.error / self.value.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::Mean;

    #[test]
    fn of_some_runs() {
        assert_eq!(Mean::of(&[]), None);
        assert_eq!(Mean::of(&[7.0]), Some(Mean { value: 7.0, error: 0.0 }));
        // The deviations are 2, 0 and 2: a variance of 4, a standard error of the root of 4/3.
        let mean = Mean::of(&[8.0, 10.0, 12.0]).unwrap();
        assert_eq!(mean.value, 10.0);
        assert!((mean.error - (4.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{mean:?}");
        assert!((mean.error_percent() - 11.547).abs() < 1e-3, "{mean:?}");
    }

    #[test]
    fn nothing_is_no_percent_off() {
        assert_eq!(Mean::of(&[0.0, 0.0]).unwrap().error_percent(), 0.0);
    }
}
