//! Names for the entries of a PLT, which call functions of other files: `malloc@plt`.

use object::elf;

use crate::bytes::Bytes;
use crate::elf_symbol::{EM_AARCH64, EM_ARM, strings_of, table};
use crate::image::{Image, Section};
use crate::limits::Limits;
use crate::plt_got;
use crate::plt_names::PltNames;
use crate::symtab::{Binding, Builder, Candidate, Names, Source};

/// Adds a symbol for each entry of the PLT and of `.plt.got`.
///
/// perf: `dso__synthesize_plt_symbols`, `tools/perf/util/symbol-elf.c`.
pub(crate) fn add(builder: &mut Builder, image: &Image, limits: &Limits) {
    let Some((dynsym, symbols)) = table(image, elf::SHT_DYNSYM) else { return };
    let (Ok(data), Some(strings)) =
        (image.data(symbols, limits.decompressed), strings_of(image, symbols, limits))
    else {
        return;
    };
    let mut entries = Entries {
        names: PltNames::new(image, &data, &strings, limits),
        ranges: Vec::new(),
        most: limits.symbols.saturating_sub(builder.len()),
    };
    add_plt(&mut entries, image, dynsym);
    let slots = plt_got::entries(image, limits.symbols);
    let symbols = plt_got::symbols(image, &slots, dynsym);
    for slot in &slots {
        let Some(symbol) = slot.symbol(&symbols) else { continue };
        let Some(name) = entries.names.of_symbol(symbol) else { continue };
        if !entries.push(slot.start, slot.size, name) {
            break;
        }
    }
    let Entries { names, ranges, .. } = entries;
    let names = builder.add_names(Names {
        bytes: Bytes::new(names.into_bytes()),
        source: Source::Symtab,
        ends: |byte| byte == 0,
    });
    for (start, end, name) in ranges {
        builder.push(Candidate::new(start, end, name, names, Binding::Global));
    }
    builder.sort();
}

/// Entries with their names, of which there are not too many.
struct Entries<'a> {
    names: PltNames<'a>,
    /// First address, the address after the last one, and where the name starts.
    ranges: Vec<(u64, u64, u32)>,
    most: usize,
}

impl Entries<'_> {
    /// Adds an entry, unless there are too many.
    fn push(&mut self, start: u64, size: u64, name: u32) -> bool {
        if self.ranges.len() >= self.most {
            return false;
        }
        self.ranges.push((start, start.saturating_add(size), name));
        true
    }
}

/// Adds the entries of the PLT. The relocations of `.rela.plt` or `.rel.plt` have their order.
fn add_plt(entries: &mut Entries<'_>, image: &Image, dynsym: usize) {
    let Some(relocations) = image.section(".rela.plt").or_else(|| image.section(".rel.plt")) else { return };
    if usize::try_from(relocations.link).ok() != Some(dynsym) {
        return;
    }
    let entry_size = entry_size(image, relocations);
    let count = relocations.size.checked_div(entry_size).unwrap_or(0);
    let Some(plt) = Plt::of(image, count) else { return };
    let data = image.raw_data(relocations);
    for index in 0..count {
        let at = index.saturating_mul(entry_size);
        let Some(name) = name(&mut entries.names, image, relocations, &data, at) else { break };
        let start = plt.start.saturating_add(plt.entry.saturating_mul(index));
        if !entries.push(start, plt.entry, name) {
            break;
        }
    }
}

/// Returns the number of bytes of a relocation.
fn entry_size(image: &Image, relocations: &Section) -> u64 {
    match (relocations.kind == elf::SHT_RELA.0, image.is_64()) {
        (true, true) => 24,
        (true, false) => 12,
        (false, true) => 16,
        (false, false) => 8,
    }
}

/// Where the entries are.
struct Plt {
    start: u64,
    entry: u64,
}

impl Plt {
    fn of(image: &Image, count: u64) -> Option<Self> {
        // With control-flow protection on x86, calls go to a second PLT, which has no header.
        if let Some(second) = image.section(".plt.sec") {
            return Some(Self { start: second.address, entry: second.entry_size.max(1) });
        }
        const SPARC: u16 = 2;
        const SPARC_V9: u16 = 43;
        let section = image.section(".plt")?;
        let (header, entry) = match image.machine() {
            EM_ARM => (20, 12),
            // With branch protection, entries have 24 bytes.
            EM_AARCH64 if section.size == count.checked_mul(24)?.checked_add(32)? => (32, 24),
            EM_AARCH64 => (32, 16),
            SPARC => (48, 12),
            SPARC_V9 => (128, 32),
            _ => (section.entry_size, section.entry_size),
        };
        Some(Self { start: section.address.checked_add(header)?, entry })
    }
}

/// Returns where the name for the relocation at `at` starts: that of its symbol, or for one without a symbol, as ifuncs
/// have, its address.
fn name(names: &mut PltNames<'_>, image: &Image, relocations: &Section, data: &[u8], at: u64) -> Option<u32> {
    let word = if image.is_64() { 8 } else { 4 };
    let info = image.number(data, at.checked_add(word)?, usize::try_from(word).ok()?)?;
    let index = if image.is_64() { info >> 32 } else { info >> 8 };
    if index == 0 && relocations.kind == elf::SHT_RELA.0 {
        let addend =
            image.number(data, at.checked_add(word.checked_mul(2)?)?, usize::try_from(word).ok()?)?;
        return names.add(format!("*ABS*+{addend:#x}").as_bytes());
    }
    names.of_symbol(index)
}
