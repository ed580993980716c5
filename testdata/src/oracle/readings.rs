//! The readings of the ambiguous parts of a sample.

/// The reading that was taken of each ambiguous part of a sample; `None` if the part is not ambiguous.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// An empty branch stack of an attr with `HW_INDEX`: whether `hw_idx` is present.
    /// Preferred reading: present.
    ///
    /// The kernel omits it if the PMU provided no stack.
    pub hw_idx: Option<bool>,
    /// A branch stack with entries: whether counters follow them. Preferred reading: as
    /// `COUNTERS` in the attr.
    ///
    /// The leader of a group may have requested them.
    pub counters: Option<bool>,
    /// User registers with ABI 0 and a mask that is not empty: whether they are present.
    /// Preferred reading: absent.
    pub regs_user: Option<bool>,
    /// A user stack of size 0 of an attr that requests 0 bytes: whether the kernel's stray zero word follows
    /// and the last 8 bytes of the sample are cut off. Preferred reading: the word follows if the task has
    /// user registers. `regs_user` shows that; if the sample does not record it, `misc` does.
    ///
    /// If the stack is the last field, no other field is cut off: the stray word itself is not in the record.
    pub stack_stray: Option<bool>,
    /// Registers at the interrupt, with the same ambiguity as [`regs_user`](Self::regs_user).
    pub regs_intr: Option<bool>,
    /// Number of combinations of readings that consume the sample exactly.
    pub fits: u32,
}
