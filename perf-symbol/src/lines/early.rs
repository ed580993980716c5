//! Units that are found without the roots of all units: by `.debug_aranges`.
//!
//! It is small, and has the addresses and offsets of units. A capture needs few of them, so that most of `.debug_info` is neither
//! read nor, if it is compressed, decompressed.
//!
//! What it lists is believed only as far as the units themselves agree. A unit is used if its offset is one that a walk over
//! all units reaches, if its root has all addresses that are listed for it, if no other listed unit has the address, and if the
//! unit can be parsed alone. For all other addresses all units are read: those of units that are not listed, or that are listed
//! with wrong or overlapping addresses or offsets. So an address has the unit that it has by the roots of all. There is one
//! exception: if the roots of two units have the address, and one of the two is not listed, the other one is used.
//!
//! Which way an address takes does not depend on other addresses, so that its functions do not either.

use std::ops::Range;

use gimli::{Dwarf, DwarfSections, SectionId};
use object::elf;

use super::compressed::CompressedUnits;
use super::sections::{Sections, section};
use crate::budget::Metered;
use crate::bytes::FileBytes;
use crate::image::{ElfImage, ElfSection};
use crate::no_symbols::NoSymbols;
use crate::units::{self, UnitIndex, UnitSpan, UnitStarts, UnitsAt};

/// Number of ranges of addresses that are read of `.debug_aranges`: those of a few million functions in sections of their own.
const RANGES: usize = 1 << 22;

/// The units of a file that `.debug_aranges` lists.
pub(super) struct ListedUnits {
    index: UnitIndex,
    starts: UnitStarts,
    /// What is decompressed of them; `None` if `.debug_info` is not compressed.
    compressed: Option<CompressedUnits>,
}

impl ListedUnits {
    /// Reads `.debug_aranges`. `None` if there is none, if it is damaged or too large, if `.debug_info` is compressed otherwise than
    /// by zlib, and for files whose units are in other files too or are relocated.
    pub(super) fn load(sections: &Sections) -> Option<Self> {
        let image = &*sections.image;
        if sections.shared.is_some() || sections.package.is_some() || image.is_relocatable() {
            return None;
        }
        let info = image.section(SectionId::DebugInfo.name())?;
        let is_compressed = info.flags & elf::SHF_COMPRESSED.0 != 0;
        if is_compressed && !CompressedUnits::have_room(sections, info) {
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
        let dwarf = DwarfSections::load(alone).ok()?;
        let index = UnitIndex::of(&dwarf.borrow(|bytes| sections.reader(bytes)), RANGES).ok()??;
        if index.len() == 0 {
            return None;
        }
        let compressed = match is_compressed {
            true => Some(CompressedUnits::new(sections, info, index.len())?),
            false => None,
        };
        Some(Self { index, starts: UnitStarts::default(), compressed })
    }

    /// Returns the number of listed units.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns the listed units that have an address.
    pub(super) fn containing(&self, address: u64) -> UnitsAt {
        self.index.containing(address)
    }

    /// Calls `each` for each part of `range` that has the same listed units; see [`UnitIndex::spans`].
    pub(super) fn spans(
        &self,
        range: Range<u64>,
        steps: &mut dyn FnMut(usize) -> bool,
        each: &mut dyn FnMut(UnitSpan<'_>),
    ) {
        self.index.spans(range, steps, each);
    }

    /// Makes a unit all that a file has. `None` if it cannot be parsed without other units, if no unit starts where it is listed,
    /// if its root does not have the addresses that are listed, or if it is damaged.
    pub(super) fn unit<'a>(&'a self, sections: &'a Sections, number: usize) -> Option<Dwarf<Metered<'a>>> {
        let dwarf = match &self.compressed {
            Some(compressed) => compressed.unit(sections, (&self.index, &self.starts), number),
            None => self.part(sections.dwarf()?, number),
        }?;
        self.index.is_alone(number, &dwarf).ok()?.then_some(dwarf)
    }

    /// Makes a unit of `.debug_info` all that `dwarf` has.
    fn part<'a>(&self, dwarf: Dwarf<Metered<'a>>, number: usize) -> Option<Dwarf<Metered<'a>>> {
        let size_at = |offset| units::size_at(&dwarf, offset);
        if !self.starts.has(&self.index, number, size_at) {
            return None;
        }
        let offset = self.index.offset(number)?;
        let size = size_at(offset)?;
        units::with_unit(dwarf, offset, size)
    }
}

/// Returns whether a unit that is not listed may have an address: it is one of code that the linker has not made.
pub(super) fn may_have(image: &ElfImage, address: u64) -> bool {
    let has = |section: &ElfSection| {
        address.checked_sub(section.address).is_some_and(|offset| offset < section.size)
    };
    code(image).any(has)
}

/// Returns the parts of `range` that [`may_have`] is true for, in order and without overlaps.
pub(super) fn code_within(image: &ElfImage, range: &Range<u64>) -> Vec<Range<u64>> {
    let within = |section: &ElfSection| {
        let end = section.address.saturating_add(section.size);
        section.address.max(range.start)..end.min(range.end)
    };
    let mut parts: Vec<_> = code(image).map(within).filter(|part| !part.is_empty()).collect();
    parts.sort_unstable_by_key(|part| part.start);
    parts.dedup_by(|part, before| {
        let overlaps = part.start <= before.end;
        if overlaps {
            before.end = before.end.max(part.end);
        }
        overlaps
    });
    parts
}

/// Returns whether one of `parts`, which are in order and without overlaps, has an address of `range`.
pub(super) fn overlaps(parts: &[Range<u64>], range: &Range<u64>) -> bool {
    let first = parts.partition_point(|part| part.end <= range.start);
    parts.get(first).is_some_and(|part| part.start < range.end)
}

/// Returns the sections of code that compilers may have made.
fn code(image: &ElfImage) -> impl Iterator<Item = &ElfSection> {
    let is_of_linker = |it: &ElfSection| it.name().starts_with(b".plt") || it.name() == b".iplt";
    image.sections().iter().filter(move |it| it.flags & elf::SHF_EXECINSTR.0 != 0 && !is_of_linker(it))
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
            let range = address..address + 1;
            assert_eq!(!code_within(&image, &range).is_empty(), expected, "{address:#x}");
        }
        let code = code_within(&image, &(0..u64::MAX));
        assert_eq!((code.len(), &code[0]), (1, &(0x1000..0x1010)));
        for (range, expected) in
            [(0xff0..0x1000, false), (0xff0..0x1001, true), (0x100f..0x1010, true), (0x1010..0x1020, false)]
        {
            assert_eq!(overlaps(&code, &range), expected, "{range:?}");
        }
    }
}
