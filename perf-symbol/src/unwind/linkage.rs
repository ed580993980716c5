//! The functions that the PLT of a file calls, and those that other files can call in it.

use core::hash::Hasher;
use std::hash::DefaultHasher;

use object::elf;

use crate::bounds::ReadBounds;
use crate::elf_symbol::{ElfSymbol, strings_of, table};
use crate::image::ElfImage;
use crate::plt::{self, StubTarget};

/// The longest name that is compared, in bytes. Symbols may share the bytes of a long one.
const LONGEST: usize = 1024;

/// The functions that the PLT of a file calls, and those that other files can call in it. Names are their hashes.
#[derive(Debug, Default)]
pub(crate) struct Linkage {
    /// The stubs of the PLT by their first addresses, with the address after the last one.
    stubs: Vec<(u64, u64, LinkageStub)>,
    /// By the hash of the name. A name may have several versions.
    exports: Vec<LinkageExport>,
}

/// The function that a stub calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkageStub {
    /// That with a name.
    Named(u64),
    /// One that a function of the same file chooses when it is loaded.
    Chosen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkageExport {
    name: u64,
    start: u64,
    end: u64,
    /// Whether the function only chooses the one that is called.
    chooses: bool,
}

impl Linkage {
    /// Reads `.dynsym` and the relocations of the PLT.
    pub(crate) fn of(image: &ElfImage, limits: ReadBounds<'_>) -> Self {
        let Some((dynsym, section)) = table(image, elf::SHT_DYNSYM) else { return Self::default() };
        let (Ok(data), Some(strings)) = (
            image.data_within(section, limits.decompressed, limits.cancellation),
            strings_of(image, section, limits),
        ) else {
            return Self::default();
        };
        let hash = |symbol: &ElfSymbol| {
            let name = symbol.name(&strings);
            let length = name.iter().take(LONGEST).position(|&byte| byte == 0)?;
            // The same for all files.
            let mut hasher = DefaultHasher::new();
            hasher.write(name.get(..length)?);
            Some(hasher.finish())
        };
        let symbol = |index| ElfSymbol::get(image, &data, index);
        let mut stubs: Vec<_> = plt::stubs(image, dynsym, limits.symbols)
            .into_iter()
            .filter_map(|it| {
                let stub = match it.target {
                    StubTarget::Symbol(index) => LinkageStub::Named(hash(&symbol(index)?)?),
                    StubTarget::Address(_) => LinkageStub::Chosen,
                };
                Some((it.start, it.start.saturating_add(it.size), stub))
            })
            .collect();
        stubs.sort_unstable_by_key(|&(start, end, _)| (start, end));
        let all = (0..).map_while(symbol).take(limits.symbols);
        let mut exports: Vec<_> = all
            .filter(|it| it.section != elf::SHN_UNDEF.0)
            .filter_map(|it| {
                let kind = elf::SymbolType(it.kind());
                let is_function = matches!(kind, elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_NOTYPE);
                let (start, end) = (it.value, it.value.saturating_add(it.size.max(1)));
                let name = hash(&it).filter(|_| is_function)?;
                Some(LinkageExport { name, start, end, chooses: kind == elf::STT_GNU_IFUNC })
            })
            .collect();
        exports.sort_unstable();
        Self { stubs, exports }
    }

    /// Returns what the stub at an address calls; `None` if there is none.
    pub(crate) fn stub(&self, address: u64) -> Option<LinkageStub> {
        let after = self.stubs.partition_point(|&(start, ..)| start <= address);
        let &(_, end, stub) = self.stubs.get(after.checked_sub(1)?)?;
        (address < end).then_some(stub)
    }

    /// Returns whether a call by name can get to an address of this file.
    pub(crate) fn is_reached(&self, name: u64, address: u64) -> bool {
        let first = self.exports.partition_point(|it| it.name < name);
        let mut of_name = self.exports.iter().skip(first).take_while(|it| it.name == name);
        of_name.any(|it| it.chooses || (it.start..it.end).contains(&address))
    }
}
