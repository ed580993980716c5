//! Packets about power states.

/// Payload of a [`Packet::Mwait`](super::Packet::Mwait): the registers EAX and ECX of the instruction MWAIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mwait(pub u64);

impl Mwait {
    /// Returns the hints: the C-state that the instruction asked for.
    #[must_use]
    pub const fn hints(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    /// Returns the extensions, 2 bits.
    #[must_use]
    pub const fn extensions(self) -> u8 {
        self.0.to_le_bytes()[4] & 3
    }
}

/// Payload of a [`Packet::Pwre`](super::Packet::Pwre).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pwre(pub u16);

impl Pwre {
    /// Returns whether the hardware started the entry, and no instruction of the thread.
    #[must_use]
    pub const fn by_hardware(self) -> bool {
        self.0 & 0x80 != 0
    }

    /// Returns the C-state of the thread that results, 4 bits.
    #[must_use]
    pub const fn c_state(self) -> u8 {
        self.0.to_le_bytes()[1] >> 4
    }

    /// Returns the sub-C-state of the thread that results, 4 bits.
    #[must_use]
    pub const fn sub_c_state(self) -> u8 {
        self.0.to_le_bytes()[1] & 15
    }
}

/// Payload of a [`Packet::Pwrx`](super::Packet::Pwrx): 40 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pwrx(pub u64);

impl Pwrx {
    /// Returns the C-state of the core before the exit, 4 bits.
    #[must_use]
    pub const fn last_c_state(self) -> u8 {
        self.0.to_le_bytes()[0] >> 4
    }

    /// Returns the deepest C-state of the core since the entry, 4 bits.
    #[must_use]
    pub const fn deepest_c_state(self) -> u8 {
        self.0.to_le_bytes()[0] & 15
    }

    /// Returns the reasons of the exit, 4 bits: 1 for an interrupt, 4 for a store to the monitored address, 8 for the hardware.
    #[must_use]
    pub const fn wake_reason(self) -> u8 {
        self.0.to_le_bytes()[1] & 15
    }
}
