//! Time order: sorts an index of times and offsets, one round of the recorder at a time.

use super::layout::ABSENT;
use super::{Floor, SAMPLE, USER};
use crate::capture::{HEADER, Headers, kind, word};
use crate::sums::Sums;

const FINISHED_ROUND: u32 = 68;

/// Reads all fields of all records in time order; returns `None` if a record is truncated.
#[inline(never)]
pub(crate) fn by_time(floor: &Floor, records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    let mut order = Order::default();
    let mut rest = Headers(records);
    loop {
        let at = records.len() - rest.0.len();
        let Some(record) = rest.next() else { break };
        if kind(record) == FINISHED_ROUND {
            // No record after this point is earlier than the end of the previous round.
            let until = std::mem::replace(&mut order.latest_of_last_round, order.latest);
            order.release(until, floor, records, &mut sums)?;
        }
        match floor.time(record) {
            0 => floor.record(&mut sums, record)?,
            time => {
                order.latest = order.latest.max(time);
                order.held.push((time, at));
            }
        }
    }
    order.release(u64::MAX, floor, records, &mut sums)?;
    Some(sums)
}

/// The records that are held back.
#[derive(Default)]
struct Order {
    /// Their times and offsets.
    held: Vec<(u64, usize)>,
    latest: u64,
    latest_of_last_round: u64,
    /// The time of the last sample that was read.
    given: u64,
}

impl Order {
    /// Decodes the records that are not later than `until`.
    fn release(&mut self, until: u64, floor: &Floor, records: &[u8], sums: &mut Sums) -> Option<()> {
        self.held.sort_by_key(|&(time, _)| time);
        let count = self.held.partition_point(|&(time, _)| time <= until);
        for (time, at) in self.held.drain(..count) {
            let record = Headers(&records[at..]).next()?;
            if kind(record) == SAMPLE {
                sums.given(time, &mut self.given);
            }
            floor.record(sums, record)?;
        }
        Some(())
    }
}

impl Floor {
    /// Returns the time of a record; 0 if it has none.
    #[inline(always)]
    fn time(&self, record: &[u8]) -> u64 {
        match kind(record) {
            SAMPLE => {
                let payload = &record[HEADER..];
                let layout = self.ids.of_sample(payload).and_then(|event| self.layouts.get(event));
                let index = layout.map_or(ABSENT, |layout| layout.time);
                payload.as_chunks().0.get(index).map_or(0, |time| u64::from_le_bytes(*time))
            }
            USER.. => 0,
            _ => {
                let layout = self.ids.of_other(record).and_then(|event| self.layouts.get(event));
                let back = layout.map_or(0, |layout| layout.trailer_time);
                record.len().checked_sub(back).and_then(|at| word(record, at)).unwrap_or(0)
            }
        }
    }
}
