//! Limits of all downloads together.

use std::cell::Cell;
use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use perf_session::BuildId;

use super::options::DebuginfodOptions;
use super::wanted::WantedFile;
use crate::cancellation::Cancellation;

/// What all downloads took until now.
#[derive(Debug, Default)]
pub(super) struct DownloadTotal {
    time: Duration,
    bytes: u64,
    /// The files that were left out. They are not asked for again.
    left_out: HashSet<(BuildId, WantedFile)>,
}

impl DownloadTotal {
    /// Returns the bounds of the next download.
    ///
    /// # Errors
    ///
    /// [`QuotaExceeded`](io::ErrorKind::QuotaExceeded) if nothing is left, or if this file was left out before.
    pub(super) fn next<'a>(
        &self,
        options: &DebuginfodOptions,
        (id, wanted): (BuildId, &WantedFile),
        limit: u64,
        cancellation: &'a Cancellation,
    ) -> io::Result<DownloadBounds<'a>> {
        let bytes = options.total_size.map_or(u64::MAX, |total| total.saturating_sub(self.bytes));
        let time = options.total_time.map(|total| total.saturating_sub(self.time));
        let is_left_out = self.left_out.contains(&(id, wanted.clone()));
        if is_left_out || bytes == 0 || time.is_some_and(|time| time.is_zero()) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        Ok(DownloadBounds {
            limit: limit.min(bytes),
            is_of_total: bytes < limit,
            start: Instant::now(),
            time,
            cancellation,
            received: Cell::new(0),
        })
    }

    /// Adds a download.
    pub(super) fn add(
        &mut self,
        (id, wanted): (BuildId, &WantedFile),
        bounds: &DownloadBounds<'_>,
        error: Option<io::ErrorKind>,
    ) {
        self.time = self.time.saturating_add(bounds.start.elapsed());
        self.bytes = self.bytes.saturating_add(bounds.received.get());
        if error == Some(io::ErrorKind::QuotaExceeded) {
            self.left_out.insert((id, wanted.clone()));
        }
    }
}

/// The bounds of one download.
#[derive(Debug)]
pub(super) struct DownloadBounds<'a> {
    /// Number of bytes of the file.
    pub(super) limit: u64,
    /// Whether it is less than a file may have otherwise.
    is_of_total: bool,
    start: Instant,
    /// Time that is left for all downloads.
    time: Option<Duration>,
    pub(super) cancellation: &'a Cancellation,
    received: Cell<u64>,
}

impl DownloadBounds<'_> {
    /// Returns the time that is left for all downloads; `None` for no limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        Some(self.time?.saturating_sub(self.start.elapsed()))
    }

    /// Adds received bytes.
    pub(super) fn receive(&self, bytes: u64) {
        self.received.set(self.received.get().saturating_add(bytes));
    }

    /// Returns an error as [`QuotaExceeded`](io::ErrorKind::QuotaExceeded) if it is due to a limit of all downloads.
    pub(super) fn error(&self, error: io::Error) -> io::Error {
        let is_over = match error.kind() {
            io::ErrorKind::FileTooLarge => self.is_of_total,
            io::ErrorKind::TimedOut => self.time_left().is_some_and(|time| time.is_zero()),
            _ => false,
        };
        if is_over { io::ErrorKind::QuotaExceeded.into() } else { error }
    }
}
