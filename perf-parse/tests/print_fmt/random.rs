//! Random print formats of the grammar's words: no panic, and the same text twice.

use perf_parse::abi::endian::{BigEndian, Endianness, LittleEndian};
use perf_parse::tracepoint::{Format, PrintFmt};
use proptest::prelude::*;

use crate::{Kernel, format_text, raw};

const WORDS: &[&str] = &[
    "\"%d\"",
    "\"%s\"",
    "\"%*pbl %pS\"",
    "\"%-5.3s|%08lx\"",
    ",",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "?",
    ":",
    "REC->a",
    "REC->comm",
    "REC->list",
    "REC->w",
    "1",
    "0x10UL",
    "-",
    "+",
    "<<",
    "&",
    "!",
    "~",
    "*",
    "/",
    "==",
    "&&",
    "(u8)",
    "(char *)",
    "\"text\"",
    "'c'",
    "__print_flags(",
    "\"|\"",
    "{ 1, \"A\" }",
    "__print_symbolic(",
    "__get_str(name)",
    "__get_dynamic_array(dyn)",
    "__print_hex(",
    "sizeof(u64)",
    "({",
    "int x =",
    ";",
    "})",
    "f(",
    "NAME",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_words_are_printed_or_refused(words in prop::collection::vec(prop::sample::select(WORDS), 0..24)) {
        let text = format_text(&format!("\"%s %d %p\", {}", words.join(" ")));
        let format = Format::parse(b"system", text.as_bytes(), 8).unwrap();
        match PrintFmt::new(&format) {
            Ok(parsed) => {
                let (mut first, mut second, mut big) = (Vec::new(), Vec::new(), Vec::new());
                let little = raw::<LittleEndian>();
                let written = parsed.write_within(&little, Endianness::Little, &Kernel, 5000, &mut first);
                prop_assert_eq!(parsed.write_within(&little, Endianness::Little, &Kernel, 5000, &mut second), written);
                let in_big = parsed.write_within(&raw::<BigEndian>(), Endianness::Big, &Kernel, 5000, &mut big);
                prop_assert_eq!(in_big, written);
                prop_assert!(first.len() <= 5000);
                prop_assert_eq!(&first, &second);
            }
            Err(error) => prop_assert!(error.offset as usize <= text.len()),
        }
    }
}
