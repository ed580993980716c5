//! A record with the values that are printed in addition to its fields: its offset and its event.

use perf_parse::file::FileError;
use perf_parse::{EventRecord, Sample};

use super::Sink;
use super::head::Heads;

/// A record to print.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrintedRecord<'b> {
    pub(crate) record: &'b EventRecord<'b>,
    /// The offset to print: the record's own, or that in the dump of its ring.
    pub(crate) offset: u64,
    /// The record's event; `None` if it is unknown, and for the perf tool's own records.
    pub(crate) event: Option<EventLabel<'b>>,
}

/// How an event is printed with its records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventLabel<'b> {
    /// The index of the event in the capture.
    pub(crate) index: usize,
    /// The name of the event, safe to print.
    pub(crate) name: Option<&'b [u8]>,
}

/// A printer of one record. It is called in this order: `begin`, the record's fields, `begin_sample_id`, the fields of
/// the trailer, `end`.
pub(crate) trait RecordSink: Sink {
    /// Begins the record.
    fn begin(&mut self, it: &PrintedRecord<'_>, heads: &mut Heads);
    /// Begins the `sample_id` trailer. Not called for a record without one.
    fn begin_sample_id(&mut self);
    /// Ends the record. `sample` is the record if it is a sample, and `error` that of a part that cannot be decoded.
    fn end(
        &mut self,
        it: &PrintedRecord<'_>,
        heads: &mut Heads,
        sample: Option<&Sample<'_>>,
        error: Option<&FileError>,
    );
}
