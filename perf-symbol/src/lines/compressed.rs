//! Units of a compressed `.debug_info`, found before all of it is decompressed.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;

use gimli::{DebugInfo, DebugLine, Dwarf, DwarfSections, Section, SectionId};

use super::no_lines;
use super::sections::{Sections, is_needed, section};
use crate::budget::Metered;
use crate::bytes::FileBytes;
use crate::decompressed::lock;
use crate::front::Front;
use crate::image::ElfSection;
use crate::no_symbols::NoSymbols;
use crate::units::{UnitIndex, UnitStarts};

/// The bytes of the units that were needed.
pub(super) struct CompressedUnits {
    info: Arc<Mutex<Front>>,
    /// The sections except `.debug_info`, once they are needed; `None` if they are damaged.
    others: OnceCell<Option<DwarfSections<FileBytes>>>,
    /// Those of the others that are compressed by zlib, and the number of bytes that each claims to have.
    compressed: Vec<(ElfSection, u64)>,
    /// Each unit by its number; `None` if it is damaged.
    units: Vec<OnceCell<Option<Vec<u8>>>>,
    /// Number of bytes of `.debug_info`, and of how many compressed ones, that the budget knows of.
    counted: Cell<(u64, u64)>,
    /// The lines that all units have if lines are not wanted.
    no_lines: Vec<u8>,
}

impl CompressedUnits {
    /// Returns whether there is room for them. `.debug_info` may be kept three times: its front, the units that are needed, and all
    /// of it after that.
    pub(super) fn have_room(sections: &Sections, info: &ElfSection) -> bool {
        const TIMES: u64 = 3;
        let room = sections.budget.room();
        let size = sections
            .image
            .claimed_size(info, room)
            .map(|info| others(sections, room).iter().fold(info, |sum, it| sum.saturating_add(it.1)));
        size.is_some_and(|size| size.saturating_mul(TIMES) <= room)
    }

    /// Begins with nothing decompressed. `None` if all is decompressed already.
    pub(super) fn new(sections: &Sections, info: &ElfSection, count: usize) -> Option<Self> {
        let (image, room) = (&*sections.image, sections.budget.room());
        Some(Self {
            info: image.front(info, room)?,
            others: OnceCell::new(),
            compressed: others(sections, room),
            units: (0..count).map(|_| OnceCell::new()).collect(),
            counted: Cell::new((0, 0)),
            no_lines: no_lines::program(image.is_little_endian()),
        })
    }

    /// Makes a unit all that a file has. `None` if no unit starts where it is listed, or if it is damaged.
    pub(super) fn unit<'a>(
        &'a self,
        sections: &'a Sections,
        listed: (&UnitIndex, &UnitStarts),
        number: usize,
    ) -> Option<Dwarf<Metered<'a>>> {
        let read = || self.read(sections, listed, number);
        self.dwarf(sections, self.units.get(number)?.get_or_init(read).as_ref()?)
    }

    /// Returns the other sections with one unit.
    fn dwarf<'a>(&'a self, sections: &'a Sections, unit: &'a [u8]) -> Option<Dwarf<Metered<'a>>> {
        let mut dwarf = self.others.get()?.as_ref()?.borrow(|bytes| sections.reader(bytes));
        dwarf.debug_info = DebugInfo::from(sections.reader(unit));
        if !sections.needs_lines() {
            dwarf.debug_line = DebugLine::from(sections.reader(&self.no_lines));
        }
        Some(dwarf)
    }

    /// Reads a unit. The first call reads the other sections too.
    fn read(&self, sections: &Sections, listed: (&UnitIndex, &UnitStarts), number: usize) -> Option<Vec<u8>> {
        let copy = || self.copy(sections, listed, number);
        let mut unit = if self.others.get().is_some() { copy() } else { self.beside(sections, copy) }?;
        if !sections.needs_lines() {
            let dwarf = self.dwarf(sections, &unit)?;
            if let Some(place) = UnitIndex::place_of_lines(&dwarf).ok()? {
                unit.get_mut(place).filter(|place| !place.is_empty())?.fill(0);
            }
        }
        Some(unit)
    }

    /// Reads the other sections. Another thread decompresses them meanwhile if that takes longer than a thread needs to start.
    fn beside<T>(&self, sections: &Sections, work: impl FnOnce() -> T) -> T {
        const LEAST: u64 = 1 << 16;
        let (image, compressed) = (&*sections.image, &self.compressed);
        let cancellation = sections.budget.cancellation();
        let is_worth_it = compressed.iter().map(|(section, _)| section.size).sum::<u64>() >= LEAST;
        thread::scope(|scope| {
            let decompress = || {
                compressed
                    .iter()
                    .map(|(section, size)| image.data_within(section, *size, &cancellation))
                    .collect::<Vec<_>>()
            };
            let start =
                || thread::Builder::new().name("sections".into()).spawn_scoped(scope, decompress).ok();
            let thread = is_worth_it.then(start).flatten();
            let result = work();
            // What it has decompressed is shared with this thread, which finds what is damaged again.
            let _kept = thread.and_then(|thread| thread.join().ok());
            let load = |id: SectionId| match is_other(sections, id) {
                true => section(image, id.name(), &sections.budget),
                false => Ok(FileBytes::default()),
            };
            self.others.get_or_init(|| DwarfSections::load(load).ok());
            result
        })
    }

    /// Copies a unit.
    fn copy(
        &self,
        sections: &Sections,
        (index, starts): (&UnitIndex, &UnitStarts),
        number: usize,
    ) -> Option<Vec<u8>> {
        let offset = index.offset(number)?;
        let whole = sections.loaded().map(|all| all.debug_info.reader().slice());
        let (mut front, cancellation) = (lock(&self.info), sections.budget.cancellation());
        let mut copy = |range: Range<usize>| match whole {
            // The front ends where all was decompressed.
            Some(whole) => whole.get(range).map(<[u8]>::to_vec),
            None => front.copy(range, &cancellation).ok(),
        };
        let mut size_at = |offset: usize| {
            let mut number = |at: usize, size: usize| {
                let bytes = copy(at..at.checked_add(size)?)?;
                usize::try_from(sections.image.number(&bytes, 0, size)?).ok()
            };
            // The initial length has 32 bits, or 64 after this mark.
            match number(offset, 4)? {
                0xffff_ffff => number(offset.checked_add(4)?, 8)?.checked_add(12),
                length => length.checked_add(4),
            }
        };
        // All up to here at once.
        let size = size_at(offset)?;
        if !starts.has(index, number, &mut size_at) {
            return None;
        }
        let unit = copy(offset..offset.checked_add(size)?)?;
        let (used, before) = (front.used(), self.counted.replace(front.used()));
        let (more, raw) = (used.0.saturating_sub(before.0), used.1.saturating_sub(before.1));
        sections.budget.add(raw, more);
        sections.budget.load(more.saturating_add(unit.len() as u64)).ok()?;
        Some(unit)
    }
}

/// Returns the other sections that are compressed by zlib, and the number of bytes that each claims to have.
fn others(sections: &Sections, room: u64) -> Vec<(ElfSection, u64)> {
    let image = &sections.image;
    let mut compressed = Vec::new();
    let mut add = |id: SectionId| {
        let section = image.section(id.name()).filter(|_| is_other(sections, id));
        compressed.extend(section.and_then(|it| Some((it.clone(), image.claimed_size(it, room)?))));
        Ok::<_, NoSymbols>(FileBytes::default())
    };
    // It has no errors.
    let _sections = DwarfSections::load(&mut add);
    compressed
}

/// Returns whether a section is needed besides `.debug_info`.
fn is_other(sections: &Sections, id: SectionId) -> bool {
    match id {
        // The root of a unit has its addresses too.
        SectionId::DebugInfo | SectionId::DebugAranges => false,
        SectionId::DebugLine => sections.needs_lines(),
        id => is_needed(id),
    }
}
