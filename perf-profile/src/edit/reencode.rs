//! Records of the kernel with other values.

use perf_parse::SampleLayout;
use perf_parse::abi::record::Misc;
use perf_parse::record::{RawRecord, Record};
use perf_parse::write::{RecordEncoder, SampleIdFields};
use perf_session::SampleContext;

use super::address_mover::AddressMover;
use super::call_chain;
use super::counter_base::shift;

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

/// Returns the bytes of a sample with other counter values, another user part of its call chain, and moved addresses; `None` if all
/// stay, and for a sample that no kernel writes.
pub(super) fn reencoded_sample(
    at: &SampleContext<'_, '_>,
    shifts: Option<&[u64]>,
    chain: Option<&[u64]>,
    mover: Option<&AddressMover>,
) -> Option<Vec<u8>> {
    if shifts.is_none() && chain.is_none() && mover.is_none() {
        return None;
    }
    let (raw, event) = (at.record().raw(), at.record().event()?);
    let mut fields = at.sample().to_fields().ok()?;
    shift(&mut fields, shifts.unwrap_or_default());
    if let Some(chain) = chain {
        call_chain::replace(&mut fields, chain);
    }
    if let Some(mover) = mover {
        mover.sample(at, &mut fields);
    }
    let mut bytes = Vec::new();
    let encoder = RecordEncoder::new_in(raw.endianness(), &event.layout);
    encoder.sample(&mut bytes, raw.misc(), &fields).ok()?;
    Some(bytes)
}
