//! The spelling of libiberty, which perf uses, where `cpp_demangle` differs.

/// What a demangled name has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// Neither parameters and return type, nor the hash of Rust.
    Short,
    /// Like `Full` without the return type: of a function that something is in.
    Enclosing,
    /// All that is mangled.
    Full,
    /// Like `Full`, as simpleperf shows the names that captures have.
    Recorded,
}

/// Returns a demangled C++ name as libiberty spells it. `raw` is the mangled name.
pub(crate) fn of_libiberty(raw: &[u8], text: String, form: Form) -> String {
    let text = special(text);
    let text = abbreviated(raw, text);
    let text = match form {
        Form::Short => without_qualifiers(raw, text),
        Form::Enclosing | Form::Full | Form::Recorded => text,
    };
    let text = literals(&text);
    // A list of no template arguments after others; and the name of a namespace without one, in names of data.
    let text = text.replace("std::nullptr_t", "decltype(nullptr)");
    text.replace(", >", ">").replace("_GLOBAL__N_1", "(anonymous namespace)")
}

/// Names that are not of functions: `{vtable(A)}`, and `{virtual override thunk({offset(-16)}, A::f())}`.
fn special(text: String) -> String {
    let inner = |start: &str| text.strip_prefix(start).and_then(|rest| rest.strip_suffix(")}"));
    let function = |thunk: &'_ str| thunk.split_once(")}, ").map(|(_, name)| name.to_owned());
    if let Some(name) = inner("{vtable(") {
        format!("vtable for {name}")
    } else if let Some(name) = inner("{vtt(") {
        format!("VTT for {name}")
    } else if let Some(name) = inner("{virtual override thunk({virtual offset(").and_then(function) {
        format!("virtual thunk to {name}")
    } else if let Some(name) = inner("{virtual override thunk({offset(").and_then(function) {
        format!("non-virtual thunk to {name}")
    } else {
        text
    }
}

/// The abbreviations of `std`, which are spelled out in the names of their constructors and destructors.
const ABBREVIATIONS: [(u8, &str, &str); 4] = [
    (b's', "string", "basic_string<char, std::char_traits<char>, std::allocator<char> >"),
    (b'o', "ostream", "basic_ostream<char, std::char_traits<char> >"),
    (b'i', "istream", "basic_istream<char, std::char_traits<char> >"),
    (b'd', "iostream", "basic_iostream<char, std::char_traits<char> >"),
];

/// Spells `std::ostream::ostream` out, as `std::basic_ostream<char, std::char_traits<char> >::basic_ostream`.
fn abbreviated(raw: &[u8], mut text: String) -> String {
    // `cpp_demangle` spells these two out wherever they are.
    for (letter, short, long) in ABBREVIATIONS {
        if b"id".contains(&letter) && raw.windows(2).any(|pair| pair == [b'S', letter]) {
            text = text.replace(&format!("std::{long}"), &format!("std::{short}"));
        }
    }
    let Some([b'S', letter, b'C' | b'D', ..]) = raw.strip_prefix(b"_ZN") else { return text };
    let Some((_, short, long)) = ABBREVIATIONS.iter().find(|(it, ..)| it == letter) else { return text };
    let rest = text.strip_prefix("std::").and_then(|rest| rest.strip_prefix(short)?.strip_prefix("::"));
    let Some(rest) = rest else { return text };
    let (tilde, rest) = rest.strip_prefix('~').map_or(("", rest), |rest| ("~", rest));
    let class = long.split('<').next().unwrap_or(long);
    let Some(rest) = rest.strip_prefix(class).or_else(|| rest.strip_prefix(short)) else { return text };
    format!("std::{long}::{tilde}{class}{rest}")
}

/// Drops what follows the parameters: `&` and `&&` after a member function that is only for such objects, and `const` after
/// one of a local class, such as a lambda.
fn without_qualifiers(raw: &[u8], text: String) -> String {
    if raw.starts_with(b"_ZZ") {
        return text.strip_suffix(" const").map(str::to_owned).unwrap_or(text);
    }
    let is_for_reference = raw
        .strip_prefix(b"_ZN")
        .is_some_and(|rest| matches!(rest.iter().find(|byte| !b"rVK".contains(byte)), Some(b'R' | b'O')));
    match text.strip_suffix(" &&").or_else(|| text.strip_suffix(" &")) {
        Some(name) if is_for_reference => name.to_owned(),
        _ => text,
    }
}

/// The types of literals that have a suffix instead.
const LITERALS: [(&str, &str); 6] = [
    ("(int)", ""),
    ("(unsigned int)", "u"),
    ("(long)", "l"),
    ("(unsigned long)", "ul"),
    ("(long long)", "ll"),
    ("(unsigned long long)", "ull"),
];

/// Spells `(unsigned int)8` as `8u`.
fn literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('(') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let literal = LITERALS.iter().find_map(|(kind, suffix)| Some((from.strip_prefix(kind)?, *suffix)));
        let (after, number, suffix) = literal.map_or((from, "", ""), |(after, suffix)| {
            let digits =
                after.strip_prefix('-').unwrap_or(after).bytes().take_while(u8::is_ascii_digit).count();
            let sign = usize::from(after.starts_with('-'));
            let size = if digits == 0 { 0 } else { digits.saturating_add(sign) };
            after.split_at_checked(size).map_or((after, "", ""), |(number, after)| (after, number, suffix))
        });
        if number.is_empty() {
            out.push('(');
            rest = from.get(1..).unwrap_or_default();
        } else {
            out.push_str(number);
            out.push_str(suffix);
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use crate::demangle::demangle;

    /// As `c++filt -p` of binutils 2.40 prints them.
    #[test]
    fn as_libiberty() {
        for (raw, expected) in [
            ("_ZNSo3putEc", "std::ostream::put"),
            ("_ZNSoD1Ev", "std::basic_ostream<char, std::char_traits<char> >::~basic_ostream"),
            ("_ZNKSs6rbeginEv", "std::string::rbegin"),
            ("_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"),
            ("_ZTv0_n24_N1A1fEv", "virtual thunk to A::f()"),
            ("_ZTI1A", "typeinfo for A"),
            ("_ZTV1A", "vtable for A"),
            ("_ZTT1A", "VTT for A"),
            ("_ZGVZ1fvE1x", "guard variable for f()::x"),
            ("_Z1fILb1EEvv", "f<true>"),
            ("_Z1fILin5ELm7ELl8ELy9ELx4ELc65EEvv", "f<-5, 7ul, 8l, 9ull, 4ll, (char)65>"),
            ("_ZN1AcviEv", "A::operator int"),
            ("_ZNO1A1fEv", "A::f"),
            ("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f"),
            ("_ZN12_GLOBAL__N_18gGendersE", "(anonymous namespace)::gGenders"),
            ("_Z3foov.cold", "foo"),
            ("_Z3foov.constprop.0.isra.1", "foo"),
            ("_Z3runIJEEvv", "run<>"),
        ] {
            assert_eq!(String::from_utf8_lossy(&demangle(raw.as_bytes(), 1000)), expected, "{raw}");
        }
    }
}
