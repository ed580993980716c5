//! Hardware breakpoints.

use perf_abi::breakpoint::BreakpointType;
use perf_abi::event::EventType;

use crate::event::{EventSpec, LookupError};

/// Bytes of a `long`: the length of an execution breakpoint.
const LONG: u64 = size_of::<usize>() as u64;

impl EventSpec {
    /// Returns a hardware breakpoint on accesses to the `len` bytes at `address`. C: `PERF_TYPE_BREAKPOINT`.
    ///
    /// The checks are the rules common to all architectures, and on x86 and arm64 also their own rules. Everywhere the
    /// length is 1 to 8, and execution cannot be combined with other accesses. On x86 the length is a power of two, a
    /// data address is a multiple of it, and an execution breakpoint has the length of a `long`. On arm64 an execution
    /// breakpoint has length 4 and an address that is a multiple of 4. Kernel: `hw_breakpoint_arch_parse` of each
    /// architecture.
    ///
    /// # Errors
    ///
    /// [`LookupError::Value`] if the kernel would refuse the address, the length, or the accesses.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::breakpoint::BreakpointType;
    /// use perf_open::event::EventSpec;
    ///
    /// let event = EventSpec::breakpoint(0x1000, 4, BreakpointType::RW)?;
    /// assert_eq!(event.name, "mem:0x1000/4:rw");
    /// assert_eq!(event.attr.breakpoint(), Some((0x1000, 4)));
    /// assert!(EventSpec::breakpoint(0x1001, 9, BreakpointType::W).is_err());
    /// # Ok::<(), perf_open::event::LookupError>(())
    /// ```
    pub fn breakpoint(address: u64, len: u64, access: BreakpointType) -> Result<Self, LookupError> {
        let wrong = |what, value, needed| Err(LookupError::Value { what, value, needed });
        let execution = access == BreakpointType::X;
        if access == BreakpointType::EMPTY
            || access.unknown() != 0
            || (access.contains(BreakpointType::X) && !execution)
        {
            return wrong("breakpoint access", access.0.into(), "must be r, w, rw or x");
        }
        if !(1..=8).contains(&len) {
            return wrong("breakpoint length", len, "must be 1 to 8");
        }
        if cfg!(any(target_arch = "x86", target_arch = "x86_64")) {
            if !len.is_power_of_two() || (len == 8 && LONG == 4) {
                return wrong("breakpoint length", len, "must be 1, 2 or 4, or 8 on a 64-bit kernel");
            }
            if execution && len != LONG {
                return wrong(
                    "breakpoint length",
                    len,
                    "must be the size of a long for execution: 8 on a 64-bit kernel",
                );
            }
            // The kernel reduces an execution breakpoint to one byte, so any address is aligned.
            if !execution && address & len.saturating_sub(1) != 0 {
                return wrong("breakpoint address", address, "must be a multiple of the length");
            }
        }
        if cfg!(target_arch = "aarch64") && execution && (len != 4 || address & 3 != 0) {
            return wrong("breakpoint", address, "must have 4 aligned bytes for execution");
        }
        let letters: String = [(BreakpointType::R, 'r'), (BreakpointType::W, 'w'), (BreakpointType::X, 'x')]
            .into_iter()
            .filter_map(|(bit, letter)| access.contains(bit).then_some(letter))
            .collect();
        let mut event = Self::numeric(format!("mem:{address:#x}/{len}:{letters}"), EventType::BREAKPOINT, 0);
        event.attr.bp_type = access;
        (event.attr.config1, event.attr.config2) = (address, len);
        Ok(event)
    }

    /// Returns perf's default length for a string without one: that of a `long` for execution, else 4.
    pub(crate) fn breakpoint_len(access: BreakpointType) -> u64 {
        if access == BreakpointType::X { LONG } else { 4 }
    }
}
