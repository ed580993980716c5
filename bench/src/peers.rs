//! The peers. Each reads the same fields and must find the same sums.
//!
//! For peers that decode a single record of a given event, a plain loop supplies both. Only their
//! decoding is measured.

pub(crate) mod linux_perf_data;
pub(crate) mod linux_perf_event_reader;
pub(crate) mod perf_event_data;
pub(crate) mod perf_event_open;

use crate::capture::{Event, HEADER, Headers, kind};
use crate::floor::Ids;

const SAMPLE: u32 = 9;
/// The first type of the perf tool's records, which these peers do not know.
const USER: u32 = 64;

/// Calls `give` with each kernel record and the index of its event; returns `None` if the event of a record
/// is unknown or `give` returns `None`.
#[inline(always)]
fn each(records: &[u8], ids: &Ids, mut give: impl FnMut(&[u8], usize) -> Option<()>) -> Option<()> {
    for record in Headers(records).filter(|record| kind(record) < USER) {
        let is_sample = kind(record) == SAMPLE;
        let event = if is_sample { ids.of_sample(&record[HEADER..])? } else { ids.of_other(record)? };
        give(record, event)?;
    }
    Some(())
}

/// The data of each event that a peer needs, and the table from ids to events.
#[derive(Debug)]
pub(crate) struct Known<T> {
    of: Vec<T>,
    ids: Ids,
}

impl<T> Known<T> {
    /// Calls `know` for each event; returns `None` if `know` does.
    fn new(events: &[Event], know: impl Fn(&Event) -> Option<T>) -> Option<Self> {
        Some(Self { of: events.iter().map(know).collect::<Option<_>>()?, ids: Ids::new(events) })
    }
}
