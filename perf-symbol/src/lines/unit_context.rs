//! Units that addr2line parses.

use std::sync::Arc;

use addr2line::Context;
use gimli::Dwarf;

use super::nested;
use super::unit_lines::UnitLines;
use crate::budget::Metered;

/// One unit, or all units of a file.
pub(super) struct UnitContext<'a> {
    pub(super) context: Context<Metered<'a>>,
    pub(super) lines: UnitLines<'a>,
    /// Whether it may have a unit whose functions are found by what they are nested in.
    pub(super) may_nest: bool,
}

impl<'a> UnitContext<'a> {
    /// Parses DWARF of one unit. `None` if it is damaged.
    pub(super) fn alone(dwarf: Dwarf<Metered<'a>>) -> Option<Self> {
        let version = dwarf.units().next().ok()??.version();
        Some(Self { may_nest: version == nested::VERSION, ..Self::parse(dwarf, true)? })
    }

    /// Parses DWARF. `None` if it is damaged.
    pub(super) fn of(dwarf: Dwarf<Metered<'a>>) -> Option<Self> {
        Self::parse(dwarf, false)
    }

    fn parse(dwarf: Dwarf<Metered<'a>>, is_alone: bool) -> Option<Self> {
        let dwarf = Arc::new(dwarf);
        let context = Context::from_arc_dwarf(Arc::clone(&dwarf)).ok()?;
        Some(Self { context, lines: UnitLines::new(dwarf, is_alone), may_nest: true })
    }
}
