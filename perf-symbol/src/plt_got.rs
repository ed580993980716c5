//! The entries of `.plt.got`, which call through slots of the GOT that are filled when the file is loaded.

use std::collections::HashMap;

use crate::elf_symbol::EM_X86_64;
use crate::image::ElfImage;

/// The address and size of an entry, and the slot that it jumps through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PltGotEntry {
    pub(crate) start: u64,
    pub(crate) size: u64,
    slot: u64,
}

/// With control-flow protection, an entry starts with this instruction, and has 16 bytes. Otherwise it has 8.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// Returns at most `limit` entries of an x86-64 file.
///
/// perf 6.3 and newer: `dso__synthesize_plt_got_symbols`, `tools/perf/util/symbol-elf.c`.
pub(crate) fn entries(image: &ElfImage, limit: usize) -> Vec<PltGotEntry> {
    let Some(section) = image.section(".plt.got").filter(|_| image.machine() == EM_X86_64) else {
        return Vec::new();
    };
    let code = image.raw_data(section);
    let size: u8 = if code.starts_with(&ENDBR64) { 16 } else { 8 };
    let starts = (section.address..).step_by(size.into());
    let entries = starts.zip(code.chunks_exact(size.into())).take(limit);
    entries
        .filter_map(|(start, code)| Some(PltGotEntry { start, size: size.into(), slot: slot(code, start)? }))
        .collect()
}

/// Returns the address that `jmp *SLOT(%rip)` reads.
fn slot(entry: &[u8], address: u64) -> Option<u64> {
    const BND: u8 = 0xf2;
    let code = entry.strip_prefix(&ENDBR64).unwrap_or(entry);
    let code = code.strip_prefix(&[BND]).unwrap_or(code);
    let (distance, after) = code.strip_prefix(&[0xff, 0x25])?.split_first_chunk()?;
    let size = entry.len().checked_sub(after.len())?;
    Some(address.wrapping_add(size as u64).wrapping_add_signed(i32::from_le_bytes(*distance).into()))
}

/// Returns the number of the symbol that the relocations of `.rela.dyn` fill each slot with. The first one counts.
pub(crate) fn symbols(image: &ElfImage, entries: &[PltGotEntry], dynsym: usize) -> HashMap<u64, u64> {
    const SIZE: usize = 24;
    let relocations = image
        .section(".rela.dyn")
        .filter(|section| image.is_64() && usize::try_from(section.link).is_ok_and(|link| link == dynsym));
    let Some(relocations) = relocations.filter(|_| !entries.is_empty()) else { return HashMap::new() };
    let data = image.raw_data(relocations);
    let mut wanted: HashMap<u64, u64> = entries.iter().map(|entry| (entry.slot, 0)).collect();
    for at in (0..data.len() as u64).step_by(SIZE) {
        let (Some(slot), Some(info)) =
            (image.number(&data, at, 8), image.number(&data, at.saturating_add(8), 8))
        else {
            break;
        };
        if let Some(symbol) = wanted.get_mut(&slot).filter(|symbol| **symbol == 0) {
            *symbol = info >> 32;
        }
    }
    wanted.retain(|_, symbol| *symbol != 0);
    wanted
}

impl PltGotEntry {
    /// Returns the symbol of this entry's slot.
    pub(crate) fn symbol(&self, symbols: &HashMap<u64, u64>) -> Option<u64> {
        symbols.get(&self.slot).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As binutils 2.40 and older ones make them.
    #[test]
    fn slots() {
        assert_eq!(slot(&[0xff, 0x25, 0x82, 0x2f, 0, 0, 0x66, 0x90], 0x1060), Some(0x3fe8));
        assert_eq!(slot(&[0xff, 0x25, 0xfa, 0xff, 0xff, 0xff, 0x66, 0x90], 0x1060), Some(0x1060));
        assert_eq!(slot(&[0xf2, 0xff, 0x25, 0x81, 0x2f, 0, 0, 0x90], 0x1060), Some(0x3fe8));
        let ibt = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x7e, 0x2f, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0, 0];
        assert_eq!(slot(&ibt, 0x1060), Some(0x3fe8));
        assert_eq!(slot(&[0xff, 0x35, 0x82, 0x2f, 0, 0, 0x66, 0x90], 0x1060), None);
        assert_eq!(slot(&[0xff, 0x25, 0x82], 0x1060), None);
    }
}
