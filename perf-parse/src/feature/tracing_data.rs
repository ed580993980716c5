//! `TRACING_DATA`: the formats of the recorded tracepoints.

use perf_abi::feature::Feature;

use super::Features;
use crate::error::FileError;
use crate::tracepoint::TracingData;

impl Features<'_> {
    /// Finds the parts of `TRACING_DATA`, such as the formats of the recorded tracepoints. `None` if the capture does not
    /// have the feature. The time is proportional to the number of formats; allocates nothing.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`](crate::error::FileErrorKind::Feature) or
    /// [`FileErrorKind::Invalid`](crate::error::FileErrorKind::Invalid) for the part that is missing or invalid, with its
    /// offset in the capture.
    ///
    /// # Examples
    ///
    /// The threads of tracepoints:
    ///
    /// ```
    /// # #[cfg(feature = "tracepoint")] {
    /// use perf_parse::Reader;
    /// use perf_parse::abi::event::EventType;
    /// use perf_parse::tracepoint::Tracepoints;
    ///
    /// # let path = "examples/captures/tracing.pipe.data";
    /// let reader = Reader::open(path)?;
    /// let tracing = reader.features().tracing_data()?.expect("a capture of tracepoints");
    /// let tracepoints = Tracepoints::new(&tracing);
    /// let mut pids = Vec::new();
    /// for record in reader.records() {
    ///     let record = record?;
    ///     let Some(event) = record.event().filter(|event| event.attr.kind == EventType::TRACEPOINT) else { continue };
    ///     let Some(raw) = record.tail()?.and_then(|tail| tail.raw) else { continue };
    ///     let pid = tracepoints.get(event.attr.config).and_then(|format| format.field("common_pid"));
    ///     pids.extend(pid.and_then(|field| field.value(raw, reader.endianness()).ok()?.as_i64()));
    /// }
    /// assert!(!pids.is_empty());
    /// # }
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    pub fn tracing_data(&self) -> Result<Option<TracingData<'_>>, FileError> {
        let Some(section) = self.get(Feature::TRACING_DATA) else { return Ok(None) };
        TracingData::parse(section.bytes).map(Some).map_err(|error| error.in_file(section.offset))
    }
}
