//! The innermost frames that are left out of the stacks of threads that wait.

use perf_session::SampleContext;
use perf_symbol::StackFrame;

use crate::lock_waits::LockFunctions;
use crate::off_cpu::SchedulerFrames;
use crate::symbols::Symbols;

/// The functions whose frames are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeftOut {
    Nothing,
    /// Those of the scheduler.
    Scheduler,
    /// Those that take a lock of the kernel, or, with `true`, a futex.
    Lock(bool),
}

/// Finds such frames.
#[derive(Debug)]
pub(super) struct InnerFrames {
    scheduler: SchedulerFrames,
    locks: LockFunctions,
}

impl Default for InnerFrames {
    fn default() -> Self {
        Self { scheduler: SchedulerFrames::default(), locks: LockFunctions::new(true) }
    }
}

impl InnerFrames {
    /// Returns the number of innermost frames that are left out, which is less than that of all.
    pub(super) fn count(
        &mut self,
        left_out: LeftOut,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        symbols: &mut Symbols,
    ) -> usize {
        match left_out {
            LeftOut::Nothing => 0,
            LeftOut::Scheduler => self.scheduler.count(at, stack, symbols),
            LeftOut::Lock(is_futex) => self.locks.count(at, stack, is_futex, symbols),
        }
    }
}
