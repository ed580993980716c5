//! The layouts of the fields whose layout is ambiguous.

/// The layout in which an ambiguous field was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Reading {
    /// The layout was not ambiguous.
    #[default]
    Certain,
    /// The layout that kernels usually write.
    Usual,
    /// The other layout: the usual one does not consume the record exactly, or other fields indicate this one.
    Other,
}

impl Reading {
    /// Returns whether the layout was not ambiguous.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub fn is_certain(&self) -> bool {
        *self == Self::Certain
    }
}

/// The layouts in which the ambiguous fields of a sample were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Readings {
    /// An empty branch stack of an event that records `hw_idx`. Usual: the index is present. Other: it is absent,
    /// because the PMU provided no branch stack.
    pub hw_idx: Reading,
    /// A branch stack with entries. Usual: counters are present if the event records them. Other: they are absent
    /// although the event records them, because the PMU provided none; or they are present although the event does
    /// not record them, because the group's leader does.
    pub counters: Reading,
    /// User registers of ABI 0. Usual: no registers follow. Other: registers follow.
    pub regs_user: Reading,
    /// A user stack of size 0 of an event that asks for 0 bytes. Usual: nothing follows the size. Other: the kernel's
    /// stray zero word follows it, every later field is 8 bytes later, and the last 8 bytes of the sample are lost. A
    /// field that lost all its bytes is `None`.
    pub stack_user: Reading,
    /// Registers at the interrupt of ABI 0, as for `regs_user`.
    pub regs_intr: Reading,
}

impl Readings {
    /// Returns the name of each ambiguous field and its layout, in the order of the record.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Reading)> + use<> {
        [
            ("branch_stack.hw_idx", self.hw_idx),
            ("branch_stack.counters", self.counters),
            ("regs_user", self.regs_user),
            ("stack_user", self.stack_user),
            ("regs_intr", self.regs_intr),
        ]
        .into_iter()
    }
}

/// A set of the fields whose layout is ambiguous. The first field in the record has the highest bit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct AmbiguousFields(pub(super) u8);

impl AmbiguousFields {
    pub(super) const HW_IDX: Self = Self(1 << 4);
    pub(super) const COUNTERS: Self = Self(1 << 3);
    pub(super) const REGS_USER: Self = Self(1 << 2);
    pub(super) const STACK_USER: Self = Self(1 << 1);
    pub(super) const REGS_INTR: Self = Self(1 << 0);

    pub(super) const fn has(self, field: Self) -> bool {
        self.0 & field.0 != 0
    }

    /// Returns the fields that precede the user stack.
    pub(super) const fn before_stack(self) -> u8 {
        self.0 & (Self::HW_IDX.0 | Self::COUNTERS.0 | Self::REGS_USER.0)
    }
}
