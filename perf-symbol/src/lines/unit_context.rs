//! Units that addr2line parses.

use addr2line::Context;
use gimli::Dwarf;

use super::nested;
use crate::budget::Metered;

/// One unit, or all units of a file.
pub(super) struct UnitContext<'a> {
    pub(super) context: Context<Metered<'a>>,
    /// Whether it may have a unit whose functions are found by what they are nested in.
    pub(super) may_nest: bool,
}

impl<'a> UnitContext<'a> {
    /// Parses DWARF of one unit. `None` if it is damaged.
    pub(super) fn alone(dwarf: Dwarf<Metered<'a>>) -> Option<Self> {
        let version = dwarf.units().next().ok()??.version();
        Some(Self { may_nest: version == nested::VERSION, ..Self::of(dwarf)? })
    }

    /// Parses DWARF. `None` if it is damaged.
    pub(super) fn of(dwarf: Dwarf<Metered<'a>>) -> Option<Self> {
        Some(Self { context: Context::from_dwarf(dwarf).ok()?, may_nest: true })
    }
}
