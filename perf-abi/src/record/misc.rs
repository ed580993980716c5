//! The `misc` field of a record's header. The meaning of its bits depends on the record type.

use super::RecordType;

codes! {
    /// The mode of the CPU when the record was written: the low three bits of `misc`.
    ///
    /// Kernel: `PERF_RECORD_MISC_CPUMODE_MASK` and the values under it.
    pub struct CpuMode(u8) {
        /// Unknown. Since Linux 2.6.31.
        CPUMODE_UNKNOWN = 0, "PERF_RECORD_MISC_CPUMODE_UNKNOWN";
        /// Kernel. Since Linux 2.6.31.
        KERNEL = 1, "PERF_RECORD_MISC_KERNEL";
        /// User space. Since Linux 2.6.31.
        USER = 2, "PERF_RECORD_MISC_USER";
        /// Hypervisor. Since Linux 2.6.31.
        HYPERVISOR = 3, "PERF_RECORD_MISC_HYPERVISOR";
        /// Kernel of a guest. Since Linux 2.6.35.
        GUEST_KERNEL = 4, "PERF_RECORD_MISC_GUEST_KERNEL";
        /// User space of a guest. Since Linux 2.6.35.
        GUEST_USER = 5, "PERF_RECORD_MISC_GUEST_USER";
    }
}

/// The `misc` field of a record's header.
///
/// The meaning of bits 12 to 15 depends on the record type; [`names`](Self::names) prints it.
///
/// Kernel: `struct perf_event_header`, `PERF_RECORD_MISC_*`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Misc(pub u16);

impl Misc {
    /// The bits of [`CpuMode`]. Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_MISC_CPUMODE_MASK")]
    pub const CPUMODE_MASK: Self = Self(7);
    /// MMAP2 synthesised by perf: reading `/proc/PID/maps` took too long, so the mappings are incomplete.
    /// Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT")]
    pub const PROC_MAP_PARSE_TIMEOUT: Self = Self(1 << 12);
    /// MMAP and MMAP2: the mapping is not executable. Since Linux 3.10.
    #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
    pub const MMAP_DATA: Self = Self(1 << 13);
    /// COMM: an exec changed the name. Since Linux 3.16.
    #[doc(alias = "PERF_RECORD_MISC_COMM_EXEC")]
    pub const COMM_EXEC: Self = Self(1 << 13);
    /// FORK synthesised by perf: an exec followed the fork. Since Linux 4.20.
    #[doc(alias = "PERF_RECORD_MISC_FORK_EXEC")]
    pub const FORK_EXEC: Self = Self(1 << 13);
    /// SWITCH and SWITCH_CPU_WIDE: a switch away from the task; if clear, a switch to it. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT")]
    pub const SWITCH_OUT: Self = Self(1 << 13);
    /// SAMPLE: the instruction pointer is that of the instruction that caused the event. Since Linux 2.6.35.
    #[doc(alias = "PERF_RECORD_MISC_EXACT_IP")]
    pub const EXACT_IP: Self = Self(1 << 14);
    /// SWITCH and SWITCH_CPU_WIDE: the task was preempted; set only with `SWITCH_OUT`. Since Linux 4.17.
    #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT")]
    pub const SWITCH_OUT_PREEMPT: Self = Self(1 << 14);
    /// MMAP2: the record has a build id instead of device and inode. Since Linux 5.12.
    #[doc(alias = "PERF_RECORD_MISC_MMAP_BUILD_ID")]
    pub const MMAP_BUILD_ID: Self = Self(1 << 14);
    /// Reserved by the kernel; the perf tool uses it in its own records. Since Linux 2.6.35.
    #[doc(alias = "PERF_RECORD_MISC_EXT_RESERVED")]
    pub const EXT_RESERVED: Self = Self(1 << 15);
    /// LOST_SAMPLES written by perf: a BPF filter dropped the samples.
    #[doc(alias = "PERF_RECORD_MISC_LOST_SAMPLES_BPF")]
    pub const LOST_SAMPLES_BPF: Self = Self(1 << 15);
    /// HEADER_BUILD_ID: the record has the size of the build id.
    #[doc(alias = "PERF_RECORD_MISC_BUILD_ID_SIZE")]
    pub const BUILD_ID_SIZE: Self = Self(1 << 15);

    /// Returns the mode of the CPU.
    #[must_use]
    pub const fn cpumode(self) -> CpuMode {
        CpuMode((self.0 & Self::CPUMODE_MASK.0) as u8)
    }

    /// Returns whether every bit of `bits` is set.
    ///
    /// The meaning of bits 12 to 15 depends on the record type, which this method does not check.
    #[must_use]
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Returns these bits together with those of `bits`.
    #[must_use]
    pub const fn union(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    /// Returns the name of bit number `bit` in records of type `kind`; `None` if it has no name.
    ///
    /// Only bits 12 to 15 have names.
    #[must_use]
    pub fn bit_name(kind: RecordType, bit: u32) -> Option<&'static str> {
        match (kind, bit) {
            (RecordType::MMAP2, 12) => Some("PROC_MAP_PARSE_TIMEOUT"),
            (RecordType::MMAP | RecordType::MMAP2, 13) => Some("MMAP_DATA"),
            (RecordType::COMM, 13) => Some("COMM_EXEC"),
            (RecordType::FORK, 13) => Some("FORK_EXEC"),
            (RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE, 13) => Some("SWITCH_OUT"),
            (RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE, 14) => Some("SWITCH_OUT_PREEMPT"),
            (RecordType::SAMPLE, 14) => Some("EXACT_IP"),
            (RecordType::MMAP2, 14) => Some("MMAP_BUILD_ID"),
            (RecordType::LOST_SAMPLES, 15) => Some("LOST_SAMPLES_BPF"),
            (RecordType::HEADER_BUILD_ID, 15) => Some("BUILD_ID_SIZE"),
            _ => None,
        }
    }

    /// Returns a value that prints these bits with their names in records of type `kind`: `USER|EXACT_IP`.
    ///
    /// Bits without a name print in hexadecimal; no bits print as `0x0`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_abi::record::{Misc, RecordType};
    /// let misc = Misc(0x4002);
    /// assert_eq!(misc.names(RecordType::SAMPLE).to_string(), "USER|EXACT_IP");
    /// assert_eq!(misc.names(RecordType::MMAP2).to_string(), "USER|MMAP_BUILD_ID");
    /// ```
    #[must_use]
    pub const fn names(self, kind: RecordType) -> MiscNames {
        MiscNames { misc: self, kind }
    }
}

impl core::ops::BitOr for Misc {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        self.union(other)
    }
}

impl From<CpuMode> for Misc {
    fn from(mode: CpuMode) -> Self {
        Self(u16::from(mode.0) & Self::CPUMODE_MASK.0)
    }
}

impl core::fmt::Debug for Misc {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Misc({:#x})", self.0)
    }
}

/// A [`Misc`] that prints the names of its bits in one record type; [`Misc::names`] returns it.
#[derive(Clone, Copy, Debug)]
pub struct MiscNames {
    misc: Misc,
    kind: RecordType,
}

impl core::fmt::Display for MiscNames {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut separator = "";
        let mode = self.misc.cpumode();
        let mut rest = self.misc.0 & !Misc::CPUMODE_MASK.0;
        if mode != CpuMode::CPUMODE_UNKNOWN {
            match mode.name() {
                Some(name) => f.write_str(name)?,
                None => write!(f, "CPUMODE_{}", mode.0)?,
            }
            separator = "|";
        }
        for bit in 12..16 {
            let mask = 1_u16 << bit;
            if rest & mask == 0 {
                continue;
            }
            if let Some(name) = Misc::bit_name(self.kind, bit) {
                write!(f, "{separator}{name}")?;
                separator = "|";
                rest &= !mask;
            }
        }
        if rest != 0 || self.misc.0 == 0 {
            write!(f, "{separator}{rest:#x}")?;
        }
        Ok(())
    }
}
