//! A sample with any attr: the lazy view accepts the samples that the oracle accepts and returns the same values, and
//! written fields are read back unchanged.

use perf_abi::endian::{BigEndian, Endian, LittleEndian};
use perf_abi::record::RecordType;
use perf_parse::{RawRecord, Sample, SampleLayout, write};

use super::input::Input;

/// `data` is an [`Input`].
pub fn run(data: &[u8]) -> bool {
    let Some(input) = Input::new(data) else { return false };
    if input.big { check::<BigEndian>(&input) } else { check::<LittleEndian>(&input) }
}

fn check<O: Endian>(input: &Input<'_>) -> bool {
    let attr = input.attr();
    let Some(bytes) = input.record::<O>(RecordType::SAMPLE) else { return false };
    if let Ok(layout) = SampleLayout::new(&attr) {
        // Samples that are whole, and one that is cut.
        let several = [&bytes[..], &bytes, &bytes, &bytes[..bytes.len() - 1]].concat();
        compare::batch::check_records::<O>((), &layout, &several);
    }
    if compare::check(&attr, input.big, &bytes).is_some() {
        let layout = SampleLayout::new(&attr).expect("a sample was decoded by it");
        write_back::<O>(input, &layout, &bytes);
    }
    true
}

/// Checks that the fields of a written sample are read back unchanged, unless it then has several possible readings.
fn write_back<O: Endian>(input: &Input<'_>, layout: &SampleLayout, bytes: &[u8]) {
    let (raw, _) = RawRecord::<O>::parse(bytes).expect("it was decoded");
    let fields = Sample::parse(layout, &raw).and_then(|sample| sample.to_fields()).expect("it was decoded");
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
