//! Counters that samples read, where samples before them are left out.

use perf_abi::attr::AttrFlags;
use perf_abi::sample_type::SampleType;
use perf_parse::SampleLayout;
use perf_parse::write::{RecordEncoder, SampleFields};
use perf_session::SampleContext;

use hashbrown::HashMap;

/// Subtracts from each counter what it counted in samples that are left out. The period of a sample is the difference from
/// the sample before, so it stays the same.
#[derive(Debug, Default)]
pub(super) struct CounterBase {
    /// Of each counter, by its id, and by the thread if the event is inherited: as [`Periods`](perf_session::Periods).
    counters: HashMap<(u64, Option<u64>), CounterShift>,
}

/// The last value of a counter, and what is subtracted from later ones.
#[derive(Clone, Copy, Debug, Default)]
struct CounterShift {
    last: u64,
    left_out: u64,
}

impl CounterBase {
    /// Takes the next sample in order of time. Returns its bytes if it is kept and its counters change.
    pub(super) fn pass(&mut self, at: &SampleContext<'_, '_>, is_kept: bool) -> Option<Vec<u8>> {
        let (record, sample) = (at.record(), at.sample());
        let event = record.event()?;
        let has = |bits| event.attr.sample_type.contains(bits);
        if !has(SampleType::READ) {
            return None;
        }
        let is_inherited = event.attr.flags.contains(AttrFlags::INHERIT);
        let thread = (is_inherited && has(SampleType::TID)).then(|| at.thread().key());
        let read = sample.tail().ok()?.read?;
        let mut shifts = Vec::new();
        for value in read.values() {
            let Some(id) = value.id else { continue };
            let counter = self.counters.entry((id, thread)).or_default();
            if !is_kept {
                counter.left_out = counter.left_out.wrapping_add(value.value.wrapping_sub(counter.last));
            }
            counter.last = value.value;
            shifts.push((id, counter.left_out));
        }
        if !is_kept || shifts.iter().all(|&(_, shift)| shift == 0) {
            return None;
        }
        let mut fields = sample.to_fields().ok()?;
        shift(&mut fields, &shifts);
        encoded(&fields, &event.layout, at)
    }
}

/// Subtracts what was left out of each counter.
fn shift(fields: &mut SampleFields, shifts: &[(u64, u64)]) {
    for value in fields.read.iter_mut().flat_map(|read| &mut read.values) {
        let shift = shifts.iter().find(|(id, _)| Some(*id) == value.id);
        value.value = value.value.wrapping_sub(shift.map_or(0, |&(_, shift)| shift));
    }
}

/// Returns the bytes of a sample; `None` for one that no kernel writes, which keeps its counters.
fn encoded(fields: &SampleFields, layout: &SampleLayout, at: &SampleContext<'_, '_>) -> Option<Vec<u8>> {
    let raw = at.record().raw();
    let mut bytes = Vec::new();
    let encoder = RecordEncoder::new_in(raw.endianness(), layout);
    encoder.sample(&mut bytes, raw.misc(), fields).ok()?;
    Some(bytes)
}
