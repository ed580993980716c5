//! The peers. Each touches the same fields and is held to the same sums.
//!
//! Those that decode a record they are given, of an event they are told, get both by a plain loop: what is measured is
//! their decoding.

pub(crate) mod linux_perf_data;
pub(crate) mod linux_perf_event_reader;
pub(crate) mod perf_event_data;
pub(crate) mod perf_event_open;

use crate::capture::{Event, HEADER, Headers, kind};
use crate::floor::Ids;

const SAMPLE: u32 = 9;
/// From here on types are those of the perf tool's own records, which these peers do not know.
const USER: u32 = 64;

/// Gives the records of the kernel's types and the index of each one's event; `None` if that cannot be told.
#[inline(always)]
fn each(records: &[u8], ids: &Ids, mut give: impl FnMut(&[u8], usize) -> Option<()>) -> Option<()> {
    for record in Headers(records).filter(|record| kind(record) < USER) {
        let is_sample = kind(record) == SAMPLE;
        let event = if is_sample { ids.of_sample(&record[HEADER..])? } else { ids.of_other(record)? };
        give(record, event)?;
    }
    Some(())
}

/// What a peer needs to know of each event, and which event a record is of.
#[derive(Debug)]
pub(crate) struct Known<T> {
    of: Vec<T>,
    ids: Ids,
}

impl<T> Known<T> {
    /// Asks `know` about each event; `None` if it does not know.
    fn new(events: &[Event], know: impl Fn(&Event) -> Option<T>) -> Option<Self> {
        Some(Self { of: events.iter().map(know).collect::<Option<_>>()?, ids: Ids::new(events) })
    }
}
