//! Functions, inlined functions and lines by DWARF.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::{
    AbbreviationsCacheStrategy, Dwarf, DwarfPackage, DwarfPackageSections, DwarfSections, RunTimeEndian,
    SectionId,
};

use crate::arena::Arena;
use crate::budget::{Budget, Metered};
use crate::bytes::Bytes;
use crate::error::Why;
use crate::files::{below, path_of};
use crate::finder::{Finder, Found};
use crate::image::Image;
use crate::relocate;
use crate::units::{Containing, Units};

/// The DWARF of a file, parsed as far as it was needed.
///
/// It can be sent to another thread, but not shared by threads: each look-up parses more of it.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use perf_symbol::{Finder, Lines, Options, ReadFiles};
///
/// let finder = Finder::new(Arc::new(ReadFiles), Arc::new(Options::default()));
/// let found = finder.find(b"/usr/bin/cat", None, None);
/// if let Some(lines) = Lines::load(&finder, &found) {
///     lines.look_up(0x1234, &mut |frame| println!("{:?}:{:?}", frame.file, frame.line));
/// }
/// ```
pub struct Lines(Cell);

self_cell::self_cell!(
    struct Cell {
        owner: Sections,
        #[not_covariant]
        dependent: Parsed,
    }
);

/// The sections of a file, and of the files that it refers to.
struct Sections {
    main: DwarfSections<Bytes>,
    shared: Option<DwarfSections<Bytes>>,
    package: Option<DwarfPackageSections<Bytes>>,
    split: Arena<DwarfSections<Bytes>>,
    endian: RunTimeEndian,
    budget: Budget,
    finder: Finder,
    /// The folder of the file that was mapped.
    folder: PathBuf,
}

struct Parsed<'a> {
    /// The units that can be parsed alone; `None` if addr2line has to parse all together.
    units: Option<Units>,
    /// Each unit that was needed, by its number; `None` if it cannot be parsed alone.
    alone: Vec<OnceCell<Option<Box<Context<Metered<'a>>>>>>,
    /// All units, once they are needed; `None` if they are damaged.
    whole: OnceCell<Option<Context<Metered<'a>>>>,
    package: Option<DwarfPackage<Metered<'a>>>,
}

/// A function, or an inlined function, by DWARF. The line is that of the address, or for a function into which another one
/// is inlined, that of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DwarfFrame<'a> {
    /// The name as the linker has it, or else as the source has it.
    pub name: Option<&'a [u8]>,
    /// Path of the source, with the folder of the compilation if it is relative.
    pub file: Option<&'a str>,
    /// Line, from 1 on.
    pub line: Option<u32>,
    /// Column, from 1 on.
    pub column: Option<u32>,
}

impl Lines {
    /// Reads the sections of the file that has DWARF, and the root of each unit. `None` if there is none, or if it is damaged.
    /// Takes time in proportion to the size of compressed sections, and to the number of units. Where units depend on each
    /// other, as in files of link-time optimization and of dwz, it parses the abbreviations of all.
    ///
    /// The DWARF of a relocatable file, such as a module of the kernel, is relocated: `.text` has the address 0. `None` if it
    /// is neither of x86-64 nor of AArch64.
    #[must_use]
    pub fn load(finder: &Finder, found: &Found) -> Option<Self> {
        let (image, path) = found.dwarf()?;
        let limits = finder.options().limits;
        let budget = Budget::new(limits.dwarf.min(limits.decompressed));
        budget.begin();
        let endian = if image.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let main = DwarfSections::load(|id| needed_section(image, id, &budget)).ok()?;
        let shared =
            found.shared.as_ref().map(|image| DwarfSections::load(|id| needed_section(image, id, &budget)));
        let package = package(finder, &found.path, &budget).or_else(|| package(finder, path, &budget));
        let sections = Sections {
            main,
            shared: shared.transpose().ok()?,
            package,
            split: Arena::default(),
            endian,
            budget,
            finder: finder.clone(),
            folder: found.path.parent().map(Path::to_path_buf).unwrap_or_default(),
        };
        Cell::try_new(sections, |sections| Parsed::of(sections)).ok().map(Self)
    }

    /// Returns a number that what is kept is in proportion to: the number of bytes that were decompressed and read.
    pub(crate) fn used(&self) -> u64 {
        self.0.borrow_owner().budget.used()
    }

    /// Calls `each` for each function at an address, the innermost inlined one first. Calls it for a line alone, too, if no
    /// function has the address.
    ///
    /// The address is one of the file, and the first look-up in a unit parses that unit. All look-ups together read DWARF
    /// at most a few times its size: if a file makes them read more, which compilers do not write, they find nothing then.
    pub fn look_up(&self, address: u64, each: &mut dyn FnMut(DwarfFrame<'_>)) {
        // The address after it, which addr2line computes, does not exist.
        if address == u64::MAX {
            return;
        }
        self.0.with_dependent(|sections, parsed| {
            sections.budget.begin();
            let Some(context) = parsed.context(sections, address) else { return };
            let mut lookup = context.find_frames(address);
            let frames = loop {
                match lookup {
                    LookupResult::Output(frames) => break frames,
                    LookupResult::Load { load, continuation } => {
                        lookup = continuation.resume(parsed.split(sections, &load));
                    }
                }
            };
            let Ok(mut frames) = frames else { return };
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().map(|function| function.name.slice());
                let location = frame.location.as_ref();
                each(DwarfFrame {
                    name,
                    file: location.and_then(|location| location.file),
                    line: location.and_then(|location| location.line).filter(|&line| line != 0),
                    column: location.and_then(|location| location.column).filter(|&column| column != 0),
                });
            }
        });
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lines")
    }
}

impl Sections {
    fn dwarf(&self) -> Dwarf<Metered<'_>> {
        self.main
            .borrow_with_sup(self.shared.as_ref(), |bytes| Metered::new(bytes, self.endian, &self.budget))
    }

    /// Parses the abbreviations of all units.
    fn whole(&self) -> Result<Context<Metered<'_>>, gimli::Error> {
        let mut dwarf = self.dwarf();
        // Units that dwz or a linker has joined share them.
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        Context::from_dwarf(dwarf)
    }
}

impl<'a> Parsed<'a> {
    fn of(sections: &'a Sections) -> Result<Self, gimli::Error> {
        let slice = |bytes: &'a Bytes| Metered::new(bytes, sections.endian, &sections.budget);
        let empty = Metered::new(&[], sections.endian, &sections.budget);
        let package = sections.package.as_ref().and_then(|package| package.borrow(slice, empty).ok());
        let has_others = sections.shared.is_some() || package.is_some();
        let units = if has_others { None } else { Units::of(&sections.dwarf()).ok().flatten() };
        let whole = match units {
            Some(_) => OnceCell::new(),
            None => OnceCell::from(Some(sections.whole()?)),
        };
        let alone = units.iter().flat_map(|units| (0..units.len()).map(|_| OnceCell::new())).collect();
        Ok(Self { units, alone, whole, package })
    }

    /// Returns what has the functions and lines of an address; `None` if no unit has the address.
    fn context(&self, sections: &'a Sections, address: u64) -> Option<&Context<Metered<'a>>> {
        if let Some(units) = self.units.as_ref().filter(|_| self.whole.get().is_none()) {
            match units.containing(address) {
                Containing::Nothing => return None,
                Containing::One(unit) => {
                    let alone =
                        || Some(Box::new(Context::from_dwarf(units.alone(unit, sections.dwarf())?).ok()?));
                    if let Some(context) = self.alone.get(unit)?.get_or_init(alone) {
                        return Some(context);
                    }
                }
                Containing::Several => {}
            }
        }
        self.whole.get_or_init(|| sections.whole().ok()).as_ref()
    }

    /// Finds the split DWARF of a unit: in the package beside the file, or in the file that the unit names.
    fn split(
        &self,
        sections: &'a Sections,
        load: &SplitDwarfLoad<Metered<'a>>,
    ) -> Option<Arc<gimli::Dwarf<Metered<'a>>>> {
        if let Some(package) = &self.package
            && let Ok(Some(dwarf)) = package.find_cu(load.dwo_id, &load.parent)
        {
            return Some(Arc::new(dwarf));
        }
        let loaded = split_places(sections, load).find_map(|path| split_file(sections, &path, load))?;
        let slice = |bytes: &'a Bytes| Metered::new(bytes, sections.endian, &sections.budget);
        let mut dwarf = sections.split.add(loaded)?.borrow(slice);
        dwarf.make_dwo(&load.parent);
        Some(Arc::new(dwarf))
    }
}

/// The paths at which the split DWARF of a unit may be: where the compiler wrote it, and beside the file.
fn split_places(sections: &Sections, load: &SplitDwarfLoad<Metered<'_>>) -> impl Iterator<Item = PathBuf> {
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
fn split_file(
    sections: &Sections,
    path: &Path,
    load: &SplitDwarfLoad<Metered<'_>>,
) -> Option<DwarfSections<Bytes>> {
    let image = sections.finder.open(path, None).ok()?;
    let loaded = DwarfSections::load(|id| split_section(&image, id, &sections.budget)).ok()?;
    let dwarf = loaded.borrow(|bytes| Metered::new(bytes, sections.endian, &sections.budget));
    let mut units = dwarf.units();
    // Each unit takes some bytes.
    while let Ok(Some(header)) = units.next() {
        if dwarf.unit(header).is_ok_and(|unit| unit.dwo_id == Some(load.dwo_id)) {
            return Some(loaded);
        }
    }
    None
}

/// Reads the package of split DWARF beside a file: `FILE.dwp`.
fn package(finder: &Finder, file: &Path, budget: &Budget) -> Option<DwarfPackageSections<Bytes>> {
    let mut name = file.file_name()?.to_os_string();
    name.push(".dwp");
    let image = finder.open(&file.with_file_name(name), None).ok()?;
    let load = |id| {
        split_section(&image, id, budget).map_err(|_| gimli::Error::UnexpectedEof(gimli::ReaderOffsetId(0)))
    };
    DwarfPackageSections::load(load).ok()
}

/// Returns a section of split DWARF, whether it is needed or not: the index of a package has places in all of them.
fn split_section(image: &Image, id: SectionId, budget: &Budget) -> Result<Bytes, Why> {
    id.dwo_name().map_or_else(|| Ok(Bytes::default()), |name| section(image, name, budget))
}

/// Returns a section; empty if it says nothing about functions and lines.
fn needed_section(image: &Image, id: SectionId, budget: &Budget) -> Result<Bytes, Why> {
    if is_needed(id) { section(image, id.name(), budget) } else { Ok(Bytes::default()) }
}

/// Returns whether functions and lines need a section. The places of variables, macros and indexes can be as large as what
/// is needed, and would be decompressed too.
fn is_needed(id: SectionId) -> bool {
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
fn section(image: &Image, name: &str, budget: &Budget) -> Result<Bytes, Why> {
    let index = |name: &str| image.sections().iter().position(|section| section.name() == name.as_bytes());
    let index = index(name).or_else(|| index(&name.replacen(".debug_", ".zdebug_", 1)));
    let Some((index, section)) = index.and_then(|index| Some((index, image.sections().get(index)?))) else {
        return Ok(Bytes::default());
    };
    let raw = image.raw_data(section);
    let data = image.data(section, budget.room())?;
    // Another one was decompressed or copied.
    let is_raw = |data: &Bytes| data.as_ptr() == raw.as_ptr() || data.is_empty();
    if !is_raw(&data) {
        budget.load(data.len() as u64)?;
    }
    let before = data.as_ptr();
    let data = relocate::section(image, index, data, budget.room())?;
    if data.as_ptr() != before {
        budget.load(data.len() as u64)?;
    }
    budget.add(raw.len() as u64, data.len() as u64);
    Ok(data)
}
