//! The symbols of a kernel, by the text of `/proc/kallsyms`.

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::cancellation::Cancellation;
use crate::limits::SymbolLimits;
use crate::no_symbols::NoSymbols;
use crate::symtab::{
    Binding, NameEnd, NameSource, SymbolCandidate, SymbolNames, Symtab, SymtabBuilder, first_word,
};

/// The symbols of a kernel and its modules, as `/proc/kallsyms` has them.
#[derive(Clone, Debug, Default)]
pub struct Kallsyms {
    text: FileBytes,
    symtab: Symtab,
    skipped: u64,
}

impl Kallsyms {
    /// Reads the text of `/proc/kallsyms`, or a copy of it. Lines that are not `ADDRESS TYPE NAME` are skipped and counted.
    ///
    /// perf: `dso__load_all_kallsyms`, `tools/perf/util/symbol.c`.
    ///
    /// # Errors
    ///
    /// [`NoSymbols::Hidden`] if all addresses are zero, [`NoSymbols::NotInTable`] if there is no symbol.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::{FileBytes, Kallsyms, SymbolLimits, NoSymbols};
    ///
    /// let text = "ffffffff81000000 T _text\nffffffff81001000 t start\nffffffffc0001000 t init\t[ext4]\n";
    /// let kallsyms = Kallsyms::parse(FileBytes::new(text), &SymbolLimits::default())?;
    /// let symbol = kallsyms.symtab().find(0xffff_ffff_8100_1010).unwrap();
    /// assert_eq!(symbol.name, b"start");
    /// assert_eq!(kallsyms.address(b"_text"), Some(0xffff_ffff_8100_0000));
    ///
    /// let hidden = "0000000000000000 T _text\n";
    /// assert_eq!(Kallsyms::parse(FileBytes::new(hidden), &SymbolLimits::default()).unwrap_err(), NoSymbols::Hidden);
    /// # Ok::<(), NoSymbols>(())
    /// ```
    pub fn parse(text: FileBytes, limits: &SymbolLimits) -> Result<Self, NoSymbols> {
        Self::read(text, ReadBounds::new(limits, &Cancellation::default()))
    }

    /// Like [`parse`](Self::parse), until it is cancelled: [`NoSymbols::Cancelled`].
    pub(crate) fn read(text: FileBytes, limits: ReadBounds<'_>) -> Result<Self, NoSymbols> {
        let mut builder = SymtabBuilder::default();
        let names = builder.add_names(SymbolNames {
            bytes: text.clone(),
            source: NameSource::Kallsyms,
            ends: NameEnd::Word,
        });
        let (mut skipped, mut is_hidden, mut at) = (0u64, true, 0usize);
        let bytes: &[u8] = &text;
        for number in 0_usize.. {
            let Some(line) = bytes.get(at..).and_then(first_line) else { break };
            if limits.cancellation.is_cancelled_at(number) {
                return Err(NoSymbols::Cancelled);
            }
            let start = at;
            at = at.saturating_add(line.len());
            let Some((address, kind, name_at)) = parse_line(line) else {
                skipped = skipped.saturating_add(1);
                continue;
            };
            is_hidden &= address == 0;
            // Others are constants. `$x` and the like are of Arm's modules.
            let is_wanted = matches!(kind.to_ascii_uppercase(), b'T' | b'W' | b'D' | b'B');
            if !is_wanted || line.get(name_at) == Some(&b'$') {
                continue;
            }
            let name = u32::try_from(start.saturating_add(name_at));
            let (Ok(name), true) = (name, builder.len() < limits.symbols) else {
                skipped = skipped.saturating_add(1);
                continue;
            };
            builder.push(SymbolCandidate::new(address, address, name, names, binding(kind)));
        }
        if builder.len() == 0 {
            return Err(NoSymbols::NotInTable);
        }
        if is_hidden {
            return Err(NoSymbols::Hidden);
        }
        builder.sort();
        if limits.cancellation.is_cancelled() {
            return Err(NoSymbols::Cancelled);
        }
        // The gap between the kernel and its modules is large.
        builder.end_symbols(Some(&|one, next| has_module(&text, one) != has_module(&text, next)));
        builder.choose();
        Ok(Self { symtab: builder.finish(limits.name), text, skipped })
    }

    /// Returns the table of symbols.
    #[must_use]
    pub fn symtab(&self) -> &Symtab {
        &self.symtab
    }

    /// Returns the number of lines that were skipped.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns whether a name of the table is that of a module's symbol.
    pub(crate) fn is_of_module(&self, name: &[u8]) -> bool {
        has_module(&self.text, name)
    }

    /// Returns the address of the first symbol of a name, whatever its type; `None` if there is none. Reads the text up to
    /// that symbol.
    #[must_use]
    pub fn address(&self, name: &[u8]) -> Option<u64> {
        self.text.split(|&byte| byte == b'\n').find_map(|line| {
            let (address, _, at) = parse_line(line)?;
            (first_word(line.get(at..)?) == name).then_some(address)
        })
    }
}

/// Returns the first line, with its end; `None` after the last one.
fn first_line(text: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |end| end.saturating_add(1));
    text.get(..end).filter(|line| !line.is_empty())
}

/// Returns whether a module follows a name, which is a part of the text.
fn has_module(text: &[u8], name: &[u8]) -> bool {
    let end = (name.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).saturating_add(name.len());
    text.get(end) == Some(&b'\t')
}

fn ends_name(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b' ' | 0)
}

/// Returns address, type and offset of the name of a line; `None` if it has none of these.
fn parse_line(line: &[u8]) -> Option<(u64, u8, usize)> {
    let (address, digits) = hex(line)?;
    let [b' ', kind, b' ', name, ..] = line.get(digits..)? else { return None };
    (!ends_name(*name)).then_some((address, *kind, digits.checked_add(3)?))
}

/// Returns the hexadecimal number at the start, and its number of digits; `None` if there is none or if it is too large.
pub(crate) fn hex(text: &[u8]) -> Option<(u64, usize)> {
    let (mut number, mut digits) = (0_u64, 0_usize);
    for &byte in text {
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        if digits == 16 {
            return None;
        }
        number = number << 4 | u64::from(digit);
        digits = digits.saturating_add(1);
    }
    (digits > 0).then_some((number, digits))
}

/// perf: `kallsyms2elf_binding`, `tools/lib/symbol/kallsyms.h`.
fn binding(kind: u8) -> Binding {
    match kind {
        b'W' => Binding::Weak,
        kind if kind.is_ascii_uppercase() => Binding::Global,
        _ => Binding::Local,
    }
}
