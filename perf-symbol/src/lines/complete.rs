//! All units of a file, each parsed when it is needed.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

use addr2line::SplitDwarfLoad;
use gimli::{AbbreviationsCacheStrategy, DwarfPackage};

use super::sections::Sections;
use super::split;
use super::steps::Steps;
use super::unit_context::UnitContext;
use super::unit_lines::UnitLines;
use crate::budget::Metered;
use crate::bytes::FileBytes;
use crate::units::{Units, UnitsAt};

/// All units of a file.
pub(super) struct AllUnits<'a> {
    /// The units that can be parsed alone; `None` if addr2line has to parse all together.
    units: Option<Units>,
    /// Each unit that was needed, by its number; `None` if it cannot be parsed alone.
    alone: Vec<OnceCell<Option<Box<UnitContext<'a>>>>>,
    /// All units, once they are needed; `None` if they are damaged.
    whole: OnceCell<Option<UnitContext<'a>>>,
    package: Option<DwarfPackage<Metered<'a>>>,
}

impl<'a> AllUnits<'a> {
    /// Finds the units by their roots. `None` if the DWARF is damaged or too large.
    pub(super) fn of(sections: &'a Sections) -> Option<Self> {
        let slice = |bytes: &'a FileBytes| sections.reader(bytes);
        let dwarf = sections.dwarf()?;
        let package = sections.package.as_ref().and_then(|it| it.borrow(slice, sections.reader(&[])).ok());
        let has_others = sections.shared.is_some() || package.is_some();
        let units = if has_others { None } else { Units::of(&dwarf).ok().flatten() };
        let whole = match units {
            Some(_) => OnceCell::new(),
            None => OnceCell::from(Some(whole(sections)?)),
        };
        let alone = units.iter().flat_map(|units| (0..units.len()).map(|_| OnceCell::new())).collect();
        Some(Self { units, alone, whole, package })
    }

    /// Returns what has the functions and lines of an address; `None` if no unit has the address.
    pub(super) fn context(&self, sections: &'a Sections, address: u64) -> Option<&UnitContext<'a>> {
        if let Some(units) = self.units.as_ref().filter(|_| self.whole.get().is_none()) {
            match units.containing(address) {
                UnitsAt::Nothing => return None,
                UnitsAt::One(unit) => {
                    if let Some(context) = self.alone(sections, units, unit) {
                        return Some(context);
                    }
                }
                UnitsAt::Several => {}
            }
        }
        self.whole(sections)
    }

    /// Calls `each` for each part of `range` with the units that have its addresses, in the order of addresses.
    pub(super) fn each_unit<'t>(
        &'t self,
        sections: &'a Sections,
        range: Range<u64>,
        steps: &Steps,
        each: &mut dyn FnMut(&'t UnitLines<'a>, Range<u64>),
    ) {
        let mut spans = vec![(UnitsAt::Several, range.clone())];
        let units = self.units.as_ref().filter(|_| self.whole.get().is_none());
        if let Some(units) = units {
            spans.clear();
            units.spans(range, &mut |count| steps.take(count), &mut |span| {
                spans.push((span.at(), span.range))
            });
        }
        for (at, range) in spans {
            let alone = match at {
                UnitsAt::Nothing => continue,
                UnitsAt::One(unit) => units.and_then(|units| self.alone(sections, units, unit)),
                UnitsAt::Several => None,
            };
            if let Some(context) = alone.or_else(|| self.whole(sections)) {
                each(&context.lines, range);
            }
        }
    }

    /// Returns a unit alone; `None` if it cannot be parsed without others.
    fn alone(&self, sections: &'a Sections, units: &Units, unit: usize) -> Option<&UnitContext<'a>> {
        let alone = || UnitContext::alone(units.alone(unit, sections.dwarf()?)?).map(Box::new);
        self.alone.get(unit)?.get_or_init(alone).as_deref()
    }

    /// Returns all units together; `None` if they are damaged.
    fn whole(&self, sections: &'a Sections) -> Option<&UnitContext<'a>> {
        self.whole.get_or_init(|| whole(sections)).as_ref()
    }

    /// Finds the split DWARF of a unit: in the package beside the file, or in the file that the unit names.
    pub(super) fn split(
        &self,
        sections: &'a Sections,
        load: &SplitDwarfLoad<Metered<'a>>,
    ) -> Option<Arc<gimli::Dwarf<Metered<'a>>>> {
        sections.has_split.set(true);
        if let Some(package) = &self.package
            && let Ok(Some(dwarf)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(dwarf));
        }
        let loaded = split::places(sections, load).find_map(|path| split::file(sections, &path, load))?;
        let mut dwarf = sections.split.add(loaded)?.borrow(|bytes| sections.reader(bytes));
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

/// Parses the abbreviations of all units.
fn whole(sections: &Sections) -> Option<UnitContext<'_>> {
    let mut dwarf = sections.dwarf()?;
    // Units that dwz or a linker has joined share them.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    UnitContext::of(dwarf)
}
