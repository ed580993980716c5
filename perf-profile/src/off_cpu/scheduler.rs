//! The scheduler's own functions, which are the innermost frames of each thread that leaves the CPU.

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::SampleContext;
use perf_symbol::StackFrame;

use crate::symbols::Symbols;

/// Finds the frames of the scheduler at the inner end of a stack, each address looked up once.
#[derive(Debug, Default)]
pub struct SchedulerFrames {
    /// By the address in the kernel.
    known: HashMap<u64, bool>,
}

/// Number of addresses that are remembered. A kernel has some tens of them.
const ADDRESSES: usize = 1 << 12;

impl SchedulerFrames {
    /// Returns how many innermost frames of a stack are the scheduler's, or the tracepoint's in it. One frame at least is not
    /// counted, so that each stack keeps one. Without symbols, 0.
    ///
    /// perf leaves out `schedule`, `__schedule` and `preempt_schedule`: `save_task_callchain`, `tools/perf/builtin-sched.c`.
    pub fn count(
        &mut self,
        at: &SampleContext<'_, '_>,
        stack: &[StackFrame<'_>],
        symbols: &mut Symbols,
    ) -> usize {
        let but_one = stack.split_last().map_or(&[][..], |(_, frames)| frames);
        but_one.iter().take_while(|frame| self.is_one(at, frame, symbols)).count()
    }

    fn is_one(&mut self, at: &SampleContext<'_, '_>, it: &StackFrame<'_>, symbols: &mut Symbols) -> bool {
        if it.frame.mode != CpuMode::KERNEL {
            return false;
        }
        if let Some(&known) = self.known.get(&it.frame.ip) {
            return known;
        }
        let function = symbols.functions(at, &it.frame, it.is_caller).last();
        let is_one = function.and_then(|it| it.name.as_deref()).is_some_and(is_of_scheduler);
        if self.known.len() < ADDRESSES {
            self.known.insert(it.frame.ip, is_one);
        }
        is_one
    }
}

/// Returns whether a function of the kernel switches from a thread to the next one, as opposed to the one that waits.
///
/// Linux: `kernel/sched/core.c`, `kernel/time/sleep_timeout.c`, `include/trace/events/sched.h`.
fn is_of_scheduler(name: &[u8]) -> bool {
    // Compilers add endings such as `.constprop.0`.
    let name = name.split(|&byte| byte == b'.').next().unwrap_or(name);
    let names: [&[u8]; 8] = [
        b"schedule",
        b"__schedule",
        b"__schedule_loop",
        b"schedule_idle",
        b"io_schedule",
        b"io_schedule_timeout",
        b"_cond_resched",
        b"do_task_dead",
    ];
    let starts: [&[u8]; 9] = [
        b"schedule_timeout",
        b"schedule_hrtimeout",
        b"schedule_preempt_disabled",
        b"schedule_rtlock",
        b"preempt_schedule",
        b"dynamic_preempt_schedule",
        b"__cond_resched",
        b"__traceiter_sched_switch",
        b"perf_trace_",
    ];
    names.contains(&name) || starts.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_not_the_scheduler() {
        for name in ["__schedule", "schedule", "schedule_timeout_uninterruptible", "schedule.constprop.0"] {
            assert!(is_of_scheduler(name.as_bytes()), "{name}");
        }
        for name in ["schedule_work", "do_nanosleep", "futex_wait_queue", "scheduler_tick", "wait_woken"] {
            assert!(!is_of_scheduler(name.as_bytes()), "{name}");
        }
    }
}
