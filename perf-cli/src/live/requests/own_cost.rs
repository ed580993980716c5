//! What the program itself takes.

use core::time::Duration;
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

/// The processor time of this process since the last look.
#[derive(Debug)]
pub(super) struct OwnCost {
    used: Duration,
    looked: Instant,
}

impl OwnCost {
    pub(super) fn new() -> Self {
        Self { used: used(), looked: Instant::now() }
    }

    /// Returns the percentage of one CPU that the process took since the last call.
    pub(super) fn percent(&mut self) -> f64 {
        let (used, now) = (used(), Instant::now());
        let seconds = now.duration_since(self.looked).as_secs_f64().max(1e-3);
        let more = used.saturating_sub(self.used).as_secs_f64();
        *self = Self { used, looked: now };
        100.0 * more / seconds
    }
}

/// Returns the processor time of all threads of this process.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time() {
        let mut cost = OwnCost::new();
        while used() <= cost.used {
            core::hint::spin_loop();
        }
        assert!(cost.percent() > 0.0);
    }
}
