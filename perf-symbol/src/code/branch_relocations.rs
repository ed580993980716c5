//! The names that a linker is to put into the instructions of a relocatable file.

use std::ops::Range;
use std::sync::Arc;

use object::elf;

use crate::bounds::ReadBounds;
use crate::elf_symbol::{ElfSymbol, strings_of};
use crate::image::ElfImage;

/// Number of bytes of a relocation with an addend, in a file of 64 bits.
const ENTRY: usize = 24;

/// Returns the names of the relocations of a range of `.text`, in the order of their addresses. Relocations to sections have no
/// names, and are left out.
pub(super) fn read(image: &ElfImage, range: Range<u64>, limits: ReadBounds<'_>) -> Vec<(u64, Arc<[u8]>)> {
    find(image, range, limits).unwrap_or_default()
}

fn find(image: &ElfImage, range: Range<u64>, limits: ReadBounds<'_>) -> Option<Vec<(u64, Arc<[u8]>)>> {
    let text = image.sections().iter().position(|section| section.name() == b".text")?;
    let relocations = image.sections().iter().find(|section| {
        section.kind == elf::SHT_RELA.0 && usize::try_from(section.info) == Ok(text) && image.is_64()
    })?;
    let symtab = image.sections().get(usize::try_from(relocations.link).ok()?)?;
    let symbols = image.data_within(symtab, limits.decompressed, limits.cancellation).ok()?;
    let strings = strings_of(image, symtab, limits)?;
    let entries = image.data_within(relocations, limits.decompressed, limits.cancellation).ok()?;
    let mut names = Vec::new();
    for at in (0..entries.len() as u64).step_by(ENTRY) {
        let Some(offset) = image.number(&entries, at, 8) else { break };
        if !range.contains(&offset) {
            continue;
        }
        let info = image.number(&entries, at.saturating_add(8), 8)?;
        let Some(symbol) = ElfSymbol::get(image, &symbols, info >> 32) else { continue };
        let name = symbol.name(&strings).split(|&byte| byte == 0).next().unwrap_or_default();
        if !name.is_empty() && name.len() <= limits.name {
            names.push((offset, name.into()));
        }
    }
    names.sort();
    Some(names)
}
