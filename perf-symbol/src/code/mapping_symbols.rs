//! Mapping symbols of Arm, which tell code from data and A32 from T32.
//!
//! ABI: "ELF for the Arm Architecture", "Mapping symbols".

use std::ops::Range;

use object::elf;

use crate::bounds::ReadBounds;
use crate::elf_symbol::{EM_AARCH64, EM_ARM, ElfSymbol, strings_of, table};
use crate::image::ElfImage;

/// Returns whether the code at the start of a range is T32, and the data in the range. Reads the symbols of the file; without
/// mapping symbols, the lowest bit of the function's symbol tells T32.
pub(super) fn read(image: &ElfImage, range: Range<u64>, limits: ReadBounds<'_>) -> (bool, Vec<Range<u64>>) {
    if !matches!(image.machine(), EM_ARM | EM_AARCH64) {
        return (false, Vec::new());
    }
    let (mut marks, mut is_thumb_function) = (Vec::new(), false);
    for kind in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
        let Some((_, section)) = table(image, kind) else { continue };
        let Ok(data) = image.data_within(section, limits.decompressed, limits.cancellation) else { continue };
        let Some(strings) = strings_of(image, section, limits) else { continue };
        for index in 0..limits.symbols as u64 {
            let Some(symbol) = ElfSymbol::get(image, &data, index) else { break };
            if symbol.kind() == elf::STT_FUNC.0 {
                is_thumb_function |= image.machine() == EM_ARM && symbol.value == range.start | 1;
            } else if let [b'$', kind @ (b'a' | b'd' | b't' | b'x'), 0 | b'.', ..] = symbol.name(&strings)
                && symbol.value < range.end
            {
                marks.push((symbol.value, *kind));
            }
        }
    }
    marks.sort_unstable();
    let before = marks.iter().rev().find(|(address, _)| *address <= range.start);
    let is_thumb = before.map_or(is_thumb_function, |(_, kind)| *kind == b't');
    let (mut data, mut start) = (Vec::new(), None);
    for &(address, kind) in &marks {
        match (kind == b'd', start) {
            (true, None) => start = Some(address),
            (false, Some(from)) => {
                if address > range.start {
                    data.push(range.start.max(from)..address);
                }
                start = None;
            }
            _ => {}
        }
    }
    data.extend(start.map(|from| range.start.max(from)..range.end));
    (is_thumb, data)
}
