//! Generated records of the perf tool and feature sections: the decoder and the oracle accept the same ones and return
//! the same values.

use perf_parse::RawRecord;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::feature::Feature;
use proptest::prelude::*;
use proptest::sample::select;
use testdata::Bytes;

use compare::{feature, user};

use crate::arbitrary::config;

fn record<O: Endian>(bytes: &[u8]) {
    let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
    user::check(&raw);
}

/// Numbers as a record has them: counts, types and sizes are small.
fn number() -> impl Strategy<Value = (usize, u64)> {
    let small = 0_u64..6;
    let known = select(vec![8, 12, 15, 16, 17, 32, 64, 72, 128, 144, 152, u64::MAX]);
    (select(vec![2_usize, 4, 8]), prop_oneof![4 => small, 1 => known, 1 => any::<u64>()])
}

fn bytes(big: bool, numbers: &[(usize, u64)], text: &[u8]) -> Bytes {
    let bytes = numbers.iter().fold(Bytes::new(big), |bytes, &(width, value)| bytes.number(width, value));
    bytes.raw(text)
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![3 => Just(0), 2 => Just(b'a'), 1 => any::<u8>()], 0..120)
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn of_made_records(
        kind in 64_u32..88,
        misc: u16,
        numbers in prop::collection::vec(number(), 0..24),
        text in text(),
    ) {
        let of = |big| bytes(big, &numbers, &text).record(kind, misc);
        record::<LittleEndian>(&of(false));
        record::<BigEndian>(&of(true));
    }

    #[test]
    fn of_made_sections(
        feature in 0_u32..40,
        nr_cpus in 0_u32..4,
        numbers in prop::collection::vec(number(), 0..24),
        text in text(),
    ) {
        let of = |big| bytes(big, &numbers, &text).out;
        let section = of(false);
        feature::check(&feature::section::<LittleEndian>(Feature(feature), 0, &section), nr_cpus);
        let section = of(true);
        feature::check(&feature::section::<BigEndian>(Feature(feature), 0, &section), nr_cpus);
    }
}

/// An example of each section, with a byte changed or the end cut off.
fn changed<O: Endian>() {
    let mut accepted = 0;
    for example in testdata::features::examples(compare::is_big::<O>()) {
        let check = |bytes: &[u8]| {
            let section = feature::section::<O>(example.feature, 0, bytes);
            feature::check(&section, testdata::features::NR_CPUS)
        };
        for end in 0..=example.bytes.len() {
            let is_whole = check(&example.bytes[..end]);
            assert!(is_whole || !example.whole.contains(&end), "{:?} of {end} bytes", example.feature);
        }
        for at in 0..example.bytes.len() {
            for change in [1, 0xff] {
                let mut bytes = example.bytes.clone();
                bytes[at] ^= change;
                accepted += usize::from(check(&bytes));
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
}

#[test]
fn of_changed_sections() {
    changed::<LittleEndian>();
    changed::<BigEndian>();
}
