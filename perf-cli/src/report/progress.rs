//! A progress bar for the look-up of names.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of the look-up of names.
#[derive(Debug)]
pub(super) struct Naming {
    addresses: u64,
    start: Instant,
    bar: Option<ProgressBar>,
}

/// After this time the bar is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

impl Naming {
    pub(super) fn new(addresses: usize) -> Self {
        Self { addresses: addresses as u64, start: Instant::now(), bar: None }
    }

    /// Records that so many addresses are done.
    pub(super) fn at(&mut self, done: usize) {
        if self.bar.is_none() {
            if self.start.elapsed() < SHOWN_AFTER || !std::io::stderr().is_terminal() {
                return;
            }
            let template = "{bar:40} {percent:>3}% names of {pos}/{len} addresses {eta}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            self.bar = Some(ProgressBar::new(self.addresses).with_style(style));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for Naming {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
