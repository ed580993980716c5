//! ELF files without the sections that neither names nor stacks need.

use std::borrow::Cow;
use std::ops::Range;

use perf_symbol::{ElfImage, FileBytes};

/// What an archive has of ELF files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileDetail {
    /// All bytes.
    #[default]
    Whole,
    /// Symbols, unwind tables and code: see the [layout](super). No inlined functions and lines.
    Slim,
}

/// The type of sections without bytes in the file.
const SHT_NOBITS: u32 = 8;

/// Returns the file in this detail.
pub(super) fn of(bytes: &FileBytes, detail: FileDetail) -> Cow<'_, [u8]> {
    let image = ElfImage::parse(bytes.clone()).ok().filter(|_| detail == FileDetail::Slim);
    let Some(image) = image else { return Cow::Borrowed(bytes) };
    // The tables of Go's linker refer to its data.
    let has_data = image.section(".gopclntab").is_some() || image.section(".data.rel.ro.gopclntab").is_some();
    let is_needless = |name: &[u8]| match name {
        b".debug_frame" => false,
        b".rodata" | b".data" | b".tdata" => !has_data,
        _ => {
            name.starts_with(b".debug_")
                || name.starts_with(b".zdebug_")
                || name.starts_with(b".rodata.") && !has_data
        }
    };
    let mut slim = bytes.to_vec();
    for (number, section) in image.sections().iter().enumerate() {
        if !is_needless(section.name()) || !section.has_bytes() {
            continue;
        }
        let Some(kind) = kind_of_section(&image, number) else { continue };
        let content = usize::try_from(section.offset).ok().zip(usize::try_from(section.size).ok());
        let content = content.and_then(|(start, size)| Some(start..start.checked_add(size)?));
        // A damaged file stays as it is.
        let Some(content) = content.filter(|it| it.end <= slim.len() && !overlap(it, &kind)) else {
            continue;
        };
        let nobits =
            if image.is_little_endian() { SHT_NOBITS.to_le_bytes() } else { SHT_NOBITS.to_be_bytes() };
        if let Some(kind) = slim.get_mut(kind) {
            kind.copy_from_slice(&nobits);
        }
        if let Some(content) = slim.get_mut(content) {
            content.fill(0);
        }
    }
    Cow::Owned(slim)
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Returns the place of `sh_type` in the header of a section.
fn kind_of_section(image: &ElfImage, number: usize) -> Option<Range<usize>> {
    let bytes = image.bytes();
    let word = |at: usize, size: usize| {
        let bytes = bytes.get(at..at.checked_add(size)?)?.iter();
        let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let value = if image.is_little_endian() { bytes.rev().fold(0, push) } else { bytes.fold(0, push) };
        usize::try_from(value).ok()
    };
    let (table, size) =
        if image.is_64() { (word(40, 8)?, word(58, 2)?) } else { (word(32, 4)?, word(46, 2)?) };
    let kind = table.checked_add(size.checked_mul(number)?)?.checked_add(4)?;
    let kind = kind..kind.checked_add(4)?;
    (kind.end <= bytes.len()).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns this test itself, which has symbols and DWARF.
    fn this() -> FileBytes {
        FileBytes::new(std::fs::read(std::env::current_exe().unwrap()).unwrap())
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn symbols_and_unwind_tables_stay() {
        let whole = this();
        assert_eq!(of(&whole, FileDetail::Whole), &whole[..]);
        let slim = FileBytes::new(of(&whole, FileDetail::Slim).into_owned());
        assert_eq!(slim.len(), whole.len());
        let [whole, slim] = [whole, slim].map(|bytes| ElfImage::parse(bytes).unwrap());
        assert_eq!(slim.build_id(), whole.build_id());
        for name in [".symtab", ".strtab", ".dynsym", ".eh_frame", ".text"] {
            let [before, after] =
                [&whole, &slim].map(|image| image.section(name).map(|it| image.raw_data(it).to_vec()));
            assert_eq!(after, before, "{name}");
            assert!(after.is_some_and(|bytes| !bytes.is_empty()), "{name}");
        }
        for name in [".debug_info", ".debug_line", ".rodata", ".data"] {
            assert!(whole.section(name).is_some_and(|it| it.has_bytes()), "{name}");
            let section = slim.section(name).unwrap();
            assert!(!section.has_bytes(), "{name}");
            let (start, size) = (section.offset as usize, section.size as usize);
            assert!(slim.bytes()[start..start + size].iter().all(|&byte| byte == 0), "{name}");
        }
    }

    /// Section headers that lie in a section that is left out, and are cut.
    #[test]
    #[cfg(target_os = "linux")]
    fn damaged_files_are_not_damaged_further() {
        let whole = this();
        let headers = u64::from_le_bytes(*whole[40..].first_chunk().unwrap()) as usize;
        for change in
            [&mut |bytes: &mut Vec<u8>| bytes.truncate(headers + 100) as _, &mut |bytes: &mut Vec<u8>| {
                bytes[58] = 0;
            }] as [&mut dyn FnMut(&mut Vec<u8>); 2]
        {
            let mut bytes = whole.to_vec();
            change(&mut bytes);
            let bytes = FileBytes::new(bytes);
            assert_eq!(of(&bytes, FileDetail::Slim), &bytes[..]);
        }
        let other = FileBytes::new(*b"1000 10 function\n");
        assert_eq!(of(&other, FileDetail::Slim), &other[..]);
    }
}
