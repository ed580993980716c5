//! Functions of C++ in one file that have the same name without their parameters.

use super::Symtab;
use crate::demangle::{in_form, of_cpp};
use crate::spelling::Form;

/// The mangled names of C++ of a table of symbols, in their order.
///
/// A mangled name has the parameters after all else, so that functions with the same name stand next to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overloads {
    /// Their numbers in the table.
    names: Box<[u32]>,
}

impl Overloads {
    /// Orders the names of a table. Names longer than `limit` bytes are left out.
    pub(crate) fn of(symtab: &Symtab, limit: usize) -> Self {
        // A damaged file may have any number of names that share the bytes of a long one; honest ones share few.
        const TIMES: usize = 4;
        let mut room = symtab.size_of_names().saturating_mul(TIMES);
        // With the names themselves and their starts: to find or to read them takes much longer than to compare the starts.
        let mut names: Vec<(u128, &[u8], u32)> = Vec::new();
        for number in 0..symtab.name_count() {
            let Some(name) = symtab.name_with(number, PREFIX, limit.saturating_add(1)) else { continue };
            let Some(rest) = room.checked_sub(name.len()) else { break };
            room = rest;
            if let Some(mangled) = mangled(name).filter(|_| name.len() <= limit) {
                names.push((start(mangled), mangled, number));
            }
        }
        names.sort_unstable();
        names.dedup_by_key(|it| it.1);
        Self { names: names.into_iter().map(|(_, _, number)| number).collect() }
    }

    /// Returns whether another function of the table has the same name as this one without its parameters, and another with
    /// them.
    pub(crate) fn has_other(&self, symtab: &Symtab, name: &[u8], limit: usize) -> bool {
        let Some(name) = mangled(name).filter(|name| name.len() <= limit) else { return false };
        let short = in_form(name, limit, Form::Short);
        let full = in_form(name, limit, Form::Full);
        let is_other = |other: &[u8]| {
            in_form(other, limit, Form::Short) == short && in_form(other, limit, Form::Full) != full
        };
        let at = |place: usize| self.names.get(place).and_then(|&number| name_of(symtab, number));
        variants(name).iter().any(|variant| {
            let is_before = |&number: &u32| name_of(symtab, number).is_some_and(|it| it < variant.as_slice());
            let place = self.names.partition_point(is_before);
            // The variant itself may be at the place.
            let around = [place.checked_sub(1), Some(place), place.checked_add(1)];
            around.into_iter().flatten().filter_map(at).any(is_other)
        })
    }
}

/// What mangled names of C++ begin with.
const PREFIX: &[u8] = b"_Z";

fn name_of(symtab: &Symtab, number: u32) -> Option<&[u8]> {
    symtab.name_with(number, PREFIX, usize::MAX).and_then(mangled)
}

/// Returns the mangled name of a function of C++, without what compilers append to those of its parts; `None` for other names.
/// Those of data, such as vtables, and of thunks are printed whole.
fn mangled(name: &[u8]) -> Option<&[u8]> {
    of_cpp(name).filter(|name| !name.starts_with(b"_ZT") && !name.starts_with(b"_ZG"))
}

/// Returns the first 16 bytes after the prefix as a number, with the order that the names have.
fn start(mangled: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    for (to, &from) in bytes.iter_mut().zip(mangled.iter().skip(PREFIX.len())) {
        *to = from;
    }
    u128::from_be_bytes(bytes)
}

/// Returns a mangled name with each spelling of what is not printed without the parameters: whether a member function is
/// `const`, and which of its constructors or destructors a class has.
fn variants(name: &[u8]) -> Vec<Vec<u8>> {
    let mut variants = vec![name.to_vec()];
    if let Some(rest) = name.strip_prefix(b"_ZNK") {
        variants.push([b"_ZN", rest].concat());
    } else if let Some(rest) = name.strip_prefix(b"_ZN") {
        variants.push([b"_ZNK", rest].concat());
    }
    for kinds in [&[b"C1E", b"C2E", b"C3E"], &[b"D0E", b"D1E", b"D2E"]] {
        let is_kind = |window: &[u8]| kinds.iter().any(|kind| *kind == window);
        if let Some(at) = name.windows(3).rposition(is_kind) {
            let (before, after) = (name.get(..at).unwrap_or_default(), name.get(at.saturating_add(3)..));
            variants.extend(kinds.iter().map(|kind| [before, *kind, after.unwrap_or_default()].concat()));
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::FileBytes;
    use crate::symtab::{Binding, NameEnd, NameSource, SymbolCandidate, SymbolNames, SymtabBuilder};

    fn table(names: &[&str]) -> Symtab {
        let text = names.join("\0").into_bytes();
        let mut builder = SymtabBuilder::default();
        let ends = NameEnd::Zero;
        builder.add_names(SymbolNames { bytes: FileBytes::new(text), source: NameSource::Symtab, ends });
        let mut at = 0;
        for (name, number) in names.iter().zip(1..) {
            builder.push(SymbolCandidate::new(16 * number, 16 * number + 16, at, 0, Binding::Global));
            at += u32::try_from(name.len() + 1).unwrap();
        }
        builder.finish(1000)
    }

    fn has_other(names: &[&str], name: &str) -> bool {
        let symtab = table(names);
        Overloads::of(&symtab, 1000).has_other(&symtab, name.as_bytes(), 1000)
    }

    #[test]
    fn parameters_tell_functions_apart() {
        let names = ["main", "_Z4workd", "_Z4worki", "_Z4worki.cold", "_Z5otherv", "_Z4wormi"];
        let found = names.map(|name| has_other(&names, name));
        assert_eq!(found, [false, true, true, true, false, false]);
        assert!(has_other(&names, "_Z4worke"), "of an inlined one that is not in the table");
        assert!(!has_other(&["_Z4worki", "_Z4worki.part.0", "_Z4worki.cold"], "_Z4worki"), "parts of one");
    }

    #[test]
    fn members_are_told_apart() {
        let names = ["_ZN1A1fEv", "_ZN1B1fEv", "_ZNK1A1fEv", "_ZNK1A1gEv"];
        assert_eq!(names.map(|name| has_other(&names, name)), [true, false, true, false]);
        let names = ["_ZN1AC1Ei", "_ZN1AC2Ei", "_ZN1BC1Ei", "_ZN1BC2Ed"];
        assert_eq!(names.map(|name| has_other(&names, name)), [false, false, true, true]);
        let names =
            ["_Z1fIiEvT_", "_Z1fIdEvT_", "_ZTV1A", "_ZTV1B", "_RNvC1a1b", "_ZN1a1b17h0123456789abcdefE"];
        assert_eq!(names.map(|name| has_other(&names, name)), [false; 6]);
    }
}
