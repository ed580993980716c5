//! Capabilities of Instruction-Based Sampling.

use core::fmt;

/// Capabilities of Instruction-Based Sampling: the first word of the raw data.
///
/// Kernel: `IBS_CAPS_*`, `arch/x86/include/asm/perf_event.h`. AMD: CPUID Fn8000_001B_EAX.
///
/// # Examples
///
/// ```
/// use perf_aux::ibs::IbsCaps;
///
/// let caps = IbsCaps(0x8bff);
/// assert!(caps.contains(IbsCaps::ZEN4) && !caps.contains(IbsCaps::OPDATA4));
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IbsCaps(pub u32);

macro_rules! caps {
    ($( $(#[$meta:meta])* $NAME:ident = $bit:literal, $c:literal; )*) => {
        impl IbsCaps {
            $( $(#[$meta])* #[doc(alias = $c)] pub const $NAME: Self = Self(1 << $bit); )*

            /// Every capability that has a name, from the lowest bit on.
            pub const NAMES: &'static [(&'static str, Self)] = &[ $( (stringify!($NAME), Self::$NAME), )* ];
        }
    };
}

caps! {
    /// The other bits are valid.
    AVAIL = 0, "IBS_CAPS_AVAIL";
    /// Fetches can be sampled.
    FETCHSAM = 1, "IBS_CAPS_FETCHSAM";
    /// Operations can be sampled.
    OPSAM = 2, "IBS_CAPS_OPSAM";
    /// The count of operations can be read and written.
    RDWROPCNT = 3, "IBS_CAPS_RDWROPCNT";
    /// Operations can be counted instead of cycles.
    OPCNT = 4, "IBS_CAPS_OPCNT";
    /// Samples of operations have the target of the branch.
    BRNTRGT = 5, "IBS_CAPS_BRNTRGT";
    /// The counts of operations have 27 bits.
    OPCNTEXT = 6, "IBS_CAPS_OPCNTEXT";
    /// [`OpData::op_rip_invalid`](super::OpData::op_rip_invalid) is supported.
    RIPINVALIDCHK = 7, "IBS_CAPS_RIPINVALIDCHK";
    /// [`OpData::op_brn_fuse`](super::OpData::op_brn_fuse) is supported.
    OPBRNFUSE = 8, "IBS_CAPS_OPBRNFUSE";
    /// Samples of fetches have [`FetchCtlExtd`](super::FetchCtlExtd).
    FETCHCTLEXTD = 9, "IBS_CAPS_FETCHCTLEXTD";
    /// Samples of operations have a fourth word of data.
    OPDATA4 = 10, "IBS_CAPS_OPDATA4";
    /// The extensions of Zen 4: data sources of five bits, and samples of misses of the third-level cache only.
    ZEN4 = 11, "IBS_CAPS_ZEN4";
    /// Loads can be sampled by latency. Since Linux 6.15.
    OPLDLAT = 12, "IBS_CAPS_OPLDLAT";
    /// Sampling can be disabled by a second control register. Since Linux 7.1.
    DIS = 13, "IBS_CAPS_DIS";
    /// Fetches can be sampled by latency. Since Linux 7.1.
    FETCHLAT = 14, "IBS_CAPS_FETCHLAT";
    /// Samples can be selected by bit 63 of the address. Since Linux 7.1.
    BIT63_FILTER = 15, "IBS_CAPS_BIT63_FILTER";
    /// Streaming stores and accesses to other sockets are marked. Since Linux 7.1.
    STRMST_RMTSOCKET = 16, "IBS_CAPS_STRMST_RMTSOCKET";
    /// Samples of operations have the size of the page. Since Linux 6.15.
    OPDTLBPGSIZE = 19, "IBS_CAPS_OPDTLBPGSIZE";
}

impl IbsCaps {
    /// Returns whether all capabilities of `caps` are set.
    #[must_use]
    pub const fn contains(self, caps: Self) -> bool {
        self.0 & caps.0 == caps.0
    }

    /// Returns the capabilities that a capture's header states for `ibs_op`: the names of its `PMU_CAPS` feature.
    ///
    /// perf decides by these names how it prints samples. The capabilities in a sample may be more: the kernel shows a
    /// name only if it supports the capability.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_aux::ibs::IbsCaps;
    ///
    /// let names: [&[u8]; 2] = [b"zen4_ibs_extensions", b"ldlat"];
    /// assert_eq!(IbsCaps::of_names(names), IbsCaps(IbsCaps::ZEN4.0 | IbsCaps::OPLDLAT.0));
    /// ```
    #[must_use]
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let caps = names.into_iter().map(|name| match name {
            b"zen4_ibs_extensions" => Self::ZEN4,
            b"ldlat" => Self::OPLDLAT,
            b"dtlb_pgsize" => Self::OPDTLBPGSIZE,
            b"rmtsocket" | b"strmst" => Self::STRMST_RMTSOCKET,
            _ => Self(0),
        });
        caps.fold(Self(0), |all, caps| Self(all.0 | caps.0))
    }
}

impl fmt::Display for IbsCaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut unknown, mut separator) = (self.0, "");
        for (name, cap) in Self::NAMES {
            if self.contains(*cap) {
                write!(f, "{separator}{name}")?;
                separator = "|";
                unknown &= !cap.0;
            }
        }
        if unknown != 0 || self.0 == 0 {
            write!(f, "{separator}{unknown:#x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for IbsCaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IbsCaps({self})")
    }
}
