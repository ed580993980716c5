//! Address packets.

code_word! {
    /// The address that an address packet holds. A short header has room for 0 to 7, an extended one for 0 to 31.
    ///
    /// perf: `SPE_ADDR_PKT_HDR_INDEX_*`.
    pub struct AddressIndex(u8) {
        /// The instruction that was sampled: `PC`.
        INSTRUCTION = 0, "SPE_ADDR_PKT_HDR_INDEX_INS";
        /// The target of the branch that was sampled: `TGT`.
        BRANCH_TARGET = 1, "SPE_ADDR_PKT_HDR_INDEX_BRANCH";
        /// The virtual address of the data: `VA`.
        DATA_VIRTUAL = 2, "SPE_ADDR_PKT_HDR_INDEX_DATA_VIRT";
        /// The physical address of the data: `PA`.
        DATA_PHYSICAL = 3, "SPE_ADDR_PKT_HDR_INDEX_DATA_PHYS";
        /// The target of the last branch that was taken before the instruction: `PBT`. Since Armv9.2.
        PREVIOUS_TARGET = 4, "SPE_ADDR_PKT_HDR_INDEX_PREV_BRANCH";
    }
}

/// The 56 bits of an address; the byte above them has the packet's flags.
const LOW_56_BITS: u64 = (1 << 56) - 1;
/// The highest byte of a kernel address.
const KERNEL_BYTE: u64 = 0xff << 56;

/// An address packet: an address of 56 bits, and flags in the highest byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressPacket {
    /// The address that the packet holds.
    pub index: AddressIndex,
    /// The payload as written.
    pub payload: u64,
}

impl AddressPacket {
    /// Returns the low 56 bits, as `perf script -D` prints the addresses of instructions and physical addresses.
    #[must_use]
    #[inline]
    pub const fn low_bits(self) -> u64 {
        self.payload & LOW_56_BITS
    }

    /// Returns the exception level, 0 to 3, of an instruction or a branch target.
    #[must_use]
    #[inline]
    pub const fn exception_level(self) -> u8 {
        (self.payload >> 61) as u8 & 3
    }

    /// Returns the NS bit: whether the address is non-secure. Of an instruction, a branch target, or a physical
    /// address.
    #[must_use]
    #[inline]
    pub const fn is_non_secure(self) -> bool {
        self.payload >> 63 != 0
    }

    /// Returns the NSE bit, which with NS selects one of the four physical address spaces of the Realm Management
    /// Extension. Of an instruction, a branch target, or a physical address.
    #[must_use]
    pub const fn nse(self) -> bool {
        self.payload >> 60 & 1 != 0
    }

    /// Returns the CH bit of a physical address: whether the access was checked against a memory tag.
    #[must_use]
    pub const fn is_checked(self) -> bool {
        self.payload >> 62 & 1 != 0
    }

    /// Returns the PAT field of a physical address: the memory tag, 0 to 15.
    #[must_use]
    pub const fn pattern(self) -> u8 {
        (self.payload >> 56) as u8 & 0xf
    }

    /// Returns the top byte of a virtual address of data: the tag that the program may store there.
    #[must_use]
    pub const fn top_byte(self) -> u8 {
        (self.payload >> 56) as u8
    }

    /// Returns the address as a record has it.
    ///
    /// The highest byte of an address is not recorded. An address of an instruction gets 0xff if it is non-secure and
    /// of exception level 1 or 2. A virtual address of data gets 0xff if its bits 52 to 55 are set, as those of kernel
    /// addresses are. Other addresses get 0. An address of unknown index is the payload.
    ///
    /// perf: `arm_spe_calc_ip`.
    #[must_use]
    #[inline]
    pub const fn address(self) -> u64 {
        let low = self.low_bits();
        let is_kernel = match self.index {
            AddressIndex::INSTRUCTION | AddressIndex::BRANCH_TARGET | AddressIndex::PREVIOUS_TARGET => {
                self.is_non_secure() && matches!(self.exception_level(), 1 | 2)
            }
            AddressIndex::DATA_VIRTUAL => low >> 52 == 0xf,
            AddressIndex::DATA_PHYSICAL => false,
            _ => return self.payload,
        };
        if is_kernel { low | KERNEL_BYTE } else { low }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_byte_is_that_of_a_kernel_address() {
        let address = |index, payload| AddressPacket { index, payload }.address();
        let (ns, el) = (1_u64 << 63, |level: u64| level << 61);
        for index in [AddressIndex::INSTRUCTION, AddressIndex::BRANCH_TARGET, AddressIndex::PREVIOUS_TARGET] {
            let of = |flags: u64| address(index, 0x8000_1000 | flags);
            let levels = [0, 1, 2, 3].map(|level| of(ns | el(level)));
            assert_eq!(levels, [0x8000_1000, 0xff00_0000_8000_1000, 0xff00_0000_8000_1000, 0x8000_1000]);
            assert_eq!(of(el(1)), 0x8000_1000, "secure");
        }
        let data = |payload| address(AddressIndex::DATA_VIRTUAL, payload);
        assert_eq!(data(0xb4ef_0000_0000_0001), 0xef_0000_0000_0001);
        assert_eq!(data(0xb4f0_0000_0000_0001), 0xfff0_0000_0000_0001);
        assert_eq!(address(AddressIndex::DATA_PHYSICAL, u64::MAX), LOW_56_BITS);
        assert_eq!(address(AddressIndex(5), u64::MAX), u64::MAX);
    }

    #[test]
    fn the_highest_byte_has_flags() {
        let of = |byte: u64| AddressPacket { index: AddressIndex::DATA_PHYSICAL, payload: byte << 56 };
        let flags =
            |byte| (of(byte).is_non_secure(), of(byte).is_checked(), of(byte).nse(), of(byte).pattern());
        assert_eq!(flags(0x80), (true, false, false, 0));
        assert_eq!(flags(0x40), (false, true, false, 0));
        assert_eq!(flags(0x10), (false, false, true, 0));
        assert_eq!(flags(0x2f), (false, false, false, 15));
        assert_eq!((of(0x60).exception_level(), of(0x9f).exception_level()), (3, 0));
        assert_eq!(of(0xa5).top_byte(), 0xa5);
    }
}
