//! Packets with the state of the processor.

/// Payload of a [`Packet::ModeExec`](super::Packet::ModeExec).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModeExec(pub u8);

impl ModeExec {
    /// Returns the size of addresses in bits: 16, 32 or 64.
    ///
    /// SDM: CS.L and CS.D. A packet in which both are 1 is a bad packet.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self.0 & 3 {
            0 => 16,
            1 => 64,
            _ => 32,
        }
    }

    /// Returns whether interrupts are enabled: the flag IF. Processors without Event Trace send 0.
    #[must_use]
    #[doc(alias = "INTEL_PT_IFLAG")]
    pub const fn interrupts(self) -> bool {
        self.0 & 4 != 0
    }
}

/// Payload of a [`Packet::ModeTsx`](super::Packet::ModeTsx).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModeTsx(pub u8);

impl ModeTsx {
    /// Returns whether a transaction runs. SDM: InTX.
    #[must_use]
    #[doc(alias = "INTEL_PT_IN_TX")]
    pub const fn in_transaction(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns whether the transaction was aborted. SDM: TXAbort.
    #[must_use]
    #[doc(alias = "INTEL_PT_ABORT_TX")]
    pub const fn aborted(self) -> bool {
        self.0 & 2 != 0
    }
}

/// Payload of a [`Packet::Pip`](super::Packet::Pip): 48 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pip(pub u64);

impl Pip {
    /// Returns the address of the page tables: bits 5 to 51 of the register CR3.
    #[must_use]
    pub const fn cr3(self) -> u64 {
        (self.0 >> 1) << 5
    }

    /// Returns whether the code runs in a virtual machine. SDM: NR, non-root.
    #[must_use]
    #[doc(alias = "INTEL_PT_VMX_NR_FLAG")]
    pub const fn is_guest(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Payload of a [`Packet::Vmcs`](super::Packet::Vmcs): 40 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vmcs(pub u64);

impl Vmcs {
    /// Returns the address of the virtual machine control structure.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.0 << 12
    }
}

/// Payload of a [`Packet::Cbr`](super::Packet::Cbr), with its reserved byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cbr(pub u16);

impl Cbr {
    /// Returns the ratio of core to bus clock. The bus clock is 100 MHz on most processors.
    #[must_use]
    pub const fn ratio(self) -> u8 {
        self.0.to_le_bytes()[0]
    }
}
