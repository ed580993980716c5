//! The control page: the first page of an event's mapping, through which the kernel and the
//! reader share the ring.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{Endian, Endianness, I64, U16, U32, U64, bitfields_from_be, bitfields_to_be};

flags! {
    /// The fields of the control page that are valid (`perf_event_mmap_page.capabilities`), in the
    /// little-endian layout of the word.
    ///
    /// Before Linux 3.12 the header declared both `cap_usr_time` and `cap_usr_rdpmc` as bit 0, by mistake.
    /// The meaning of bit 0 then depends on the compiler of the kernel.
    /// [`BIT0_IS_DEPRECATED`](Self::BIT0_IS_DEPRECATED) marks kernels without that mistake;
    /// [`is_reliable`](Self::is_reliable) checks it.
    ///
    /// Kernel: the bit-fields of `struct perf_event_mmap_page`. Bits 6 to 63 are reserved as of 7.3.
    pub struct Capabilities(u64) {
        /// Ambiguous before Linux 3.12; always clear since then.
        BIT0 = 1 << 0, "cap_bit0";
        /// Bit 0 is clear, and the bits from 2 on are valid. Always set since Linux 3.12.
        BIT0_IS_DEPRECATED = 1 << 1, "cap_bit0_is_deprecated";
        /// User space may read the counter: `index`, `offset` and `pmc_width` are valid. Since Linux 3.12.
        USER_RDPMC = 1 << 2, "cap_user_rdpmc";
        /// `time_shift`, `time_mult` and `time_offset` are valid. Since Linux 3.12.
        USER_TIME = 1 << 3, "cap_user_time";
        /// `time_zero` is valid. Since Linux 3.12.
        USER_TIME_ZERO = 1 << 4, "cap_user_time_zero";
        /// The hardware clock is narrower than 64 bits: `time_cycles` and `time_mask` are
        /// valid. Since Linux 5.9.
        USER_TIME_SHORT = 1 << 5, "cap_user_time_short";
    }
}

impl Capabilities {
    /// Returns whether the bits from 2 on are valid, which is the case since Linux 3.12.
    ///
    /// If they are not, use neither the counter nor the time of the page.
    #[must_use]
    pub const fn is_reliable(self) -> bool {
        self.contains(Self::BIT0_IS_DEPRECATED)
    }

    /// Returns the capabilities of the word that a page in byte order `O` contains.
    #[must_use]
    pub fn from_word<O: Endian>(word: U64<O>) -> Self {
        match O::ENDIANNESS {
            Endianness::Little => Self(word.get()),
            Endianness::Big => Self(bitfields_from_be(word.get(), Self::FIELDS)),
        }
    }

    /// Returns the word for a page in byte order `O`.
    #[must_use]
    pub fn to_word<O: Endian>(self) -> U64<O> {
        match O::ENDIANNESS {
            Endianness::Little => U64::new(self.0),
            Endianness::Big => U64::new(bitfields_to_be(self.0, Self::FIELDS)),
        }
    }
}

/// The part of the control page that is in use: 1088 bytes.
///
/// This struct is for a copy of the page or for a page that was dumped: the kernel writes to a live mapping
/// while a program reads it. The fields from `index` to `time_mask` are consistent only if `lock` was even
/// and had the same value before and after the read.
///
/// Kernel: `struct perf_event_mmap_page`; since Linux 2.6.31.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::LittleEndian;
/// use perf_abi::mmap_page::{Capabilities, MmapPage};
/// use perf_abi::zerocopy::FromBytes;
///
/// let mut dump = vec![0; 4096];
/// dump[40] = 0x1e; // capabilities
/// let (page, _) = MmapPage::<LittleEndian>::ref_from_prefix(&dump).unwrap();
/// assert!(page.capabilities().contains(Capabilities::USER_RDPMC));
/// assert_eq!(page.data_size.get(), 0); // a kernel before 4.1: the ring is the mapping without this page
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_event_mmap_page")]
pub struct MmapPage<O: Endian> {
    /// Version of this struct: 0 as of 7.3.
    pub version: U32<O>,
    /// The oldest version that this version is compatible with: 0 as of 7.3.
    pub compat_version: U32<O>,
    /// Sequence count: odd while the kernel writes the fields from `index` on.
    pub lock: U32<O>,
    /// The counter number for `rdpmc` plus 1; 0 if the event is on no counter.
    pub index: U32<O>,
    /// The value to add to the result of `rdpmc`; the count itself if `index` is 0.
    pub offset: I64<O>,
    /// Nanoseconds during which the event was enabled.
    pub time_enabled: U64<O>,
    /// Nanoseconds during which the event was on a counter.
    pub time_running: U64<O>,
    /// The word of bit-fields as recorded; [`capabilities`](Self::capabilities) decodes it. Since Linux 3.4.
    pub raw_capabilities: U64<O>,
    /// Bits of the counter; sign-extend the result of `rdpmc` from this width. Since Linux 3.4.
    pub pmc_width: U16<O>,
    /// Shift of scaled cycles: nanoseconds are cycles times `time_mult`, shifted right by
    /// this. Since Linux 3.4.
    pub time_shift: U16<O>,
    /// Multiplier of cycles. Since Linux 3.4.
    pub time_mult: U32<O>,
    /// Nanoseconds to add to the scaled cycles to get the time since `time_enabled` and `time_running` were
    /// written. Since Linux 3.4.
    pub time_offset: U64<O>,
    /// Nanoseconds to add to the scaled cycles to get the time that samples use. Since Linux 3.12.
    pub time_zero: U64<O>,
    /// Bytes of this struct before the reserved ones. Since Linux 3.12.
    pub size: U32<O>,
    /// Zero.
    pub reserved_1: U32<O>,
    /// Cycles at a recent moment, to extend a clock narrower than 64 bits. Since Linux 5.9.
    pub time_cycles: U64<O>,
    /// Mask of the bits of a clock narrower than 64 bits. Since Linux 5.9.
    pub time_mask: U64<O>,
    /// Zero.
    pub reserved: [u8; 928],
    /// The position at which the kernel writes next: a byte count that never wraps. The offset in the ring is
    /// this count modulo `data_size`. Read it with acquire ordering.
    ///
    /// In a ring that is written backward the count decreases, and the data begins at this position.
    pub data_head: U64<O>,
    /// The position up to which the reader has read. Store it with release ordering; the kernel does not
    /// overwrite data from this position on.
    ///
    /// In a mapping without `PROT_WRITE` the kernel ignores it and overwrites data.
    pub data_tail: U64<O>,
    /// Offset of the ring in the mapping, in bytes. Since Linux 4.1; 0 in older kernels, whose ring
    /// follows this page.
    pub data_offset: U64<O>,
    /// Bytes of the ring, a power of two. Since Linux 4.1; 0 in older kernels, whose ring is the mapping
    /// without this page.
    pub data_size: U64<O>,
    /// The position in the AUX area at which the kernel writes next, as `data_head`. Since Linux 4.1.
    pub aux_head: U64<O>,
    /// The position in the AUX area up to which the reader has read, as `data_tail`. Since Linux 4.1.
    pub aux_tail: U64<O>,
    /// File offset at which to map the AUX area; the reader sets it. Since Linux 4.1.
    pub aux_offset: U64<O>,
    /// Bytes of the AUX area; the reader sets it. Since Linux 4.1.
    pub aux_size: U64<O>,
}

impl<O: Endian> MmapPage<O> {
    /// Returns the valid fields of this page, in the same layout for both byte orders.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities::from_word(self.raw_capabilities)
    }
}
