//! Names as people read them: Rust and C++ demangled, as perf prints them.

use std::borrow::Cow;
use std::fmt::Write;

use crate::spelling;
use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Number of levels that a C++ name may nest.
const NESTING: u32 = 96;

/// Returns the name as people read it: of Rust without its hash, of C++ without parameters and return type. A name that is
/// not mangled, that is longer than `limit` bytes, or whose demangled form would be, is returned as it is.
///
/// perf: `demangle_sym`, `tools/perf/util/symbol-elf.c`.
///
/// # Examples
///
/// ```
/// use perf_symbol::demangle;
///
/// assert_eq!(*demangle(b"_ZN3foo3barEii", 1000), *b"foo::bar");
/// assert_eq!(*demangle(b"_ZN4core3fmt5write17h0123456789abcdefE", 1000), *b"core::fmt::write");
/// assert_eq!(*demangle(b"_RNvNtCs1234_7mycrate3foo3bar", 1000), *b"mycrate::foo::bar");
/// assert_eq!(*demangle(b"main", 1000), *b"main");
/// ```
#[must_use]
pub fn demangle(name: &[u8], limit: usize) -> Cow<'_, [u8]> {
    let demangled = if name.len() > limit { None } else { demangled(name, limit) };
    demangled.map_or(Cow::Borrowed(name), |text| Cow::Owned(text.into_bytes()))
}

fn demangled(name: &[u8], limit: usize) -> Option<String> {
    if !name.starts_with(b"_Z") && !name.starts_with(b"_R") && !name.starts_with(b"__Z") {
        return None;
    }
    if (name.starts_with(b"_R") || has_hash(name))
        && let Some(rust) =
            std::str::from_utf8(name).ok().and_then(|name| rustc_demangle::try_demangle(name).ok())
    {
        let mut out = Bounded { text: String::new(), limit };
        return write!(out, "{rust:#}").is_ok().then_some(out.text);
    }
    cpp(name, limit)
}

/// Whether a name has the hash that ends names of the older scheme of Rust, `17h` and 16 digits. Otherwise it is of C++.
fn has_hash(name: &[u8]) -> bool {
    name.windows(20).any(|part| {
        let digits = part.strip_prefix(b"17h").and_then(|rest| rest.strip_suffix(b"E"));
        digits.is_some_and(|digits| digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    })
}

fn cpp(name: &[u8], limit: usize) -> Option<String> {
    // Clones by the compiler, such as `.cold` and `.part.0`, have the name of the function, as perf prints them.
    let is_of_clone = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
    let dot = name.iter().position(|&byte| byte == b'.').unwrap_or(name.len());
    let (start, clone) = name.split_at(dot);
    let name = if clone.iter().all(is_of_clone) { start } else { name };
    let parse = ParseOptions::default().recursion_limit(NESTING);
    // What follows the mangled name, such as a version, is dropped too.
    let (symbol, _) = BorrowedSymbol::with_tail_and_options(name, &parse).ok()?;
    let options = DemangleOptions::new().recursion_limit(NESTING);
    // Those of what is not a function itself, such as a thunk to one, are printed.
    let is_special = name.starts_with(b"_ZT") || name.starts_with(b"_ZG");
    let options = if is_special { options } else { options.no_params().no_return_type() };
    let mut out = Bounded { text: String::new(), limit };
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(spelling::of_libiberty(name, out.text))
}

/// Text up to a number of bytes.
struct Bounded {
    text: String,
    limit: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len().saturating_add(part.len()) > self.limit {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}
