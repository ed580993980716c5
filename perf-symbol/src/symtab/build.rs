//! The symbols of a file, which become a table: those without a size get an end, and the best ones of each address are kept.

use core::sync::atomic::AtomicU32;
use std::sync::OnceLock;

use super::{NONE, SymbolNames, Symtab, SymtabEntry};

/// The number of symbols from which on sorting by radix takes fewer steps.
const MANY: usize = 1 << 10;

/// A symbol of a file, before one of each address is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SymbolCandidate {
    start: u64,
    end: u64,
    /// Offset in the names of this number.
    name: u32,
    names: u8,
    binding: Binding,
    /// Whether the file has no size for it, so that it ends where the next one starts.
    is_unsized: bool,
    /// Whether another symbol of the address is better.
    is_beaten: bool,
}

impl SymbolCandidate {
    /// Returns a symbol that ends at `end`, or where the next one starts if that is its start. `name` is the offset in the
    /// names of the number `names`.
    pub(crate) fn new(start: u64, end: u64, name: u32, names: u8, binding: Binding) -> Self {
        Self { start, end, name, names, binding, is_unsized: false, is_beaten: false }
    }
}

/// The binding of a symbol, as far as it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    Local,
    Global,
    Weak,
}

/// Whether a symbol ends at its page, by its name and that of the next symbol.
type EndsAtPage<'a> = &'a dyn Fn(&[u8], &[u8]) -> bool;

/// Candidates that become a table.
#[derive(Debug, Default)]
pub(crate) struct SymtabBuilder {
    names: Vec<SymbolNames>,
    candidates: Vec<SymbolCandidate>,
    /// The number of candidates at the front that are in order.
    sorted: usize,
}

impl SymtabBuilder {
    /// Adds bytes with names; returns their number. There are few of them.
    pub(crate) fn add_names(&mut self, names: SymbolNames) -> u8 {
        self.names.push(names);
        u8::try_from(self.names.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// Makes room for a number of candidates, so that they are not moved as the list grows.
    pub(crate) fn reserve(&mut self, candidates: usize) {
        self.candidates.reserve(candidates);
    }

    pub(crate) fn push(&mut self, candidate: SymbolCandidate) {
        self.candidates.push(candidate);
    }

    pub(crate) fn len(&self) -> usize {
        self.candidates.len()
    }

    fn name(&self, candidate: &SymbolCandidate) -> &[u8] {
        self.names.get(usize::from(candidate.names)).map_or(&[], |names| names.get(candidate.name))
    }

    /// Sorts by address, in the order of the file where addresses are equal.
    pub(crate) fn sort(&mut self) {
        if let Some(new) = self.candidates.get_mut(self.sorted..).filter(|new| new.len() >= MANY) {
            radsort::sort_by_key(new, |it| it.start);
        }
        // This merges lists that are in order.
        self.candidates.sort_by_key(|it| it.start);
        self.sorted = self.candidates.len();
    }

    /// Ends each symbol without a size at the next one. `ends_at_page` is whether a symbol ends at its page, if another
    /// one follows far away; `None` if it never does, so that no name is read.
    ///
    /// perf: `symbols__fixup_end`, `tools/perf/util/symbol.c`.
    pub(crate) fn end_symbols(&mut self, ends_at_page: Option<EndsAtPage<'_>>) {
        let mut next: Option<SymbolCandidate> = None;
        for index in (0..self.candidates.len()).rev() {
            let Some(mut it) = self.candidates.get(index).copied() else { continue };
            let following = next.replace(it);
            if it.end != it.start {
                continue;
            }
            it.is_unsized = true;
            let page = page_after(it.end.saturating_add(4096));
            // A symbol that follows within the page ends this one in any case: so most names need not be compared.
            let is_within = |next: &SymbolCandidate| it.start < next.start && next.start <= page;
            let ends_at_page = |next: &SymbolCandidate| {
                ends_at_page.is_some_and(|ends| ends(self.name(&it), self.name(next)))
            };
            it.end = match following {
                Some(next) if !is_within(&next) && ends_at_page(&next) => page,
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
    pub(crate) fn choose(&mut self) {
        for same in self.candidates.chunk_by_mut(|one, next| one.start == next.start) {
            if same.len() > 1 {
                let best = same.iter().map(rank).max();
                same.iter_mut().for_each(|it| it.is_beaten = Some(rank(it)) != best);
            }
        }
        self.candidates.retain(|it| !it.is_beaten);
        self.sorted = self.candidates.len();
    }

    /// Makes the table.
    pub(crate) fn finish(self, name_limit: usize) -> Symtab {
        let mut entries: Vec<SymtabEntry> = Vec::with_capacity(self.candidates.len());
        // Those that the next one may be inside of, the innermost last.
        let mut open: Vec<u32> = Vec::new();
        let mut of_addresses = self.candidates.chunk_by(|one, next| one.start == next.start);
        let mut next = of_addresses.next();
        while let Some(same @ [first, ..]) = next {
            next = of_addresses.next();
            // Entries of a PLT may have been added since the ends were set.
            let start_after = next.and_then(|same| same.first()).map_or(u64::MAX, |it| it.start);
            let entry = |index: u32| entries.get(usize::try_from(index).ok()?);
            while open.last().is_some_and(|&index| entry(index).is_none_or(|open| open.end <= first.start)) {
                open.pop();
            }
            let around = open.last().copied().unwrap_or(NONE);
            for it in same {
                let end = if it.is_unsized { it.end.min(start_after) } else { it.end };
                let Ok(index) = u32::try_from(entries.len()) else { break };
                open.push(index);
                let best = AtomicU32::new(0);
                entries.push(SymtabEntry {
                    start: it.start,
                    end,
                    name: it.name,
                    around,
                    names: it.names,
                    best,
                });
            }
        }
        Symtab { names: self.names, entries, name_limit, overloads: OnceLock::new() }
    }
}

/// Returns what makes a symbol of an address better than another one, but for its name.
///
/// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
fn rank(it: &SymbolCandidate) -> (bool, bool, bool) {
    (it.end > it.start, it.binding != Binding::Weak, it.binding == Binding::Global)
}

/// Returns the first address of the page after `address`, or `address` if that is the first one of a page.
fn page_after(address: u64) -> u64 {
    address.checked_next_multiple_of(4096).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileBytes;
    use crate::symtab::{NameEnd, NameSource};

    fn table(symbols: &[(u64, u64, &str, Binding)]) -> Vec<(String, u64, u64)> {
        let mut builder = SymtabBuilder::default();
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (_, _, name, _) in symbols {
            places.push(u32::try_from(names.len()).unwrap());
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        let ends = NameEnd::Zero;
        builder.add_names(SymbolNames { bytes: FileBytes::new(names), source: NameSource::Symtab, ends });
        for (&(start, size, _, binding), &name) in symbols.iter().zip(&places) {
            builder.push(SymbolCandidate::new(start, start + size, name, 0, binding));
        }
        builder.sort();
        builder.end_symbols(None);
        builder.choose();
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

    /// The longest wins, wherever it is.
    #[test]
    fn of_many_aliases_one_is_found() {
        for count in [1, 2, 3, 16, 300] {
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
    fn symbols_come_in_the_order_of_their_addresses() {
        for count in [1, MANY - 1, MANY, 3 * MANY] {
            let mut builder = SymtabBuilder::default();
            // Three of each address, the highest addresses first; of two tables.
            for table in 0..2 {
                let numbers = (0..count).map(|number| u32::try_from(number).unwrap());
                numbers.clone().for_each(|number| {
                    let start = u64::from((number / 3) ^ 0xffff_f0f0);
                    builder.push(SymbolCandidate::new(start, start + 1, number, table, Binding::Global));
                });
                builder.sort();
            }
            let sorted: Vec<_> = builder.candidates.iter().map(|it| (it.start, it.names, it.name)).collect();
            let mut expected = sorted.clone();
            expected.sort_unstable();
            assert!(sorted == expected && sorted.len() == 2 * count, "{count}");
        }
    }

    /// In a time that grows with their number, and not with its square.
    #[test]
    fn a_million_symbols_of_one_address() {
        use Binding::Global;
        let mut builder = SymtabBuilder::default();
        let bytes = FileBytes::new(b"first\0after\0".to_vec());
        builder.add_names(SymbolNames { bytes, source: NameSource::Symtab, ends: NameEnd::Zero });
        (0..1_000_000).for_each(|_| builder.push(SymbolCandidate::new(16, 24, 0, 0, Global)));
        builder.push(SymbolCandidate::new(32, 40, 6, 0, Global));
        builder.sort();
        builder.end_symbols(None);
        builder.choose();
        let table = builder.finish(1000);
        let found = [15, 16, 23, 24, 32].map(|address| table.find(address).map(|it| it.name));
        assert_eq!(found, [None, Some(&b"first"[..]), Some(b"first"), None, Some(b"after")]);
        assert_eq!((table.len(), table.iter().count()), (2, 2));
    }

    /// Beyond the limit of 1,000 bytes that `table` has, the length of a name counts no more, and the first one wins.
    #[test]
    fn names_beyond_the_limit_are_as_long_as_each_other() {
        use Binding::Global;
        let [short, at, above, long] = [999, 1000, 1001, 5000].map(|len| "n".repeat(len));
        let winner =
            |one: &str, other: &str| table(&[(16, 8, one, Global), (16, 8, other, Global)])[0].0.len();
        assert_eq!([winner(&short, &at), winner(&at, &short)], [1000; 2]);
        assert_eq!([winner(&at, &above), winner(&above, &at)], [1001; 2]);
        assert_eq!([winner(&above, &long), winner(&long, &above)], [1001, 5000]);
    }

    #[test]
    fn a_symbol_inside_of_aliases() {
        use Binding::Global;
        let symbols = [(0, 100, "_a", Global), (0, 50, "a", Global), (60, 10, "b", Global)];
        let mut builder = SymtabBuilder::default();
        let ends = NameEnd::Zero;
        let bytes = FileBytes::new(b"_a\0a\0b\0".to_vec());
        builder.add_names(SymbolNames { bytes, source: NameSource::Symtab, ends });
        for ((start, size, _, binding), name) in symbols.into_iter().zip([0, 3, 5]) {
            builder.push(SymbolCandidate::new(start, start + size, name, 0, binding));
        }
        builder.choose();
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
        let mut builder = SymtabBuilder::default();
        let ends = NameEnd::Zero;
        builder.add_names(SymbolNames {
            bytes: FileBytes::new(b"a\0b\0c\0d\0".to_vec()),
            source: NameSource::Symtab,
            ends,
        });
        let mut add = |start, end, name| {
            builder.push(SymbolCandidate::new(start, end, name, 0, Binding::Global));
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
