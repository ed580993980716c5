//! Samples written by `perf_parse::write`: every field alone, every pair, and any number of fields.

use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::abi::sample_type::SampleType;
use perf_parse::write::SampleFields;
use perf_parse::{RawRecord, Record, SampleLayout};
use proptest::prelude::*;
use testdata::oracle::Body;

use crate::Random;
use crate::arbitrary::config;
use crate::fields::{Made, bits, shapes};
use compare::check;

const KERNEL: u16 = 1;
const USER: u16 = 2;

fn fields<O: Endian>(layout: &SampleLayout, bytes: &[u8]) -> SampleFields {
    let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
    let Record::Sample(sample) = raw.decode(layout).unwrap() else { panic!("{raw:?}") };
    sample.to_fields().unwrap()
}

/// Writes a sample in both byte orders and from both modes, and reads it back. Returns whether its bytes have only
/// one reading.
fn check_made(made: &Made) -> bool {
    let layout = SampleLayout::new(&made.attr).unwrap();
    let mut certain = true;
    for (big, misc) in [(false, KERNEL), (false, USER), (true, KERNEL), (true, USER)] {
        let bytes = made.write(big, misc);
        let record = check(&made.attr, big, &bytes).unwrap_or_else(|| panic!("{made:?}"));
        let Body::Sample(sample) = record.body else { panic!("{record:?}") };
        let read =
            if big { fields::<BigEndian>(&layout, &bytes) } else { fields::<LittleEndian>(&layout, &bytes) };
        if sample.readings.fits == 1 {
            assert_eq!(read, made.fields);
        } else {
            certain = false;
        }
    }
    certain
}

#[test]
fn every_field_alone() {
    let mut random = Random::new(1);
    for bit in bits() {
        for shape in 0..shapes(bit) {
            let mut made = Made::default();
            made.add(bit, shape, &mut random);
            assert!(check_made(&made), "{made:?}");
        }
    }
}

#[test]
fn every_two_fields() {
    let mut random = Random::new(2);
    let (mut all, mut ambiguous) = (0, 0);
    for (index, first) in bits().enumerate() {
        for second in bits().skip(index + 1) {
            if first | second == SampleType::WEIGHT_TYPE {
                continue;
            }
            for shape in 0..shapes(first) * shapes(second) {
                let mut made = Made::default();
                made.add(first, shape % shapes(first), &mut random);
                made.add(second, shape / shapes(first), &mut random);
                all += 1;
                ambiguous += u32::from(!check_made(&made));
            }
        }
    }
    // The ambiguous ones: an empty stack, of an event that asks for 0 bytes, before registers of ABI 0 with each of
    // the three masks, or before an AUX size of 0.
    assert_eq!((all, ambiguous), (6706, 4));
}

#[test]
fn all_fields() {
    let mut random = Random::new(3);
    for weight in [SampleType::WEIGHT, SampleType::WEIGHT_STRUCT] {
        for round in 0..66 {
            let mut made = Made::default();
            for bit in bits().filter(|bit| !SampleType::WEIGHT_TYPE.contains(*bit)).chain([weight]) {
                made.add(bit, round % shapes(bit), &mut random);
            }
            check_made(&made);
        }
    }
}

/// Returns a sample of the fields `sample_type`, with shapes and values from `seed`.
pub(crate) fn made(sample_type: SampleType, seed: u64) -> Made {
    let mut random = Random::new(seed);
    let mut made = Made::default();
    for bit in bits().filter(|&bit| sample_type.contains(bit)) {
        let shape = random.below(shapes(bit));
        made.add(bit, shape, &mut random);
    }
    made
}

/// Returns any valid combination of fields.
pub(crate) fn sample_type() -> impl Strategy<Value = SampleType> {
    let both = SampleType::WEIGHT_TYPE;
    proptest::bits::u64::masked(SampleType::KNOWN.0).prop_map(move |bits| match SampleType(bits) {
        all if all.contains(both) => all.without(SampleType::WEIGHT),
        all => all,
    })
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn any_fields(sample_type in sample_type(), seed: u64) {
        check_made(&made(sample_type, seed));
    }
}
