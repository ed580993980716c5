//! Names of functions of C++: overloads, and inlined functions that the linker does not see. The file is that of
//! `fixtures/lambdas.cpp`; the names are those of its source.

use perf_symbol::{Demangle, Options, Symbolizer, demangle, demangle_full};

use crate::{Memory, options};

const LAMBDAS: &[u8] = include_bytes!("../fixtures/lambdas");

/// The names of the functions at an address.
fn names(options: Options, address: u64) -> Vec<String> {
    let files = Memory::default().with("/bin/a", LAMBDAS);
    let mut symbolizer = Symbolizer::with_files(options, std::sync::Arc::new(files));
    let functions = symbolizer.functions_in(b"/bin/a", address);
    functions.iter().map(|it| String::from_utf8(it.name.as_deref().unwrap().to_vec()).unwrap()).collect()
}

const RUN: &str = "outside::Runner::run<work(long int)::<lambda(long int)> >";

#[test]
fn inlined_functions_have_what_they_are_in() {
    assert_eq!(names(options(), 0x40_100a), ["(anonymous namespace)::hidden", "work(int)"]);
    assert_eq!(names(options(), 0x40_1020), ["work(long)::{lambda}::operator()", RUN, "work(long)"]);
    assert_eq!(names(options(), 0x40_1032), ["work(long)::{lambda#2}::operator()", RUN, "work(long)"]);
    assert_eq!(names(options(), 0x40_1060), ["alone"], "no other function has the name");
}

/// As binutils' addr2line has them, which perf 6.1 uses.
#[test]
fn inlined_functions_without_what_they_are_in() {
    let mut perf = options();
    (perf.qualified, perf.demangle) = (false, Demangle::Short);
    let run = "run<work(long int)::<lambda(long int)> >";
    assert_eq!(names(perf, 0x40_1020), ["operator()", run, "work"]);
}

#[test]
fn names_are_demangled_as_asked_for() {
    for (demangle, expected) in [
        (Demangle::Never, ["_Z4worki", "_Z5alonel"]),
        (Demangle::Short, ["work", "alone"]),
        (Demangle::Distinct, ["work(int)", "alone"]),
        (Demangle::Full, ["work(int)", "alone(long)"]),
    ] {
        let mut options = options();
        options.demangle = demangle;
        let found = [0x40_1018, 0x40_1060].map(|address| names(options.clone(), address).pop().unwrap());
        assert_eq!(found, expected, "{demangle:?}");
    }
}

/// What `c++filt -i` of binutils 2.40 prints, without parameters (`-p`) and with them. perf 6.1 has the former.
#[test]
fn names_are_those_of_libiberty() {
    for (mangled, short, full) in [
        ("_ZNSo6sentryC1ERSo", "std::ostream::sentry::sentry", "std::ostream::sentry::sentry(std::ostream&)"),
        ("_ZNSo3putEc", "std::ostream::put", "std::ostream::put(char)"),
        (
            "_ZNSoD2Ev",
            "std::basic_ostream<char, std::char_traits<char> >::~basic_ostream",
            "std::basic_ostream<char, std::char_traits<char> >::~basic_ostream()",
        ),
        ("_ZNKSi6gcountEv", "std::istream::gcount", "std::istream::gcount() const"),
        (
            "_ZNSiC2Ev",
            "std::basic_istream<char, std::char_traits<char> >::basic_istream",
            "std::basic_istream<char, std::char_traits<char> >::basic_istream()",
        ),
        (
            "_ZZ4mainENKUliE_clEi",
            "main::{lambda(int)#1}::operator()",
            "main::{lambda(int)#1}::operator()(int) const",
        ),
        (
            "_ZZN2ns1fEiENKUldE0_clEd",
            "ns::f(int)::{lambda(double)#2}::operator()",
            "ns::f(int)::{lambda(double)#2}::operator()(double) const",
        ),
        ("_ZNKR1A1fEv", "A::f", "A::f() const &"),
        ("_Z1fIiEvT_", "f<int>", "void f<int>(int)"),
        ("_ZNSolsEDn", "std::ostream::operator<<", "std::ostream::operator<<(decltype(nullptr))"),
    ] {
        let text = |name: std::borrow::Cow<'_, [u8]>| String::from_utf8(name.into_owned()).unwrap();
        assert_eq!(text(demangle(mangled.as_bytes(), 1000)), short);
        assert_eq!(text(demangle_full(mangled.as_bytes(), 1000)), full);
    }
}
