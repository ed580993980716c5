//! The names of the entries of a PLT.

use std::collections::HashMap;

use crate::demangle::demangle;
use crate::elf_symbol::ElfSymbol;
use crate::image::ElfImage;
use crate::limits::SymbolLimits;

/// The names of the entries of a PLT, end to end: the name of a function, demangled, then `@plt` and a zero byte.
///
/// Each name of the string table is there once, however many entries and symbols have it. All names together are bounded
/// too: in a string table, each end of a name is a name, so that few bytes have many long names.
pub(crate) struct PltNames<'a> {
    image: &'a ElfImage,
    symbols: &'a [u8],
    strings: &'a [u8],
    name_limit: usize,
    bytes: Vec<u8>,
    /// Where a name starts in `bytes`, by where it starts in `strings`.
    known: HashMap<u32, u32>,
    /// Number of bytes that names may still have.
    room: usize,
}

impl<'a> PltNames<'a> {
    /// Starts without names. `symbols` and `strings` are the bytes of `.dynsym` and of its names.
    pub(crate) fn new(
        image: &'a ElfImage,
        symbols: &'a [u8],
        strings: &'a [u8],
        limits: &SymbolLimits,
    ) -> Self {
        let room = most_bytes(image.bytes().len().saturating_add(strings.len()));
        let room = room.min(usize::try_from(limits.decompressed).unwrap_or(usize::MAX));
        let known = HashMap::new();
        Self { image, symbols, strings, name_limit: limits.name, bytes: Vec::new(), known, room }
    }

    /// Returns where the name of a symbol of `.dynsym` starts; `None` if it has none, or if there is no room for it.
    pub(crate) fn of_symbol(&mut self, index: u64) -> Option<u32> {
        let at = ElfSymbol::get(self.image, self.symbols, index)?.name;
        if let Some(&known) = self.known.get(&at) {
            return Some(known);
        }
        let rest = self.strings.get(usize::try_from(at).ok()?..)?;
        // A longer name does not fit, so its end is not looked for.
        let rest = rest.get(..self.room).unwrap_or(rest);
        let name = rest.split(|&byte| byte == 0).next()?;
        let place = self.add(&demangle(name, self.name_limit))?;
        self.known.insert(at, place);
        Some(place)
    }

    /// Adds the name of a function; returns where it starts. `None` if there is no room for it.
    pub(crate) fn add(&mut self, name: &[u8]) -> Option<u32> {
        const END: &[u8] = b"@plt\0";
        let place = u32::try_from(self.bytes.len()).ok()?;
        let rest = self.room.checked_sub(name.len().saturating_add(END.len()));
        // No further name is read, not even one that would fit.
        self.room = rest.unwrap_or(0);
        rest?;
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(END);
        Some(place)
    }

    /// Returns the bytes of all names.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Returns the number of bytes that all names may have in a file of this size. Names of real files have fewer bytes than the
/// file; demangled, they seldom have twice as many as mangled.
fn most_bytes(file: usize) -> usize {
    const LEAST: usize = 1 << 16;
    file.saturating_mul(2).saturating_add(LEAST)
}
