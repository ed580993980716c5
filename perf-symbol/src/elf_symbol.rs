//! An entry of a symbol table of an ELF file.

use object::elf;

use crate::bytes::Bytes;
use crate::image::{Image, Section};
use crate::limits::Limits;
use crate::symtab::Binding;

pub(crate) const EM_ARM: u16 = 40;
pub(crate) const EM_X86_64: u16 = 62;
pub(crate) const EM_AARCH64: u16 = 183;

/// Returns the names of a symbol table.
pub(crate) fn strings_of(image: &Image, section: &Section, limits: &Limits) -> Option<Bytes> {
    let strings = image.sections().get(usize::try_from(section.link).ok()?)?;
    image.data(strings, limits.decompressed).ok()
}

/// Returns the first section of a type that has bytes.
pub(crate) fn table(image: &Image, kind: elf::SectionType) -> Option<(usize, &Section)> {
    image.sections().iter().enumerate().find(|(_, section)| section.kind == kind.0)
}

/// Fields of an entry of a symbol table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElfSymbol {
    pub(crate) name: u32,
    info: u8,
    pub(crate) other: u8,
    pub(crate) section: u16,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

impl ElfSymbol {
    /// Returns the symbol of a number in the table `data`.
    pub(crate) fn get(image: &Image, data: &[u8], index: u64) -> Option<Self> {
        let entry = if image.is_64() { 24 } else { 16 };
        let at = index.checked_mul(entry)?;
        let field = |offset: u64, size| image.number(data, at.checked_add(offset)?, size);
        let byte = |offset| u8::try_from(field(offset, 1)?).ok();
        let name = u32::try_from(field(0, 4)?).ok()?;
        Some(if image.is_64() {
            let section = u16::try_from(field(6, 2)?).ok()?;
            Self { name, info: byte(4)?, other: byte(5)?, section, value: field(8, 8)?, size: field(16, 8)? }
        } else {
            let section = u16::try_from(field(14, 2)?).ok()?;
            Self { name, info: byte(12)?, other: byte(13)?, section, value: field(4, 4)?, size: field(8, 4)? }
        })
    }

    pub(crate) fn kind(&self) -> u8 {
        self.info & 15
    }

    pub(crate) fn binding(&self) -> Binding {
        match self.info >> 4 {
            1 => Binding::Global,
            2 => Binding::Weak,
            _ => Binding::Local,
        }
    }
}
