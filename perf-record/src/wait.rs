//! Waiting for the rings of a recording.

use core::time::Duration;
use std::os::fd::{AsFd, BorrowedFd};

use perf_open::Ring;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::Error;
use crate::pace::Pace;
use crate::session::EventSession;

/// The longest wait while the end of a recorded task keeps its ring readable.
const TICK: Duration = Duration::from_millis(100);

/// The reasons that ended a wait. None of them if the timeout expired or a signal came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitOutcome {
    /// A ring is half full, or fills so fast that the wait did not last.
    pub records: bool,
    /// Recorded tasks have ended.
    pub hangup: bool,
    /// One of the other descriptors is readable.
    pub other: bool,
}

impl EventSession {
    /// Waits until a ring has a wakeup or one of `others` is readable.
    pub(crate) fn wait(
        &mut self,
        timeout: Option<Duration>,
        others: &[BorrowedFd<'_>],
    ) -> Result<WaitOutcome, Error> {
        wait(&self.rings, &mut self.ended, &self.pace, timeout, others)
    }
}

/// Waits until one of `rings` has a wakeup or one of `others` is readable; not at all while the rings fill fast. `ended` is
/// whether the tasks of each ring have ended.
pub(crate) fn wait(
    rings: &[Ring],
    ended: &mut [bool],
    pace: &Pace,
    timeout: Option<Duration>,
    others: &[BorrowedFd<'_>],
) -> Result<WaitOutcome, Error> {
    let mut fds: Vec<_> =
        others.iter().map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN)).collect();
    let rings = rings.iter().zip(&*ended);
    fds.extend(
        rings
            .filter(|(_, ended)| !**ended)
            .map(|(ring, _)| PollFd::from_borrowed_fd(ring.as_fd(), PollFlags::IN)),
    );
    // A ring of tasks that have ended would end each wait at once. Others may still write to it.
    let timeout = match ended.contains(&true) {
        true => Some(timeout.map_or(TICK, |timeout| timeout.min(TICK))),
        false => timeout,
    };
    let timeout = if pace.is_fast() { Some(Duration::ZERO) } else { timeout };
    let timeout = timeout.and_then(|timeout| timeout.try_into().ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(WaitOutcome::default()),
        Err(error) => return Err(Error::io("poll")(error.into())),
    }
    let revents: Vec<_> = fds.iter().map(PollFd::revents).collect();
    let (of_others, of_rings) = revents.split_at(others.len());
    let is_other = of_others.iter().any(|it| !it.is_empty());
    let mut waited = WaitOutcome { records: pace.is_fast(), other: is_other, ..WaitOutcome::default() };
    let live = ended.iter_mut().filter(|ended| !**ended);
    for (ended, revents) in live.zip(of_rings) {
        waited.records |= revents.contains(PollFlags::IN);
        *ended = revents.intersects(PollFlags::HUP | PollFlags::ERR);
        waited.hangup |= *ended;
    }
    Ok(waited)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn rings_that_fill_fast_are_not_waited_for() -> Result<(), Error> {
        let mut pace = Pace::default();
        pace.ring(u64::MAX, 2);
        pace.drained(Instant::now());
        // Without the pace, this would last forever.
        let waited = wait(&[], &mut [], &pace, None, &[])?;
        assert_eq!(waited, WaitOutcome { records: true, hangup: false, other: false });
        let waited = wait(&[], &mut [], &Pace::default(), Some(Duration::ZERO), &[])?;
        assert_eq!(waited, WaitOutcome::default());
        Ok(())
    }
}
