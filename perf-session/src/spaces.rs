//! The address spaces of a sample.

use perf_abi::record::CpuMode;

use crate::machine::Machine;
use crate::maps::Maps;
use crate::thread::Thread;

/// The address spaces of a sample: those of its process, its kernel and the host's kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spaces<'s> {
    pub(crate) host: &'s Machine,
    pub(crate) machine: &'s Machine,
    pub(crate) thread: &'s Thread,
    pub(crate) is_guest: bool,
}

impl<'s> Spaces<'s> {
    /// Returns the mappings that addresses of a mode are in.
    #[inline]
    pub(crate) fn maps(&self, mode: CpuMode) -> Option<&'s Maps> {
        match mode {
            CpuMode::KERNEL => Some(&self.host.kernel.maps),
            CpuMode::USER => self.machine.maps_of(self.thread),
            // A sample of the host has no guest to look in.
            CpuMode::GUEST_KERNEL if self.is_guest => Some(&self.machine.kernel.maps),
            CpuMode::GUEST_USER if self.is_guest => self.machine.maps_of(self.thread),
            _ => None,
        }
    }
}
