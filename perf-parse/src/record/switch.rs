//! Context switches of a CPU.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A context switch on a CPU. `misc` has `SWITCH_OUT` if the task of the trailer leaves the CPU.
///
/// Kernel: `PERF_RECORD_SWITCH_CPU_WIDE`; since Linux 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "ContextSwitchRecord")]
pub struct SwitchCpuWide {
    /// Process id: of the next task on a switch out, of the previous task on a switch in.
    pub next_prev_pid: i32,
    /// Thread id of the same task.
    pub next_prev_tid: i32,
}

impl SwitchCpuWide {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::RawSwitchCpuWide { next_prev_pid, next_prev_tid } =
            at.fixed::<wire::RawSwitchCpuWide<O>>("next_prev_pid")?;
        Ok(Self { next_prev_pid: next_prev_pid.get(), next_prev_tid: next_prev_tid.get() })
    }
}
