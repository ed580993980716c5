//! A sample of any attr: the lazy view equals the oracle, in what it accepts and in every value.
#![no_main]

use fuzz::Input;
use libfuzzer_sys::{Corpus, fuzz_target};
use perf_abi::attr::Attr;
use perf_abi::endian::{BigEndian, Endian, LittleEndian};
use perf_abi::record::RecordType;
use perf_abi::sample_type::SampleType;
use perf_parse::write;
use perf_parse::{RawRecord, Sample, SampleLayout};
use testdata::oracle::{self, Body};

fuzz_target!(|input: Input<'_>| -> Corpus {
    if input.big { check::<BigEndian>(&input) } else { check::<LittleEndian>(&input) }
});

fn check<O: Endian>(input: &Input<'_>) -> Corpus {
    let attr = input.attr();
    let Some(bytes) = input.record::<O>(RecordType::SAMPLE) else { return Corpus::Reject };
    let expected = oracle::record(&attr, input.big, &bytes).map(|record| match record.body {
        Body::Sample(sample) => *sample,
        body => panic!("the oracle made {body:?} of a sample"),
    });
    let Ok(layout) = SampleLayout::new(&attr) else {
        assert!(expected.is_err(), "the attr is refused, and the oracle decodes it: {expected:?}");
        return Corpus::Keep;
    };
    let (raw, rest) = RawRecord::<O>::parse(&bytes).expect("the header was made for the payload");
    assert!(rest.is_empty());
    let decoded = Sample::parse(&layout, &raw).and_then(|sample| {
        let tail = sample.tail()?;
        // The chain alone is the one of the tail.
        assert_eq!(sample.callchain(), Ok(tail.callchain));
        Ok(fuzz::sample(&attr, &sample, &tail))
    });
    match (decoded, expected) {
        (Ok(decoded), Ok(expected)) => equal(&attr, decoded, expected),
        (Err(error), Ok(expected)) => {
            assert!(has_overfull_stack(&expected), "{error}, and the oracle decodes {expected:#?}");
        }
        (Ok(decoded), Err(error)) => panic!("the oracle: {error}, and the view decodes {decoded:#?}"),
        (Err(error), Err(_)) => assert!(error.offset as usize <= bytes.len(), "{error}"),
    }
    write_back::<O>(input, &layout, &raw);
    Corpus::Keep
}

/// The one thing that the view refuses and the oracle does not: more bytes of stack than there is room for.
fn has_overfull_stack(sample: &oracle::Sample) -> bool {
    let stack = sample.stack_user.as_ref();
    stack.is_some_and(|stack| stack.dyn_size.is_some_and(|dyn_size| dyn_size > stack.size))
}

/// Both decode it: they agree.
fn equal(attr: &Attr, mut decoded: oracle::Sample, mut expected: oracle::Sample) {
    if attr.sample_type.contains(SampleType::STACK_USER) {
        // Of the ways to read the sample, those with an overfull stack are ways for the oracle alone.
        if has_overfull_stack(&expected) {
            return;
        }
        assert!((1..=expected.readings.fits).contains(&decoded.readings.fits));
        decoded.readings.fits = expected.readings.fits;
        // The stray word is out of the question for the view where it would not be zero, or not be there.
        if expected.readings.stack_stray == Some(false) && decoded.readings.stack_stray.is_none() {
            decoded.readings.stack_stray = Some(false);
        }
    }
    if decoded != expected {
        // `assert_eq` would print both on a line each.
        expected.readings.fits = decoded.readings.fits;
        panic!("the view decodes {decoded:#?}, the oracle {expected:#?}");
    }
}

/// A sample that is written from its fields is read back as they are, unless it can then be read in several ways.
fn write_back<O: Endian>(input: &Input<'_>, layout: &SampleLayout, raw: &RawRecord<'_, O>) {
    let Ok(fields) = Sample::parse(layout, raw).and_then(|sample| sample.to_fields()) else { return };
    let mut bytes = Vec::new();
    if write::sample::<O>(&mut bytes, layout, input.misc(), &fields).is_err() {
        assert!(bytes.is_empty());
        return;
    }
    let (raw, _) = RawRecord::<O>::parse(&bytes).expect("it was just written");
    let sample = Sample::parse(layout, &raw).expect("it was just written");
    if sample.possible_readings() == 1 {
        assert_eq!(sample.to_fields(), Ok(fields));
    }
}
