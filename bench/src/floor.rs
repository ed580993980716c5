//! The floor: loops written by hand that touch the same fields and build nothing.
//!
//! Where everything is was worked out before the loop, from the attrs. What is cut off is refused, as a reader must. No
//! decoder that does the same checks can be much faster.

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
/// From here on types are those of the perf tool's own records, which have neither event nor time.
const USER: u32 = 64;

/// Adds up all words: what memory gives.
pub(crate) fn sum_of_words(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Walks from header to header: what any reader must do at least.
pub(crate) fn hop(records: &[u8]) -> u64 {
    Headers(records).fold(0, |sum, record| sum + record.len() as u64)
}

/// Where everything is in the samples of a capture, and which event each is of.
#[derive(Debug)]
pub(crate) struct Floor {
    layouts: Vec<Layout>,
    ids: Ids,
}

impl Floor {
    /// Works everything out.
    pub(crate) fn new(events: &[Event]) -> Self {
        Self { layouts: events.iter().map(Layout::new).collect(), ids: Ids::new(events) }
    }

    /// All fields of all records; `None` if one is cut off.
    #[inline(never)]
    pub(crate) fn decode(&self, records: &[u8]) -> Option<Sums> {
        let mut sums = Sums::default();
        for record in Headers(records) {
            self.record(&mut sums, record)?;
        }
        Some(sums)
    }

    /// All fields of a record.
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

/// The processes of MMAP2 and COMM records alone; `None` if one is cut off.
#[inline(never)]
pub(crate) fn maps_and_comms(records: &[u8]) -> Option<Sums> {
    let mut sums = Sums::default();
    for record in Headers(records).filter(|record| matches!(kind(record), MMAP2 | COMM)) {
        add(&mut sums.others, word(record, HEADER)? as u32 as u64);
    }
    Some(sums)
}
