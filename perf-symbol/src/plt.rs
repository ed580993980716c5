//! Names for the entries of a PLT, which call functions of other files: `malloc@plt`.

use object::elf;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::elf_symbol::{EM_386, EM_AARCH64, EM_ARM, EM_X86_64, strings_of, table};
use crate::image::{ElfImage, ElfSection};
use crate::plt_got;
use crate::plt_names::PltNames;
use crate::symtab::{Binding, NameEnd, NameSource, SymbolCandidate, SymbolNames, SymtabBuilder};

/// Adds a symbol for each entry of the PLT and of `.plt.got`.
///
/// perf: `dso__synthesize_plt_symbols`, `tools/perf/util/symbol-elf.c`.
pub(crate) fn add(builder: &mut SymtabBuilder, image: &ElfImage, limits: ReadBounds<'_>) {
    let Some((dynsym, symbols)) = table(image, elf::SHT_DYNSYM) else { return };
    let (Ok(data), Some(strings)) = (
        image.data_within(symbols, limits.decompressed, limits.cancellation),
        strings_of(image, symbols, limits),
    ) else {
        return;
    };
    let mut names = PltNames::new(image, &data, &strings, &limits);
    let mut ranges = Vec::new();
    for stub in stubs(image, dynsym, limits.symbols.saturating_sub(builder.len())) {
        let name = match stub.target {
            StubTarget::Symbol(index) => names.of_symbol(index),
            StubTarget::Address(address) => names.add(format!("*ABS*+{address:#x}").as_bytes()),
        };
        let Some(name) = name else { continue };
        ranges.push((stub.start, stub.start.saturating_add(stub.size), name));
    }
    let names = builder.add_names(SymbolNames {
        bytes: FileBytes::new(names.into_bytes()),
        source: NameSource::Plt,
        ends: NameEnd::Zero,
    });
    for (start, end, name) in ranges {
        builder.push(SymbolCandidate::new(start, end, name, names, Binding::Global));
    }
    builder.sort();
}

/// An entry of a PLT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PltStub {
    /// The first address.
    pub(crate) start: u64,
    /// The number of bytes.
    pub(crate) size: u64,
    pub(crate) target: StubTarget,
}

/// The function that an entry of a PLT calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StubTarget {
    /// The symbol of a number in `.dynsym`.
    Symbol(u64),
    /// The one that the function at an address chooses, as ifuncs without a symbol have it.
    Address(u64),
}

/// Returns at most `limit` entries of the PLT and of `.plt.got`. `dynsym` is the number of the section `.dynsym`.
pub(crate) fn stubs(image: &ElfImage, dynsym: usize, limit: usize) -> Vec<PltStub> {
    let mut stubs = Vec::new();
    add_plt(&mut stubs, image, dynsym, limit);
    let slots = plt_got::entries(image, limit.saturating_sub(stubs.len()));
    let symbols = plt_got::symbols(image, &slots, dynsym);
    stubs.extend(slots.iter().filter_map(|slot| {
        let target = StubTarget::Symbol(slot.symbol(&symbols)?);
        Some(PltStub { start: slot.start, size: slot.size, target })
    }));
    stubs
}

/// Adds the entries of the PLT. The relocations of `.rela.plt` or `.rel.plt` have their order; on x86, their places in `.got.plt` have,
/// because those of ifuncs come last.
///
/// perf: `dso__synthesize_plt_symbols` sorts them since 6.3.
fn add_plt(stubs: &mut Vec<PltStub>, image: &ElfImage, dynsym: usize, limit: usize) {
    let Some(relocations) = image.section(".rela.plt").or_else(|| image.section(".rel.plt")) else { return };
    if usize::try_from(relocations.link).ok() != Some(dynsym) {
        return;
    }
    let entry_size = entry_size(image, relocations);
    let count = relocations.size.checked_div(entry_size).unwrap_or(0);
    let Some(plt) = Plt::of(image, count) else { return };
    let data = image.raw_data(relocations);
    let word = if image.is_64() { 8 } else { 4 };
    let places = (0..count.min(limit as u64)).map_while(|index| {
        let at = index.saturating_mul(entry_size);
        Some((image.number(&data, at, word)?, target(image, relocations, &data, at)?))
    });
    let mut targets: Vec<_> = places.collect();
    if matches!(image.machine(), EM_386 | EM_X86_64) {
        targets.sort_by_key(|(place, _)| *place);
    }
    for ((_, target), index) in targets.into_iter().zip(0..) {
        let start = plt.start.saturating_add(plt.entry.saturating_mul(index));
        stubs.push(PltStub { start, size: plt.entry, target });
    }
}

/// Returns the number of bytes of a relocation.
fn entry_size(image: &ElfImage, relocations: &ElfSection) -> u64 {
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
    fn of(image: &ElfImage, count: u64) -> Option<Self> {
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
            // lld leaves the size out. perf: `get_plt_sizes`, `tools/perf/util/symbol-elf.c`.
            EM_386 | EM_X86_64 if !matches!(section.entry_size, 8 | 16) => (16, 16),
            _ => (section.entry_size, section.entry_size),
        };
        Some(Self { start: section.address.checked_add(header)?, entry })
    }
}

/// Returns the function of the relocation at `at`.
fn target(image: &ElfImage, relocations: &ElfSection, data: &[u8], at: u64) -> Option<StubTarget> {
    let word = if image.is_64() { 8 } else { 4 };
    let info = image.number(data, at.checked_add(word)?, usize::try_from(word).ok()?)?;
    let index = if image.is_64() { info >> 32 } else { info >> 8 };
    if index == 0 && relocations.kind == elf::SHT_RELA.0 {
        let addend =
            image.number(data, at.checked_add(word.checked_mul(2)?)?, usize::try_from(word).ok()?)?;
        return Some(StubTarget::Address(addend));
    }
    Some(StubTarget::Symbol(index))
}
