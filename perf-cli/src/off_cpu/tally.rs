//! The sums of times off the CPU, by their kinds and states.

use alloc::collections::{BTreeMap, BTreeSet};

use super::state::Wait;
use crate::escape::{OneLine, Seconds};
use crate::output::say;

/// The times off the CPU by their kinds, each with the states that it is made of.
#[derive(Debug, Default)]
pub(super) struct Tally(BTreeMap<Wait, (u64, BTreeSet<Box<str>>)>);

/// Number of states that are listed. Real captures have about ten.
const STATES: usize = 16;

impl Tally {
    /// Adds nanoseconds in a state.
    pub(super) fn add(&mut self, wait: Wait, state: &str, away: u64) {
        let (sum, states) = self.0.entry(wait).or_default();
        *sum = sum.saturating_add(away);
        if states.len() < STATES && !states.contains(state) {
            states.insert(state.into());
        }
    }

    /// Prints one line for each kind.
    pub(super) fn report(&self) {
        for (wait, (sum, states)) in &self.0 {
            let name = wait.event_name();
            let what = match wait {
                Wait::Blocked => "blocked",
                Wait::Runnable => "waiting for a CPU",
                Wait::Stopped => "stopped",
            };
            let states: Vec<_> = states.iter().map(|it| &**it).collect();
            let states = states.join(", ");
            say!(
                "perfdata: event {name}: threads {what} for {} s (states: {})",
                Seconds(*sum),
                OneLine(states.as_bytes())
            );
        }
    }
}
