//! Every input of a small size, instead of random ones: headers, counts near their limits, layouts and strings. The
//! expected results are computed here, in wider numbers and without the crate's code.

mod counts;
mod header;
mod layout;
mod strings;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::{Error, ErrorKind, RawRecord, Record, SampleLayout};
use testdata::Bytes;

fn error(kind: ErrorKind, offset: usize) -> Error {
    Error { kind, offset: u32::try_from(offset).unwrap() }
}

fn truncated(field: &'static str, needed: u64, available: u64, offset: usize) -> Error {
    error(ErrorKind::Truncated { field, needed, available }, offset)
}

/// Decodes a record, and all fields of a sample, in both byte orders. Returns what `summarize` makes of it, which is the
/// same in both.
fn decoded<T: PartialEq + core::fmt::Debug>(
    attr: &Attr,
    record: impl Fn(bool) -> Vec<u8>,
    summarize: impl Fn(Record<'_>) -> T,
) -> Result<T, Error> {
    fn one<O: Endian, T>(attr: &Attr, bytes: &[u8], summarize: impl Fn(Record<'_>) -> T) -> Result<T, Error> {
        let layout = SampleLayout::new(attr)?;
        let (raw, rest) = RawRecord::<O>::parse(bytes)?;
        assert!(rest.is_empty());
        let record = raw.untyped().decode(&layout)?;
        if let Record::Sample(sample) = &record {
            sample.tail()?;
        }
        Ok(summarize(record))
    }
    let little = one::<LittleEndian, T>(attr, &record(false), &summarize);
    assert_eq!(one::<BigEndian, T>(attr, &record(true), &summarize), little);
    little
}

/// Returns the record of this payload.
fn record(big: bool, kind: u32, payload: impl FnOnce(Bytes) -> Bytes) -> Vec<u8> {
    payload(Bytes::new(big)).record(kind, 0)
}
