//! A table of symbols by address.

use core::cmp::Ordering;
use core::sync::atomic::{self, AtomicU8};

use crate::bytes::Bytes;
use crate::demangle::demangle;

/// Where a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Source {
    /// `.symtab` of the file or of its debug file, or the names of its PLT.
    Symtab,
    /// `.dynsym` of the file.
    Dynsym,
    /// DWARF of the file or of its debug file.
    Dwarf,
    /// `/proc/kallsyms`, or a copy of it.
    Kallsyms,
    /// `/tmp/perf-PID.map`.
    PerfMap,
    /// A jitdump.
    Jitdump,
    /// A KSYMBOL record.
    Ksymbol,
}

impl Source {
    /// Returns the name that outputs have for it, such as `perf-map`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Symtab => "symtab",
            Self::Dynsym => "dynsym",
            Self::Dwarf => "dwarf",
            Self::Kallsyms => "kallsyms",
            Self::PerfMap => "perf-map",
            Self::Jitdump => "jitdump",
            Self::Ksymbol => "ksymbol",
        }
    }
}

/// A symbol of a [`Symtab`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    /// The name, as it is in the file: mangled, if it is.
    pub name: &'a [u8],
    /// The first address.
    pub start: u64,
    /// The address after the last one.
    pub end: u64,
    /// Where it was found.
    pub source: Source,
}

/// A table of symbols by address, with one symbol for each first address.
///
/// Names are not copied: the table shares the bytes that have them.
#[derive(Clone, Debug, Default)]
pub struct Symtab {
    names: Vec<Names>,
    /// By their first addresses. Those of one address differ in nothing but the name, and are few: which is the best is
    /// found when the address is looked for, because names of C++ and Rust must be demangled for that.
    entries: Vec<Entry>,
    name_limit: usize,
}

/// Bytes with names, and what ends a name.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) bytes: Bytes,
    pub(crate) source: Source,
    pub(crate) ends: fn(u8) -> bool,
}

impl Names {
    fn get(&self, at: u32) -> &[u8] {
        let rest = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        let end = rest.iter().position(|&byte| (self.ends)(byte)).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }
}

/// The entry that has no other around it.
const NONE: u32 = u32::MAX;

/// Number of symbols around an address that are looked at. Real ones nest in one or two.
const NESTING: usize = 64;

/// Number of names of an address that are left to choose from when it is looked for. Of more, one is chosen at once.
const ALIASES: usize = 16;

#[derive(Debug)]
struct Entry {
    start: u64,
    end: u64,
    name: u32,
    /// The last entry that starts before this one and ends after the start of this one; [`NONE`] if there is none.
    around: u32,
    names: u8,
    /// In the first entry of an address: which of its entries has the best name, counted from 1 on; 0 as long as nobody
    /// looked for it.
    best: AtomicU8,
}

impl Clone for Entry {
    fn clone(&self) -> Self {
        let Self { start, end, name, around, names, ref best } = *self;
        Self { start, end, name, around, names, best: AtomicU8::new(best.load(atomic::Ordering::Relaxed)) }
    }
}

/// A symbol of a file, before one of each address is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Offset in the names of this number.
    pub(crate) name: u32,
    pub(crate) names: u8,
    pub(crate) binding: Binding,
    /// Whether the file has no size for it, so that it ends where the next one starts.
    pub(crate) is_unsized: bool,
}

/// The binding of a symbol, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    Local,
    Global,
    Weak,
}

/// Candidates that become a table.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    names: Vec<Names>,
    candidates: Vec<Candidate>,
}

impl Builder {
    /// Adds bytes with names; returns their number. There are few of them.
    pub(crate) fn add_names(&mut self, names: Names) -> u8 {
        self.names.push(names);
        u8::try_from(self.names.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    pub(crate) fn push(&mut self, candidate: Candidate) {
        self.candidates.push(candidate);
    }

    pub(crate) fn len(&self) -> usize {
        self.candidates.len()
    }

    fn name(&self, candidate: &Candidate) -> &[u8] {
        self.names.get(usize::from(candidate.names)).map_or(&[], |names| names.get(candidate.name))
    }

    /// Sorts by address, in the order of the file where addresses are equal.
    pub(crate) fn sort(&mut self) {
        self.candidates.sort_by_key(|it| it.start);
    }

    /// Ends each symbol without a size at the next one. `ends_at_page` is whether a symbol ends at its page, if another
    /// one follows far away.
    ///
    /// perf: `symbols__fixup_end`, `tools/perf/util/symbol.c`.
    pub(crate) fn end_symbols(&mut self, ends_at_page: impl Fn(&[u8], &[u8]) -> bool) {
        let mut next: Option<Candidate> = None;
        for index in (0..self.candidates.len()).rev() {
            let Some(mut it) = self.candidates.get(index).copied() else { continue };
            let following = next.replace(it);
            if it.end != it.start {
                continue;
            }
            it.is_unsized = true;
            let page = page_after(it.end.saturating_add(4096));
            // A symbol that follows within the page ends this one in any case: so most names need not be compared.
            let is_within = |next: &Candidate| it.start < next.start && next.start <= page;
            it.end = match following {
                Some(next) if !is_within(&next) && ends_at_page(self.name(&it), self.name(&next)) => page,
                Some(next) => next.start,
                None => page_after(it.start).saturating_add(4096),
            };
            if let Some(place) = self.candidates.get_mut(index) {
                *place = it;
            }
        }
    }

    /// Keeps the best symbols of each address: one, or some that differ in nothing but the name.
    ///
    /// perf: `symbols__fixup_duplicate`, `tools/perf/util/symbol.c`.
    pub(crate) fn choose(&mut self, name_limit: usize) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut kept = 0_usize;
        let mut start = 0_usize;
        while let Some(&first) = candidates.get(start) {
            let rest = candidates.get(start..).unwrap_or_default();
            let count = rest.iter().take_while(|it| it.start == first.start).count();
            let best = rest.iter().take(count).map(rank).max();
            let mut aliases = 0_usize;
            // The name of the last one, where one of many is chosen.
            let mut chosen: Option<Spelling> = None;
            for index in start..start.saturating_add(count) {
                let Some(&it) = candidates.get(index).filter(|it| Some(rank(it)) == best) else { continue };
                let last = kept.checked_sub(1).and_then(|last| candidates.get_mut(last));
                match last.filter(|_| aliases == ALIASES) {
                    Some(last) => {
                        let spelling = |it: &Candidate| Spelling::new(self.name(it), name_limit);
                        let (before, next) = (chosen.unwrap_or_else(|| spelling(last)), spelling(&it));
                        if before.is_better(next) {
                            chosen = Some(before);
                        } else {
                            (chosen, *last) = (Some(next), it);
                        }
                    }
                    None => {
                        if let Some(place) = candidates.get_mut(kept) {
                            *place = it;
                        }
                        kept = kept.saturating_add(1);
                        aliases = aliases.saturating_add(1);
                    }
                }
            }
            start = start.saturating_add(count);
        }
        candidates.truncate(kept);
        self.candidates = candidates;
    }

    /// Makes the table.
    pub(crate) fn finish(self, name_limit: usize) -> Symtab {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.candidates.len());
        // Those that the next one may be inside of, the innermost last.
        let mut open: Vec<u32> = Vec::new();
        for (place, it) in self.candidates.iter().enumerate() {
            let end = if it.is_unsized { it.end.min(self.start_after(place)) } else { it.end };
            let entry = |index: u32| entries.get(usize::try_from(index).ok()?);
            let around = match entries.last().filter(|last| last.start == it.start) {
                Some(last) => last.around,
                None => {
                    while open.last().is_some_and(|&index| entry(index).is_none_or(|o| o.end <= it.start)) {
                        open.pop();
                    }
                    open.last().copied().unwrap_or(NONE)
                }
            };
            let Ok(index) = u32::try_from(entries.len()) else { break };
            open.push(index);
            let best = AtomicU8::new(0);
            entries.push(Entry { start: it.start, end, name: it.name, around, names: it.names, best });
        }
        Symtab { names: self.names, entries, name_limit }
    }

    /// Returns the first address after that of a candidate that another one starts at. Entries of a PLT may have been
    /// added since its end was set.
    fn start_after(&self, place: usize) -> u64 {
        let start = self.candidates.get(place).map(|it| it.start);
        let after = self.candidates.get(place..).unwrap_or_default();
        after.iter().map(|it| it.start).find(|&next| Some(next) != start).unwrap_or(u64::MAX)
    }
}

/// Returns what makes a symbol of an address better than another one, but for its name.
///
/// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
fn rank(it: &Candidate) -> (bool, bool, bool) {
    (it.end > it.start, it.binding != Binding::Weak, it.binding == Binding::Global)
}

/// What makes a name of an address better than another one.
#[derive(Clone, Copy, Debug)]
struct Spelling {
    /// The number of underscores that the demangled name starts with.
    underscores: usize,
    /// The length of the demangled name.
    len: usize,
    /// Whether it is another name of a system call, of a kernel before 4.17.
    is_of_system_call: bool,
}

impl Spelling {
    fn new(name: &[u8], limit: usize) -> Self {
        let name = demangle(name, limit);
        Self {
            underscores: name.iter().take_while(|&&byte| byte == b'_').count(),
            len: name.len(),
            is_of_system_call: name.starts_with(b"SyS") || name.starts_with(b"compat_SyS"),
        }
    }

    /// Returns whether this is the better name, or as good as the other one.
    ///
    /// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
    fn is_better(self, other: Self) -> bool {
        match self.underscores.cmp(&other.underscores).then(other.len.cmp(&self.len)) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => !self.is_of_system_call,
        }
    }
}

/// Returns the first address of the page after `address`, or `address` if that is the first one of a page.
fn page_after(address: u64) -> u64 {
    address.checked_next_multiple_of(4096).unwrap_or(u64::MAX)
}

impl Symtab {
    /// Returns the symbol that has an address, the innermost if several have it; `None` if none has it.
    ///
    /// Takes logarithmic time.
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
    fn best_of(&self, index: usize) -> Option<&Entry> {
        let start = self.entries.get(index)?.start;
        let is_same = |entry: &&Entry| entry.start == start;
        let before = self.entries.get(..index)?.iter().rev().take_while(is_same).count();
        let aliases = self.entries.get(index.checked_sub(before)?..)?;
        let first = aliases.first()?;
        if let Some(known) = usize::from(first.best.load(atomic::Ordering::Relaxed)).checked_sub(1) {
            return aliases.get(known);
        }
        let spelling = |entry: &Entry| Spelling::new(self.symbol(entry).name, self.name_limit);
        let mut same = aliases.iter().take_while(is_same).enumerate().skip(1).peekable();
        let mut best = 0;
        if same.peek().is_some() {
            let mut best_spelling = spelling(first);
            for (number, entry) in same {
                let next = spelling(entry);
                if !best_spelling.is_better(next) {
                    (best, best_spelling) = (number, next);
                }
            }
            if let Ok(known) = u8::try_from(best.saturating_add(1)) {
                first.best.store(known, atomic::Ordering::Relaxed);
            }
        }
        aliases.get(best)
    }

    /// Returns the number of symbols.
    ///
    /// Takes time in proportion to that number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.chunk_by(|one, next| one.start == next.start).count()
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

    fn symbol(&self, entry: &Entry) -> Symbol<'_> {
        let names = self.names.get(usize::from(entry.names));
        Symbol {
            name: names.map_or(&[], |names| names.get(entry.name)),
            start: entry.start,
            end: entry.end,
            source: names.map_or(Source::Symtab, |names| names.source),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(u64, u64, &str, Binding)]) -> Vec<(String, u64, u64)> {
        let mut builder = Builder::default();
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (_, _, name, _) in symbols {
            places.push(u32::try_from(names.len()).unwrap());
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        let ends = |byte| byte == 0;
        builder.add_names(Names { bytes: Bytes::new(names), source: Source::Symtab, ends });
        for (&(start, size, _, binding), &name) in symbols.iter().zip(&places) {
            builder.push(Candidate { start, end: start + size, name, names: 0, binding, is_unsized: false });
        }
        builder.sort();
        builder.end_symbols(|_, _| false);
        builder.choose(1000);
        let table = builder.finish(1000);
        let all = || -> Vec<_> {
            table.iter().map(|it| (String::from_utf8_lossy(it.name).into_owned(), it.start, it.end)).collect()
        };
        let first = all();
        assert_eq!(all(), first, "what is known of the names is what was found");
        first
    }

    /// The name that is kept of two for one address, in either order.
    fn best(one: (u64, &str, Binding), other: (u64, &str, Binding)) -> String {
        let kept = |(a, b): ((u64, &str, Binding), (u64, &str, Binding))| {
            table(&[(16, a.0, a.1, a.2), (16, b.0, b.1, b.2)]).remove(0).0
        };
        assert_eq!(kept((one, other)), kept((other, one)));
        kept((one, other))
    }

    #[test]
    fn the_best_name_of_an_address() {
        use Binding::{Global, Local, Weak};
        assert_eq!(best((8, "weak_and_long", Weak), (8, "local", Local)), "local");
        assert_eq!(best((8, "local_and_long", Local), (8, "global", Global)), "global");
        assert_eq!(best((8, "__long_name", Global), (8, "_name", Global)), "_name");
        assert_eq!(best((8, "name", Global), (8, "longer_name", Global)), "longer_name");
        // By their demangled lengths: `a::b::c` is longer than `abcdef`.
        assert_eq!(best((8, "_ZN1a1b1cEv", Global), (8, "abcdef", Global)), "_ZN1a1b1cEv");
        assert_eq!(best((8, "SyS_read", Global), (8, "sys_read", Global)), "sys_read");
    }

    /// The longest wins, wherever it is, below the number that is left to choose from, at it, and above.
    #[test]
    fn of_many_aliases_one_is_found() {
        for count in [1, ALIASES - 1, ALIASES, ALIASES + 1, 3 * ALIASES] {
            for longest in 0..count {
                let names: Vec<_> = (0..count)
                    .map(|index| if index == longest { "the_longest".into() } else { format!("name{index}") })
                    .collect();
                let symbols: Vec<_> =
                    names.iter().map(|name| (16, 8, name.as_str(), Binding::Global)).collect();
                assert_eq!(table(&symbols), [("the_longest".into(), 16, 24)]);
            }
        }
    }

    #[test]
    fn a_symbol_inside_of_aliases() {
        use Binding::Global;
        let symbols = [(0, 100, "_a", Global), (0, 50, "a", Global), (60, 10, "b", Global)];
        let mut builder = Builder::default();
        let ends = |byte| byte == 0;
        let bytes = Bytes::new(b"_a\0a\0b\0".to_vec());
        builder.add_names(Names { bytes, source: Source::Symtab, ends });
        for ((start, size, _, binding), name) in symbols.into_iter().zip([0, 3, 5]) {
            builder.push(Candidate { start, end: start + size, name, names: 0, binding, is_unsized: false });
        }
        builder.choose(1000);
        let table = builder.finish(1000);
        let name = |address| table.find(address).map(|symbol| symbol.name);
        assert_eq!([name(0), name(49)], [Some(&b"a"[..]); 2]);
        assert_eq!([name(60), name(69)], [Some(&b"b"[..]); 2]);
        assert_eq!([name(55), name(70), name(99)], [None; 3], "the better name ends before them");
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn of_two_without_size_the_last_gets_the_end() {
        use Binding::Global;
        let names =
            table(&[(16, 0, "longer_name", Global), (16, 0, "name", Global), (32, 0, "last", Global)]);
        assert_eq!(names, [("name".into(), 16, 32), ("last".into(), 32, 8192)]);
    }

    #[test]
    fn symbols_inside_of_others() {
        let mut builder = Builder::default();
        let ends = |byte| byte == 0;
        builder.add_names(Names {
            bytes: Bytes::new(b"a\0b\0c\0d\0".to_vec()),
            source: Source::Symtab,
            ends,
        });
        let mut add = |start, end, name| {
            builder.push(Candidate {
                start,
                end,
                name,
                names: 0,
                binding: Binding::Global,
                is_unsized: false,
            });
        };
        add(0, 100, 0);
        add(10, 20, 2);
        add(12, 14, 4);
        add(200, 300, 6);
        let table = builder.finish(1000);
        let name = |address| table.find(address).map(|symbol| symbol.name);
        assert_eq!(name(0), Some(&b"a"[..]));
        assert_eq!(name(11), Some(&b"b"[..]));
        assert_eq!(name(13), Some(&b"c"[..]));
        assert_eq!(name(14), Some(&b"b"[..]));
        assert_eq!(name(20), Some(&b"a"[..]));
        assert_eq!(name(100), None);
        assert_eq!(name(199), None);
        assert_eq!(name(299), Some(&b"d"[..]));
        assert_eq!(name(300), None);
    }
}
