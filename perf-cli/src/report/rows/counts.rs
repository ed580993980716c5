//! The counts of a row, for each event.

use core::ops::{Deref, DerefMut};

use perf_abi::record::CpuMode;
use perf_profile::Total;

use crate::report::keys::Column;

/// What an event counts in a row.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Count {
    pub(in crate::report) own: Total,
    /// With what was called.
    pub(in crate::report) children: Total,
    /// By whose code it is; `None` if no column shows it, or nothing was counted.
    pub(super) modes: Option<Box<Modes>>,
}

/// The own periods, by whose code it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    sys: u64,
    user: u64,
    guest_sys: u64,
    guest_user: u64,
}

impl Count {
    pub(super) fn add_mode(&mut self, total: Total, mode: CpuMode) {
        let modes = self.modes.get_or_insert_default();
        let of_mode = match mode {
            CpuMode::KERNEL => &mut modes.sys,
            CpuMode::USER => &mut modes.user,
            CpuMode::GUEST_KERNEL => &mut modes.guest_sys,
            CpuMode::GUEST_USER => &mut modes.guest_user,
            _ => return,
        };
        *of_mode = of_mode.wrapping_add(total.period);
    }

    /// Returns the number in a column.
    pub(in crate::report) fn number(&self, column: Column) -> u64 {
        let of_mode = |number: fn(&Modes) -> u64| self.modes.as_deref().map_or(0, number);
        match column {
            Column::Overhead | Column::Period => self.own.period,
            Column::Sys => of_mode(|it| it.sys),
            Column::User => of_mode(|it| it.user),
            Column::GuestSys => of_mode(|it| it.guest_sys),
            Column::GuestUser => of_mode(|it| it.guest_user),
            Column::Children => self.children.period,
            Column::Samples => self.own.samples,
            Column::Key(_) => 0,
        }
    }
}

/// What the members of a table count in a row. Most tables have one member, so its count takes no memory of its own.
#[derive(Clone, Debug)]
pub(in crate::report) enum Counts {
    One(Count),
    Many(Vec<Count>),
}

impl Counts {
    /// Returns counts of nothing.
    pub(super) fn of(members: usize) -> Self {
        match members {
            1 => Self::One(Count::default()),
            _ => Self::Many(vec![Count::default(); members]),
        }
    }
}

impl FromIterator<Count> for Counts {
    fn from_iter<I: IntoIterator<Item = Count>>(counts: I) -> Self {
        Self::Many(counts.into_iter().collect())
    }
}

impl Deref for Counts {
    type Target = [Count];

    fn deref(&self) -> &[Count] {
        match self {
            Self::One(count) => core::slice::from_ref(count),
            Self::Many(counts) => counts,
        }
    }
}

impl DerefMut for Counts {
    fn deref_mut(&mut self) -> &mut [Count] {
        match self {
            Self::One(count) => core::slice::from_mut(count),
            Self::Many(counts) => counts,
        }
    }
}
