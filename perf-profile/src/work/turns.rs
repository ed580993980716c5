//! Work that threads do one after the other, in the order of the blocks that they work on.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Something that threads change in turn: first the one with block 0, then the one with block 1, and so on.
#[derive(Debug)]
pub struct Turns<T> {
    state: Mutex<TurnState<T>>,
    has_ended: Condvar,
}

#[derive(Debug)]
struct TurnState<T> {
    next: u64,
    shared: T,
}

/// The turn of a block. It ends when this is dropped, whether it was taken or not, so that no thread waits for one that
/// panics.
#[derive(Debug)]
pub struct Turn<'a, T> {
    turns: &'a Turns<T>,
    block: u64,
}

impl<T> Turns<T> {
    /// Makes the first turn that of block 0.
    #[must_use]
    pub fn new(shared: T) -> Self {
        Self { state: Mutex::new(TurnState { next: 0, shared }), has_ended: Condvar::new() }
    }

    /// Returns the turn of a block. Blocks have the numbers from 0 on, each once.
    pub fn of(&self, block: u64) -> Turn<'_, T> {
        Turn { turns: self, block }
    }

    fn wait(&self, block: u64) -> MutexGuard<'_, TurnState<T>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.has_ended.wait_while(state, |state| state.next != block);
        waited.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Turn<'_, T> {
    /// Waits for the turns of all blocks before, and changes what is shared.
    pub fn take(self, change: impl FnOnce(&mut T)) {
        change(&mut self.turns.wait(self.block).shared);
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        self.turns.wait(self.block).next += 1;
        self.turns.has_ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn blocks_have_their_turns_in_order() {
        let turns = Turns::new(Vec::new());
        thread::scope(|scope| {
            for first in [2, 1, 0] {
                let turns = &turns;
                scope.spawn(move || {
                    for block in (first..60).step_by(3) {
                        let turn = turns.of(block);
                        // Some do not take theirs.
                        if block % 4 > 0 {
                            turn.take(|list| list.push(block));
                        }
                    }
                });
            }
        });
        let TurnState { next, shared } = turns.state.into_inner().unwrap();
        assert_eq!(next, 60);
        assert!(shared.iter().copied().eq((0..60).filter(|block| block % 4 > 0)));
    }

    #[test]
    fn a_thread_that_panics_has_had_its_turn() {
        let turns = Turns::new(0);
        thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _turn = turns.of(0);
                std::panic::resume_unwind(Box::new(()));
            });
            turns.of(1).take(|count| *count += 1);
            assert!(panics.join().is_err());
        });
        assert_eq!(turns.state.into_inner().unwrap().shared, 1);
    }
}
