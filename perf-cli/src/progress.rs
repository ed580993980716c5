//! A progress bar on standard error, for long operations.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

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
        let wanted = std::io::stderr().is_terminal() && !is_garbled && bytes > 16 * STEP;
        let bar = wanted.then(|| {
            let template = "{bar:40} {percent:>3}% {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(bytes).with_style(style)
        });
        Self { bar, next: 0 }
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
