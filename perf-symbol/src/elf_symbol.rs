//! An entry of a symbol table of an ELF file.

use object::elf;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::image::{ElfImage, ElfSection};
use crate::symtab::Binding;

pub(crate) const EM_386: u16 = 3;
pub(crate) const EM_ARM: u16 = 40;
pub(crate) const EM_X86_64: u16 = 62;
pub(crate) const EM_AARCH64: u16 = 183;

/// Returns the names of a symbol table.
pub(crate) fn strings_of(
    image: &ElfImage,
    section: &ElfSection,
    limits: ReadBounds<'_>,
) -> Option<FileBytes> {
    let strings = image.sections().get(usize::try_from(section.link).ok()?)?;
    image.data_within(strings, limits.decompressed, limits.cancellation).ok()
}

/// Returns the first section of a type that has bytes.
pub(crate) fn table(image: &ElfImage, kind: elf::SectionType) -> Option<(usize, &ElfSection)> {
    image.sections().iter().enumerate().find(|(_, section)| section.kind == kind.0)
}

/// The number of bytes of an entry, in files of 64 bits and of 32.
const SIZE_64: usize = 24;
const SIZE_32: usize = 16;

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
    /// Returns the number of entries of a symbol table, as far as the file has room for them.
    pub(crate) fn count(image: &ElfImage, kind: elf::SectionType) -> usize {
        let size = if image.is_64() { SIZE_64 } else { SIZE_32 };
        let bytes = table(image, kind).and_then(|(_, section)| usize::try_from(section.size).ok());
        bytes.unwrap_or(0).min(image.bytes().len()).checked_div(size).unwrap_or(0)
    }

    /// Returns the symbol of a number in the table `data`.
    pub(crate) fn get(image: &ElfImage, data: &[u8], index: u64) -> Option<Self> {
        // All symbols of a file are read: so each is read as a whole.
        if image.is_64() {
            let entry: &[u8; SIZE_64] = entry(data, index)?;
            let (name, rest) = entry.split_first_chunk()?;
            let ([info, other], rest) = rest.split_first_chunk()?;
            let (section, rest) = rest.split_first_chunk()?;
            let (value, rest) = rest.split_first_chunk()?;
            return Some(Self {
                name: image.u32(*name),
                info: *info,
                other: *other,
                section: image.u16(*section),
                value: image.u64(*value),
                size: image.u64(*rest.first_chunk()?),
            });
        }
        let entry: &[u8; SIZE_32] = entry(data, index)?;
        let (name, rest) = entry.split_first_chunk()?;
        let (value, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let ([info, other], rest) = rest.split_first_chunk()?;
        Some(Self {
            name: image.u32(*name),
            info: *info,
            other: *other,
            section: image.u16(*rest.first_chunk()?),
            value: image.u32(*value).into(),
            size: image.u32(*size).into(),
        })
    }

    /// Returns where the name starts in the strings of the table. A zero byte ends it.
    pub(crate) fn name<'a>(&self, strings: &'a [u8]) -> &'a [u8] {
        usize::try_from(self.name).ok().and_then(|at| strings.get(at..)).unwrap_or_default()
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

/// Returns the entry of a number in a table of entries of this size.
fn entry<const SIZE: usize>(data: &[u8], index: u64) -> Option<&[u8; SIZE]> {
    let start = usize::try_from(index).ok()?.checked_mul(SIZE)?;
    data.get(start..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file without sections, of 64 bits or of 32, and of either byte order.
    fn image(is_64: bool, is_little_endian: bool) -> ElfImage {
        let mut file = vec![0; 64];
        file[..4].copy_from_slice(b"\x7fELF");
        (file[4], file[5], file[6]) = (if is_64 { 2 } else { 1 }, if is_little_endian { 1 } else { 2 }, 1);
        ElfImage::parse(FileBytes::new(file)).unwrap()
    }

    #[test]
    fn each_form_of_an_entry() {
        let number = |bytes: usize, value: u64, is_little_endian: bool| match is_little_endian {
            true => value.to_le_bytes()[..bytes].to_vec(),
            false => value.to_be_bytes()[8 - bytes..].to_vec(),
        };
        for (is_64, is_little_endian) in [(true, true), (true, false), (false, true), (false, false)] {
            let it = |bytes, value| number(bytes, value, is_little_endian);
            let (name, section) = (it(4, 0x0102_0304), it(2, 0x0506));
            let entry = if is_64 {
                [name, vec![0x12, 3], section, it(8, 0x0708_090a_0b0c_0d0e), it(8, 0x10)].concat()
            } else {
                [name, it(4, 0x0b0c_0d0e), it(4, 0x10), vec![0x12, 3], section].concat()
            };
            let table = [vec![0xff; entry.len()], entry].concat();
            let image = image(is_64, is_little_endian);
            let symbol = ElfSymbol::get(&image, &table, 1).unwrap();
            assert_eq!((symbol.name, symbol.other, symbol.section), (0x0102_0304, 3, 0x0506));
            let value = if is_64 { 0x0708_090a_0b0c_0d0e } else { 0x0b0c_0d0e };
            assert_eq!((symbol.value, symbol.size), (value, 0x10));
            assert_eq!((symbol.kind(), symbol.binding()), (2, Binding::Global));
            assert!(ElfSymbol::get(&image, &table[..table.len() - 1], 1).is_none());
            assert!(ElfSymbol::get(&image, &table, 2).is_none());
            assert!(ElfSymbol::get(&image, &table, u64::MAX).is_none());
        }
    }
}
