//! Units that are found before all of `.debug_info` is decompressed.
//!
//! It is most of what a file of debug information has, and a capture needs few of its units. `.debug_aranges` is small, and
//! has their addresses and offsets.

use std::cell::{Cell, OnceCell};
use std::sync::{Arc, Mutex};
use std::thread;

use gimli::{DebugInfo, DebugLine, Dwarf, DwarfSections, SectionId};
use object::elf;

use super::no_lines;
use super::sections::{Sections, is_needed, section};
use crate::budget::Metered;
use crate::bytes::FileBytes;
use crate::decompressed::lock;
use crate::front::Front;
use crate::image::{ElfImage, ElfSection};
use crate::no_symbols::NoSymbols;
use crate::units::{UnitIndex, UnitsAt};

/// The units of a file that `.debug_aranges` lists, and the bytes of those that were needed.
pub(super) struct ListedUnits {
    index: UnitIndex,
    info: Arc<Mutex<Front>>,
    /// The sections except `.debug_info`, once they are needed; `None` if they are damaged.
    others: OnceCell<Option<DwarfSections<FileBytes>>>,
    /// Those of the others that are compressed by zlib, and the number of bytes that each claims to have.
    compressed: Vec<(ElfSection, u64)>,
    /// Each unit by its number; `None` if it is damaged.
    units: Vec<OnceCell<Option<Vec<u8>>>>,
    /// Number of bytes of `units`.
    copied: Cell<u64>,
    /// Number of bytes of `.debug_info`, and of how many compressed ones, that the budget knows of.
    counted: Cell<(u64, u64)>,
    /// The lines that all units have if lines are not wanted.
    no_lines: Vec<u8>,
}

impl ListedUnits {
    /// Reads `.debug_aranges`. `None` if there is none or if it is damaged, if `.debug_info` is not compressed by zlib, and for
    /// files whose units are in other files too or are relocated.
    pub(super) fn load(sections: &Sections) -> Option<Self> {
        /// `.debug_info` may be kept three times: its front, the units that are needed, and all of it after that.
        const TIMES: u64 = 3;
        let (image, room) = (&*sections.image, sections.budget.room());
        if sections.shared.is_some() || sections.package.is_some() || image.kind() == elf::ET_REL.0 {
            return None;
        }
        let info = image.section(SectionId::DebugInfo.name())?;
        let mut compressed = Vec::new();
        let mut add = |id: SectionId| {
            let section = image.section(id.name()).filter(|_| is_other(sections, id));
            compressed.extend(section.and_then(|it| Some((it.clone(), image.claimed_size(it, room)?))));
            Ok::<_, NoSymbols>(FileBytes::default())
        };
        DwarfSections::load(&mut add).ok()?;
        let size =
            compressed.iter().fold(image.claimed_size(info, room)?, |sum, it| sum.saturating_add(it.1));
        if size.saturating_mul(TIMES) > room {
            return None;
        }
        let aranges = section(image, SectionId::DebugAranges.name(), &sections.budget).ok()?;
        let alone = |id| {
            Ok::<_, NoSymbols>(if id == SectionId::DebugAranges {
                aranges.clone()
            } else {
                FileBytes::default()
            })
        };
        let index =
            UnitIndex::of(&DwarfSections::load(alone).ok()?.borrow(|bytes| sections.reader(bytes))).ok()?;
        if index.len() == 0 {
            return None;
        }
        Some(Self {
            info: image.front(info, room)?,
            others: OnceCell::new(),
            compressed,
            units: (0..index.len()).map(|_| OnceCell::new()).collect(),
            copied: Cell::new(0),
            counted: Cell::new((0, 0)),
            no_lines: no_lines::program(image.is_little_endian()),
            index,
        })
    }

    /// Returns the number of listed units.
    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    /// Returns the listed units that have an address.
    pub(super) fn containing(&self, address: u64) -> UnitsAt {
        self.index.containing(address)
    }

    /// Makes a unit all that a file has. `None` if it cannot be parsed without other units, if its root does not have the
    /// addresses that are listed, or if it is damaged.
    pub(super) fn unit<'a>(&'a self, sections: &'a Sections, number: usize) -> Option<Dwarf<Metered<'a>>> {
        let read = || self.read(sections, number);
        let dwarf = self.dwarf(sections, self.units.get(number)?.get_or_init(read).as_ref()?)?;
        self.index.is_alone(number, &dwarf).ok()?.then_some(dwarf)
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
    fn read(&self, sections: &Sections, number: usize) -> Option<Vec<u8>> {
        let copy = || self.copy(sections, self.index.offset(number)?);
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

    /// Copies the unit at an offset in `.debug_info`.
    fn copy(&self, sections: &Sections, offset: usize) -> Option<Vec<u8>> {
        let mut info = lock(&self.info);
        let cancellation = sections.budget.cancellation();
        let mut number = |at: usize, size: usize| {
            let bytes = info.copy(at..at.checked_add(size)?, &cancellation).ok()?;
            usize::try_from(sections.image.number(&bytes, 0, size)?).ok()
        };
        // The initial length has 32 bits, or 64 after this mark.
        let (start, length) = match number(offset, 4)? {
            0xffff_ffff => (offset.checked_add(12)?, number(offset.checked_add(4)?, 8)?),
            length => (offset.checked_add(4)?, length),
        };
        let end = start.checked_add(length)?;
        let copied = self.copied.get().saturating_add(end.checked_sub(offset)? as u64);
        // Units that overlap could have more together than the section.
        if copied > info.size() {
            return None;
        }
        let unit = info.copy(offset..end, &cancellation).ok()?;
        self.copied.set(copied);
        let (used, before) = (info.used(), self.counted.replace(info.used()));
        let (more, raw) = (used.0.saturating_sub(before.0), used.1.saturating_sub(before.1));
        sections.budget.add(raw, more);
        sections.budget.load(more.saturating_add(unit.len() as u64)).ok()?;
        Some(unit)
    }
}

/// Returns whether a unit that is not listed may have an address: it is one of code that the linker has not made.
pub(super) fn may_have(image: &ElfImage, address: u64) -> bool {
    let has = |section: &&ElfSection| {
        let offset = address.checked_sub(section.address);
        section.flags & elf::SHF_EXECINSTR.0 != 0 && offset.is_some_and(|offset| offset < section.size)
    };
    image.sections().iter().filter(has).any(|it| !it.name().starts_with(b".plt") && it.name() != b".iplt")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with `.text`, `.plt` and `.data` of 16 bytes each, from the address 0x1000 on.
    fn image() -> ElfImage {
        let names = b"\0.text\0.plt\0.data\0";
        let mut file = vec![0; 64];
        file[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        (file[0x28], file[0x3a], file[0x3c], file[0x3e]) = (64, 64, 5, 4);
        let (code, data, table) = (elf::SHF_EXECINSTR.0, 0, 0);
        let sections = [(0, 0, 0), (1, code, 0x1000), (7, code, 0x1010), (12, data, 0x1020), (0, table, 0)];
        for (number, (name, flags, address)) in (0_u32..).zip(sections) {
            let (kind, size) = if number == 4 { (3, names.len()) } else { (8 * number.min(1), 16) };
            file.extend_from_slice(&[name, kind].map(u32::to_le_bytes).concat());
            file.extend_from_slice(
                &[flags, address, 64 + 5 * 64, size as u64].map(u64::to_le_bytes).concat(),
            );
            file.resize(64 * (number as usize + 2), 0);
        }
        file.extend_from_slice(names);
        ElfImage::parse(FileBytes::new(file)).unwrap()
    }

    #[test]
    fn only_code_of_compilers_may_be_in_other_units() {
        let image = image();
        assert_eq!(image.sections()[2].name(), b".plt");
        for (address, expected) in [
            (0xfff, false),
            (0x1000, true),
            (0x100f, true),
            (0x1010, false),
            (0x1020, false),
            (0x1030, false),
        ] {
            assert_eq!(may_have(&image, address), expected, "{address:#x}");
        }
    }
}
