//! Records in order of time, however far apart they are in the capture.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt::{Debug, Formatter};
use core::ops::RangeInclusive;

use crate::error::FileError;
use crate::event::EventRecord;
use crate::file::EventRecords;

/// Number of parts of a span of times whose records are counted in one walk.
const PARTS: u64 = 4096;
/// Number of bytes that a record takes beside its own.
const OVERHEAD: usize = 160;

/// A walk in order of time over a capture whose records are farther apart than a reader can hold: walks over the capture
/// several times, each time for the records of a span of times that fit into memory.
pub(super) struct SortedRecords<'r> {
    walks: Box<dyn Fn() -> EventRecords<'r> + 'r>,
    /// The spans that are left, in order.
    spans: vec::IntoIter<RangeInclusive<u64>>,
    /// The records of a span, in order.
    held: vec::IntoIter<EventRecord<'r>>,
    /// A walk whose records of one time are in order already, and the time.
    of_time: Option<(EventRecords<'r>, u64)>,
}

impl Debug for SortedRecords<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SortedRecords").field("spans", &self.spans).finish_non_exhaustive()
    }
}

impl<'r> SortedRecords<'r> {
    /// Returns the records that `walks` walks over. Holds `limit` bytes at a time. `None` if a reader holds enough to put the
    /// records in order.
    pub(super) fn new(walks: impl Fn() -> EventRecords<'r> + 'r, limit: usize) -> Option<Self> {
        let mut ordered = walks().in_time_order();
        while ordered.account().late == 0 {
            if ordered.next().is_none() && ordered.account().late == 0 {
                return None;
            }
        }
        let spans = spans(&walks, limit).into_iter();
        Some(Self { walks: Box::new(walks), spans, held: Vec::new().into_iter(), of_time: None })
    }

    /// Returns the next record. Those without a time, and the faults, come first: they are those of `records`, a walk in the
    /// order of the capture.
    pub(super) fn next(
        &mut self,
        records: &mut EventRecords<'r>,
    ) -> Option<Result<EventRecord<'r>, FileError>> {
        let is_without = |record: &Result<EventRecord<'r>, FileError>| {
            record.as_ref().map_or(true, |record| time_of(record).is_none())
        };
        records.find(is_without).or_else(|| self.next_with_time().map(Ok))
    }

    fn next_with_time(&mut self) -> Option<EventRecord<'r>> {
        loop {
            if let Some(record) = self.held.next() {
                return Some(record);
            }
            if let Some((records, time)) = &mut self.of_time {
                if let Some(record) = records.flatten().find(|record| time_of(record) == Some(*time)) {
                    return Some(record);
                }
                self.of_time = None;
            }
            let span = self.spans.next()?;
            let records = (self.walks)();
            if span.start() == span.end() {
                self.of_time = Some((records, *span.start()));
                continue;
            }
            let of_span = |record: &EventRecord<'r>| time_of(record).is_some_and(|time| span.contains(&time));
            // Kept alone, as a block of many records would be kept with each of them.
            let mut held: Vec<_> = records.flatten().filter(of_span).map(|record| record.apart()).collect();
            held.sort_by_key(|record| record.time());
            self.held = held.into_iter();
        }
    }
}

/// Returns spans of times, in order, that have all records, and each records of at most `limit` bytes or of one time alone.
fn spans<'r>(walks: &impl Fn() -> EventRecords<'r>, limit: usize) -> Vec<RangeInclusive<u64>> {
    let times = || walks().flatten().filter_map(|record| time_of(&record));
    let whole = times().fold(None, |span, time| {
        let (first, last) = span.unwrap_or((time, time));
        Some((time.min(first), time.max(last)))
    });
    let mut spans = Vec::new();
    let mut open: Vec<_> = whole.into_iter().collect();
    while let Some((first, last)) = open.pop() {
        let width = (last.saturating_sub(first) / PARTS).saturating_add(1);
        let part = |time: u64| {
            let since = time.checked_sub(first).filter(|_| time <= last)?;
            usize::try_from(since.checked_div(width)?).ok()
        };
        let mut sizes = vec![0_usize; 1 << 12];
        for record in walks().flatten() {
            let Some(size) = time_of(&record).and_then(part).and_then(|part| sizes.get_mut(part)) else {
                continue;
            };
            *size = size.saturating_add(record.raw().as_bytes().len()).saturating_add(OVERHEAD);
        }
        let (mut start, mut held) = (first, 0_usize);
        let mut begin = first;
        for size in sizes {
            let end = begin.saturating_add(width.saturating_sub(1)).min(last);
            if held > 0 && held.saturating_add(size) > limit {
                spans.push(start..=begin.saturating_sub(1));
                (start, held) = (begin, 0);
            }
            if size > limit {
                // Records of one time need no order.
                match begin == end {
                    true => spans.push(begin..=end),
                    false => open.push((begin, end)),
                }
                (start, held) = (end.saturating_add(1), 0);
            } else {
                held = held.saturating_add(size);
            }
            if end == last {
                break;
            }
            begin = end.saturating_add(1);
        }
        if held > 0 {
            spans.push(start..=last);
        }
    }
    spans.sort_by_key(|span| *span.start());
    spans
}

/// Returns the time of a record; `None` for one without.
fn time_of(record: &EventRecord<'_>) -> Option<u64> {
    record.time().filter(|&time| time != 0)
}
