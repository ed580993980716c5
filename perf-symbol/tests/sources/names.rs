//! Names of functions of C++: overloads, and inlined functions that the linker does not see. The file is that of
//! `fixtures/lambdas.cpp`; the names are those of its source.

use perf_symbol::{Demangle, SymbolOptions, Symbolizer, demangle, demangle_full};

use crate::elf::{Elf, PROGBITS};
use crate::{Memory, options};

const LAMBDAS: &[u8] = include_bytes!("../fixtures/lambdas");

/// The names of the functions at an address.
fn names(options: SymbolOptions, address: u64) -> Vec<String> {
    names_of(LAMBDAS.to_vec(), options, address)
}

fn names_of(file: Vec<u8>, options: SymbolOptions, address: u64) -> Vec<String> {
    let files = Memory::default().with("/bin/a", file);
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

/// The class of a block is not in the class before the block.
#[test]
fn classes_of_blocks() {
    // The unit, the function, a class, a block, a function of a class, and where it is inlined.
    let abbreviations = [
        &[1, 0x11, 1, 0x13, 0x0b, 0x11, 0x01, 0x12, 0x07, 0, 0][..],
        &[2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0],
        &[3, 0x02, 1, 0x03, 0x08, 0, 0],
        &[4, 0x0b, 1, 0, 0],
        &[5, 0x2e, 0, 0x03, 0x08, 0, 0],
        &[6, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0, 0, 0],
    ];
    let range = [0x40_1000_u64, 0x10].map(u64::to_le_bytes).concat();
    // C++, by its number.
    let before =
        [&[4, 0, 0, 0, 0, 0, 8, 1, 4], &range[..], b"\x02f\0", &range, b"\x03A\0\0\x04\x03B\0"].concat();
    // From the length of the unit on.
    let run = (4 + before.len() as u32).to_le_bytes();
    let unit = [&before[..], b"\x05run\0\0\0\x06", &run, &range, &[0, 0]].concat();
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    let file = Elf::new(0x40_0000)
        .section(".debug_info", PROGBITS, info)
        .section(".debug_abbrev", PROGBITS, abbreviations.concat())
        .build();
    assert_eq!(names_of(file, options(), 0x40_1000), ["f::B::run", "f"]);
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
