//! The `misc` field of a record's header: bits that mean different things in different records.

use super::RecordType;

codes! {
    /// Where the cpu was when the record was made: the low three bits of `misc`.
    ///
    /// Kernel: `PERF_RECORD_MISC_CPUMODE_MASK` and the values under it.
    pub struct CpuMode(u8) {
        /// Not known. Since Linux 2.6.31.
        CPUMODE_UNKNOWN = 0, "PERF_RECORD_MISC_CPUMODE_UNKNOWN";
        /// In the kernel. Since Linux 2.6.31.
        KERNEL = 1, "PERF_RECORD_MISC_KERNEL";
        /// In user space. Since Linux 2.6.31.
        USER = 2, "PERF_RECORD_MISC_USER";
        /// In the hypervisor. Since Linux 2.6.31.
        HYPERVISOR = 3, "PERF_RECORD_MISC_HYPERVISOR";
        /// In a guest's kernel. Since Linux 2.6.35.
        GUEST_KERNEL = 4, "PERF_RECORD_MISC_GUEST_KERNEL";
        /// In a guest's user space. Since Linux 2.6.35.
        GUEST_USER = 5, "PERF_RECORD_MISC_GUEST_USER";
    }
}

/// The `misc` field of a record's header.
///
/// Bits 12 to 15 mean something else in each record type: [`names`](Self::names) knows.
///
/// Kernel: `struct perf_event_header`, `PERF_RECORD_MISC_*`.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Misc(pub u16);

impl Misc {
    /// The bits of [`CpuMode`]. Since Linux 2.6.31.
    #[doc(alias = "PERF_RECORD_MISC_CPUMODE_MASK")]
    pub const CPUMODE_MASK: Self = Self(7);
    /// MMAP2 made by perf: reading `/proc/PID/maps` took too long, the mappings are not complete. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT")]
    pub const PROC_MAP_PARSE_TIMEOUT: Self = Self(1 << 12);
    /// MMAP and MMAP2: the mapping is not executable. Since Linux 3.10.
    #[doc(alias = "PERF_RECORD_MISC_MMAP_DATA")]
    pub const MMAP_DATA: Self = Self(1 << 13);
    /// COMM: an exec changed the name. Since Linux 3.16.
    #[doc(alias = "PERF_RECORD_MISC_COMM_EXEC")]
    pub const COMM_EXEC: Self = Self(1 << 13);
    /// FORK made by perf: the fork was followed by an exec. Since Linux 4.20.
    #[doc(alias = "PERF_RECORD_MISC_FORK_EXEC")]
    pub const FORK_EXEC: Self = Self(1 << 13);
    /// SWITCH and SWITCH_CPU_WIDE: away from the task; clear is to it. Since Linux 4.3.
    #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT")]
    pub const SWITCH_OUT: Self = Self(1 << 13);
    /// SAMPLE: the instruction pointer is that of the event. Since Linux 2.6.35.
    #[doc(alias = "PERF_RECORD_MISC_EXACT_IP")]
    pub const EXACT_IP: Self = Self(1 << 14);
    /// SWITCH and SWITCH_CPU_WIDE: the task was preempted; comes with `SWITCH_OUT` only. Since Linux 4.17.
    #[doc(alias = "PERF_RECORD_MISC_SWITCH_OUT_PREEMPT")]
    pub const SWITCH_OUT_PREEMPT: Self = Self(1 << 14);
    /// MMAP2: a build id in place of device and inode. Since Linux 5.12.
    #[doc(alias = "PERF_RECORD_MISC_MMAP_BUILD_ID")]
    pub const MMAP_BUILD_ID: Self = Self(1 << 14);
    /// Reserved by the kernel; perf uses it on its own records. Since Linux 2.6.35.
    #[doc(alias = "PERF_RECORD_MISC_EXT_RESERVED")]
    pub const EXT_RESERVED: Self = Self(1 << 15);
    /// LOST_SAMPLES made by perf: a BPF filter dropped them.
    #[doc(alias = "PERF_RECORD_MISC_LOST_SAMPLES_BPF")]
    pub const LOST_SAMPLES_BPF: Self = Self(1 << 15);
    /// HEADER_BUILD_ID: the record says how long the build id is.
    #[doc(alias = "PERF_RECORD_MISC_BUILD_ID_SIZE")]
    pub const BUILD_ID_SIZE: Self = Self(1 << 15);

    /// Where the cpu was.
    #[must_use]
    pub const fn cpumode(self) -> CpuMode {
        CpuMode((self.0 & Self::CPUMODE_MASK.0) as u8)
    }

    /// Whether every bit of `bits` is set. The caller knows the record's type, which gives bits 12 to 15 their meaning.
    #[must_use]
    pub const fn contains(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// These bits and those of `bits`.
    #[must_use]
    pub const fn union(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    /// The name that a bit from 12 to 15 has in records of type `kind`; `None` where it has none.
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

    /// These bits by name, as they are meant in records of type `kind`: `USER|EXACT_IP`.
    ///
    /// Prints `0x0` for no bits; bits without a name in hexadecimal.
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

/// Prints a [`Misc`] by the names its bits have in one record type; made by [`Misc::names`].
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
