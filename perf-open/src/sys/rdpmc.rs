//! Instructions that read counters and clocks in user space.
//!
//! None of them accesses memory. They are nevertheless not marked `nomem`, so that the compiler keeps them between the
//! two reads of the control page's sequence count.

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod arch {
    use core::arch::asm;

    /// Reads the counter with number `register` by `rdpmc`. If the kernel does not allow it, the instruction raises
    /// `SIGSEGV`.
    pub(crate) fn counter(register: u32) -> Option<u64> {
        let (low, high): (u32, u32);
        // SAFETY: the instruction reads a counter into the two named registers. It accesses no memory, no stack and no
        // flags. If it is not allowed, it raises a signal and has no other effect.
        unsafe {
            asm!("rdpmc", in("ecx") register, out("eax") low, out("edx") high, options(nostack, preserves_flags));
        }
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// Reads the clock to which the control page's `time_mult` applies.
    pub(crate) fn cycles() -> Option<u64> {
        let (low, high): (u32, u32);
        // SAFETY: the instruction reads the time stamp counter into the two named registers. It accesses no memory, no
        // stack and no flags.
        unsafe {
            asm!("rdtsc", out("eax") low, out("edx") high, options(nostack, preserves_flags));
        }
        Some(u64::from(high) << 32 | u64::from(low))
    }

    /// Returns EAX, EBX and ECX of the leaf 15h of `cpuid`; `None` if the processor does not have it.
    pub(crate) fn crystal() -> Option<[u32; 3]> {
        #[cfg(target_arch = "x86")]
        use core::arch::x86::__cpuid;
        #[cfg(target_arch = "x86_64")]
        use core::arch::x86_64::__cpuid;
        const LEAF: u32 = 0x15;
        // SAFETY: std supports no x86 processor without the instruction, which only writes registers.
        #[allow(unused_unsafe, reason = "newer versions of core have a safe function")]
        let leaves = unsafe { __cpuid(0) }.eax;
        // SAFETY: as above.
        #[allow(unused_unsafe, reason = "newer versions of core have a safe function")]
        let of_leaf = || unsafe { __cpuid(LEAF) };
        (leaves >= LEAF).then(of_leaf).map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx])
    }
}

#[cfg(target_arch = "aarch64")]
mod arch {
    use core::arch::asm;

    macro_rules! read {
        ($register:expr) => {{
            let value: u64;
            // SAFETY: the instruction reads a system register into a general register. It accesses no memory, no stack
            // and no flags. If it is not allowed, it raises a signal and has no other effect.
            unsafe {
                asm!(concat!("mrs {}, ", $register), out(reg) value, options(nostack, preserves_flags));
            }
            value
        }};
    }

    macro_rules! event_counter {
        ($number:expr, $($n:literal)*) => {
            match $number {
                $( $n => Some(read!(concat!("pmevcntr", $n, "_el0"))), )*
                31 => Some(read!("pmccntr_el0")),
                _ => None,
            }
        };
    }

    /// Reads the event counter `register`, or the cycle counter for 31. If the kernel does not allow it, the
    /// instruction raises `SIGILL`.
    pub(crate) fn counter(register: u32) -> Option<u64> {
        event_counter!(register, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
    }

    /// Reads the clock to which the control page's `time_mult` applies.
    pub(crate) fn cycles() -> Option<u64> {
        Some(read!("cntvct_el0"))
    }

    /// Returns `None`: only x86 has it.
    pub(crate) fn crystal() -> Option<[u32; 3]> {
        None
    }
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
mod arch {
    /// Returns `None`: this crate knows no instruction for it on this architecture.
    pub(crate) fn counter(_register: u32) -> Option<u64> {
        None
    }

    /// Returns `None`: this crate knows no instruction for it on this architecture.
    pub(crate) fn cycles() -> Option<u64> {
        None
    }

    /// Returns `None`: only x86 has it.
    pub(crate) fn crystal() -> Option<[u32; 3]> {
        None
    }
}

pub(crate) use arch::{counter, crystal, cycles};
