//! Functions, inlined functions and lines by DWARF.

mod complete;
mod compressed;
mod early;
mod embedded_sources;
mod line_table;
mod nested;
mod no_lines;
mod rows;
mod scopes;
mod sections;
mod split;
mod steps;
mod unit_context;
mod unit_lines;

use std::cell::{LazyCell, OnceCell};

use addr2line::{Location, LookupContinuation, LookupResult};
use gimli::UnitOffset;

use crate::cancellation::Cancellation;
use crate::dso_files::DsoFiles;
use crate::file_finder::FileFinder;
use crate::units::UnitsAt;
use complete::AllUnits;
use early::ListedUnits;
use embedded_sources::EmbeddedSources;
use nested::{NestedFrame, NestedFunctions};
pub use rows::LineRow;
use scopes::Scopes;
use sections::Sections;
use unit_context::UnitContext;

/// The DWARF of a file, parsed as far as it was needed.
///
/// It can be sent to another thread, but not shared by threads: each look-up parses more of it.
///
/// # Examples
///
/// ```no_run
/// use std::sync::Arc;
/// use perf_symbol::{FileFinder, DwarfLines, SymbolOptions, ReadFiles};
///
/// let finder = FileFinder::new(Arc::new(ReadFiles), Arc::new(SymbolOptions::default()));
/// let found = finder.find(b"/usr/bin/cat", None, None);
/// if let Some(lines) = DwarfLines::load(&finder, &found) {
///     lines.look_up(0x1234, &mut |frame| println!("{:?}:{:?}", frame.file, frame.line));
/// }
/// ```
pub struct DwarfLines(Cell);

self_cell::self_cell!(
    struct Cell {
        owner: DwarfSource,
        #[not_covariant]
        dependent: ParsedUnits,
    }
);

/// What is read of a file.
struct DwarfSource {
    sections: Sections,
    /// `None` if all of `.debug_info` is read at once.
    early: Option<ListedUnits>,
}

/// What is parsed of a file.
struct ParsedUnits<'a> {
    /// Each unit that was found before all were, by its number; `None` if it cannot be parsed alone.
    early: Vec<OnceCell<Option<Box<UnitContext<'a>>>>>,
    /// All units, once that is needed; `None` if they are damaged.
    complete: OnceCell<Option<AllUnits<'a>>>,
    scopes: Scopes,
    nested: NestedFunctions<'a>,
    sources: EmbeddedSources<'a>,
}

/// A function, or an inlined function, by DWARF. The line is that of the address, or for a function into which another one
/// is inlined, that of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DwarfFrame<'a> {
    /// The name as the linker has it, or else as the source has it.
    pub name: Option<&'a [u8]>,
    /// The name with its namespaces and classes, if the name is not one of the linker, which has them: of C++, of a function
    /// that the linker does not see, such as `main::{lambda}::operator()`. `None` if it is the same, or is not wanted:
    /// [`SymbolOptions::qualified`](crate::SymbolOptions::qualified).
    pub qualified: Option<&'a [u8]>,
    /// Path of the source, with the folder of the compilation if it is relative.
    pub file: Option<&'a str>,
    /// Line, from 1 on.
    pub line: Option<u32>,
    /// Column, from 1 on.
    pub column: Option<u32>,
}

impl DwarfLines {
    /// Reads the sections of the file that has DWARF, and the root of each unit. `None` if there is none, or if it is damaged.
    /// Takes time in proportion to the size of compressed sections, and to the number of units. Where units depend on each
    /// other, as in files of link-time optimization and of dwz, it parses the abbreviations of all.
    ///
    /// If `.debug_aranges` has the addresses of units, it reads that alone. A look-up then reads the unit that has the address,
    /// and the roots of all units only if no listed unit has it, or if the unit does not agree with what is listed. Of a
    /// `.debug_info` that is compressed by zlib, it decompresses as much as is before the end of the unit; the first look-up may
    /// start a thread that decompresses the other sections meanwhile.
    ///
    /// Without [`SymbolOptions::lines`](crate::SymbolOptions::lines), files and lines are not found.
    ///
    /// The DWARF of a relocatable file, such as a module of the kernel, is relocated: `.text` has the address 0. `None` if it
    /// is neither of x86-64 nor of AArch64.
    #[must_use]
    pub fn load(finder: &FileFinder, found: &DsoFiles) -> Option<Self> {
        let sections = Sections::load(finder, found)?;
        let early = ListedUnits::load(&sections);
        Cell::try_new(DwarfSource { sections, early }, |owner| ParsedUnits::of(owner).ok_or(()))
            .ok()
            .map(Self)
    }

    /// Sets the flag that ends look-ups early. After one that was cancelled, others may find less: what was not read counts as
    /// damaged.
    pub(crate) fn set_cancellation(&self, cancellation: &Cancellation) {
        self.0.borrow_owner().sections.budget.set_cancellation(cancellation);
    }

    /// Returns whether nothing was left out because too much was read, decompressed or nested, or because it was cancelled, and
    /// nothing was looked for in other files, as split DWARF is.
    pub(crate) fn is_whole(&self) -> bool {
        let sections = &self.0.borrow_owner().sections;
        !sections.budget.is_exceeded() && !sections.has_split.get()
    }

    /// Returns a number that what is kept is in proportion to: the number of bytes that were decompressed and read.
    pub(crate) fn used(&self) -> u64 {
        self.0.borrow_owner().sections.budget.used()
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
        self.0.with_dependent(|owner, parsed| {
            let sections = &owner.sections;
            sections.budget.begin();
            let Some(UnitContext { context, may_nest, .. }) = parsed.context(owner, address) else { return };
            let mut lookup = context.find_frames(address);
            let frames = loop {
                match lookup {
                    LookupResult::Output(frames) => break frames,
                    LookupResult::Load { load, continuation } => {
                        let complete = parsed.complete.get().and_then(Option::as_ref);
                        let split = complete.and_then(|complete| complete.split(sections, &load));
                        lookup = continuation.resume(split);
                    }
                }
            };
            let Ok(mut frames) = frames else { return };
            let unit = LazyCell::new(|| context.find_dwarf_and_unit(address).skip_all_loads());
            let mut show = |function: Option<DwarfFunction<'_>>, location: Option<Location<'_>>| {
                let location = location.filter(|_| sections.needs_lines());
                // A line alone.
                if function.is_none() && !sections.needs_lines() {
                    return;
                }
                let name = function.as_ref().and_then(|it| it.name);
                let needs_scopes = sections.finder.options().qualified
                    && name.is_some_and(|name| !name.starts_with(b"_Z"))
                    && function.as_ref().and_then(|it| it.language).is_some_and(is_cpp);
                let qualified = function
                    .filter(|_| needs_scopes)
                    .and_then(|function| parsed.scopes.name((*unit)?, function.offset));
                each(DwarfFrame {
                    name,
                    qualified: qualified.as_deref().filter(|qualified| name != Some(*qualified)),
                    file: location.as_ref().and_then(|location| location.file),
                    line: location.as_ref().and_then(|location| location.line).filter(|&line| line != 0),
                    column: location.and_then(|location| location.column).filter(|&column| column != 0),
                });
            };
            if *may_nest && let Some(nested) = unit.and_then(|unit| parsed.nested.frames(unit, address)) {
                let mut innermost = frames.next().ok().flatten().and_then(|frame| frame.location);
                for NestedFrame { name, offset, language, call } in &nested {
                    let called = call.as_ref().map(|call| Location {
                        file: call.file.as_deref(),
                        line: call.line,
                        column: call.column,
                    });
                    let shown =
                        DwarfFunction { name: Some(name.slice()), offset: *offset, language: *language };
                    show(Some(shown), called.or(innermost.take()));
                }
                return;
            }
            while let Ok(Some(frame)) = frames.next() {
                let function = frame.dw_die_offset.map(|offset| DwarfFunction {
                    name: frame.function.as_ref().map(|function| function.name.slice()),
                    offset,
                    language: frame.function.as_ref().and_then(|function| function.language),
                });
                show(function, frame.location);
            }
        });
    }
}

/// A function at an address, as it is looked up.
struct DwarfFunction<'a> {
    name: Option<&'a [u8]>,
    offset: UnitOffset,
    language: Option<gimli::DwLang>,
}

/// Returns whether a language is C++, whose compilers leave out names of the linker that no other unit can see.
fn is_cpp(language: gimli::DwLang) -> bool {
    use gimli::constants::{
        DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
        DW_LANG_C_plus_plus_17, DW_LANG_C_plus_plus_20,
    };
    [
        DW_LANG_C_plus_plus,
        DW_LANG_C_plus_plus_03,
        DW_LANG_C_plus_plus_11,
        DW_LANG_C_plus_plus_14,
        DW_LANG_C_plus_plus_17,
        DW_LANG_C_plus_plus_20,
    ]
    .contains(&language)
}

impl std::fmt::Debug for DwarfLines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lines")
    }
}

impl<'a> ParsedUnits<'a> {
    fn of(owner: &'a DwarfSource) -> Option<Self> {
        let early = owner.early.as_ref().map_or(0, ListedUnits::len);
        let complete = match owner.early {
            Some(_) => OnceCell::new(),
            None => OnceCell::from(Some(AllUnits::of(&owner.sections)?)),
        };
        Some(Self {
            early: (0..early).map(|_| OnceCell::new()).collect(),
            complete,
            scopes: Scopes::default(),
            nested: NestedFunctions::default(),
            sources: EmbeddedSources::default(),
        })
    }

    /// Returns what has the functions and lines of an address; `None` if no unit has the address.
    fn context(&self, owner: &'a DwarfSource, address: u64) -> Option<&UnitContext<'a>> {
        let sections = &owner.sections;
        // Also where all units are known, so that the order of look-ups makes no difference.
        if let Some(early) = &owner.early {
            match early.containing(address) {
                UnitsAt::Nothing if !early::may_have(&sections.image, address) => return None,
                UnitsAt::One(unit) => {
                    if let Some(context) = self.early(owner, early, unit) {
                        return Some(context);
                    }
                }
                UnitsAt::Nothing | UnitsAt::Several => {}
            }
        }
        self.complete(sections)?.context(sections, address)
    }

    /// Returns a listed unit; `None` if it cannot be parsed alone.
    fn early(
        &self,
        owner: &'a DwarfSource,
        listed: &'a ListedUnits,
        unit: usize,
    ) -> Option<&UnitContext<'a>> {
        let parse = || UnitContext::alone(listed.unit(&owner.sections, unit)?).map(Box::new);
        self.early.get(unit)?.get_or_init(parse).as_deref()
    }

    /// Returns all units; `None` if they are damaged.
    fn complete(&self, sections: &'a Sections) -> Option<&AllUnits<'a>> {
        self.complete.get_or_init(|| AllUnits::of(sections)).as_ref()
    }
}
