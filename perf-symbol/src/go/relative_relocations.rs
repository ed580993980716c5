//! Relocations that put an address of the file itself into its data, as position-independent programs have them.

use core::ops::Range;

use object::elf;

use crate::bytes::FileBytes;
use crate::image::ElfImage;

/// The relative relocations of a file whose values are in the relocations: those of type `RELA`. Other types have them in the
/// data.
#[derive(Debug)]
pub(super) struct RelativeRelocations {
    tables: Vec<FileBytes>,
    is_64: bool,
    is_little_endian: bool,
    kind: u64,
}

/// A relocation: the address of the data, and the address that it becomes.
type RelativeRelocation = (u64, u64);

impl RelativeRelocations {
    /// Returns those of a file. None for machines whose relocations are not known.
    pub(super) fn of(image: &ElfImage) -> Self {
        let kind = kind(image.machine());
        let is_table = |kind: u32, flags: u64| kind == elf::SHT_RELA.0 && flags & elf::SHF_ALLOC.0 != 0;
        let tables = image.sections().iter().filter(|it| kind.is_some() && is_table(it.kind, it.flags));
        Self {
            tables: tables.map(|table| image.raw_data(table)).collect(),
            is_64: image.is_64(),
            is_little_endian: image.is_little_endian(),
            kind: kind.unwrap_or_default(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = RelativeRelocation> {
        let word = if self.is_64 { 8 } else { 4 };
        let entries =
            self.tables.iter().flat_map(move |table| table.chunks_exact(3_usize.saturating_mul(word)));
        entries.filter_map(move |entry| {
            let mut words = entry.chunks_exact(word).map(|word| {
                let fold = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
                if self.is_little_endian {
                    word.iter().rev().fold(0, fold)
                } else {
                    word.iter().fold(0, fold)
                }
            });
            let (place, info, value) = (words.next()?, words.next()?, words.next()?);
            let kind = if self.is_64 { info & 0xffff_ffff } else { info & 0xff };
            (kind == self.kind).then_some((place, value))
        })
    }

    /// Returns the addresses of the data that become `value`. Takes time in proportion to the number of relocations.
    pub(super) fn of_value(&self, value: u64) -> impl Iterator<Item = u64> {
        self.iter().filter(move |it| it.1 == value).map(|it| it.0)
    }

    /// Returns the bytes at an address with the relocations applied: the same ones if there are none. Takes time in proportion
    /// to the number of relocations.
    pub(super) fn apply(&self, address: u64, bytes: FileBytes) -> FileBytes {
        let size = if self.is_64 { 8 } else { 4 };
        let range = |place: u64| -> Option<Range<usize>> {
            let start = usize::try_from(place.checked_sub(address)?).ok()?;
            let end = start.checked_add(size)?;
            (end <= bytes.len()).then_some(start..end)
        };
        let mut changed: Option<Vec<u8>> = None;
        for (place, value) in self.iter() {
            let Some(range) = range(place) else { continue };
            let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
            let value = if self.is_little_endian {
                little.get(..size)
            } else {
                big.last_chunk::<8>().and_then(|big| big.get(8_usize.saturating_sub(size)..))
            };
            let out = changed.get_or_insert_with(|| bytes.to_vec()).get_mut(range);
            if let (Some(out), Some(value)) = (out, value) {
                out.copy_from_slice(value);
            }
        }
        changed.map_or(bytes, FileBytes::new)
    }
}

/// Returns the type of relative relocations of a machine.
fn kind(machine: u16) -> Option<u64> {
    const KINDS: [(elf::Machine, u64); 6] = [
        (elf::EM_X86_64, 8),
        (elf::EM_AARCH64, 1027),
        (elf::EM_PPC64, 22),
        (elf::EM_S390, 12),
        (elf::EM_RISCV, 3),
        (elf::EM_LOONGARCH, 3),
    ];
    KINDS.iter().find(|(it, _)| it.0 == machine).map(|(_, kind)| *kind)
}
