//! A progress bar on standard error, for long operations.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::terminal;

/// The number of bytes of the capture between two updates.
const STEP: u64 = 1 << 20;

/// The progress through a capture.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    next: u64,
}

impl Progress {
    /// Creates a bar for `bytes`. It shows only if standard error is a terminal. If there is output meanwhile, it shows
    /// only if standard output is none, because output on the same terminal would garble it.
    pub(crate) fn new(bytes: u64, has_output: bool) -> Self {
        let is_garbled = has_output && std::io::stdout().is_terminal();
        let wanted =
            std::io::stderr().is_terminal() && !terminal::is_dumb() && !is_garbled && bytes > 16 * STEP;
        let template = "{bar:40} {percent:>3}% {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        Self { bar: wanted.then(|| bar(bytes, template)), next: 0 }
    }

    /// Records that the work is `position` bytes into the capture.
    #[inline]
    pub(crate) fn at(&mut self, position: u64) {
        if position >= self.next {
            self.next = position + STEP;
            if let Some(bar) = &self.bar {
                bar.set_position(position);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress of the look-up of names.
#[derive(Debug)]
pub(crate) struct NamingProgress {
    start: Instant,
    bar: Option<ProgressBar>,
}

/// After this time the bar is shown.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

impl NamingProgress {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), bar: None }
    }

    /// Records that so many of all addresses are done.
    pub(crate) fn at(&mut self, done: usize, all: usize) {
        if self.bar.is_none() {
            if self.start.elapsed() < SHOWN_AFTER || !std::io::stderr().is_terminal() || terminal::is_dumb() {
                return;
            }
            self.bar = Some(bar(all as u64, "{bar:40} {percent:>3}% names of {pos}/{len} addresses {eta}"));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(done as u64);
        }
    }
}

impl Drop for NamingProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}
