//! The names that a linker is to put into the instructions of a relocatable file.

use std::ops::Range;
use std::sync::Arc;

use crate::bounds::ReadBounds;
use crate::elf_symbol::strings_of;
use crate::image::ElfImage;
use crate::relocations::Relocations;

/// Returns the names of the relocations of a range of `.text`, in the order of their addresses. Relocations to sections have no
/// names, and are left out.
pub(super) fn read(image: &ElfImage, range: Range<u64>, limits: ReadBounds<'_>) -> Vec<(u64, Arc<[u8]>)> {
    find(image, range, limits).unwrap_or_default()
}

fn find(image: &ElfImage, range: Range<u64>, limits: ReadBounds<'_>) -> Option<Vec<(u64, Arc<[u8]>)>> {
    let text = image.sections().iter().position(|section| section.name() == b".text")?;
    let relocations = Relocations::of(image, text, limits.decompressed, limits.cancellation).ok()??;
    let strings = strings_of(image, relocations.symtab, limits)?;
    let mut names = Vec::new();
    for relocation in relocations.iter().flatten().filter(|it| range.contains(&it.offset)) {
        let Some(symbol) = relocations.symbol(&relocation) else { continue };
        let name = symbol.name(&strings).split(|&byte| byte == 0).next().unwrap_or_default();
        if !name.is_empty() && name.len() <= limits.name {
            names.push((relocation.offset, name.into()));
        }
    }
    names.sort();
    Some(names)
}
