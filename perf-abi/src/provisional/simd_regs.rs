//! Vector registers, predicate registers, R16 to R31 and SSP in samples.
//!
//! Source: the series "Support SIMD/eGPRs/SSP registers sampling for perf", in review since June 2025; version 8 was posted
//! on 2026-05-29. What is here:
//!
//! - The ABI word before the registers of a sample becomes a bit set: [`ABI_SIMD`] beside the bits of
//!   [`RegsAbi::ABI_32`] and [`RegsAbi::ABI_64`].
//! - After the general registers, a sample with [`ABI_SIMD`] has a [`RawSimdRegs`] and the words that it counts.
//! - With [`ABI_SIMD`], the bits of XMM registers in `sample_regs_user` and `sample_regs_intr` are those of other
//!   registers: see [`register_name`].
//! - The attr grows to [`ATTR_SIZE`] bytes: see [`SimdRegsAttr`]. A sample can be decoded without these bytes, because it
//!   counts its registers itself. They only tell which registers it has.

use zerocopy::FromBytes as _;
use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::endian::{BigEndian, Endian, Endianness, LittleEndian, U16, U32, U64};
use crate::regs::{Arch, RegsAbi};

/// The bit of the ABI word of samples that have a [`RawSimdRegs`] after their registers.
///
/// Kernel: `enum perf_sample_regs_abi`, in review.
#[doc(alias = "PERF_SAMPLE_REGS_ABI_SIMD")]
pub const ABI_SIMD: u64 = 4;

/// Returns whether vector and predicate registers follow the general registers of a sample with this ABI.
///
/// ```
/// use perf_abi::provisional::simd_regs::{has_simd_regs, without_simd};
/// use perf_abi::regs::RegsAbi;
///
/// assert!(has_simd_regs(RegsAbi(6)) && !has_simd_regs(RegsAbi::ABI_64));
/// assert_eq!(without_simd(RegsAbi(6)), RegsAbi::ABI_64);
/// ```
#[must_use]
#[inline]
pub const fn has_simd_regs(abi: RegsAbi) -> bool {
    abi.0 & ABI_SIMD != 0
}

/// Returns the ABI of the task without [`ABI_SIMD`].
#[must_use]
#[inline]
pub const fn without_simd(abi: RegsAbi) -> RegsAbi {
    RegsAbi(abi.0 & !ABI_SIMD)
}

/// What precedes the words of the vector and predicate registers of a sample.
///
/// After it come `nr_vectors * vector_qwords` words of vector registers, then `nr_pred * pred_qwords` words of predicate
/// registers. A register's lowest word is its first. A kernel may write fewer registers than the attr asks for.
///
/// Kernel: `perf_output_sample_regs`, `kernel/events/core.c`, in review.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct RawSimdRegs<O: Endian> {
    /// Number of vector registers.
    pub nr_vectors: U16<O>,
    /// Words of 8 bytes of each vector register.
    pub vector_qwords: U16<O>,
    /// Number of predicate registers.
    pub nr_pred: U16<O>,
    /// Words of 8 bytes of each predicate register.
    pub pred_qwords: U16<O>,
}

/// Offset in the attr of the fields of [`SimdRegsAttr`]: the size of [`VER9`](crate::attr::AttrVersion::VER9).
pub const ATTR_OFFSET: u32 = 144;

/// Bytes of an attr that has the fields of [`SimdRegsAttr`].
pub const ATTR_SIZE: u32 = 176;

/// The fields of an attr that ask for vector and predicate registers, as laid out from [`ATTR_OFFSET`] on.
///
/// Kernel: `struct perf_event_attr`, in review.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned,
)]
#[repr(C)]
pub struct RawSimdRegsAttr<O: Endian> {
    /// C: a union with `sample_simd_pred_reg_qwords`.
    pub sample_simd_regs_enabled: U16<O>,
    /// A hole, which is zero.
    pub hole_1: U16<O>,
    /// As in [`SimdRegsAttr`].
    pub sample_simd_pred_reg_intr: U32<O>,
    /// As in [`SimdRegsAttr`].
    pub sample_simd_pred_reg_user: U32<O>,
    /// As in [`SimdRegsAttr`].
    pub sample_simd_vec_reg_qwords: U16<O>,
    /// A hole, which is zero.
    pub hole_2: U16<O>,
    /// As in [`SimdRegsAttr`].
    pub sample_simd_vec_reg_intr: U64<O>,
    /// As in [`SimdRegsAttr`].
    pub sample_simd_vec_reg_user: U64<O>,
}

const _: () = assert!(size_of::<RawSimdRegsAttr<LittleEndian>>() == (ATTR_SIZE - ATTR_OFFSET) as usize);

/// The fields of an attr that ask for vector and predicate registers, as native values.
///
/// The fields have the order and the types of the versions 2 to 4 of the series, placed after `config4`. Version 6 moved
/// fields so that there are no holes; its text could not be read. [`read`](Self::read) therefore refuses bytes that contradict
/// this layout, and a sample is decoded without them.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::Endianness;
/// use perf_abi::provisional::simd_regs::SimdRegsAttr;
///
/// let attr = SimdRegsAttr { regs_enabled: 1, vec_reg_qwords: 4, vec_reg_user: 0xffff, ..SimdRegsAttr::default() };
/// let bytes = attr.to_bytes(Endianness::Big);
/// assert_eq!(SimdRegsAttr::read(Endianness::Big, &bytes), Some(attr));
/// assert_eq!(SimdRegsAttr::read(Endianness::Big, &bytes[..31]), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SimdRegsAttr {
    /// Words of 8 bytes of each predicate register; not 0 if vector registers are asked for in this way, even if no
    /// predicate register is. C: a union of `sample_simd_regs_enabled` and `sample_simd_pred_reg_qwords`.
    #[doc(alias("sample_simd_regs_enabled", "sample_simd_pred_reg_qwords"))]
    pub regs_enabled: u16,
    /// The predicate registers at the interrupt, one bit each.
    #[doc(alias = "sample_simd_pred_reg_intr")]
    pub pred_reg_intr: u32,
    /// The predicate registers of user space, one bit each.
    #[doc(alias = "sample_simd_pred_reg_user")]
    pub pred_reg_user: u32,
    /// Words of 8 bytes of each vector register.
    #[doc(alias = "sample_simd_vec_reg_qwords")]
    pub vec_reg_qwords: u16,
    /// The vector registers at the interrupt, one bit each.
    #[doc(alias = "sample_simd_vec_reg_intr")]
    pub vec_reg_intr: u64,
    /// The vector registers of user space, one bit each.
    #[doc(alias = "sample_simd_vec_reg_user")]
    pub vec_reg_user: u64,
}

impl SimdRegsAttr {
    /// Reads the fields from the tail of an attr, which begins at [`ATTR_OFFSET`]: that of
    /// [`ReadAttr`](crate::attr::ReadAttr).
    ///
    /// `None` if the bytes do not have this layout: they are fewer than 32, a hole is not zero, a mask has no
    /// width or the vectors' width no mask, or registers are asked for without `regs_enabled`.
    #[must_use]
    pub fn read(endianness: Endianness, tail: &[u8]) -> Option<Self> {
        match endianness {
            Endianness::Little => Self::read_in::<LittleEndian>(tail),
            Endianness::Big => Self::read_in::<BigEndian>(tail),
        }
    }

    fn read_in<O: Endian>(tail: &[u8]) -> Option<Self> {
        let (wire, _) = RawSimdRegsAttr::<O>::ref_from_prefix(tail).ok()?;
        let it = Self {
            regs_enabled: wire.sample_simd_regs_enabled.get(),
            pred_reg_intr: wire.sample_simd_pred_reg_intr.get(),
            pred_reg_user: wire.sample_simd_pred_reg_user.get(),
            vec_reg_qwords: wire.sample_simd_vec_reg_qwords.get(),
            vec_reg_intr: wire.sample_simd_vec_reg_intr.get(),
            vec_reg_user: wire.sample_simd_vec_reg_user.get(),
        };
        let has_vectors = it.vec_reg_intr | it.vec_reg_user != 0;
        let has_any = has_vectors || it.pred_reg_intr | it.pred_reg_user != 0;
        let holes = (wire.hole_1.get(), wire.hole_2.get());
        let fits =
            holes == (0, 0) && has_vectors == (it.vec_reg_qwords != 0) && (!has_any || it.regs_enabled != 0);
        fits.then_some(it)
    }

    /// Returns the bytes of the fields, which follow those of [`VER9`](crate::attr::AttrVersion::VER9) in the attr.
    #[must_use]
    pub fn to_bytes(&self, endianness: Endianness) -> [u8; 32] {
        match endianness {
            Endianness::Little => zerocopy::transmute!(self.wire::<LittleEndian>()),
            Endianness::Big => zerocopy::transmute!(self.wire::<BigEndian>()),
        }
    }

    fn wire<O: Endian>(&self) -> RawSimdRegsAttr<O> {
        RawSimdRegsAttr {
            sample_simd_regs_enabled: U16::new(self.regs_enabled),
            hole_1: U16::ZERO,
            sample_simd_pred_reg_intr: U32::new(self.pred_reg_intr),
            sample_simd_pred_reg_user: U32::new(self.pred_reg_user),
            sample_simd_vec_reg_qwords: U16::new(self.vec_reg_qwords),
            hole_2: U16::ZERO,
            sample_simd_vec_reg_intr: U64::new(self.vec_reg_intr),
            sample_simd_vec_reg_user: U64::new(self.vec_reg_user),
        }
    }
}

codes! {
    /// A register of x86, by its bit in `sample_regs_user` and `sample_regs_intr` if the ABI has [`ABI_SIMD`]. Lower bits are
    /// those of [`x86::Reg`](crate::regs::x86::Reg).
    ///
    /// Kernel: `arch/x86/include/uapi/asm/perf_regs.h`, in review.
    pub struct X86Reg(u8) {
        /// General register R16.
        R16 = 24, "PERF_REG_X86_R16";
        /// General register R17.
        R17 = 25, "PERF_REG_X86_R17";
        /// General register R18.
        R18 = 26, "PERF_REG_X86_R18";
        /// General register R19.
        R19 = 27, "PERF_REG_X86_R19";
        /// General register R20.
        R20 = 28, "PERF_REG_X86_R20";
        /// General register R21.
        R21 = 29, "PERF_REG_X86_R21";
        /// General register R22.
        R22 = 30, "PERF_REG_X86_R22";
        /// General register R23.
        R23 = 31, "PERF_REG_X86_R23";
        /// General register R24.
        R24 = 32, "PERF_REG_X86_R24";
        /// General register R25.
        R25 = 33, "PERF_REG_X86_R25";
        /// General register R26.
        R26 = 34, "PERF_REG_X86_R26";
        /// General register R27.
        R27 = 35, "PERF_REG_X86_R27";
        /// General register R28.
        R28 = 36, "PERF_REG_X86_R28";
        /// General register R29.
        R29 = 37, "PERF_REG_X86_R29";
        /// General register R30.
        R30 = 38, "PERF_REG_X86_R30";
        /// General register R31.
        R31 = 39, "PERF_REG_X86_R31";
        /// Shadow stack pointer.
        SSP = 40, "PERF_REG_X86_SSP";
    }
}

/// Returns the name of the register of a bit of the mask, in a sample of this ABI; `None` if the bit has no register.
///
/// Without [`ABI_SIMD`], the name is that of [`Arch::name`].
///
/// ```
/// use perf_abi::provisional::simd_regs::register_name;
/// use perf_abi::regs::{Arch, RegsAbi};
///
/// assert_eq!(register_name(Arch::X86, RegsAbi(6), 32), Some("R24"));
/// assert_eq!(register_name(Arch::X86, RegsAbi::ABI_64, 32), Some("XMM0"));
/// ```
#[must_use]
pub fn register_name(arch: Arch, abi: RegsAbi, bit: u32) -> Option<&'static str> {
    if !has_simd_regs(abi) || arch != Arch::X86 || bit < u32::from(X86Reg::R16.0) {
        return arch.name(bit);
    }
    X86Reg(u8::try_from(bit).ok()?).name()
}

/// Returns the name of the vector registers of a width, such as `YMM` for 4 words; `None` if the architecture has none of that
/// width.
#[must_use]
pub fn vector_name(arch: Arch, vector_qwords: u16) -> Option<&'static str> {
    match (arch, vector_qwords) {
        (Arch::X86, 2) => Some("XMM"),
        (Arch::X86, 4) => Some("YMM"),
        (Arch::X86, 8) => Some("ZMM"),
        _ => None,
    }
}

/// Returns the name of the predicate registers of a width; `None` if the architecture has none of that width.
#[must_use]
pub fn predicate_name(arch: Arch, pred_qwords: u16) -> Option<&'static str> {
    (arch == Arch::X86 && pred_qwords == 1).then_some("OPMASK")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATTR: SimdRegsAttr = SimdRegsAttr {
        regs_enabled: 1,
        pred_reg_intr: 0x0000_00ff,
        pred_reg_user: 0x0000_0003,
        vec_reg_qwords: 8,
        vec_reg_intr: 0xffff_ffff,
        vec_reg_user: 0x0000_ffff,
    };

    #[test]
    fn the_fields_are_where_c_has_them() {
        let bytes = ATTR.to_bytes(Endianness::Little);
        let expected = [
            &[1, 0, 0, 0][..],                 // sample_simd_regs_enabled, a hole
            &[0xff, 0, 0, 0],                  // sample_simd_pred_reg_intr
            &[3, 0, 0, 0],                     // sample_simd_pred_reg_user
            &[8, 0, 0, 0],                     // sample_simd_vec_reg_qwords, a hole
            &[255, 255, 255, 255, 0, 0, 0, 0], // sample_simd_vec_reg_intr
            &[255, 255, 0, 0, 0, 0, 0, 0],     // sample_simd_vec_reg_user
        ]
        .concat();
        assert_eq!(bytes.as_slice(), expected);
        for endianness in [Endianness::Little, Endianness::Big] {
            let bytes = ATTR.to_bytes(endianness);
            assert_eq!(SimdRegsAttr::read(endianness, &bytes), Some(ATTR));
            assert_eq!(SimdRegsAttr::read(endianness, &[bytes.as_slice(), &[9; 8]].concat()), Some(ATTR));
        }
    }

    #[test]
    fn bytes_of_another_layout_are_refused() {
        let read =
            |it: &SimdRegsAttr| SimdRegsAttr::read(Endianness::Little, &it.to_bytes(Endianness::Little));
        let none = SimdRegsAttr::default();
        assert_eq!(read(&none), Some(none));
        let enabled = SimdRegsAttr { regs_enabled: 1, ..none };
        assert_eq!(read(&enabled), Some(enabled));
        for refused in [
            SimdRegsAttr { regs_enabled: 0, ..ATTR },
            SimdRegsAttr { vec_reg_qwords: 0, ..ATTR },
            SimdRegsAttr { vec_reg_intr: 0, vec_reg_user: 0, ..ATTR },
            SimdRegsAttr { pred_reg_intr: 1, ..none },
        ] {
            assert_eq!(read(&refused), None, "{refused:?}");
        }
        let bytes = ATTR.to_bytes(Endianness::Little);
        for at in [2, 3, 14, 15] {
            let mut bytes = bytes;
            bytes[at] = 1;
            assert_eq!(SimdRegsAttr::read(Endianness::Little, &bytes), None, "byte {at}");
        }
        assert_eq!(SimdRegsAttr::read(Endianness::Little, &bytes[..31]), None);
    }

    #[test]
    fn names_depend_on_the_abi() {
        let named = |abi, bit| register_name(Arch::X86, RegsAbi(abi), bit);
        assert_eq!(
            [23, 24, 39, 40, 41, 63, 256].map(|bit| named(6, bit)),
            [Some("R15"), Some("R16"), Some("R31"), Some("SSP"), None, None, None]
        );
        assert_eq!([24, 32, 63].map(|bit| named(2, bit)), [None, Some("XMM0"), Some("XMM15")]);
        assert_eq!(register_name(Arch::Arm64, RegsAbi(6), 32), Some("PC"));
        let widths = [1, 2, 4, 8, 16].map(|qwords| vector_name(Arch::X86, qwords));
        assert_eq!(widths, [None, Some("XMM"), Some("YMM"), Some("ZMM"), None]);
        assert_eq!(vector_name(Arch::Arm64, 2), None);
        assert_eq!((predicate_name(Arch::X86, 1), predicate_name(Arch::X86, 2)), (Some("OPMASK"), None));
        assert_eq!(predicate_name(Arch::Arm64, 1), None);
    }
}
