//! Addresses in packets, of which only the low bytes are sent, and the address that completes them.

/// Number of bytes of an address that a packet has, and what completes them.
///
/// Intel SDM: IPBytes, table "FUP/TIP IP Reconstruction".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IpCompression(pub u8);

impl IpCompression {
    /// No address: it is not part of what is traced.
    pub const SUPPRESSED: Self = Self(0);
    /// 2 bytes; the others are those of the last address.
    pub const UPDATE_16: Self = Self(1);
    /// 4 bytes; the others are those of the last address.
    pub const UPDATE_32: Self = Self(2);
    /// 6 bytes, whose highest bit is extended.
    pub const SIGN_EXTEND_48: Self = Self(3);
    /// 6 bytes; the others are those of the last address.
    pub const UPDATE_48: Self = Self(4);
    /// All 8 bytes.
    pub const FULL: Self = Self(6);

    /// Returns the number of bytes in the packet; `None` for the reserved codes 5 and 7, which no packet has.
    #[must_use]
    #[inline]
    pub const fn size(self) -> Option<usize> {
        match self {
            Self::SUPPRESSED => Some(0),
            Self::UPDATE_16 => Some(2),
            Self::UPDATE_32 => Some(4),
            Self::SIGN_EXTEND_48 | Self::UPDATE_48 => Some(6),
            Self::FULL => Some(8),
            _ => None,
        }
    }
}

/// The address of a packet, as the packet has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CompressedIp {
    /// Bytes that the packet has.
    pub compression: IpCompression,
    /// These bytes, zero-extended; 0 if the packet has none.
    pub payload: u64,
}

/// The last address of the trace, which completes the next one.
///
/// # Examples
///
/// ```
/// use perf_aux::pt::{CompressedIp, IpCompression, LastIp};
///
/// let mut last = LastIp::default();
/// last.reset();
/// let full = CompressedIp { compression: IpCompression::SIGN_EXTEND_48, payload: 0xffff_b960_d300 };
/// assert_eq!(last.apply(full), Some(0xffff_ffff_b960_d300));
/// let short = CompressedIp { compression: IpCompression::UPDATE_16, payload: 0xd794 };
/// assert_eq!(last.apply(short), Some(0xffff_ffff_b960_d794));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastIp(Option<u64>);

impl LastIp {
    /// Sets the last address to 0, as a [PSB](super::Packet::Psb) does.
    pub const fn reset(&mut self) {
        self.0 = Some(0);
    }

    /// Forgets the last address, after packets were lost.
    pub const fn forget(&mut self) {
        self.0 = None;
    }

    /// Returns the last address; `None` if it is not known.
    #[must_use]
    pub const fn get(self) -> Option<u64> {
        self.0
    }

    /// Completes the address of a packet, which is then the last one.
    ///
    /// `None` if the packet has no address, which leaves the last one as it is, or if the last address is needed and not known.
    ///
    /// perf: `intel_pt_calc_ip`.
    #[inline]
    pub fn apply(&mut self, ip: CompressedIp) -> Option<u64> {
        let kept = |bits: u32| self.0.map(|last| last & (u64::MAX << bits));
        let whole = match ip.compression {
            IpCompression::UPDATE_16 => kept(16)? | ip.payload,
            IpCompression::UPDATE_32 => kept(32)? | ip.payload,
            IpCompression::UPDATE_48 => kept(48)? | ip.payload,
            IpCompression::SIGN_EXTEND_48 if ip.payload >> 47 != 0 => ip.payload | u64::MAX << 48,
            IpCompression::SIGN_EXTEND_48 | IpCompression::FULL => ip.payload,
            _ => return None,
        };
        self.0 = Some(whole);
        Some(whole)
    }
}
