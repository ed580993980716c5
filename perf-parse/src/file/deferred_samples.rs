//! Samples that wait for the user part of their call chain.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use perf_abi::record::RecordType;

use crate::error::{FileError, FileErrorKind};
use crate::event::EventRecord;
use crate::limits::Limits;
use crate::record::Record;

/// Samples that wait for the user part of their call chain, which comes in a later record of their thread.
///
/// A program that walks over records in time order [holds](Self::hold) each sample. A CALLCHAIN_DEFERRED record
/// [ends the wait](Self::end) of all samples of its thread, and [so does](Self::take_all) the end of the capture. This
/// needs no second walk, so that it works for streams, too.
///
/// perf: `evlist__deliver_deferred_callchain`, `tools/perf/util/session.c`. Kernel: `PERF_RECORD_CALLCHAIN_DEFERRED`;
/// since Linux 6.19.
///
/// # Examples
///
/// ```
/// use perf_parse::file::DeferredSamples;
/// use perf_parse::Reader;
///
/// # let path = "examples/captures/deferred.le.data";
/// let bytes = std::fs::read(path)?;
/// let reader = Reader::new(&bytes)?;
/// let mut waiting = DeferredSamples::within(reader.limits());
/// let mut joined = 0;
/// for record in reader.records().in_time_order() {
///     let record = record?;
///     if waiting.hold(&record) {
///         continue;
///     }
///     if let Some(ended) = waiting.end(&record) {
///         joined += ended.samples.iter().filter(|sample| ended.user_of(sample).is_some()).count();
///     }
/// }
/// assert_eq!(joined, 1);
/// assert!(waiting.take_all().is_empty());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct DeferredSamples<'r> {
    /// By thread, then by the number of the sample.
    waiting: BTreeMap<(i32, u64), DeferredSample<'r>>,
    /// Number of samples so far.
    number: u64,
    /// Number of bytes that samples may still take, and number of samples that had no room.
    left: usize,
    omitted: u64,
    /// Offset of the first sample that had no room.
    first_omitted: Option<u64>,
    limit: usize,
}

/// A sample that waited for the user part of its call chain; made by [`DeferredSamples`].
#[derive(Clone, Debug)]
pub struct DeferredSample<'r> {
    /// The sample.
    pub record: EventRecord<'r>,
    /// The cookie at the end of its call chain. If the CALLCHAIN_DEFERRED record has another cookie, or there was none,
    /// the user part of this sample was lost.
    pub cookie: u64,
}

/// The samples of a thread whose wait has ended, and the user part of their call chains; made by
/// [`DeferredSamples::end`].
#[derive(Clone, Debug)]
pub struct EndedSamples<'r> {
    /// The samples, in the order in which they came.
    pub samples: Vec<DeferredSample<'r>>,
    /// The cookie and the words; `None` if the record cannot be decoded.
    chain: Option<(u64, Vec<u64>)>,
}

impl EndedSamples<'_> {
    /// Returns the user part of the call chain of one of the samples, innermost address first; `None` if it was lost.
    #[must_use]
    pub fn user_of(&self, sample: &DeferredSample<'_>) -> Option<&[u64]> {
        let (cookie, words) = self.chain.as_ref()?;
        (*cookie == sample.cookie).then_some(words)
    }
}

/// No samples, with the default of [`Limits::deferred_samples`] as the limit.
impl Default for DeferredSamples<'_> {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

/// Number of bytes that a sample counts in addition to a copy of its record: its key, its value, its share of the tree
/// and of the allocator.
const SAMPLE: usize = 256;

fn size(record: &EventRecord<'_>) -> usize {
    record.size_apart().saturating_add(SAMPLE)
}

impl<'r> DeferredSamples<'r> {
    /// Creates an empty collection that holds at most [`Limits::deferred_samples`].
    #[must_use]
    pub fn within(limits: &Limits) -> Self {
        let limit = limits.deferred_samples;
        Self { waiting: BTreeMap::new(), number: 0, left: limit, omitted: 0, first_omitted: None, limit }
    }

    /// Holds a sample whose user part comes later, and returns true.
    ///
    /// Returns false for every other record, for a sample that cannot be decoded, and for a sample for which there is no
    /// room: see [`Limits::deferred_samples`]. Takes constant time for those, and otherwise copies the record, unless it
    /// is in memory of the caller.
    #[inline]
    pub fn hold(&mut self, record: &EventRecord<'r>) -> bool {
        let cookie = record.sample().and_then(|sample| sample.callchain().ok()??.deferred_cookie());
        cookie.is_some_and(|cookie| self.hold_with(record, cookie))
    }

    #[cold]
    fn hold_with(&mut self, record: &EventRecord<'r>, cookie: u64) -> bool {
        let Some(left) = self.left.checked_sub(size(record)) else {
            self.omitted = self.omitted.saturating_add(1);
            self.first_omitted.get_or_insert(record.offset());
            return false;
        };
        self.left = left;
        let tid = record.sample().and_then(|sample| sample.tid());
        self.waiting
            .insert((tid.unwrap_or(-1), self.number), DeferredSample { record: record.apart(), cookie });
        self.number = self.number.wrapping_add(1);
        true
    }

    /// Ends the wait of the samples of a thread, if the record is a CALLCHAIN_DEFERRED record; `None` for every other
    /// record.
    ///
    /// Like perf, ends that of samples with other cookies, too: the thread has returned to user space, so that no record
    /// comes for them any more.
    pub fn end(&mut self, record: &EventRecord<'_>) -> Option<EndedSamples<'r>> {
        if record.kind() != RecordType::CALLCHAIN_DEFERRED {
            return None;
        }
        let tid = record.sample_id().ok().flatten().and_then(|trailer| trailer.tid());
        let chain = match record.decode() {
            Ok(Record::CallchainDeferred(it)) => Some((it.cookie, it.ips.iter().collect())),
            _ => None,
        };
        Some(EndedSamples { samples: self.take(tid), chain })
    }

    /// Returns the samples of a thread that waited, in the order in which they came. `None` is the thread of records without
    /// one. [`end`](Self::end) calls it with the thread of a CALLCHAIN_DEFERRED record.
    pub fn take(&mut self, tid: Option<i32>) -> Vec<DeferredSample<'r>> {
        let tid = tid.unwrap_or(-1);
        let mut taken = Vec::new();
        while let Some((&key, _)) = self.waiting.range((tid, 0)..=(tid, u64::MAX)).next() {
            if let Some(sample) = self.waiting.remove(&key) {
                self.left = self.left.saturating_add(size(&sample.record));
                taken.push(sample);
            }
        }
        taken
    }

    /// Returns all samples that still wait, in the order in which they came. Call it at the end of the capture.
    pub fn take_all(&mut self) -> Vec<DeferredSample<'r>> {
        self.left = self.limit;
        let mut all: Vec<_> = core::mem::take(&mut self.waiting).into_iter().collect();
        all.sort_unstable_by_key(|((_, number), _)| *number);
        all.into_iter().map(|(_, sample)| sample).collect()
    }

    /// Returns the number of samples that did not wait because there was no room.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the fault to note if samples did not wait because there was no room; `None` if all had room.
    #[must_use]
    pub fn fault(&self) -> Option<FileError> {
        let (limit, of) = (self.limit as u64, "bytes of samples that wait for their call chain");
        let kind = FileErrorKind::Limit { field: "callchain", limit, of };
        self.first_omitted.map(|offset| FileError::new(kind, offset))
    }
}
