//! Counters that samples read, where samples before them are left out.

use perf_abi::attr::AttrFlags;
use perf_abi::sample_type::SampleType;
use perf_parse::write::SampleFields;
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
    /// Takes the next sample in order of time. Returns what to subtract from each value that it read, if it is kept and a value
    /// changes.
    pub(super) fn pass(&mut self, at: &SampleContext<'_, '_>, is_kept: bool) -> Option<Vec<u64>> {
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
            let Some(id) = value.id else {
                shifts.push(0);
                continue;
            };
            let counter = self.counters.entry((id, thread)).or_default();
            if !is_kept {
                counter.left_out = counter.left_out.wrapping_add(value.value.wrapping_sub(counter.last));
            }
            counter.last = value.value;
            shifts.push(counter.left_out);
        }
        (is_kept && shifts.iter().any(|&shift| shift != 0)).then_some(shifts)
    }
}

/// Subtracts from each value what was left out of its counter.
pub(super) fn shift(fields: &mut SampleFields, shifts: &[u64]) {
    let values = fields.read.iter_mut().flat_map(|read| &mut read.values);
    for (value, shift) in values.zip(shifts) {
        value.value = value.value.wrapping_sub(*shift);
    }
}
