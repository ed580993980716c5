//! The relocations of a section of a relocatable file.

use object::elf;

use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::elf_symbol::ElfSymbol;
use crate::image::{ElfImage, ElfSection};
use crate::no_symbols::NoSymbols;

pub(crate) const DAMAGED: NoSymbols = NoSymbols::Malformed("relocations");

/// Number of bytes of a relocation with an addend, in a file of 64 bits.
const ENTRY: u64 = 24;

/// The relocations of a section, with addends, of a file of 64 bits.
#[derive(Debug)]
pub(crate) struct Relocations<'a> {
    image: &'a ElfImage,
    entries: FileBytes,
    /// The table of the symbols that they refer to.
    pub(crate) symtab: &'a ElfSection,
    symbols: FileBytes,
}

/// A change of bytes of a section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Relocation {
    /// The place in the section.
    pub(crate) offset: u64,
    /// What is done there, by the machine.
    pub(crate) kind: u64,
    /// The number of the symbol.
    pub(crate) symbol: u64,
    pub(crate) addend: u64,
}

impl<'a> Relocations<'a> {
    /// Reads the relocations of the section of a number; `None` if it has none, or if the file is not relocatable.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Malformed`] if they have no addends or the file has 32 bits, and what is wrong with their sections.
    pub(crate) fn of(
        image: &'a ElfImage,
        section: usize,
        limit: u64,
        cancellation: &Cancellation,
    ) -> Result<Option<Self>, NoSymbols> {
        let is_of_section = |kind: u32, info: u32| {
            (kind == elf::SHT_RELA.0 || kind == elf::SHT_REL.0) && usize::try_from(info) == Ok(section)
        };
        let found = image.sections().iter().find(|section| is_of_section(section.kind, section.info));
        let Some(found) = found.filter(|_| image.is_relocatable()) else { return Ok(None) };
        if !image.is_64() || found.kind != elf::SHT_RELA.0 {
            return Err(DAMAGED);
        }
        let symtab = usize::try_from(found.link).ok().and_then(|link| image.sections().get(link));
        let symtab = symtab.ok_or(DAMAGED)?;
        let symbols = image.data_within(symtab, limit, cancellation)?;
        let entries = image.data_within(found, limit, cancellation)?;
        Ok(Some(Self { image, entries, symtab, symbols }))
    }

    /// Returns each relocation; `None` for the last one if it is cut off.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Option<Relocation>> {
        let count = (self.entries.len() as u64).div_ceil(ENTRY);
        (0..count).map(|number| {
            let at = number.saturating_mul(ENTRY);
            let field = |offset| self.image.number(&self.entries, at.saturating_add(offset), 8);
            let (offset, info, addend) = (field(0)?, field(8)?, field(16)?);
            Some(Relocation { offset, kind: info & 0xffff_ffff, symbol: info >> 32, addend })
        })
    }

    /// Returns the symbol of a relocation; `None` if the table does not have it.
    pub(crate) fn symbol(&self, of: &Relocation) -> Option<ElfSymbol> {
        ElfSymbol::get(self.image, &self.symbols, of.symbol)
    }
}
