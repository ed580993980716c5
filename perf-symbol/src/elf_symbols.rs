//! The symbols of an ELF file, as perf chooses them.

use object::elf;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::elf_symbol::{EM_AARCH64, EM_ARM, ElfSymbol, strings_of, table};
use crate::go::{ABI0, Pclntab};
use crate::image::{ElfImage, ElfSection};
use crate::plt;
use crate::symtab::{Binding, NameEnd, NameSource, SymbolCandidate, SymbolNames, Symtab, SymtabBuilder};

/// Makes the table of a file: `.symtab` of the first of `symbols` that has one, or else `.dynsym` and the functions of
/// `.gopclntab`; and the PLT.
/// `runtime` is the file that was mapped; `symbols` can be that one, its debug file, or what `.gnu_debugdata` has, each with
/// the source of its names.
///
/// perf: `dso__load_sym`, `tools/perf/util/symbol-elf.c`.
pub(crate) fn load(
    runtime: Option<&ElfImage>,
    symbols: &[(&ElfImage, NameSource)],
    limits: ReadBounds<'_>,
) -> Symtab {
    let mut builder = SymtabBuilder::default();
    let symtab = symbols.iter().find(|(image, _)| has_symtab(image)).copied();
    let (symtab, source) = symtab.map_or((None, NameSource::Symtab), |(image, source)| (Some(image), source));
    let opd = Opd::of(runtime.or(symtab));
    // An entry of the PLT is one more for a symbol of `.dynsym`.
    let of_symtab = symtab.map_or(0, |image| ElfSymbol::count(image, elf::SHT_SYMTAB));
    let of_dynsym = runtime.map_or(0, |image| ElfSymbol::count(image, elf::SHT_DYNSYM));
    builder.reserve(of_dynsym.saturating_mul(2).saturating_add(of_symtab).min(limits.symbols));
    if let Some(image) = symtab {
        add(&mut builder, image, elf::SHT_SYMTAB, source, opd.as_ref(), limits);
    }
    // Those of a debug file have no bytes, so that it adds none. What `.gnu_debugdata` has leaves out those of `.dynsym`.
    for image in runtime.into_iter().chain(symtab.filter(|_| runtime.is_none())) {
        add(&mut builder, image, elf::SHT_DYNSYM, NameSource::Dynsym, opd.as_ref(), limits);
        plt::add(&mut builder, image, limits);
    }
    if symtab.is_none()
        && let Some(table) = runtime.and_then(Pclntab::load)
    {
        add_go(&mut builder, &table, limits);
    }
    builder.finish(limits.name)
}

/// Returns whether a file has `.symtab`.
pub(crate) fn has_symtab(image: &ElfImage) -> bool {
    table(image, elf::SHT_SYMTAB).is_some()
}

/// The function descriptors of 64-bit PowerPC: symbols are of descriptors, which have the addresses.
struct Opd<'a> {
    image: &'a ElfImage,
    section: &'a ElfSection,
    data: FileBytes,
}

impl<'a> Opd<'a> {
    fn of(image: Option<&'a ElfImage>) -> Option<Self> {
        const EM_PPC64: u16 = 21;
        let image = image.filter(|image| image.machine() == EM_PPC64)?;
        let section = image.section(".opd").filter(|section| section.kind == elf::SHT_PROGBITS.0)?;
        Some(Self { image, section, data: image.raw_data(section) })
    }

    /// Returns the address of the function whose descriptor is at `value`, if there is one.
    fn function(&self, value: u64) -> Option<u64> {
        let at = value.checked_sub(self.section.address).filter(|&at| at < self.section.size)?;
        self.image.number(&self.data, at, 8)
    }
}

/// Adds the symbols of a table, with the choice among all that are there by then.
///
/// perf: `dso__load_sym_internal`, `tools/perf/util/symbol-elf.c`.
fn add(
    builder: &mut SymtabBuilder,
    image: &ElfImage,
    kind: elf::SectionType,
    source: NameSource,
    opd: Option<&Opd<'_>>,
    limits: ReadBounds<'_>,
) {
    let Some((_, section)) = table(image, kind) else { return };
    let Ok(data) = image.data_within(section, limits.decompressed, limits.cancellation) else { return };
    let Some(strings) = strings_of(image, section, limits) else { return };
    let extended = image.sections().iter().find(|section| section.kind == elf::SHT_SYMTAB_SHNDX.0);
    let extended = extended.map(|section| image.raw_data(section)).unwrap_or_default();
    let names = builder.add_names(SymbolNames { bytes: strings.clone(), source, ends: NameEnd::Zero });
    // Borrowed once, and not for each symbol.
    let (data, strings, extended) = (&*data, &*strings, &*extended);
    let is_text: Vec<_> = image.sections().iter().map(has_labels).collect();
    // The addresses in a module of the kernel are relative to their sections. Its mapping starts with this one.
    let is_relocatable = image.is_relocatable();
    let before = builder.len();
    let mut index = 0;
    while builder.len() < limits.symbols
        && !limits.cancellation.is_cancelled_at(usize::try_from(index).unwrap_or_default())
        && let Some(symbol) = ElfSymbol::get(image, data, index)
    {
        let section = section_of(image, &symbol, index, extended);
        index = index.saturating_add(1);
        let Some(section) =
            section.and_then(|index| Some((image.sections().get(index)?, is_text.get(index)?)))
        else {
            continue;
        };
        if !is_wanted(image, &symbol, section, strings) || is_relocatable && section.0.name() != b".text" {
            continue;
        }
        let mut start = opd.and_then(|opd| opd.function(symbol.value)).unwrap_or(symbol.value);
        // The lowest bit says that it is Thumb code.
        if image.machine() == EM_ARM && symbol.kind() == elf::STT_FUNC.0 {
            start &= !1;
        }
        let end = start.saturating_add(symbol.size);
        builder.push(SymbolCandidate::new(start, end, symbol.name, names, symbol.binding()));
    }
    // A table that is cancelled is dropped.
    let is_cancelled = || limits.cancellation.is_cancelled();
    if builder.len() > before && !is_cancelled() {
        builder.sort();
        if !is_cancelled() {
            builder.end_symbols(None);
            builder.choose();
        }
    }
}

/// Number of bytes of names in assembly at most: a program has a few hundred. Others stay as they are in the table.
const SUFFIXED: usize = 1 << 20;

/// Adds the functions of a program of Go.
fn add_go(builder: &mut SymtabBuilder, table: &Pclntab, limits: ReadBounds<'_>) {
    let names_in = |bytes| SymbolNames { bytes, source: NameSource::GoPclntab, ends: NameEnd::Zero };
    let names = builder.add_names(names_in(table.names()));
    // The few names that the table has without their end.
    let mut suffixed: Vec<u8> = Vec::new();
    let mut with_suffix = Vec::new();
    for number in 0..table.len() {
        let index = usize::try_from(number).unwrap_or_default();
        if builder.len() >= limits.symbols || limits.cancellation.is_cancelled_at(index) {
            break;
        }
        let Some(symbol) = table.symbol(number).filter(|it| !it.range.is_empty()) else {
            continue;
        };
        let range = symbol.range;
        if symbol.is_abi0
            && let Some(at) = u32::try_from(suffixed.len()).ok().filter(|_| suffixed.len() < SUFFIXED)
            && let Some(name) = table.name(symbol.name)
        {
            suffixed.extend([name, ABI0, b"\0"].concat());
            with_suffix.push((range, at));
            continue;
        }
        builder.push(SymbolCandidate::new(range.start, range.end, symbol.name, names, Binding::Global));
    }
    let names = builder.add_names(names_in(FileBytes::new(suffixed)));
    for (range, at) in with_suffix {
        builder.push(SymbolCandidate::new(range.start, range.end, at, names, Binding::Global));
    }
    builder.sort();
    builder.choose();
}

/// Returns the address of the first symbol of a name in `.symtab`.
pub(crate) fn address(image: &ElfImage, name: &[u8], limits: ReadBounds<'_>) -> Option<u64> {
    let (_, section) = table(image, elf::SHT_SYMTAB)?;
    let data = image.data_within(section, limits.decompressed, limits.cancellation).ok()?;
    let strings = strings_of(image, section, limits)?;
    let symbols = (0..).map_while(|index| ElfSymbol::get(image, &data, index));
    let has_name = |symbol: &ElfSymbol| {
        symbol.name(&strings).strip_prefix(name).is_some_and(|rest| rest.first() == Some(&0))
    };
    symbols.take(limits.symbols).find(has_name).map(|symbol| symbol.value)
}

/// Returns the number of a symbol's section; `None` for one that has none.
pub(crate) fn section_of(image: &ElfImage, symbol: &ElfSymbol, index: u64, extended: &[u8]) -> Option<usize> {
    let section = match elf::SymbolSection(symbol.section) {
        elf::SHN_XINDEX => image.number(extended, index.checked_mul(4)?, 4)?,
        elf::SHN_UNDEF => return None,
        section if section.0 >= elf::SHN_LORESERVE => return None,
        section => section.0.into(),
    };
    usize::try_from(section).ok()
}

/// Whether the section has labels that are symbols: its name contains `text` or `data`.
fn has_labels(section: &ElfSection) -> bool {
    section.name().windows(4).any(|part| part == b"text" || part == b"data")
}

/// Whether perf takes the symbol, whose name is in `strings`.
fn is_wanted(
    image: &ElfImage,
    symbol: &ElfSymbol,
    (section, has_labels): (&ElfSection, &bool),
    strings: &[u8],
) -> bool {
    if symbol.name == 0 || section.flags & elf::SHF_ALLOC.0 == 0 {
        return false;
    }
    let is_kind = match elf::SymbolType(symbol.kind()) {
        elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_OBJECT => true,
        // Labels of assembly; not those that are hidden or internal.
        elf::STT_NOTYPE => *has_labels && !matches!(symbol.other & 3, 1 | 2),
        _ => false,
    };
    is_kind && !(matches!(image.machine(), EM_ARM | EM_AARCH64) && is_mapping_symbol(symbol.name(strings)))
}

/// Whether the name, which ends with a zero byte, is that of a mapping symbol of Arm: `$x`, `$d.1` and so on.
fn is_mapping_symbol(name: &[u8]) -> bool {
    matches!(name, [b'$', b'a' | b'd' | b't' | b'x', 0 | b'.', ..])
}
