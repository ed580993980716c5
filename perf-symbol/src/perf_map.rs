//! `/tmp/perf-PID.map`, in which a program names the code that it generated.

use core::ops::Range;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::kallsyms::hex;
use crate::limits::SymbolLimits;
use crate::overlay::Overlay;
use crate::symtab::{NameSource, Symbol};

/// The names of generated code, as a program writes them to `/tmp/perf-PID.map`.
#[derive(Clone, Debug, Default)]
pub struct PerfMap {
    text: FileBytes,
    entries: Vec<PerfMapEntry>,
    overlay: Overlay,
    skipped: u64,
}

#[derive(Clone, Copy, Debug)]
struct PerfMapEntry {
    start: u64,
    end: u64,
    /// The place of the name in the text.
    name: usize,
    name_end: usize,
}

impl PerfMap {
    /// Reads lines of `START SIZE NAME`, both numbers in hexadecimal, with `0x` or without. Spaces or tabs separate the three,
    /// and a line may end with CR LF. Where lines overlap, the later one counts: its code replaced the earlier. Other lines are
    /// skipped and counted.
    ///
    /// perf: `dso__load_perf_map`, `tools/perf/util/symbol.c`.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::{FileBytes, SymbolLimits, PerfMap};
    ///
    /// let map = PerfMap::parse(FileBytes::new("1000 20 LazyCompile:~f a.js:1\nhello\n"), &SymbolLimits::default());
    /// assert_eq!(map.find(0x1010).unwrap().name, b"LazyCompile:~f a.js:1");
    /// assert!(map.find(0x1020).is_none());
    /// assert_eq!(map.skipped(), 1);
    /// ```
    #[must_use]
    pub fn parse(text: FileBytes, limits: &SymbolLimits) -> Self {
        Self::read(text, ReadBounds::new(limits, &Cancellation::default()))
    }

    /// Like [`parse`](Self::parse), up to the line at which it is cancelled.
    pub(crate) fn read(text: FileBytes, limits: ReadBounds<'_>) -> Self {
        let mut it = Self { text: text.clone(), ..Self::default() };
        let mut at = 0usize;
        for (number, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if limits.cancellation.is_cancelled_at(number) {
                break;
            }
            let entry = parse_line(line).filter(|_| it.entries.len() < limits.symbols);
            match entry {
                Some(entry) => it.entries.push(PerfMapEntry {
                    name: at.saturating_add(entry.name),
                    name_end: at.saturating_add(entry.name_end),
                    ..entry
                }),
                None => it.skipped = it.skipped.saturating_add(1),
            }
            at = at.saturating_add(line.len());
        }
        let ranges: Vec<_> = it.entries.iter().map(|entry| (entry.start, entry.end)).collect();
        it.overlay = Overlay::new(&ranges);
        it
    }

    /// Returns the symbol that has an address; `None` if none has it.
    #[must_use]
    pub fn find(&self, address: u64) -> Option<Symbol<'_>> {
        self.symbol(self.overlay.find(address, u32::MAX)?)
    }

    /// Returns the symbols by address: each with the addresses for which [`find`](Self::find) returns it, several times if it was
    /// replaced in part.
    pub fn visible(&self) -> impl Iterator<Item = Symbol<'_>> {
        let symbol = |(range, number): (Range<u64>, u32)| {
            Some(Symbol { start: range.start, end: range.end, ..self.symbol(number)? })
        };
        self.overlay.visible().filter_map(symbol)
    }

    /// Returns the symbol of an entry.
    fn symbol(&self, number: u32) -> Option<Symbol<'_>> {
        let entry = self.entries.get(usize::try_from(number).ok()?)?;
        let name = self.text.get(entry.name..entry.name_end)?;
        Some(Symbol { name, start: entry.start, end: entry.end, source: NameSource::PerfMap })
    }

    /// Returns the number of bytes of the table, without the text.
    pub(crate) fn size(&self) -> usize {
        self.entries.capacity().saturating_mul(size_of::<PerfMapEntry>()).saturating_add(self.overlay.size())
    }

    /// Returns the number of lines that were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

/// Parses a line; the name is a place in the line.
fn parse_line(line: &[u8]) -> Option<PerfMapEntry> {
    let line = without_end(line);
    let number = |at: usize| {
        let rest = line.get(at..)?;
        // Some programs write the prefix.
        let prefix = if rest.starts_with(b"0x") || rest.starts_with(b"0X") { 2usize } else { 0 };
        let (number, digits) = hex(rest.get(prefix..)?)?;
        let end = at.checked_add(prefix)?.checked_add(digits)?;
        let blanks = line.get(end..)?.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count();
        (blanks > 0).then_some((number, end.checked_add(blanks)?))
    };
    let (start, at) = number(0)?;
    let (size, name) = number(at)?;
    // Without a size, it has its first byte.
    let end = start.saturating_add(size.max(1));
    (name < line.len()).then_some(PerfMapEntry { start, end, name, name_end: line.len() })
}

/// Returns a line without what ends it.
fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_line_counts() {
        let text = "1000 100 first\n1040 10 second\n2000 0 empty\n0x3000 0x10 with prefixes\n";
        let map = PerfMap::parse(FileBytes::new(text), &SymbolLimits::default());
        let name =
            |address| map.find(address).map(|symbol| String::from_utf8_lossy(symbol.name).into_owned());
        assert_eq!(name(0x1000).as_deref(), Some("first"));
        assert_eq!(name(0x1040).as_deref(), Some("second"));
        assert_eq!(name(0x1050).as_deref(), Some("first"));
        assert_eq!(name(0x2000).as_deref(), Some("empty"));
        assert_eq!(name(0x2001), None);
        assert_eq!(name(0x3008).as_deref(), Some("with prefixes"));
        // The offset in a symbol is from its start, though another one is in between.
        assert_eq!(map.find(0x1050).unwrap().start, 0x1000);
        let visible = map.visible().map(|it| (it.start, it.end, it.name)).collect::<Vec<_>>();
        assert_eq!(visible[..2], [(0x1000, 0x1040, &b"first"[..]), (0x1040, 0x1050, b"second")]);
        assert_eq!(visible[2..4], [(0x1050, 0x1100, &b"first"[..]), (0x2000, 0x2001, b"empty")]);
        assert_eq!(map.skipped(), 0);
    }

    #[test]
    fn numbers_of_each_spelling_and_lines_that_repeat() {
        let text = "0XABC0 0X10 upper\nabd0 8 first\nABD0 8 again\n0xabd0\t0\tempty\n";
        let map = PerfMap::parse(FileBytes::new(text), &SymbolLimits::default());
        let name =
            |address| map.find(address).map(|symbol| String::from_utf8_lossy(symbol.name).into_owned());
        assert_eq!(name(0xabcf).as_deref(), Some("upper"));
        assert_eq!(name(0xabd0).as_deref(), Some("empty"));
        assert_eq!(name(0xabd7).as_deref(), Some("again"));
        assert_eq!((name(0xabd8), map.skipped()), (None, 0));
    }

    #[test]
    fn other_lines_are_skipped() {
        for line in [
            "",
            "x 10 name",
            "10 name",
            "10 10",
            "10 10 ",
            "10 10 \r",
            "10\t10\t\t",
            "10\r10 name",
            "10 x name",
            "11111111111111111 1 name",
            " 10 1 n",
        ] {
            let map = PerfMap::parse(FileBytes::new(format!("{line}\n5 1 last")), &SymbolLimits::default());
            assert_eq!(map.skipped(), 1, "{line}");
            assert_eq!(map.find(5).unwrap().name, b"last");
        }
    }

    #[test]
    fn tabs_and_line_ends_of_windows() {
        let text = "1000\t10\tfirst function\n2000  10 \t second\r\n3000 10\tthird\tname \r\n4000 10 a\rb\n5000 10 c\r";
        let map = PerfMap::parse(FileBytes::new(text), &SymbolLimits::default());
        let name =
            |address| map.find(address).map(|symbol| String::from_utf8_lossy(symbol.name).into_owned());
        assert_eq!(name(0x1000).as_deref(), Some("first function"));
        assert_eq!(name(0x200f).as_deref(), Some("second"));
        // Blanks in the name are the name's.
        assert_eq!(name(0x3000).as_deref(), Some("third\tname "));
        assert_eq!(name(0x4000).as_deref(), Some("a\rb"));
        assert_eq!(name(0x5000).as_deref(), Some("c"));
        assert_eq!(map.skipped(), 0);
    }

    #[test]
    fn no_more_than_the_limit() {
        let limits = SymbolLimits { symbols: 1, ..SymbolLimits::default() };
        let map = PerfMap::parse(FileBytes::new("1 1 a\n5 1 b\n"), &limits);
        assert_eq!((map.find(1).is_some(), map.find(5).is_some(), map.skipped()), (true, false, 1));
    }
}
