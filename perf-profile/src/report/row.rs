//! A row of a report, and what each event counts in it.

use core::ops::{Deref, DerefMut};

use perf_abi::record::CpuMode;

use super::sort_key::ReportColumn;
use crate::sample::SampleTotal;
use crate::table::frames::NONE;

/// A row of a [`ReportTable`](super::ReportTable), whose [keys](super::ReportTable::cell) the table has.
// Small, as each function of each stack may have one: its identity is elsewhere.
#[derive(Clone, Debug)]
pub struct ReportRow {
    /// The number of what the rows of its samples share, and that of its spot; [`NONE`] for the samples beyond the limits.
    pub(super) shared: u32,
    pub(super) spot: u32,
    pub(super) counts: RowCounts,
    /// The frame of the first sample, the one that its branch left, and the one of its data.
    pub(super) frame: u32,
    pub(super) from: u32,
    pub(super) data: u32,
    /// Whose code the first sample is of.
    pub(super) mode: CpuMode,
    /// The largest number of functions of its stacks.
    pub(super) depth: u32,
    /// The last group that was counted.
    pub(super) stamp: u32,
}

impl ReportRow {
    /// Makes the row of samples beyond the limits.
    pub(super) fn beyond(counts: RowCounts) -> Self {
        let (shared, spot, frame, from, data) = (NONE, NONE, NONE, NONE, NONE);
        let mode = CpuMode::CPUMODE_UNKNOWN;
        Self { shared, spot, counts, frame, from, data, mode, depth: 0, stamp: 0 }
    }

    /// Returns whether it has the samples beyond the [limits](super::Options::limits), whose keys are not known.
    #[must_use]
    pub fn is_beyond(&self) -> bool {
        self.spot == NONE
    }

    /// Returns what each event of the table counts, in the order of [`TableEvents::events`](super::TableEvents::events).
    #[must_use]
    pub fn counts(&self) -> &[RowCount] {
        &self.counts
    }

    /// Returns the number of its own samples, of all events.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.counts.iter().map(|it| it.own.samples).sum()
    }
}

/// What an event counts in a row.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RowCount {
    /// The samples of the row itself.
    pub own: SampleTotal,
    /// The same, and those of what it called. Equal to [`own`](Self::own) if rows do not include the cost of callees.
    pub children: SampleTotal,
    /// By whose code it is; `None` if no column shows it, or nothing was counted.
    modes: Option<Box<ModePeriods>>,
}

/// The own periods, by whose code it is.
#[derive(Clone, Debug, Default)]
struct ModePeriods {
    sys: u64,
    user: u64,
    guest_sys: u64,
    guest_user: u64,
}

impl RowCount {
    pub(super) fn of(own: SampleTotal) -> Self {
        Self { own, children: own, modes: None }
    }

    pub(super) fn add_mode(&mut self, total: SampleTotal, mode: CpuMode) {
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

    /// Returns the number in a column: of [`Samples`](ReportColumn::Samples), the number of samples, of others a sum of
    /// periods. 0 for keys.
    #[must_use]
    pub fn number(&self, column: ReportColumn) -> u64 {
        let of_mode = |number: fn(&ModePeriods) -> u64| self.modes.as_deref().map_or(0, number);
        match column {
            ReportColumn::Overhead | ReportColumn::Period => self.own.period,
            ReportColumn::Sys => of_mode(|it| it.sys),
            ReportColumn::User => of_mode(|it| it.user),
            ReportColumn::GuestSys => of_mode(|it| it.guest_sys),
            ReportColumn::GuestUser => of_mode(|it| it.guest_user),
            ReportColumn::Children => self.children.period,
            ReportColumn::Samples => self.own.samples,
            ReportColumn::Key(_) => 0,
        }
    }
}

/// What the events of a table count in a row. Most tables have one event, so its count takes no memory of its own.
#[derive(Clone, Debug)]
pub(super) enum RowCounts {
    One(RowCount),
    Many(Vec<RowCount>),
}

impl RowCounts {
    /// Returns counts of nothing.
    pub(super) fn of(events: usize) -> Self {
        match events {
            1 => Self::One(RowCount::default()),
            _ => Self::Many(vec![RowCount::default(); events]),
        }
    }
}

impl FromIterator<RowCount> for RowCounts {
    fn from_iter<I: IntoIterator<Item = RowCount>>(counts: I) -> Self {
        Self::Many(counts.into_iter().collect())
    }
}

impl Deref for RowCounts {
    type Target = [RowCount];

    fn deref(&self) -> &[RowCount] {
        match self {
            Self::One(count) => core::slice::from_ref(count),
            Self::Many(counts) => counts,
        }
    }
}

impl DerefMut for RowCounts {
    fn deref_mut(&mut self) -> &mut [RowCount] {
        match self {
            Self::One(count) => core::slice::from_mut(count),
            Self::Many(counts) => counts,
        }
    }
}
