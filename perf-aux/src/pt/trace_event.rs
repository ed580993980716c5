//! Packets of Event Trace.

/// A control flow event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cfe {
    /// Type of the event.
    pub kind: CfeType,
    /// Vector of an interrupt, an exception or a SIPI; VM exit reason; 0 otherwise.
    pub vector: u8,
    /// Whether a [`Packet::Fup`](super::Packet::Fup) with the address of the event follows.
    pub ip: bool,
}

/// Type of a control flow event, 5 bits.
///
/// Intel SDM: table "CFE Packet Type and Vector Fields Details".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CfeType(pub u8);

impl CfeType {
    /// Interrupt, exception or fault.
    pub const INTR: Self = Self(1);
    /// Return from an interrupt.
    pub const IRET: Self = Self(2);
    /// System management interrupt.
    pub const SMI: Self = Self(3);
    /// Return from system management mode.
    pub const RSM: Self = Self(4);
    /// Start-up inter-processor interrupt.
    pub const SIPI: Self = Self(5);
    /// Initialisation.
    pub const INIT: Self = Self(6);
    /// Entry to a virtual machine.
    pub const VMENTRY: Self = Self(7);
    /// Exit from a virtual machine.
    pub const VMEXIT: Self = Self(8);
    /// Exit from a virtual machine because of an interrupt or an exception.
    pub const VMEXIT_INTR: Self = Self(9);
    /// Shutdown.
    pub const SHUTDOWN: Self = Self(10);
    /// User interrupt.
    pub const UINTR: Self = Self(12);
    /// Return from a user interrupt.
    pub const UIRET: Self = Self(13);

    /// Returns the name that perf prints; `None` for a type without a name.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::INTR => "INTR",
            Self::IRET => "IRET",
            Self::SMI => "SMI",
            Self::RSM => "RSM",
            Self::SIPI => "SIPI",
            Self::INIT => "INIT",
            Self::VMENTRY => "VMENTRY",
            Self::VMEXIT => "VMEXIT",
            Self::VMEXIT_INTR => "VMEXIT_INTR",
            Self::SHUTDOWN => "SHUTDOWN",
            Self::UINTR => "UINTR",
            Self::UIRET => "UIRET",
            _ => return None,
        })
    }
}

/// Data of a control flow event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Evd {
    /// Type of the data.
    pub kind: EvdType,
    /// The data.
    pub payload: u64,
}

/// Type of the data of a control flow event, 6 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EvdType(pub u8);

impl EvdType {
    /// Address of a page fault.
    pub const PFA: Self = Self(0);
    /// Exit qualification of a VM exit.
    pub const VMXQ: Self = Self(1);
    /// Exit reason of a VM exit.
    pub const VMXR: Self = Self(2);

    /// Returns the name that perf prints; `None` for a type without a name.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::PFA => Some("PFA"),
            Self::VMXQ => Some("VMXQ"),
            Self::VMXR => Some("VMXR"),
            _ => None,
        }
    }
}
