//! A table of symbols by address.

mod alias;
mod build;
mod overloads;

use core::ffi::CStr;
use core::ops::Range;
use core::sync::atomic::{self, AtomicU32};
use std::sync::OnceLock;

use crate::bytes::FileBytes;
use alias::Spelling;
pub(crate) use build::{Binding, SymbolCandidate, SymtabBuilder};
use overloads::Overloads;

/// Where a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NameSource {
    /// `.symtab` of the file or of its debug file.
    Symtab,
    /// `.symtab` of the file in `.gnu_debugdata`, which has what `.dynsym` has not: mini debug info.
    MiniDebugInfo,
    /// `.dynsym` of the file.
    Dynsym,
    /// An entry of the PLT: the name of the function that it calls, with `@plt`.
    Plt,
    /// DWARF of the file or of its debug file.
    Dwarf,
    /// `.gopclntab` of a program of Go that has no `.symtab`, or no DWARF.
    GoPclntab,
    /// `/proc/kallsyms`, or a copy of it.
    Kallsyms,
    /// `/tmp/perf-PID.map`.
    PerfMap,
    /// A jitdump.
    Jitdump,
    /// A KSYMBOL record.
    Ksymbol,
    /// The symbols of files that the capture itself has: see [`RecordedFile`](perf_session::RecordedFile).
    Recorded,
}

impl NameSource {
    /// Returns the name that outputs have for it, such as `perf-map`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Symtab => "symtab",
            Self::MiniDebugInfo => "mini-debuginfo",
            Self::Dynsym => "dynsym",
            Self::Plt => "plt",
            Self::Dwarf => "dwarf",
            Self::GoPclntab => "gopclntab",
            Self::Kallsyms => "kallsyms",
            Self::PerfMap => "perf-map",
            Self::Jitdump => "jitdump",
            Self::Ksymbol => "ksymbol",
            Self::Recorded => "recorded",
        }
    }
}

/// A symbol of a [`Symtab`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name, as it is in the file: mangled, if it is. At most 64 KiB of it.
    pub name: &'a [u8],
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// Where it was found.
    pub source: NameSource,
}

/// A table of symbols by address, with one symbol for each first address.
///
/// Names are not copied: the table shares the bytes that have them.
#[derive(Clone, Debug, Default)]
pub struct Symtab {
    names: Vec<SymbolNames>,
    /// By their first addresses. Those of one address differ in nothing but the name: which is the best is found when the
    /// address is looked for, because names of C++ and Rust must be demangled for that, and linkers that fold equal
    /// functions leave an address with hundreds of them.
    entries: Vec<SymtabEntry>,
    name_limit: usize,
    overloads: OnceLock<Overloads>,
}

/// Bytes with names, and what ends a name.
#[derive(Clone, Debug)]
pub(crate) struct SymbolNames {
    pub(crate) bytes: FileBytes,
    pub(crate) source: NameSource,
    pub(crate) ends: NameEnd,
}

/// What ends a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NameEnd {
    Zero,
    /// A zero, or what is between words.
    Word,
}

impl SymbolNames {
    fn get(&self, at: u32) -> &[u8] {
        self.start(at, LONGEST_NAME)
    }

    /// Returns the name, or as many bytes of its start.
    fn start(&self, at: u32, bytes: usize) -> &[u8] {
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        let rest = rest.get(..bytes).unwrap_or(rest);
        match self.ends {
            NameEnd::Zero => CStr::from_bytes_until_nul(rest).map_or(rest, CStr::to_bytes),
            NameEnd::Word => first_word(rest),
        }
    }
}

/// Returns the bytes before the first zero, or what is between words.
pub(crate) fn first_word(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr3(b'\t', b'\n', b' ', bytes).unwrap_or(bytes.len());
    let word = bytes.get(..end).unwrap_or_default();
    memchr::memchr(0, word).and_then(|end| word.get(..end)).unwrap_or(word)
}

/// Number of bytes of a name after which it is cut. Any number of symbols may share the bytes of one long name, so that the
/// end of each must not be looked for.
pub(crate) const LONGEST_NAME: usize = 1 << 16;

/// The entry that has no other around it.
const NONE: u32 = u32::MAX;

/// Number of symbols around an address that are looked at. Real ones nest in one or two.
const NESTING: usize = 64;

#[derive(Debug)]
struct SymtabEntry {
    start: u64,
    end: u64,
    name: u32,
    /// The last entry that starts before this one and ends after the start of this one; [`NONE`] if there is none.
    around: u32,
    names: u8,
    /// In the first entry of an address: which of its entries has the best name, counted from 1 on; 0 as long as nobody
    /// looked for it.
    best: AtomicU32,
}

impl Clone for SymtabEntry {
    fn clone(&self) -> Self {
        let Self { start, end, name, around, names, ref best } = *self;
        Self { start, end, name, around, names, best: AtomicU32::new(best.load(atomic::Ordering::Relaxed)) }
    }
}

impl Symtab {
    /// Returns the symbol that has an address, the innermost if several have it; `None` if none has it.
    ///
    /// Takes logarithmic time. The first look-up of a function that has several names compares these.
    ///
    /// perf: `symbols__find`, `tools/perf/util/symbol.c`.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        let mut index = after.checked_sub(1)?;
        for _ in 0..NESTING {
            let entry = self.best_of(index)?;
            if address < entry.end {
                return Some(self.symbol(entry));
            }
            index = usize::try_from(entry.around).ok()?;
        }
        None
    }

    /// Returns the entry with the best name of those that start where the entry of a number does. Which one it is, is found
    /// once for each address: the other addresses of the function ask for it, too.
    fn best_of(&self, index: usize) -> Option<&SymtabEntry> {
        let start = self.entries.get(index)?.start;
        let before = self.entries.get(..index)?;
        let is_first = before.last().is_none_or(|entry| entry.start < start);
        let at = if is_first { index } else { before.partition_point(|entry| entry.start < start) };
        let from = self.entries.get(at..)?;
        let first = from.first()?;
        let known = usize::try_from(first.best.load(atomic::Ordering::Relaxed)).unwrap_or_default();
        if let Some(known) = known.checked_sub(1) {
            return from.get(known);
        }
        // Names beyond the limit are not demangled, and count as if they were one byte longer than it: a damaged file may have
        // any number that share all bytes of a long one.
        let spelling = |entry: &SymtabEntry| {
            let names = self.names.get(usize::from(entry.names));
            let start = names.map_or(&[][..], |it| it.start(entry.name, self.name_limit.saturating_add(1)));
            Spelling::new(start, self.name_limit)
        };
        let aliases = from.iter().take_while(|entry| entry.start == start);
        let mut others = aliases.enumerate().skip(1).peekable();
        let mut best = 0;
        if others.peek().is_some() {
            let mut best_spelling = spelling(first);
            for (number, entry) in others {
                let next = spelling(entry);
                if !best_spelling.is_better(next) {
                    (best, best_spelling) = (number, next);
                }
            }
        }
        if let Ok(known) = u32::try_from(best.saturating_add(1)) {
            first.best.store(known, atomic::Ordering::Relaxed);
        }
        from.get(best)
    }

    /// Returns the number of symbols.
    ///
    /// Takes time in proportion to that number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.chunk_by(|one, next| one.start == next.start).count()
    }

    /// Returns whether another function of C++ has the same name as this one without its parameters. The first call orders the
    /// names.
    pub(crate) fn has_overload(&self, name: &[u8]) -> bool {
        let overloads = self.overloads.get_or_init(|| Overloads::of(self, self.name_limit));
        overloads.has_other(self, name, self.name_limit)
    }

    /// Returns the number of names, those of the same address included.
    pub(crate) fn name_count(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// Returns the number of bytes of the table, without the names.
    pub(crate) fn size(&self) -> usize {
        self.entries.capacity().saturating_mul(size_of::<SymtabEntry>())
    }

    /// Returns the number of bytes that have the names.
    pub(crate) fn size_of_names(&self) -> usize {
        self.names.iter().fold(0, |sum, names| sum.saturating_add(names.bytes.len()))
    }

    /// Returns a name by its number, or the first `bytes` of it; `None` if it does not begin with `prefix`.
    pub(crate) fn name_with(&self, number: u32, prefix: &[u8], bytes: usize) -> Option<&[u8]> {
        let entry = self.entries.get(usize::try_from(number).ok()?)?;
        let names = self.names.get(usize::from(entry.names))?;
        // Without a look for the end of other names.
        let has_prefix = names.start(entry.name, prefix.len()) == prefix;
        has_prefix.then(|| names.start(entry.name, bytes))
    }

    /// Returns whether there is no symbol.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the symbols by their first addresses.
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        let firsts =
            self.entries.chunk_by(|one, next| one.start == next.start).scan(0_usize, |at, aliases| {
                let first = *at;
                *at = first.saturating_add(aliases.len());
                Some(first)
            });
        firsts.filter_map(|first| self.best_of(first)).map(|entry| self.symbol(entry))
    }

    /// Returns all names with their addresses, also those of an address that has a better one.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&[u8], Range<u64>)> {
        self.entries.iter().map(|entry| (self.symbol(entry).name, entry.start..entry.end))
    }

    fn symbol(&self, entry: &SymtabEntry) -> Symbol<'_> {
        let names = self.names.get(usize::from(entry.names));
        Symbol {
            name: names.map_or(&[], |names| names.get(entry.name)),
            start: entry.start,
            end: entry.end,
            source: names.map_or(NameSource::Symtab, |names| names.source),
        }
    }
}
