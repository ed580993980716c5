//! Samples with other values.

use perf_parse::write::RecordEncoder;
use perf_session::SampleContext;

use super::address_mover::AddressMover;
use super::call_chain;
use super::counter_base::shift;

/// Returns the bytes of a sample with other counter values, another user part of its call chain, and moved addresses; `None` if all
/// stay, and for a sample that no kernel writes.
pub(super) fn edited_sample(
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
