//! Limits of what files may make grow.

/// Limits of the memory that hostile files could otherwise take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolLimits {
    /// Number of bytes of a file that is read; a longer one is reported as too large.
    pub file: u64,
    /// Number of bytes that all files which a [`Symbolizer`](crate::Symbolizer) and its clones keep have together, with those of
    /// their tables of symbols. Further files are not read, and reported as [`NoSymbols::NoRoom`](crate::NoSymbols). Mapped
    /// files count as if they were read. DWARF has a limit of its own: [`dwarf`](Self::dwarf).
    pub total: u64,
    /// Number of bytes that a compressed section or file may have when it is decompressed.
    pub decompressed: u64,
    /// Number of symbols that are kept of a file. The others are dropped.
    pub symbols: usize,
    /// Number of bytes of a name that is demangled, and of the result. Longer names stay as they are.
    pub name: usize,
    /// Number of bytes that all names and paths of more than 512 bytes have together that a
    /// [`Symbolizer`](crate::Symbolizer) returns. Further ones are cut to 512 bytes and end in three dots.
    pub long_names: usize,
    /// Number of functions that are listed for an address, inlined ones included. The outer ones are dropped.
    pub inlined: usize,
    /// Number of files whose DWARF a [`Symbolizer`](crate::Symbolizer) keeps parsed. The one not used for the longest time
    /// is parsed again when needed.
    pub parsed: usize,
    /// Number of bytes of DWARF that a [`Symbolizer`](crate::Symbolizer) keeps: those that were decompressed, and those that
    /// were read when it was parsed. Files not used for the longest time make room, as with [`parsed`](Self::parsed). One
    /// file may have as many decompressed; if it has more, its lines are not known.
    pub dwarf: u64,
    /// Number of addresses whose names a [`Symbolizer`](crate::Symbolizer) keeps.
    pub cached: usize,
}

impl Default for SymbolLimits {
    fn default() -> Self {
        Self {
            file: 8 << 30,
            total: 256 << 30,
            decompressed: 4 << 30,
            symbols: 1 << 25,
            name: 1 << 14,
            long_names: 1 << 26,
            inlined: 256,
            parsed: 256,
            dwarf: 4 << 30,
            cached: 1 << 20,
        }
    }
}
