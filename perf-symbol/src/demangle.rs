//! Names as people read them: Rust and C++ demangled, as perf prints them.

use std::borrow::Cow;
use std::fmt::Write;

use crate::spelling::{self, Form};
use cpp_demangle::{BorrowedSymbol, DemangleOptions, ParseOptions};

/// Number of levels that a C++ name may nest.
const NESTING: u32 = 96;

/// Returns the name as people read it: of Rust without its hash, of C++ without parameters and return type, and without what
/// compilers append to the names of parts and copies of functions, such as `.cold`. A name that is not mangled, that is longer
/// than `limit` bytes, or whose demangled form would be, is returned as it is.
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
/// assert_eq!(*demangle(b"_RNvNtCs1234_7mycrate3foo3bar.cold", 1000), *b"mycrate::foo::bar");
/// assert_eq!(*demangle(b"main", 1000), *b"main");
/// ```
#[must_use]
pub fn demangle(name: &[u8], limit: usize) -> Cow<'_, [u8]> {
    in_form(name, limit, Form::Short)
}

/// Returns the name as people read it, with all that is mangled: of C++ with parameters, and of templates with the return
/// type; of Rust with its hash. Otherwise like [`demangle`].
///
/// perf: `demangle_sym` with `-v`, `tools/perf/util/symbol-elf.c`.
///
/// # Examples
///
/// ```
/// use perf_symbol::demangle_full;
///
/// assert_eq!(*demangle_full(b"_ZN3foo3barEii", 1000), *b"foo::bar(int, int)");
/// assert_eq!(*demangle_full(b"_Z1fIiEvT_", 1000), *b"void f<int>(int)");
/// assert_eq!(*demangle_full(b"_ZN3foo3bar17h0123456789abcdefE", 1000), *b"foo::bar::h0123456789abcdef");
/// ```
#[must_use]
pub fn demangle_full(name: &[u8], limit: usize) -> Cow<'_, [u8]> {
    in_form(name, limit, Form::Full)
}

pub(crate) fn in_form(name: &[u8], limit: usize, form: Form) -> Cow<'_, [u8]> {
    let demangled = match form {
        _ if name.len() > limit => None,
        Form::Recorded => recorded(name, limit),
        Form::Short | Form::Enclosing | Form::Full => demangled(name, limit, form),
    };
    demangled.map_or(Cow::Borrowed(name), |text| Cow::Owned(text.into_bytes()))
}

/// Returns a name of C++ without what compilers append to the names of parts and copies of functions; `None` for other names.
pub(crate) fn of_cpp(name: &[u8]) -> Option<&[u8]> {
    let is_cpp = name.starts_with(b"_Z") && end_of_rust(name).is_none();
    is_cpp.then(|| without_clone(name))
}

fn demangled(name: &[u8], limit: usize, form: Form) -> Option<String> {
    if !name.starts_with(b"_Z") && !name.starts_with(b"_R") && !name.starts_with(b"__Z") {
        return None;
    }
    if let Some(end) = end_of_rust(name)
        && let Some(rust) = name
            .get(..end)
            .and_then(|name| std::str::from_utf8(name).ok())
            .and_then(|name| rustc_demangle::try_demangle(name).ok())
    {
        let mut out = BoundedText { text: String::new(), limit };
        let written = match form {
            Form::Short | Form::Enclosing => write!(out, "{rust:#}"),
            Form::Full | Form::Recorded => write!(out, "{rust}"),
        };
        return written.is_ok().then_some(out.text);
    }
    cpp(name, limit, form)
}

/// Demangles a name as simpleperf does: what compilers append is in parentheses, and functions of the dynamic linker are marked.
///
/// simpleperf: `Dso::Demangle`, `system/extras/simpleperf/dso.cpp`.
fn recorded(name: &[u8], limit: usize) -> Option<String> {
    let of_linker = name.strip_prefix(b"__dl_");
    let name = of_linker.unwrap_or(name);
    let mark = if of_linker.is_some() { "[linker]" } else { "" };
    let text = demangled(name, limit, Form::Recorded);
    let end = of_cpp(name).map_or(name.len(), <[u8]>::len);
    let appended = std::str::from_utf8(name.get(end..).unwrap_or_default()).ok();
    let text = match (text, appended) {
        (Some(text), None | Some("")) => text,
        (Some(text), Some(appended)) => format!("{text} ({appended})"),
        (None, _) => String::from_utf8(of_linker?.to_vec()).ok()?,
    };
    Some(format!("{mark}{text}")).filter(|text| text.len() <= limit)
}

/// Returns where a name of Rust ends; `None` if it is of C++. Names of the older scheme have a hash there, `17h` and 16
/// digits, and may have dots before it.
fn end_of_rust(name: &[u8]) -> Option<usize> {
    if name.starts_with(b"_R") {
        return Some(name.iter().position(|&byte| byte == b'.').unwrap_or(name.len()));
    }
    const HASH: usize = 20;
    let is_hash = |part: &[u8]| {
        // Names are many and long: most windows end here, without a call.
        if part.first() != Some(&b'1') {
            return false;
        }
        let digits = part.strip_prefix(b"17h").and_then(|rest| rest.strip_suffix(b"E"));
        digits.is_some_and(|digits| digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    name.windows(HASH).position(is_hash).map(|start| start.saturating_add(HASH))
}

/// Clones by the compiler, such as `.cold` and `.part.0`, have the name of the function, as perf prints them.
fn without_clone(name: &[u8]) -> &[u8] {
    let is_of_clone = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
    let dot = name.iter().position(|&byte| byte == b'.').unwrap_or(name.len());
    let (start, clone) = name.split_at(dot);
    if clone.iter().all(is_of_clone) { start } else { name }
}

fn cpp(name: &[u8], limit: usize, form: Form) -> Option<String> {
    let name = without_clone(name);
    let parse = ParseOptions::default().recursion_limit(NESTING);
    // What follows the mangled name, such as a version, is dropped too. simpleperf does not demangle such a name.
    let (symbol, after) = BorrowedSymbol::with_tail_and_options(name, &parse).ok()?;
    if form == Form::Recorded && !after.is_empty() {
        return None;
    }
    let options = DemangleOptions::new().recursion_limit(NESTING);
    // Those of what is not a function itself, such as a thunk to one, are printed.
    let is_special = name.starts_with(b"_ZT") || name.starts_with(b"_ZG");
    let options = match form {
        _ if is_special => options,
        Form::Short => options.no_params().no_return_type(),
        Form::Enclosing => options.no_return_type(),
        Form::Full | Form::Recorded => options,
    };
    let mut out = BoundedText { text: String::new(), limit };
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(spelling::of_libiberty(name, out.text, form))
}

/// Text up to a number of bytes.
struct BoundedText {
    text: String,
    limit: usize,
}

impl Write for BoundedText {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        if self.text.len().saturating_add(part.len()) > self.limit {
            return Err(std::fmt::Error);
        }
        self.text.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `simpleperf report` prints them.
    #[test]
    fn recorded_names() {
        let of = |name: &[u8]| String::from_utf8(in_form(name, 1000, Form::Recorded).into_owned()).unwrap();
        assert_eq!(
            of(b"_ZN3art10membarrierENS_17MembarrierCommandE"),
            "art::membarrier(art::MembarrierCommand)"
        );
        assert_eq!(of(b"__dl__ZL10dlopen_extPKc"), "[linker]dlopen_ext(char const*)");
        assert_eq!(of(b"__dl_memcpy"), "[linker]memcpy");
        assert_eq!(of(b"_Z1fv.llvm.12"), "f() (.llvm.12)");
        assert_eq!(of(b"do_mem_abort.cfi"), "do_mem_abort.cfi", "it is not mangled");
        assert_eq!(of(b"java.lang.Thread.run"), "java.lang.Thread.run");
        assert_eq!(of(b"_Z1fv$c303"), "_Z1fv$c303", "something follows");
        let long = [b"__dl_".as_slice(), &[b'n'; 995]].concat();
        assert_eq!(of(&long).len(), 1000, "with the mark it would be longer");
    }

    #[test]
    fn what_compilers_append_is_left_out() {
        for appended in ["", ".cold", ".llvm.936271.warm", ".part.0.constprop.1"] {
            let of = |name: &str| demangle(format!("{name}{appended}").as_bytes(), 1000).into_owned();
            assert_eq!(of("_RNvNtCs1234_7mycrate3foo3bar"), b"mycrate::foo::bar");
            let older = "_ZN48_$LT$my..Crate$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE";
            assert_eq!(of(older), b"<my::Crate as core::fmt::Display>::fmt");
            assert_eq!(of("_ZN3foo3barEii"), b"foo::bar");
        }
        assert_eq!(*demangle(b"main.cold", 1000), *b"main.cold", "it is not mangled");
    }
}
