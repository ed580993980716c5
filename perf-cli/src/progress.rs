//! A progress bar on standard error, for long work that a person waits for.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Bytes of the capture between two updates.
const STEP: u64 = 1 << 20;

/// How far into the capture the work is.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    next: u64,
}

impl Progress {
    /// A bar over `bytes`: where standard error is a terminal, and standard output, which would fight with it, is not.
    pub(crate) fn new(bytes: u64) -> Self {
        let wanted = std::io::stderr().is_terminal() && !std::io::stdout().is_terminal() && bytes > 16 * STEP;
        let bar = wanted.then(|| {
            let template = "{bar:40} {percent:>3}% {bytes}/{total_bytes} {bytes_per_sec} {eta}";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(bytes).with_style(style)
        });
        Self { bar, next: 0 }
    }

    /// The work is `position` bytes into the capture.
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
