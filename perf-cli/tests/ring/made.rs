//! Handmade rings in either byte order: the records, the data area that contains them, and the control page.

use perf_abi::attr::{Attr, AttrFlags, AttrVersion};
use perf_abi::endian::{Endian, U64};
use perf_abi::event::{EventType, SwId};
use perf_abi::record::{CpuMode, Misc};
use perf_abi::sample_type::SampleType;
use perf_parse::write::{self, SampleFields, SampleIdFields};
use perf_parse::{Record, SampleLayout};

use crate::{DATA_HEAD, DATA_OFFSET, DATA_SIZE, DATA_TAIL, PAGE};

/// Returns the event of these rings.
pub(crate) fn attr() -> Attr {
    Attr {
        kind: EventType::SOFTWARE,
        config: SwId::PAGE_FAULTS.0,
        sample_period: 1,
        sample_type: SampleType::IP | SampleType::TID | SampleType::TIME,
        flags: AttrFlags::SAMPLE_ID_ALL | AttrFlags::DISABLED,
        ..Attr::default()
    }
}

/// Returns the bytes of an attr in the version of the oldest kernels.
pub(crate) fn attr_bytes<O: Endian>() -> Vec<u8> {
    attr().write::<O>(AttrVersion::VER0).unwrap().to_vec()
}

/// Returns the trailer of the record with this number, which determines its time and address.
fn trailer(number: u64) -> SampleIdFields {
    SampleIdFields { pid: 100, tid: 101, time: 1_000_000_000 + 1000 * number, ..SampleIdFields::default() }
}

/// Returns a sample of 32 bytes.
pub(crate) fn sample<O: Endian>(number: u64) -> Vec<u8> {
    let SampleIdFields { pid, tid, time, .. } = trailer(number);
    let fields = SampleFields {
        ip: Some(0x40_1000 + number),
        pid_tid: Some((pid, tid)),
        time: Some(time),
        ..SampleFields::default()
    };
    let (mut bytes, layout) = (Vec::new(), SampleLayout::new(&attr()).unwrap());
    write::sample::<O>(&mut bytes, &layout, Misc(CpuMode::USER.0.into()), &fields).unwrap();
    bytes
}

/// Returns any other record.
pub(crate) fn record<O: Endian>(number: u64, record: &Record<'_, O>) -> Vec<u8> {
    let (mut bytes, layout) = (Vec::new(), SampleLayout::new(&attr()).unwrap());
    write::record::<O>(&mut bytes, &layout, Misc(0), record, &trailer(number)).unwrap();
    bytes
}

/// Returns the dump of a ring whose data area of one page has `records` from position `tail` on and zeros elsewhere.
///
/// `fields` are further fields of the control page, by their offsets.
pub(crate) fn dump<O: Endian>(tail: u64, records: &[u8], fields: &[(usize, u64)]) -> Vec<u8> {
    let mut dump = vec![0; 2 * PAGE];
    let page = PAGE as u64;
    let ring =
        [(DATA_HEAD, tail + records.len() as u64), (DATA_TAIL, tail), (DATA_OFFSET, page), (DATA_SIZE, page)];
    for (at, value) in ring.iter().chain(fields) {
        dump[*at..at + 8].copy_from_slice(&U64::<O>::new(*value).to_bytes());
    }
    for (position, byte) in (tail as usize..).zip(records) {
        dump[PAGE + position % PAGE] = *byte;
    }
    dump
}
