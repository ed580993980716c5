//! The sums of times off the CPU, by their kinds and states.

use std::collections::{BTreeMap, BTreeSet};

use super::state::WaitKind;

/// The times off the CPU by their kinds, each with the states that it is made of.
#[derive(Debug, Default)]
pub(super) struct WaitTally(BTreeMap<WaitKind, (u64, BTreeSet<Box<str>>)>);

/// The time that threads were off the CPU in one kind of wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitTotal {
    /// The kind.
    pub kind: WaitKind,
    /// The sum of all threads, in nanoseconds.
    pub nanoseconds: u64,
    /// The states of the threads, as the capture's print format writes them, in alphabetical order; 16 at most.
    pub states: Vec<Box<str>>,
}

/// Number of states that are listed. Real captures have about ten.
const STATES: usize = 16;

impl WaitTally {
    /// Adds nanoseconds in a state.
    pub(super) fn add(&mut self, kind: WaitKind, state: &str, away: u64) {
        let (sum, states) = self.0.entry(kind).or_default();
        *sum = sum.saturating_add(away);
        if states.len() < STATES && !states.contains(state) {
            states.insert(state.into());
        }
    }

    /// Returns the total of each kind that has any time.
    pub(super) fn totals(&self) -> Vec<WaitTotal> {
        let total = |(&kind, (sum, states)): (&WaitKind, &(u64, BTreeSet<Box<str>>))| WaitTotal {
            kind,
            nanoseconds: *sum,
            states: states.iter().cloned().collect(),
        };
        self.0.iter().map(total).collect()
    }
}
