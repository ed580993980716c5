//! The control page: the first page of an event's mapping, through which kernel and reader share the ring.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, Endianness, I64, U16, U32, U64, bitfields_from_be, bitfields_to_be};

flags! {
    /// What of the control page may be used (`perf_event_mmap_page.capabilities`), in its little-endian layout.
    ///
    /// The word has had two eras, told apart by [`BIT0_IS_DEPRECATED`](Self::BIT0_IS_DEPRECATED):
    /// [`is_reliable`](Self::is_reliable). Before Linux 3.12 `cap_usr_time` and `cap_usr_rdpmc` were both declared
    /// as bit 0, by a mistake in the header; what a set bit 0 means depends on the compiler of the kernel.
    ///
    /// Kernel: the bit-fields of `struct perf_event_mmap_page`. Bits 6 to 63 are reserved as of 7.3.
    pub struct Capabilities(u64) {
        /// Either of two things before Linux 3.12; always clear since.
        BIT0 = 1 << 0, "cap_bit0";
        /// Bit 0 is clear and the bits from 2 on mean what their names say. Always set since Linux 3.12.
        BIT0_IS_DEPRECATED = 1 << 1, "cap_bit0_is_deprecated";
        /// User space may read the counter: `index`, `offset` and `pmc_width` hold. Since Linux 3.12.
        USER_RDPMC = 1 << 2, "cap_user_rdpmc";
        /// `time_shift`, `time_mult` and `time_offset` hold. Since Linux 3.12.
        USER_TIME = 1 << 3, "cap_user_time";
        /// `time_zero` holds. Since Linux 3.12.
        USER_TIME_ZERO = 1 << 4, "cap_user_time_zero";
        /// The hardware clock is narrower than 64 bits: `time_cycles` and `time_mask` hold. Since Linux 5.9.
        USER_TIME_SHORT = 1 << 5, "cap_user_time_short";
    }
}

impl Capabilities {
    /// Whether the bits from 2 on mean what their names say: the kernel is Linux 3.12 or later.
    ///
    /// Where they do not, neither the counter nor the time of the page may be used.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        self.contains(Self::BIT0_IS_DEPRECATED)
    }

    /// The capabilities from the word as it stands in a page of byte order `O`.
    #[must_use]
    pub fn from_word<O: Endian>(word: U64<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(bitfields_from_be(word.get(), Self::FIELDS)),
        }
    }

    /// The word as it stands in a page of byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U64<O> {
        match O::ENDIANNESS {
            Endianness::Little => U64::new(self.0),
            Endianness::Big => U64::new(bitfields_to_be(self.0, Self::FIELDS)),
        }
    }
}

/// The control page, as far as it is in use: 1088 bytes.
///
/// In a live mapping the kernel writes while you read: this struct is for a copy, or for a page that was dumped. The
/// numbers from `index` to `time_mask` belong together only if `lock` was even and the same before and after.
///
/// Kernel: `struct perf_event_mmap_page`; since Linux 2.6.31.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::LittleEndian;
/// use perf_abi::mmap_page::{Capabilities, MmapPage};
/// use zerocopy::FromBytes;
///
/// let mut dump = vec![0; 4096];
/// dump[40] = 0x1e; // capabilities
/// let (page, _) = MmapPage::<LittleEndian>::ref_from_prefix(&dump).unwrap();
/// assert!(page.capabilities().contains(Capabilities::USER_RDPMC));
/// assert_eq!(page.data_size.get(), 0); // a kernel before 4.1: the ring is the mapping but for this page
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_event_mmap_page")]
pub struct MmapPage<O: Endian> {
    /// Version of this struct: 0 as of 7.3.
    pub version: U32<O>,
    /// The oldest version this one is compatible with: 0 as of 7.3.
    pub compat_version: U32<O>,
    /// Sequence count: odd while the kernel writes the numbers from `index` on.
    pub lock: U32<O>,
    /// One more than the number to give to `rdpmc`; 0 while the event is on no counter.
    pub index: U32<O>,
    /// What to add to the counter as read by `rdpmc`; the count itself where `index` is 0.
    pub offset: I64<O>,
    /// Nanoseconds the event was enabled.
    pub time_enabled: U64<O>,
    /// Nanoseconds the event was on a counter.
    pub time_running: U64<O>,
    /// The word of bit-fields as recorded; [`capabilities`](Self::capabilities) gives its meaning. Since Linux 3.4.
    pub raw_capabilities: U64<O>,
    /// Bits of the counter, from which `rdpmc`'s result is to be sign-extended. Since Linux 3.4.
    pub pmc_width: U16<O>,
    /// With `time_mult`: nanoseconds are cycles times `time_mult`, shifted right by this. Since Linux 3.4.
    pub time_shift: U16<O>,
    /// Multiplier of cycles. Since Linux 3.4.
    pub time_mult: U32<O>,
    /// Nanoseconds to add to the scaled cycles for the time since `time_enabled` and `time_running`. Since Linux 3.4.
    pub time_offset: U64<O>,
    /// Nanoseconds to add to the scaled cycles for the time of samples. Since Linux 3.12.
    pub time_zero: U64<O>,
    /// Bytes of this struct up to the reserved ones. Since Linux 3.12.
    pub size: U32<O>,
    /// Zero.
    pub reserved_1: U32<O>,
    /// Cycles at a recent moment, to widen a clock narrower than 64 bits with. Since Linux 5.9.
    pub time_cycles: U64<O>,
    /// The bits that such a clock has. Since Linux 5.9.
    pub time_mask: U64<O>,
    /// Zero.
    pub reserved: [u8; 928],
    /// Where the kernel writes next: a byte count that never wraps, modulo `data_size`. Read it with acquire.
    ///
    /// In a ring that is written backward it counts down, and data begins here.
    pub data_head: U64<O>,
    /// How far the reader has read, which it stores with release; the kernel overwrites nothing from there on.
    ///
    /// In a mapping without `PROT_WRITE` the kernel does not look at it and overwrites.
    pub data_tail: U64<O>,
    /// Where the ring begins in the mapping. Since Linux 4.1; before, 0: it begins behind this page.
    pub data_offset: U64<O>,
    /// Bytes of the ring, a power of two. Since Linux 4.1; before, 0: the mapping's size but for this page.
    pub data_size: U64<O>,
    /// Where the AUX area is written next, as `data_head`. Since Linux 4.1.
    pub aux_head: U64<O>,
    /// How far the reader has read the AUX area, as `data_tail`. Since Linux 4.1.
    pub aux_tail: U64<O>,
    /// Where the AUX area is to be mapped: a file offset that the reader sets. Since Linux 4.1.
    pub aux_offset: U64<O>,
    /// Bytes of the AUX area, which the reader sets. Since Linux 4.1.
    pub aux_size: U64<O>,
}

impl<O: Endian> MmapPage<O> {
    /// What of this page may be used, whatever its byte order.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_word(self.raw_capabilities)
    }
}
