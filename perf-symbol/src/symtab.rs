//! A table of symbols by address.

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
    entries: Vec<Entry>,
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

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u64,
    end: u64,
    name: u32,
    /// The last entry before this one that ends after the start of this one; [`NONE`] if there is none.
    around: u32,
    names: u8,
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
            it.end = match following {
                Some(next) if ends_at_page(self.name(&it), self.name(&next)) => {
                    page_after(it.end.saturating_add(4096))
                }
                Some(next) => next.start,
                None => page_after(it.start).saturating_add(4096),
            };
            if let Some(place) = self.candidates.get_mut(index) {
                *place = it;
            }
        }
    }

    /// Keeps one symbol of each address.
    ///
    /// perf: `symbols__fixup_duplicate`, `tools/perf/util/symbol.c`.
    pub(crate) fn choose(&mut self, name_limit: usize) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.dedup_by(|next, kept| {
            if next.start != kept.start {
                return false;
            }
            if !self.is_better(kept, next, name_limit) {
                *kept = *next;
            }
            true
        });
        self.candidates = candidates;
    }

    /// Whether `one` is the better name of an address.
    ///
    /// perf: `choose_best_symbol`, `tools/perf/util/symbol.c`.
    fn is_better(&self, one: &Candidate, other: &Candidate, name_limit: usize) -> bool {
        let has_size = |it: &Candidate| it.end > it.start;
        if has_size(one) != has_size(other) {
            return has_size(one);
        }
        let is = |it: &Candidate, binding| it.binding == binding;
        if is(one, Binding::Weak) != is(other, Binding::Weak) {
            return is(other, Binding::Weak);
        }
        if is(one, Binding::Global) != is(other, Binding::Global) {
            return is(one, Binding::Global);
        }
        let (one, other) = (demangle(self.name(one), name_limit), demangle(self.name(other), name_limit));
        let underscores = |name: &[u8]| name.iter().take_while(|&&byte| byte == b'_').count();
        match underscores(&one).cmp(&underscores(&other)).then(other.len().cmp(&one.len())) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            // Other names of system calls, of kernels before 4.17.
            std::cmp::Ordering::Equal => !one.starts_with(b"SyS") && !one.starts_with(b"compat_SyS"),
        }
    }

    /// Makes the table.
    pub(crate) fn finish(self) -> Symtab {
        let mut entries: Vec<Entry> = Vec::with_capacity(self.candidates.len());
        // Those that the next one may be inside of, the innermost last.
        let mut open: Vec<u32> = Vec::new();
        for (place, it) in self.candidates.iter().enumerate() {
            // Entries of a PLT may have been added since its end was set.
            let next = self.candidates.get(place.saturating_add(1)).map_or(u64::MAX, |next| next.start);
            let end = if it.is_unsized { it.end.min(next) } else { it.end };
            let ends_before = |index: u32| {
                usize::try_from(index)
                    .ok()
                    .and_then(|index| entries.get(index))
                    .is_none_or(|o| o.end <= it.start)
            };
            while open.last().is_some_and(|&index| ends_before(index)) {
                open.pop();
            }
            let around = open.last().copied().unwrap_or(NONE);
            let Ok(index) = u32::try_from(entries.len()) else { break };
            open.push(index);
            entries.push(Entry { start: it.start, end, name: it.name, around, names: it.names });
        }
        Symtab { names: self.names, entries }
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
        let mut entry = self.entries.get(after.checked_sub(1)?)?;
        for _ in 0..NESTING {
            if address < entry.end {
                return Some(self.symbol(entry));
            }
            entry = self.entries.get(usize::try_from(entry.around).ok()?)?;
        }
        None
    }

    /// Returns the number of symbols.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there is no symbol.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the symbols by their first addresses.
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.entries.iter().map(|entry| self.symbol(entry))
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
        let table = builder.finish();
        table.iter().map(|it| (String::from_utf8_lossy(it.name).into_owned(), it.start, it.end)).collect()
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
        let table = builder.finish();
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
