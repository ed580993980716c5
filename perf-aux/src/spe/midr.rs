//! CPUs: what their ids say of the implementer's own events and data sources.

use super::events::EventFlags;

/// The id of a CPU: its register `MIDR_EL1`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "MIDR_EL1")]
pub struct Midr(pub u64);

/// How a CPU encodes the source of data. The numbers are defined by the implementer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DataSourceEncoding {
    /// Arm's, of Neoverse and newer Cortex CPUs, and of NVIDIA's Olympus.
    Common,
    /// AmpereOne's.
    AmpereOne,
    /// HiSilicon's HIP12.
    HisiHip,
}

/// The implementer, the architecture and the part: the bits that tell one model of CPU from another.
const MODEL_MASK: u64 = 0xff0f_fff0;

/// Returns the [`MODEL_MASK`] bits of a CPU whose architecture is given by its feature registers, as that of all CPUs
/// with SPE is.
const fn model(implementer: u64, part: u64) -> u64 {
    implementer << 24 | 0xf << 16 | part << 4
}

const ARM: u64 = 0x41;
const HISILICON: u64 = 0x48;
const NVIDIA: u64 = 0x4e;
const AMPERE: u64 = 0xc0;

const NEOVERSE_N1: u64 = model(ARM, 0xd0c);

/// The CPUs with the common encoding.
const COMMON: [u64; 16] = [
    NEOVERSE_N1,
    // Neoverse V1.
    model(ARM, 0xd40),
    // Cortex-X1.
    model(ARM, 0xd44),
    // Neoverse N2.
    model(ARM, 0xd49),
    // Cortex-A78C.
    model(ARM, 0xd4b),
    // Cortex-X1C.
    model(ARM, 0xd4c),
    // Cortex-A715.
    model(ARM, 0xd4d),
    // Cortex-X3.
    model(ARM, 0xd4e),
    // Neoverse V2.
    model(ARM, 0xd4f),
    // Cortex-A720.
    model(ARM, 0xd81),
    // Cortex-X4.
    model(ARM, 0xd82),
    // Neoverse V3.
    model(ARM, 0xd84),
    // Cortex-X925.
    model(ARM, 0xd85),
    // Cortex-A725.
    model(ARM, 0xd87),
    // Cortex-A720AE.
    model(ARM, 0xd89),
    // Olympus.
    model(NVIDIA, 0x010),
];

impl Midr {
    /// Parses the text of the feature `CPUID` of an arm64 capture, such as `0x00000000410fd0c0`.
    ///
    /// As in perf, the number ends at the first byte that is no hexadecimal digit; without one it is 0.
    #[must_use]
    pub fn from_cpuid(text: &[u8]) -> Self {
        let text = text.trim_ascii_start();
        let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
        let digits = digits.iter().map_while(|&byte| char::from(byte).to_digit(16));
        Self(digits.fold(0_u64, |number, digit| number << 4 | u64::from(digit)))
    }

    /// Returns the implementer, such as 0x41 for Arm.
    #[must_use]
    pub const fn implementer(self) -> u8 {
        (self.0 >> 24 & 0xff) as u8
    }

    /// Returns the part number, which the implementer defines.
    #[must_use]
    pub const fn part(self) -> u16 {
        (self.0 >> 4 & 0xfff) as u16
    }

    const fn model(self) -> u64 {
        self.0 & MODEL_MASK
    }

    /// Returns how the CPU encodes the source of data; `None` if perf 7.2 does not know.
    ///
    /// perf: `data_source_handles`.
    #[must_use]
    pub fn data_source_encoding(self) -> Option<DataSourceEncoding> {
        const AMPERE_1A: u64 = model(AMPERE, 0xac4);
        const HIP_12: u64 = model(HISILICON, 0xd06);
        match self.model() {
            AMPERE_1A => Some(DataSourceEncoding::AmpereOne),
            HIP_12 => Some(DataSourceEncoding::HisiHip),
            model if COMMON.contains(&model) => Some(DataSourceEncoding::Common),
            _ => None,
        }
    }

    /// Returns the names of the events that the CPU's implementer defines.
    ///
    /// perf: `event_print_handles`.
    pub(super) const fn event_names(self) -> &'static [(EventFlags, &'static str)] {
        match self.model() {
            NEOVERSE_N1 => &[(EventFlags(1 << 12), "LATE-PREFETCH")],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpuid_is_a_hexadecimal_number() {
        let of = |text: &[u8]| Midr::from_cpuid(text).0;
        assert_eq!(of(b"0x00000000410fd0c0"), 0x410f_d0c0);
        assert_eq!(of(b" 0X410fd0c0,x"), 0x410f_d0c0);
        assert_eq!(of(b"AuthenticAMD-25-1-1"), 0xa);
        assert_eq!((of(b""), of(b"0x"), of(b"GenuineIntel-6-85-7")), (0, 0, 0));
    }

    #[test]
    fn revisions_of_a_model_are_alike() {
        let midr = Midr(0x413f_d0c1);
        assert_eq!((midr.implementer(), midr.part()), (0x41, 0xd0c));
        assert_eq!(midr.data_source_encoding(), Some(DataSourceEncoding::Common));
        assert_eq!(midr.event_names().len(), 1);
        // Another architecture.
        assert_eq!(Midr(0x4107_d0c0).data_source_encoding(), None);
        assert_eq!(Midr(0x410f_d4f0).event_names(), &[]);
    }
}
