//! Files of split DWARF: where they are, and whether they are those of a unit.

use std::path::{Path, PathBuf};

use addr2line::SplitDwarfLoad;
use gimli::DwarfSections;

use super::sections::{Sections, split_section};
use crate::budget::Metered;
use crate::bytes::FileBytes;
use crate::files::{below, path_of};

/// The paths at which the split DWARF of a unit may be: where the compiler wrote it, and beside the file.
pub(super) fn places(
    sections: &Sections,
    load: &SplitDwarfLoad<Metered<'_>>,
) -> impl Iterator<Item = PathBuf> {
    let name = load.path.map(|path| path_of(path.slice()));
    let recorded = name.as_ref().map(|name| match load.comp_dir {
        Some(folder) => path_of(folder.slice()).join(name),
        None => name.clone(),
    });
    let recorded = match &sections.finder.options().symfs {
        Some(root) => recorded.and_then(|path| below(root, &path)),
        None => recorded,
    };
    let beside = name.as_ref().and_then(|name| name.file_name()).map(|name| sections.folder.join(name));
    recorded.into_iter().chain(beside)
}

/// Reads a file of split DWARF; `None` if it is not that of the unit.
pub(super) fn file(
    sections: &Sections,
    path: &Path,
    load: &SplitDwarfLoad<Metered<'_>>,
) -> Option<DwarfSections<FileBytes>> {
    // The finder was cancelled perhaps, after the sections were loaded.
    let finder = sections.finder.with_cancellation(&sections.budget.cancellation());
    let image = finder.open(path, None).ok()?;
    let loaded = DwarfSections::load(|id| split_section(&image, id, &sections.budget)).ok()?;
    let dwarf = loaded.borrow(|bytes| sections.reader(bytes));
    let mut units = dwarf.units();
    // Each unit takes some bytes.
    while let Ok(Some(header)) = units.next() {
        if dwarf.unit(header).is_ok_and(|unit| unit.dwo_id == Some(load.dwo_id)) {
            return Some(loaded);
        }
    }
    None
}
