//! Relocation of the DWARF of relocatable files, such as modules of the kernel.

use object::elf;

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::elf_symbol::{EM_AARCH64, EM_X86_64};
use crate::elf_symbols::section_of;
use crate::image::ElfImage;
use crate::no_symbols::NoSymbols;
use crate::relocations::{DAMAGED, Relocation, Relocations};

/// Returns the contents of a section with its relocations applied, or as they are if it has none. `.text` has the address
/// 0, as in the mapping of a module, and the other sections follow it.
///
/// Takes time in proportion to the number of relocations and sections, and copies a section that has relocations.
///
/// # Errors
///
/// [`NoSymbols::Malformed`] for a relocation that is not known, or is not within the section. Those of x86-64 and of AArch64 are
/// known that compilers use in DWARF.
///
/// perf leaves this to libdw: `__libdwfl_relocate`.
pub(crate) fn section(
    image: &ElfImage,
    index: usize,
    data: FileBytes,
    limit: u64,
    cancellation: &Cancellation,
) -> Result<FileBytes, NoSymbols> {
    let Some(relocations) = Relocations::of(image, index, limit, cancellation)? else { return Ok(data) };
    let extended = image.sections().iter().find(|section| section.kind == elf::SHT_SYMTAB_SHNDX.0);
    let extended = extended.map(|section| image.raw_data(section)).unwrap_or_default();
    let bases = bases(image);
    let mut out = data.to_vec();
    for (number, relocation) in relocations.iter().enumerate() {
        if cancellation.is_cancelled_at(number) {
            return Err(NoSymbols::Cancelled);
        }
        let relocation = relocation.ok_or(DAMAGED)?;
        let Relocation { offset, addend, .. } = relocation;
        let Some(size) = size_of(image.machine(), relocation.kind).ok_or(DAMAGED)? else { continue };
        let symbol = relocations.symbol(&relocation).ok_or(DAMAGED)?;
        let base =
            section_of(image, &symbol, relocation.symbol, &extended).and_then(|index| bases.get(index));
        let value = base.unwrap_or(&0).wrapping_add(symbol.value).wrapping_add(addend);
        let start = usize::try_from(offset).map_err(|_| DAMAGED)?;
        let place = start.checked_add(size).and_then(|end| out.get_mut(start..end)).ok_or(DAMAGED)?;
        let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
        let bytes = if image.is_little_endian() {
            little.get(..size)
        } else {
            big.get(8_usize.saturating_sub(size)..)
        };
        place.copy_from_slice(bytes.ok_or(DAMAGED)?);
    }
    Ok(FileBytes::new(out))
}

/// Returns the number of bytes that a relocation sets to the address of its symbol; `Some(None)` for one that does nothing,
/// `None` for one that is not known.
fn size_of(machine: u16, kind: u64) -> Option<Option<usize>> {
    Some(match (machine, kind) {
        // R_X86_64_NONE, R_AARCH64_NONE.
        (EM_X86_64 | EM_AARCH64, 0) | (EM_AARCH64, 256) => None,
        // R_X86_64_64, R_AARCH64_ABS64.
        (EM_X86_64, 1) | (EM_AARCH64, 257) => Some(8),
        // R_X86_64_32, R_X86_64_32S, R_AARCH64_ABS32.
        (EM_X86_64, 10 | 11) | (EM_AARCH64, 258) => Some(4),
        _ => return None,
    })
}

/// Returns an address for each section that is loaded, so that no two overlap: 0 for `.text`, then those of the others. 0 for
/// all that are not loaded.
fn bases(image: &ElfImage) -> Vec<u64> {
    const ALIGNMENT: u64 = 4096;
    let mut next = image.section(".text").map_or(0, |text| text.size);
    let mut bases = Vec::with_capacity(image.sections().len());
    for section in image.sections() {
        if section.flags & elf::SHF_ALLOC.0 == 0 || section.name() == b".text" {
            bases.push(0);
            continue;
        }
        next = next.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        bases.push(next);
        next = next.saturating_add(section.size);
    }
    bases
}
