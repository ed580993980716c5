//! What the bits of an instruction of Arm say of the next instruction.

use super::Flow;

/// The flow of an instruction, and the addresses in its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    pub(super) flow: Flow,
    /// Where it branches to.
    pub(super) target: Option<u64>,
    /// The data that it refers to.
    pub(super) data: Option<u64>,
}

impl Branch {
    /// An instruction without an address in its bits.
    pub(super) const fn without_target(flow: Flow) -> Self {
        Self { flow, target: None, data: None }
    }

    pub(super) const fn to(flow: Flow, target: u64) -> Self {
        Self { flow, target: Some(target), data: None }
    }

    /// An instruction that loads or computes an address, and does not branch.
    pub(super) const fn of_data(address: u64) -> Self {
        Self { flow: Flow::Next, target: None, data: Some(address) }
    }
}

/// Returns the lowest bits as a signed number.
pub(super) const fn signed(value: u32, bits: u32) -> i64 {
    let unused = u32::BITS - bits;
    (value << unused).cast_signed().wrapping_shr(unused) as i64
}
