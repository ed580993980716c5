//! Periods of samples.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use perf_abi::attr::AttrFlags;
use perf_abi::sample_type::SampleType;
use perf_parse::FileError;
use perf_parse::event::{Event, Events};

use crate::session::SampleContext;

/// The period of each event in a sample.
///
/// A sample that reads no counters has its own period. A sample that reads counters, such as those of a group (`:S`),
/// has, for each event, what its counter has counted since the last sample. If the event is inherited, each thread has counters of
/// its own under one id.
///
/// Pass all samples of a capture in time order, also those that are not wanted. Memory grows with the counters and, for
/// inherited events, with the threads that have samples.
///
/// perf: `evlist__deliver_sample`, `tools/perf/util/session.c`; by threads since perf 6.12.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
/// use perf_session::{Periods, Session};
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let (mut session, mut periods) = (Session::new(), Periods::default());
/// let mut records = reader.records().in_time_order();
/// while let Some(record) = records.next() {
///     let record = record?;
///     let Some(at) = session.update_at(&record)? else { continue };
///     for (event, period) in periods.of(&at, records.events())? {
///         println!("{}: {period} of event {}", at.thread().tid(), event.index);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Periods {
    /// The last value of each counter, by its id, and by the thread if the event is inherited.
    last: BTreeMap<(u64, Option<u64>), u64>,
}

impl Periods {
    /// Returns the events that a sample counts for, each with its period: the number of its occurrences, or nanoseconds for
    /// a clock. Counters that counted nothing are left out. `events` are all events of the capture.
    ///
    /// Iterate to the end: each step takes over the value of a counter.
    ///
    /// # Errors
    ///
    /// Those of [`Sample::tail`](perf_parse::Sample::tail), for a sample that reads counters.
    pub fn of<'p>(
        &'p mut self,
        at: &SampleContext<'_, 'p>,
        events: &'p Events,
    ) -> Result<impl Iterator<Item = (&'p Arc<Event>, u64)> + use<'p>, FileError> {
        let (sample, record) = (at.sample(), at.record());
        let event = record.event();
        let has = |bits| event.is_some_and(|event| event.attr.sample_type.contains(bits));
        let reads = has(SampleType::READ);
        let read = if reads { sample.tail().map_err(|error| record.error(error))?.read } else { None };
        let own = event.filter(|_| !reads);
        let own = own.map(|event| (event, sample.period().unwrap_or(event.attr.sample_period)));
        let is_inherited = event.is_some_and(|event| event.attr.flags.contains(AttrFlags::INHERIT));
        let thread = (is_inherited && has(SampleType::TID)).then(|| at.thread().key());
        let counted = read.into_iter().flat_map(|read| read.values()).filter_map(move |value| {
            let id = value.id?;
            let event = events.by_id(id)?;
            let before = self.last.insert((id, thread), value.value).unwrap_or(0);
            let period = value.value.wrapping_sub(before);
            (period != 0).then_some((event, period))
        });
        Ok(own.into_iter().chain(counted))
    }
}
