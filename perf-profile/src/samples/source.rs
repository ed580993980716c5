//! The sources of the records that samples are among.

use core::fmt::{Debug, Formatter, Result as FmtResult};
use std::sync::{Arc, Mutex, PoisonError};

use perf_parse::Index;
use perf_parse::file::{EventRecords, Reader};

use super::ordered_records::{OrderedRecords, RecordStream};
use super::stream_info::{BoxedRecords, StreamInfo};
use crate::capture_info::CaptureInfo;
use crate::selection::filter::SampleFilter;

/// Where the records of samples come from. Those that it returns live for `'r`.
pub(crate) trait RecordSource<'r>: Debug + Send + Sync {
    /// Returns what is known before the first record.
    fn info(&self) -> CaptureInfo<'_>;

    /// Returns the records for a walk, in time order. A stream has them once.
    fn records(&self) -> OrderedRecords<'r>;

    /// Returns the records of the parts that may have selected samples; `None` if the source has no use for an index.
    fn indexed(&self, index: &Index, filter: &SampleFilter) -> Option<OrderedRecords<'r>> {
        let _ = (index, filter);
        None
    }

    /// Returns the records, in the order of the capture, apart from those for a walk; `None` for a stream.
    fn records_again(&self) -> Option<EventRecords<'_>>;

    /// Returns whether the records can be read once only.
    fn is_stream(&self) -> bool;
}

impl<'r> RecordSource<'r> for &'r Reader<'_> {
    fn info(&self) -> CaptureInfo<'_> {
        CaptureInfo::from(*self)
    }

    fn records(&self) -> OrderedRecords<'r> {
        OrderedRecords::Capture(Reader::records(self).in_time_order())
    }

    fn indexed(&self, index: &Index, filter: &SampleFilter) -> Option<OrderedRecords<'r>> {
        let records = index.walk(self, |part| filter.may_be_in(part))?;
        Some(OrderedRecords::Capture(records.in_time_order()))
    }

    fn records_again(&self) -> Option<EventRecords<'_>> {
        self.can_walk_again().then(|| Reader::records(self))
    }

    fn is_stream(&self) -> bool {
        !self.can_walk_again()
    }
}

impl<'r> RecordSource<'r> for Arc<Reader<'r>> {
    fn info(&self) -> CaptureInfo<'_> {
        CaptureInfo::from(&**self)
    }

    fn records(&self) -> OrderedRecords<'r> {
        OrderedRecords::Capture(self.owned_records().in_time_order())
    }

    fn records_again(&self) -> Option<EventRecords<'_>> {
        self.can_walk_again().then(|| Reader::records(self))
    }

    fn is_stream(&self) -> bool {
        !self.can_walk_again()
    }
}

/// Records that a program has from elsewhere, until they are walked.
pub(super) struct StreamSource<'r> {
    info: Arc<StreamInfo>,
    records: Mutex<Option<BoxedRecords<'r>>>,
}

impl<'r> StreamSource<'r> {
    pub(super) fn new(info: CaptureInfo<'_>, records: BoxedRecords<'r>) -> Self {
        let (events, features) = (info.events().clone(), info.features().clone().into_owned());
        let info = StreamInfo { events, features, mode: *info.mode(), limits: *info.limits() };
        Self { info: Arc::new(info), records: Mutex::new(Some(records)) }
    }
}

impl Debug for StreamSource<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.debug_struct("StreamSource").field("info", &self.info).finish_non_exhaustive()
    }
}

impl<'r> RecordSource<'r> for StreamSource<'r> {
    fn info(&self) -> CaptureInfo<'_> {
        let StreamInfo { events, features, mode, limits } = &*self.info;
        CaptureInfo::of(events, features).of_mode(mode).within(limits)
    }

    fn records(&self) -> OrderedRecords<'r> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner).take();
        let records = records.unwrap_or_else(|| Box::new(core::iter::empty()));
        OrderedRecords::Stream(RecordStream::new(Arc::clone(&self.info), records))
    }

    fn records_again(&self) -> Option<EventRecords<'_>> {
        None
    }

    fn is_stream(&self) -> bool {
        true
    }
}
