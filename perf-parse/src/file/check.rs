//! Checks whether all fields of a record can be decoded.

#[cfg(feature = "tracepoint")]
use perf_abi::event::EventType;

use crate::error::FileError;
use crate::event::EventRecord;
use crate::record::Record;
#[cfg(feature = "tracepoint")]
use crate::tracepoint::{Tracepoints, TracingData};

/// Checks whether all fields of a record can be decoded: its fixed fields, the variable fields of a sample, the raw
/// data of a tracepoint (with the feature `tracepoint`) and the trailer.
///
/// A capture is clean if a walk over its [records](super::Reader::records),
/// [`EventRecords::check_features`](super::EventRecords::check_features) and this check of each record find no fault. Every command
/// of `perfdata` uses this definition.
///
/// # Examples
///
/// ```
/// use perf_parse::Reader;
/// use perf_parse::abi::feature::Feature;
/// use perf_parse::file::RecordCheck;
///
/// # let path = "examples/captures/tracing.pipe.data";
/// let bytes = std::fs::read(path)?;
/// let reader = Reader::new(&bytes)?;
/// let check = RecordCheck::new(reader.features().get(Feature::TRACING_DATA).map_or(&[], |section| section.bytes));
/// for record in reader.records() {
///     check.record(&record?)?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct RecordCheck<'t> {
    #[cfg(feature = "tracepoint")]
    tracepoints: Tracepoints<'t>,
    #[cfg(not(feature = "tracepoint"))]
    tracing_data: core::marker::PhantomData<&'t [u8]>,
}

impl<'t> RecordCheck<'t> {
    /// Creates a check that uses the formats in `tracing_data`, the bytes of the feature `TRACING_DATA`; pass an empty
    /// slice if the capture does not have the feature. Formats that cannot be parsed are left out.
    #[must_use]
    #[cfg(feature = "tracepoint")]
    pub fn new(tracing_data: &'t [u8]) -> Self {
        let data = TracingData::parse(tracing_data);
        Self { tracepoints: data.map(|data| Tracepoints::new(&data)).unwrap_or_default() }
    }

    /// Creates a check that does not include the raw data of tracepoints: that needs the feature `tracepoint`.
    #[cfg(not(feature = "tracepoint"))]
    #[must_use]
    pub fn new(_tracing_data: &'t [u8]) -> Self {
        Self::default()
    }

    /// Checks a record.
    ///
    /// # Errors
    ///
    /// Those of [`EventRecord::decode`], [`EventRecord::sample_id`] and [`Sample::tail`](crate::Sample::tail), and
    /// [`FileErrorKind::Record`](super::FileErrorKind::Record) for raw data that ends before a field of its tracepoint.
    pub fn record(&self, record: &EventRecord<'_>) -> Result<(), FileError> {
        if let Record::Sample(sample) = record.decode()? {
            let tail = sample.tail().map_err(|error| record.error(error))?;
            #[cfg(feature = "tracepoint")]
            self.raw_data(record, tail.raw)?;
            #[cfg(not(feature = "tracepoint"))]
            let _ = tail;
        }
        record.sample_id().map(drop)
    }

    /// Checks the raw data of a tracepoint.
    #[cfg(feature = "tracepoint")]
    fn raw_data(&self, record: &EventRecord<'_>, raw: Option<&[u8]>) -> Result<(), FileError> {
        let attr = record.event().map(|event| &event.attr);
        let config = attr.filter(|attr| attr.kind == EventType::TRACEPOINT).map(|attr| attr.config);
        match config.and_then(|id| self.tracepoints.get(id)).zip(raw) {
            Some((format, raw)) => {
                format.check(raw, record.raw().endianness()).map_err(|error| record.error(error))
            }
            None => Ok(()),
        }
    }
}
