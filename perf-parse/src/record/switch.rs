//! Context switches seen by the cpu.

use perf_abi::endian::Endian;
use perf_abi::record as wire;

use crate::cursor::Cursor;
use crate::error::Error;

/// A context switch of a cpu; `misc` has `SWITCH_OUT` where the task of the trailer leaves.
///
/// Kernel: `PERF_RECORD_SWITCH_CPU_WIDE`; since Linux 4.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCpuWide {
    /// Process: the next one when switching out, the previous one when switching in.
    pub next_prev_pid: i32,
    /// Thread, likewise.
    pub next_prev_tid: i32,
}

impl SwitchCpuWide {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'_>) -> Result<Self, Error> {
        let wire::SwitchCpuWide { next_prev_pid, next_prev_tid } =
            at.fixed::<wire::SwitchCpuWide<O>>("next_prev_pid")?;
        Ok(Self { next_prev_pid: next_prev_pid.get(), next_prev_tid: next_prev_tid.get() })
    }
}
