//! The floor: handwritten loops that read the same fields and build no values.
//!
//! The offsets of the fields are computed from the attrs before the loop. As a reader must, the loops refuse
//! truncated records. No decoder that does the same checks can be much faster.

mod layout;
mod sample;
mod stream;
mod time_order;

pub(crate) use layout::{Ids, Layout};
pub(crate) use stream::{decompress, pipe, zstd};
pub(crate) use time_order::by_time;

use crate::capture::{Event, HEADER, Headers, kind, word};
use crate::sums::{Sums, add};

const MMAP: u32 = 1;
const COMM: u32 = 3;
const SAMPLE: u32 = 9;
const MMAP2: u32 = 10;
/// The first type of the perf tool's records, which have neither event nor time.
const USER: u32 = 64;

/// Adds up all words: the speed of memory.
pub(crate) fn sum_of_words(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Reads only the headers: the minimum work of any reader.
pub(crate) fn hop(records: &[u8]) -> u64 {
    Headers(records).fold(0, |sum, record| sum + record.len() as u64)
}

/// The offsets of the fields in the samples of a capture, and the event of each id.
#[derive(Debug)]
pub(crate) struct Floor {
    layouts: Vec<Layout>,
    ids: Ids,
}

impl Floor {
    /// Computes the offsets.
    pub(crate) fn new(events: &[Event]) -> Self {
        Self { layouts: events.iter().map(Layout::new).collect(), ids: Ids::new(events) }
    }

    /// Reads all fields of all records; returns `None` if a record is truncated.
    #[inline(never)]
    pub(crate) fn decode(&self, records: &[u8]) -> Option<Sums> {
        let mut sums = Sums::default();
        for record in Headers(records) {
            self.record(&mut sums, record)?;
        }
        Some(sums)
    }

    /// Reads all fields of a record.
    #[inline(always)]
    fn record(&self, sums: &mut Sums, record: &[u8]) -> Option<()> {
        let kind = kind(record);
        sums.records += u64::from(kind < USER);
        match kind {
            SAMPLE => {
                let payload = &record[HEADER..];
                let event = self.ids.of_sample(payload)?;
                sums.samples += 1;
                add(&mut sums.event, event as u64);
                self.layouts.get(event)?.sample(sums, payload)
            }
            MMAP | MMAP2 | COMM => {
                add(&mut sums.others, word(record, HEADER)? as u32 as u64);
                Some(())
            }
            _ => Some(()),
        }
    }
}

/// Reads the process ids of MMAP2 and COMM records; returns `None` if a record is truncated.
#[inline(never)]
pub(crate) fn maps_and_comms(records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    for record in Headers(records).filter(|record| matches!(kind(record), MMAP2 | COMM)) {
        add(&mut sums.others, word(record, HEADER)? as u32 as u64);
    }
    Some(sums)
}
