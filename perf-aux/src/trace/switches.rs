//! The threads of the CPUs over time.

use alloc::vec::Vec;

/// A process id and a thread id.
type PidTid = (i32, i32);

/// The context switches of the CPUs: which thread ran on a CPU at a time.
///
/// From the records SWITCH, SWITCH_CPU_WIDE and ITRACE_START, and from samples of `sched:sched_switch`.
#[derive(Clone, Debug, Default)]
pub struct ContextSwitches {
    /// In ascending order of CPUs and times.
    list: Vec<ContextSwitch>,
}

/// A context switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContextSwitch {
    pub(super) cpu: u32,
    pub(super) time: u64,
    /// The thread that ran before; `None` if the record does not have it.
    pub(super) before: Option<PidTid>,
    /// The thread that ran after.
    pub(super) after: Option<PidTid>,
}

impl ContextSwitches {
    pub(super) fn new(mut list: Vec<ContextSwitch>) -> Self {
        // Stable: records of equal time keep their order.
        list.sort_by_key(|switch| (switch.cpu, switch.time));
        Self { list }
    }

    /// Returns the number of context switches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether the capture has no context switches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the process id and the thread id that ran on a CPU at a time, in nanoseconds of the records. At the time of a
    /// switch, this is the thread after it.
    ///
    /// `None` if it is unknown: no switch of the CPU has it, or the switch before and the one after have different ones,
    /// because one between them was lost. Takes logarithmic time.
    #[must_use]
    pub fn thread_at(&self, cpu: u32, time: u64) -> Option<(i32, i32)> {
        let next = self.list.partition_point(|switch| (switch.cpu, switch.time) <= (cpu, time));
        let of_cpu = |switch: &&ContextSwitch| switch.cpu == cpu;
        let last = next.checked_sub(1).and_then(|last| self.list.get(last)).filter(of_cpu);
        let next = self.list.get(next).filter(of_cpu);
        let (after, before) = (last.and_then(|last| last.after), next.and_then(|next| next.before));
        // A switch has a record of the thread that leaves, and one of the thread that comes, which both have both.
        let is_same = |after| next.is_some_and(|next| next.after == Some(after));
        match (after, before) {
            (Some(after), Some(before)) if after != before && !is_same(after) => None,
            (after, before) => after.or(before),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn switch(cpu: u32, time: u64, before: Option<i32>, after: Option<i32>) -> ContextSwitch {
        let thread = |tid| (tid, tid);
        ContextSwitch { cpu, time, before: before.map(thread), after: after.map(thread) }
    }

    #[test]
    fn the_thread_before_at_and_after_a_switch() {
        let switches = ContextSwitches::new(vec![
            switch(1, 30, Some(8), Some(9)),
            switch(1, 10, Some(7), Some(8)),
            switch(2, 5, Some(1), None),
            switch(2, 9, None, Some(2)),
        ]);
        let at = |cpu, time| switches.thread_at(cpu, time).map(|(_, tid)| tid);
        assert_eq!(
            [at(1, 9), at(1, 10), at(1, 29), at(1, 30), at(1, u64::MAX)].map(Option::unwrap),
            [7, 8, 8, 9, 9]
        );
        // The traced thread left, and came back.
        assert_eq!([at(2, 4), at(2, 5), at(2, 8), at(2, 9)], [Some(1), None, None, Some(2)]);
        assert_eq!([at(0, 7), at(3, 7)], [None, None]);
    }

    #[test]
    fn both_records_of_a_switch() {
        let switches =
            ContextSwitches::new(vec![switch(0, 5, Some(1), Some(2)), switch(0, 6, Some(1), Some(2))]);
        assert_eq!([4, 5, 6].map(|time| switches.thread_at(0, time).unwrap().1), [1, 2, 2]);
    }

    #[test]
    fn a_lost_switch_is_no_guess() {
        let switches =
            ContextSwitches::new(vec![switch(0, 1, Some(1), Some(2)), switch(0, 5, Some(3), Some(4))]);
        assert_eq!(switches.thread_at(0, 3), None);
        assert_eq!(switches.thread_at(0, 5), Some((4, 4)));
        assert_eq!((switches.len(), switches.is_empty()), (2, false));
    }
}
