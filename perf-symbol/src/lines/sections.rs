//! The sections of DWARF of a file, and of the files that it refers to.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gimli::{Dwarf, DwarfPackageSections, DwarfSections, RunTimeEndian, SectionId};

use crate::arena::Arena;
use crate::budget::{Budget, Metered};
use crate::bytes::FileBytes;
use crate::dso_files::DsoFiles;
use crate::file_finder::FileFinder;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
use crate::relocate;

/// The sections of a file, and of the files that it refers to.
pub(super) struct Sections {
    pub(super) image: Arc<ElfImage>,
    /// Those of the file, once all are needed; `None` if they are damaged.
    main: OnceCell<Option<DwarfSections<FileBytes>>>,
    pub(super) shared: Option<DwarfSections<FileBytes>>,
    pub(super) package: Option<DwarfPackageSections<FileBytes>>,
    pub(super) split: Arena<DwarfSections<FileBytes>>,
    /// Whether there is a package of split DWARF, or its files were looked for.
    pub(super) has_split: Cell<bool>,
    endian: RunTimeEndian,
    pub(super) budget: Budget,
    pub(super) finder: FileFinder,
    /// The folder of the file that was mapped.
    pub(super) folder: PathBuf,
}

impl Sections {
    /// Finds the file that has DWARF, and reads the sections of the files that it refers to.
    pub(super) fn load(finder: &FileFinder, found: &DsoFiles) -> Option<Self> {
        let (image, path) = found.dwarf()?;
        let limits = finder.options().limits;
        let budget = Budget::new(limits.dwarf.min(limits.decompressed));
        budget.set_cancellation(finder.cancellation());
        budget.begin();
        let endian = if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let shared =
            found.shared.as_ref().map(|image| DwarfSections::load(|id| needed_section(image, id, &budget)));
        let package = package(finder, &found.path, &budget).or_else(|| package(finder, path, &budget));
        Some(Self {
            image: Arc::clone(image),
            main: OnceCell::new(),
            shared: shared.transpose().ok()?,
            has_split: Cell::new(package.is_some()),
            package,
            split: Arena::default(),
            endian,
            budget,
            finder: finder.clone(),
            folder: found.path.parent().map(Path::to_path_buf).unwrap_or_default(),
        })
    }

    /// Returns all sections of the file, which are read by the first call; `None` if they are damaged or too large.
    pub(super) fn dwarf(&self) -> Option<Dwarf<Metered<'_>>> {
        self.main
            .get_or_init(|| DwarfSections::load(|id| needed_section(&self.image, id, &self.budget)).ok());
        self.loaded()
    }

    /// Returns all sections of the file if they are read already.
    pub(super) fn loaded(&self) -> Option<Dwarf<Metered<'_>>> {
        let main = self.main.get()?.as_ref()?;
        Some(main.borrow_with_sup(self.shared.as_ref(), |bytes| self.reader(bytes)))
    }

    /// Returns a reader of bytes of these files.
    pub(super) fn reader<'a>(&'a self, bytes: &'a [u8]) -> Metered<'a> {
        Metered::new(bytes, self.endian, &self.budget)
    }

    /// Returns whether files and lines are wanted.
    pub(super) fn needs_lines(&self) -> bool {
        self.finder.options().lines
    }
}

/// Reads the package of split DWARF beside a file: `FILE.dwp`.
fn package(finder: &FileFinder, file: &Path, budget: &Budget) -> Option<DwarfPackageSections<FileBytes>> {
    let mut name = file.file_name()?.to_os_string();
    name.push(".dwp");
    let image = finder.open(&file.with_file_name(name), None).ok()?;
    let load = |id| {
        split_section(&image, id, budget).map_err(|_| gimli::Error::UnexpectedEof(gimli::ReaderOffsetId(0)))
    };
    DwarfPackageSections::load(load).ok()
}

/// Returns a section of split DWARF, whether it is needed or not: the index of a package has places in all of them.
pub(super) fn split_section(
    image: &ElfImage,
    id: SectionId,
    budget: &Budget,
) -> Result<FileBytes, NoSymbols> {
    id.dwo_name().map_or_else(|| Ok(FileBytes::default()), |name| section(image, name, budget))
}

/// Returns a section; empty if it says nothing about functions and lines.
fn needed_section(image: &ElfImage, id: SectionId, budget: &Budget) -> Result<FileBytes, NoSymbols> {
    if is_needed(id) { section(image, id.name(), budget) } else { Ok(FileBytes::default()) }
}

/// Returns whether functions and lines need a section. The places of variables, macros and indexes can be as large as what
/// is needed, and would be decompressed too.
pub(super) fn is_needed(id: SectionId) -> bool {
    !matches!(
        id,
        SectionId::DebugLoc
            | SectionId::DebugLocLists
            | SectionId::DebugMacinfo
            | SectionId::DebugMacro
            | SectionId::DebugNames
    )
}

/// Returns a section, or the one that older files have instead of it, which is compressed; empty if there is neither.
pub(super) fn section(image: &ElfImage, name: &str, budget: &Budget) -> Result<FileBytes, NoSymbols> {
    let index = |name: &str| image.sections().iter().position(|section| section.name() == name.as_bytes());
    let index = index(name).or_else(|| index(&name.replacen(".debug_", ".zdebug_", 1)));
    let Some((index, section)) = index.and_then(|index| Some((index, image.sections().get(index)?))) else {
        return Ok(FileBytes::default());
    };
    let raw = image.raw_data(section);
    let data = image.data_within(section, budget.room(), &budget.cancellation())?;
    // Another one was decompressed or copied.
    let is_raw = |data: &FileBytes| data.as_ptr() == raw.as_ptr() || data.is_empty();
    if !is_raw(&data) {
        budget.load(data.len() as u64)?;
    }
    let before = data.as_ptr();
    let data = relocate::section(image, index, data, budget.room(), &budget.cancellation())?;
    if data.as_ptr() != before {
        budget.load(data.len() as u64)?;
    }
    budget.add(raw.len() as u64, data.len() as u64);
    Ok(data)
}
