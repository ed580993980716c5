mod ambiguous;
mod errors;
mod records;
mod samples;

use perf_abi::attr::Attr;
use perf_abi::sample_type::SampleType;

use super::*;
use crate::Bytes;

/// Returns `record` cut off or extended with zeros to `size` bytes, with the size in its header changed to match.
fn resized(record: &[u8], big: bool, size: usize) -> Vec<u8> {
    let mut bytes = record.to_vec();
    bytes.resize(size, 0);
    bytes[6..8].copy_from_slice(&Bytes::new(big).u16(size as u16).out);
    bytes
}

/// Returns a record with the payload `words`.
fn words_record(kind: u32, misc: u16, words: &[u64], big: bool) -> Vec<u8> {
    Bytes::new(big).u64s(words).record(kind, misc)
}

/// Decodes the sample with the payload `words` in both byte orders, whose results must be equal.
fn sample(attr: &Attr, misc: u16, words: &[u64]) -> Result<Sample, String> {
    let [little, big] =
        [false, true].map(|big| match record(attr, big, &words_record(9, misc, words, big))?.body {
            Body::Sample(sample) => Ok(*sample),
            body => panic!("{body:?}"),
        });
    assert_eq!(little, big);
    little
}

/// Returns an attr with this `sample_type` and zeros otherwise.
fn attr(sample_type: SampleType) -> Attr {
    Attr { sample_type, ..Attr::default() }
}
