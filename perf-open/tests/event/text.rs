//! The texts of sysfs files, each parsed alone.

use perf_abi::attr::Attr;
use perf_open::pmu::{ConfigWord, TermValue, TextError, parse_cpus, parse_format, parse_scale, parse_terms};
use proptest::prelude::*;

fn fault<T: core::fmt::Debug>(parsed: Result<T, TextError>) -> (usize, &'static str) {
    let error = parsed.unwrap_err();
    (error.offset, error.expected)
}

#[test]
fn formats() {
    for (text, word, mask) in [
        ("config:0-7\n", ConfigWord::Config, 0xff),
        ("config:0-7,21,32-35", ConfigWord::Config, 0xf_0020_00ff),
        ("config:35-35,0", ConfigWord::Config, 0x8_0000_0001),
        ("config1:0-63", ConfigWord::Config1, u64::MAX),
        ("config2:63", ConfigWord::Config2, 1 << 63),
        ("config3:1,1,1-2", ConfigWord::Config3, 6),
        ("config4:8", ConfigWord::Config4, 0x100),
    ] {
        let format = parse_format(text).unwrap();
        assert_eq!((format.word, format.mask), (word, mask), "{text}");
    }
}

#[test]
fn formats_that_are_none() {
    let word = "`config`, `config1`, `config2`, `config3` or `config4`";
    let bit = "a bit below 64";
    for (text, offset, expected) in [
        ("", 0, word),
        ("config", 6, "`:`"),
        ("config5:0", 0, word),
        ("config11:0", 0, word),
        ("conf:0", 0, word),
        ("config:", 7, bit),
        ("config:64", 7, bit),
        ("config:0-64", 9, bit),
        ("config:0-", 9, bit),
        ("config:0,", 9, bit),
        ("config:99999999999999999999", 7, bit),
        ("config:3,7-5", 9, "a range that runs upwards"),
        ("config:0;1", 8, "`,` or the end"),
        ("config:0-1-2", 10, "`,` or the end"),
    ] {
        assert_eq!(fault(parse_format(text)), (offset, expected), "{text}");
    }
}

#[test]
fn terms() {
    let terms = parse_terms(" event=0x3c, umask = 1 ,inv,name='a/b, c',x=?,y=fp ").unwrap();
    let told: Vec<_> =
        terms.iter().map(|term| (term.name.as_str(), &term.value, term.offset, term.value_offset)).collect();
    assert_eq!(
        told,
        [
            ("event", &TermValue::Number(0x3c), 1, 7),
            ("umask", &TermValue::Number(1), 13, 21),
            ("inv", &TermValue::Flag, 24, 27),
            ("name", &TermValue::Text("a/b, c".to_owned()), 28, 33),
            ("x", &TermValue::Required, 42, 44),
            ("y", &TermValue::Text("fp".to_owned()), 46, 48),
        ]
    );
    assert_eq!(parse_terms(" \n").unwrap(), []);
    assert_eq!(parse_terms("a=12x").unwrap()[0].value, TermValue::Text("12x".to_owned()));
    assert_eq!(parse_terms("a=18446744073709551615").unwrap()[0].value, TermValue::Number(u64::MAX));
}

#[test]
fn terms_that_are_none() {
    for (text, offset, expected) in [
        (",", 0, "the name of a term"),
        ("a,", 2, "the name of a term"),
        ("a,,b", 2, "the name of a term"),
        ("0a", 0, "the name of a term"),
        ("a=", 2, "a value"),
        ("a=,b", 2, "a value"),
        ("a= ", 2, "a value"),
        ("a==1", 2, "a value"),
        ("a='b", 4, "a closing `'`"),
        ("a=18446744073709551616", 2, "a number below 2^64"),
        ("a=0x10000000000000000,b", 2, "a number below 2^64"),
        ("a b", 2, "`,` or the end"),
        ("a=1=2", 3, "`,` or the end"),
    ] {
        assert_eq!(fault(parse_terms(text)), (offset, expected), "{text}");
    }
}

#[test]
fn cpus_and_scales() {
    assert_eq!(parse_cpus("0,18\n").unwrap(), [0, 18]);
    assert_eq!(parse_cpus("0-3,8,10-11").unwrap(), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!(parse_cpus("\n").unwrap(), []);
    for (text, offset, expected) in [
        ("0-4294967295", 2, "a cpu below 65536"),
        ("65536", 0, "a cpu below 65536"),
        ("3-1", 0, "cpus that ascend"),
        ("1,1", 2, "cpus that ascend"),
        ("0,", 2, "a cpu below 65536"),
        ("0 1", 1, "`,` or the end"),
    ] {
        assert_eq!(fault(parse_cpus(text)), (offset, expected), "{text}");
    }
    assert_eq!(parse_scale("6.103515625e-5\n").unwrap().to_bits(), 2.0_f64.powi(-14).to_bits());
    for text in ["", "inf", "nan", "0x1", "1e999", "1 2"] {
        assert_eq!(fault(parse_scale(text)), (0, "a finite number"), "{text}");
    }
}

/// Places the bits of a value one by one: bit 0 goes to the lowest bit in the ranges.
fn placed_bit_by_bit(ranges: &[(u32, u32)], value: u64) -> Option<u64> {
    let bits: Vec<u32> =
        (0..64).filter(|bit| ranges.iter().any(|&(first, last)| (first..=last).contains(bit))).collect();
    let mut placed = 0;
    for place in 0..64 {
        if value >> place & 1 == 1 {
            placed |= 1 << bits.get(place)?;
        }
    }
    Some(placed)
}

proptest! {
    #[test]
    fn values_stand_where_the_bits_say(
        word in 0_usize..5,
        ranges in proptest::collection::vec((0_u32..64, 0_u32..64), 1..6),
        value in any::<u64>(),
        shift in 0_u32..64,
    ) {
        let ranges: Vec<(u32, u32)> = ranges.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        let texts: Vec<String> = ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        let (word, name) = ConfigWord::ALL[word];
        let format = parse_format(&format!("{name}:{}", texts.join(","))).unwrap();
        let value = value >> shift;
        let placed = placed_bit_by_bit(&ranges, value);
        prop_assert_eq!(format.place(value), placed);
        prop_assert_eq!(value <= format.max(), placed.is_some());
        let mut attr = Attr::default();
        *word.of_attr(&mut attr) = u64::MAX;
        let mut expected = attr;
        if let Some(placed) = placed {
            *word.of_attr(&mut expected) = !format.mask | placed;
        }
        prop_assert_eq!(format.set(&mut attr, value), placed.is_some());
        prop_assert_eq!(attr, expected);
    }

    #[test]
    fn no_text_panics(text in ".{0,60}") {
        let _ = (parse_format(&text), parse_terms(&text), parse_cpus(&text), parse_scale(&text));
    }

    #[test]
    fn faults_are_within_the_text(text in "(config|event|[0-4:=,?'/x \\-]){0,12}") {
        let faults = [parse_format(&text).err(), parse_terms(&text).err(), parse_cpus(&text).err()];
        for error in faults.into_iter().flatten() {
            prop_assert!(error.offset <= text.len() && text.is_char_boundary(error.offset));
        }
    }
}
