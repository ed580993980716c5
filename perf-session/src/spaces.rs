//! The address spaces of a sample.

use perf_abi::record::CpuMode;

use crate::machine::Machine;
use crate::map::Mapping;
use crate::maps::Maps;
use crate::thread::Thread;

/// The address spaces of a sample: those of its process, its kernel and the host's kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressSpaces<'s> {
    pub(crate) host: &'s Machine,
    pub(crate) machine: &'s Machine,
    pub(crate) thread: &'s Thread,
}

impl<'s> AddressSpaces<'s> {
    /// Returns whether the sample is of a guest.
    // Not a field, as the compiler copies what pads it in parts that overlap, and then waits for them.
    #[inline]
    fn is_guest(&self) -> bool {
        !core::ptr::eq(self.host, self.machine)
    }

    /// Returns the mapping that has an address of a mode.
    pub(crate) fn find(&self, mode: CpuMode, addr: u64) -> Option<&'s Mapping> {
        self.maps(mode)?.find(addr).or_else(|| self.find_before_exec(mode, addr))
    }

    /// Returns the mapping that had an address before the last exec, if the new image has not run yet.
    pub(crate) fn find_before_exec(&self, mode: CpuMode, addr: u64) -> Option<&'s Mapping> {
        match mode {
            CpuMode::USER => self.machine.maps_before_exec(self.thread)?.find(addr),
            CpuMode::GUEST_USER if self.is_guest() => self.machine.maps_before_exec(self.thread)?.find(addr),
            _ => None,
        }
    }

    /// Returns the mappings that addresses of a mode are in.
    #[inline]
    pub(crate) fn maps(&self, mode: CpuMode) -> Option<&'s Maps> {
        match mode {
            CpuMode::KERNEL => Some(&self.host.kernel.maps),
            CpuMode::USER => self.machine.maps_of(self.thread),
            // A sample of the host has no guest to look in.
            CpuMode::GUEST_KERNEL if self.is_guest() => Some(&self.machine.kernel.maps),
            CpuMode::GUEST_USER if self.is_guest() => self.machine.maps_of(self.thread),
            _ => None,
        }
    }
}
