//! Every error from every place that returns it, with its field, its numbers and its offset.

mod display;
mod layout;
mod records;
mod samples;

use perf_parse::abi::attr::Attr;
use perf_parse::abi::endian::{BigEndian, Endian, LittleEndian};
use perf_parse::{Error, ErrorKind, RawRecord, Record, SampleLayout};
use testdata::Bytes;

fn truncated(field: &'static str, needed: u64, available: u64, offset: u32) -> Error {
    Error { kind: ErrorKind::Truncated { field, needed, available }, offset }
}

fn unterminated(field: &'static str, offset: u32) -> Error {
    Error { kind: ErrorKind::Unterminated { field }, offset }
}

fn residue(bytes: u32, offset: u32) -> Error {
    Error { kind: ErrorKind::Residue { bytes }, offset }
}

/// Returns the error for a record of that type and payload, which is the same in both byte orders.
fn error(attr: &Attr, kind: u32, misc: u16, payload: impl Fn(Bytes) -> Bytes) -> Error {
    fn decode<O: Endian>(attr: &Attr, bytes: &[u8]) -> Error {
        let layout = SampleLayout::new(attr).unwrap();
        let (raw, _) = RawRecord::<O>::parse(bytes).unwrap();
        match raw.decode(&layout) {
            Ok(Record::Sample(sample)) => {
                assert!(raw.sample(&layout).is_some());
                assert_eq!(sample.possible_readings(), 0);
                sample.tail().unwrap_err()
            }
            decoded => {
                assert!(raw.sample(&layout).is_none());
                decoded.unwrap_err()
            }
        }
    }
    let [little, big] = [false, true].map(|big| payload(Bytes::new(big)).record(kind, misc));
    let little = decode::<LittleEndian>(attr, &little);
    assert_eq!(decode::<BigEndian>(attr, &big), little);
    little
}
