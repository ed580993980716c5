//! Records of the kernel with other values.

use perf_parse::SampleLayout;
use perf_parse::abi::record::Misc;
use perf_parse::record::{RawRecord, Record};
use perf_parse::write::{RecordEncoder, SampleIdFields};

/// Encodes a record in place of another one, with the trailer of that. `None` if that one cannot be decoded.
pub(super) fn reencoded(
    raw: &RawRecord<'_>,
    layout: &SampleLayout,
    misc: Misc,
    record: &Record<'_>,
) -> Option<Vec<u8>> {
    let id = raw.sample_id(layout).ok()?;
    let fields = id.map_or(SampleIdFields::default(), |id| SampleIdFields {
        pid: id.pid().unwrap_or_default(),
        tid: id.tid().unwrap_or_default(),
        time: id.time().unwrap_or_default(),
        id: id.identifier().or(id.id()).unwrap_or_default(),
        stream_id: id.stream_id().unwrap_or_default(),
        cpu: id.cpu().unwrap_or_default(),
    });
    let mut bytes = Vec::new();
    RecordEncoder::new_in(raw.endianness(), layout).record(&mut bytes, misc, record, &fields).ok()?;
    Some(bytes)
}
