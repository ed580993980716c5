//! Symbols of files that the capture itself has, as Android's simpleperf stores them.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use perf_abi::record::SimpleperfDsoType;

use crate::dso::{Dso, DsoKind};
use crate::kernel_names::KERNEL;
use crate::map::Mapping;

/// A file of the recorded machine, and those of its symbols that the capture has.
///
/// simpleperf stores the symbols of the addresses in samples and their call chains, so that they need no files of the
/// device. Returned by [`Session::recorded_file`](crate::Session::recorded_file).
#[derive(Clone, Debug)]
pub struct RecordedFile {
    kind: SimpleperfDsoType,
    min_vaddr: u64,
    /// The offset at which `min_vaddr` is: in an ELF file, or in the memory of a module. `None` in captures of older versions.
    min_offset: Option<u64>,
    /// By their addresses and the order in which they came: damage can bring them in any order.
    symbols: BTreeMap<(u64, u32), SymbolExtent>,
    names: Vec<u8>,
}

/// What a symbol has besides its address, and where its name is in `names`. With its key it has 32 bytes, so that it takes no
/// more than [`ENTRY`] in a tree whose nodes are half full.
#[derive(Clone, Copy, Debug)]
struct SymbolExtent {
    len: u64,
    name: u32,
    name_len: u32,
}

/// A symbol of a [`RecordedFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedSymbol<'a> {
    /// The name as it was in the file: mangled, if it was. Methods of Java have their class before them.
    pub name: &'a [u8],
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
}

impl RecordedFile {
    /// Creates a file without symbols.
    pub(crate) fn new(kind: SimpleperfDsoType, min_vaddr: u64, min_offset: Option<u64>) -> Self {
        Self { kind, min_vaddr, min_offset, symbols: BTreeMap::new(), names: Vec::new() }
    }

    /// Adds a symbol. Returns whether it has a number: there are no more than `u32` has, of symbols and of bytes of names.
    pub(crate) fn add(&mut self, start: u64, len: u64, name: &[u8]) -> bool {
        let number = |it: usize| u32::try_from(it).ok();
        let (Some(order), Some(at), Some(name_len)) =
            (number(self.symbols.len()), number(self.names.len()), number(name.len()))
        else {
            return false;
        };
        self.names.extend_from_slice(name);
        self.symbols.insert((start, order), SymbolExtent { len, name: at, name_len });
        true
    }

    /// Returns the kind of the file.
    #[must_use]
    pub fn kind(&self) -> SimpleperfDsoType {
        self.kind
    }

    /// Returns the number of symbols.
    #[must_use]
    pub fn len(&self) -> usize {
        self.symbols.len()
    }

    /// Returns whether there are no symbols.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    /// Returns the symbols, in ascending order of their addresses.
    pub fn symbols(&self) -> impl Iterator<Item = RecordedSymbol<'_>> {
        self.symbols.iter().map(|(&(start, _), &it)| self.symbol(start, it))
    }

    /// Returns the symbol that has an address of the file, as [`address_of`](Self::address_of) returns it; `None` if the
    /// capture has none there. Takes logarithmic time.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<RecordedSymbol<'_>> {
        let (&(start, _), &it) = self.symbols.range(..=(address, u32::MAX)).next_back()?;
        (address.wrapping_sub(start) < it.len).then(|| self.symbol(start, it))
    }

    fn symbol(&self, start: u64, it: SymbolExtent) -> RecordedSymbol<'_> {
        let after = self.names.get(it.name as usize..).unwrap_or_default();
        let name = after.get(..it.name_len as usize).unwrap_or_default();
        RecordedSymbol { name, start, end: start.saturating_add(it.len) }
    }

    /// Returns the address that the symbols have for the address `ip` of a mapping of the file.
    ///
    /// simpleperf: `Dso::IpToVaddrInFile`, `system/extras/simpleperf/dso.cpp`.
    #[must_use]
    pub fn address_of(&self, mapping: &Mapping, ip: u64) -> u64 {
        let from_start = ip.wrapping_sub(mapping.start);
        let in_file = from_start.wrapping_add(mapping.pgoff);
        match (self.kind, self.min_offset) {
            _ if mapping.is_jit_symfile() => ip,
            (SimpleperfDsoType::DEX_FILE, _) => in_file,
            (SimpleperfDsoType::ELF_FILE, Some(offset)) => {
                in_file.wrapping_sub(offset).wrapping_add(self.min_vaddr)
            }
            // Older versions took the mapping for one of the whole executable segment.
            (SimpleperfDsoType::ELF_FILE, None) => from_start.wrapping_add(self.min_vaddr),
            (SimpleperfDsoType::KERNEL_MODULE, offset) => {
                from_start.wrapping_sub(offset.unwrap_or(0)).wrapping_add(self.min_vaddr)
            }
            _ => ip,
        }
    }
}

/// The files of a capture that it has symbols of, by path.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedFiles {
    by_path: BTreeMap<Vec<u8>, RecordedFile>,
    /// The paths of the files of DSO records, by their numbers.
    by_number: BTreeMap<u64, Vec<u8>>,
    /// The text of `/proc/kallsyms`.
    pub(crate) kallsyms: Option<Arc<[u8]>>,
    /// Number of bytes that are used, and number of symbols that had no room.
    used: usize,
    pub(crate) dropped: u64,
}

/// Number of bytes that a symbol or a file counts in addition to its name.
const ENTRY: usize = 64;

impl RecordedFiles {
    /// Adds a file of a feature, in the place of an earlier one of the path.
    pub(crate) fn add<'a>(
        &mut self,
        path: &[u8],
        mut file: RecordedFile,
        symbols: impl Iterator<Item = (u64, u64, &'a [u8])>,
        limit: usize,
    ) {
        if !self.reserve(path.len(), limit) {
            return;
        }
        for (start, len, name) in symbols {
            if self.reserve(name.len(), limit) && !file.add(start, len, name) {
                self.dropped = self.dropped.saturating_add(1);
            }
        }
        self.by_path.insert(path.into(), file);
    }

    /// Adds the file of a DSO record.
    pub(crate) fn add_numbered(&mut self, number: u64, path: &[u8], file: RecordedFile, limit: usize) {
        if self.reserve(path.len().saturating_mul(2), limit) {
            self.by_number.insert(number, path.into());
            self.by_path.entry(path.into()).or_insert(file);
        }
    }

    /// Adds the symbol of a SYMBOL record to the file with a number.
    pub(crate) fn add_symbol(&mut self, number: u64, symbol: (u64, u64, &[u8]), limit: usize) {
        let (start, len, name) = symbol;
        if !self.by_number.contains_key(&number) || !self.reserve(name.len(), limit) {
            return;
        }
        if let Some(file) = self.by_number.get(&number).and_then(|path| self.by_path.get_mut(path)) {
            let has_number = file.add(start, len, name);
            self.dropped = self.dropped.saturating_add(u64::from(!has_number));
        }
    }

    /// Sets the text of `/proc/kallsyms`.
    pub(crate) fn set_kallsyms(&mut self, text: &[u8], limit: usize) {
        if self.reserve(text.len(), limit) {
            self.kallsyms = Some(Arc::from(text));
        }
    }

    /// Counts the bytes of an entry. Returns whether there is room for it.
    fn reserve(&mut self, bytes: usize, limit: usize) -> bool {
        let used = self.used.saturating_add(bytes).saturating_add(ENTRY);
        let has_room = used <= limit;
        if has_room {
            self.used = used;
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
        has_room
    }

    /// Returns the file of a DSO.
    pub(crate) fn get(&self, dso: &Dso) -> Option<&RecordedFile> {
        match dso.kind() {
            DsoKind::Kernel => self.by_path.get(KERNEL),
            DsoKind::Memory => {
                // simpleperf names the map of a process without its folder, and other memory by no name.
                let map = dso.name().strip_prefix(b"/tmp/").and_then(|name| self.by_path.get(name));
                map.or_else(|| self.by_path.get(dso.path()))
            }
            _ => self.by_path.get(dso.path()).or_else(|| self.by_path.get(dso.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_come_in_any_order() {
        let mut file = RecordedFile::new(SimpleperfDsoType::ELF_FILE, 0, None);
        for (start, len, name) in [(30, 5, b"c"), (10, 5, b"a"), (20, 5, b"b"), (20, 2, b"d")] {
            assert!(file.add(start, len, name));
        }
        let names: Vec<_> = file.symbols().map(|it| it.name).collect();
        assert_eq!(names, [b"a", b"b", b"d", b"c"]);
        // Of two at an address, the later one.
        let name = |address| file.find(address).map(|it| it.name);
        assert_eq!(
            [name(9), name(10), name(15), name(21), name(23), name(34)].map(|it| it.map(|it| it[0])),
            [None, Some(b'a'), None, Some(b'd'), None, Some(b'c')]
        );
    }
}
