//! The times at which the events start and stop.

use core::time::Duration;
use std::collections::VecDeque;
use std::time::Instant;

use crate::args::live::record::Delay;

/// The times at which the events start (`true`) and stop, which are still to come.
#[derive(Debug, Default)]
pub(super) struct Schedule(VecDeque<(Duration, bool)>);

impl Schedule {
    /// Returns the times of `--delay`.
    pub(super) fn of(delay: Option<&Delay>) -> Self {
        Self(match delay {
            None | Some(Delay::Never) => VecDeque::new(),
            Some(Delay::After(after)) => VecDeque::from([(*after, true)]),
            Some(Delay::Between(ranges)) => {
                ranges.iter().flat_map(|(from, to)| [(*from, true), (*to, false)]).collect()
            }
        })
    }

    /// Returns whether the events start or stop now; `None` if neither.
    pub(super) fn due(&mut self, began: Instant) -> Option<bool> {
        let mut due = None;
        while let Some((at, on)) = self.0.front().copied()
            && began.elapsed() >= at
        {
            due = Some(on);
            self.0.pop_front();
        }
        due
    }

    /// Returns how long it is until the next time, at most `most`.
    pub(super) fn next(&self, began: Instant, most: Duration) -> Duration {
        self.0.front().map_or(most, |(at, _)| at.saturating_sub(began.elapsed()).min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_start_and_stop_the_events() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let began = now.checked_sub(ms(1000)).unwrap_or(now);
        if began == now {
            // The machine has just started.
            return;
        }
        let mut schedule = Schedule::of(Some(&Delay::Between(vec![(ms(1), ms(2)), (ms(3), ms(1_000_000))])));
        assert_eq!(schedule.due(began), Some(true), "the second range");
        assert_eq!(schedule.due(began), None);
        assert_eq!(schedule.next(began, ms(7)), ms(7));
        let mut schedule = Schedule::of(Some(&Delay::Between(vec![(ms(1), ms(2))])));
        assert_eq!((schedule.due(began), schedule.due(began)), (Some(false), None));
        assert_eq!(Schedule::of(Some(&Delay::Never)).due(began), None);
    }
}
