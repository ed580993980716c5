//! The destination of a recording: a file, a pipe, or a callback.

use std::io::{Seek, Write};

use perf_abi::endian::NativeEndian;
use perf_abi::feature::Feature;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;
use perf_parse::file::write::{
    EventFields, FeaturePayloads, FileWriter, PartWriter, PipeWriter, WriteOptions,
};

use crate::Error;

/// The head of a capture: everything known before the first record.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CaptureHead<'a> {
    /// The events, with the ids that their records carry.
    pub events: &'a [EventFields],
    /// The features of the machine.
    pub features: &'a FeaturePayloads,
}

/// The destination of a recording. Only [`records`](Self::records) must do something.
///
/// The calls come in this order: [`begin`](Self::begin) once, [`records`](Self::records), [`round`](Self::round) and
/// [`flush`](Self::flush) any number of times, [`finish`](Self::finish) once.
pub trait RecordingSink {
    /// Begins the capture.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    fn begin(&mut self, _head: &CaptureHead<'_>) -> Result<(), Error> {
        Ok(())
    }

    /// Takes one or more whole records that follow each other, in this machine's byte order.
    ///
    /// # Errors
    ///
    /// If they cannot be written. The recording ends.
    fn records(&mut self, records: &[u8]) -> Result<(), Error>;

    /// Takes a record and the data after it: an AUXTRACE record with a piece of a hardware trace, whose first field is the
    /// size of the data.
    ///
    /// # Errors
    ///
    /// As [`records`](Self::records). By default, that this sink takes no hardware traces.
    fn record_with_data(&mut self, _record: &[u8], _data: &[u8]) -> Result<(), Error> {
        Err(Error::Request("this sink takes no hardware traces; write to a file or a stream".to_owned()))
    }

    /// Takes the end of a round: all rings have been read once. No later record is older than the records of the round
    /// before. A recorder that is killed later must have written the records so far.
    ///
    /// # Errors
    ///
    /// As [`records`](Self::records).
    fn round(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Passes on everything so far, so that it survives if the recorder is killed.
    ///
    /// # Errors
    ///
    /// As [`records`](Self::records).
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the capture. `features` are those of [`begin`](Self::begin), and those that depend on the records.
    ///
    /// # Errors
    ///
    /// As [`records`](Self::records).
    fn finish(&mut self, _features: &FeaturePayloads) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns a record of this type that consists of a header.
pub(crate) fn mark(kind: RecordType) -> [u8; 8] {
    let mut header = [0; 8];
    header[..4].copy_from_slice(&kind.0.to_ne_bytes());
    header[6..].copy_from_slice(&8_u16.to_ne_bytes());
    header
}

/// Returns the error of a call that is out of order.
fn out_of_order() -> Error {
    Error::Request("the sink has not begun, or has ended".to_owned())
}

/// A `perf.data` file.
///
/// # Examples
///
/// ```
/// use perf_record::FileSink;
/// let sink = FileSink::new(std::io::Cursor::new(Vec::new()));
/// assert!(sink.into_inner().is_none(), "it is not finished");
/// ```
#[derive(Debug)]
pub struct FileSink<W> {
    out: Option<W>,
    options: WriteOptions,
    writer: Option<FileWriter<W>>,
    finished: Option<W>,
}

impl<W: Write + Seek> FileSink<W> {
    /// Returns a sink that writes to `out` from its start. Records come in large pieces, the others in small ones: use
    /// a [`BufWriter`](std::io::BufWriter).
    #[must_use]
    pub fn new(out: W) -> Self {
        Self::with_options(out, WriteOptions::default())
    }

    /// Returns a sink with these options, which can ask for compressed records.
    #[must_use]
    pub fn with_options(out: W, options: WriteOptions) -> Self {
        Self { out: Some(out), options, writer: None, finished: None }
    }

    /// Returns the output; `None` unless the capture is finished.
    #[must_use]
    pub fn into_inner(self) -> Option<W> {
        self.finished
    }

    fn writer(&mut self) -> Result<&mut FileWriter<W>, Error> {
        self.writer.as_mut().ok_or_else(out_of_order)
    }
}

impl<W: Write + Seek> RecordingSink for FileSink<W> {
    fn begin(&mut self, head: &CaptureHead<'_>) -> Result<(), Error> {
        let out = self.out.take().ok_or_else(out_of_order)?;
        self.writer = Some(FileWriter::new(out, head.events, &self.options)?);
        Ok(())
    }

    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        Ok(self.writer()?.records(records)?)
    }

    fn record_with_data(&mut self, record: &[u8], data: &[u8]) -> Result<(), Error> {
        Ok(self.writer()?.record_with_data(record, data)?)
    }

    fn round(&mut self) -> Result<(), Error> {
        self.writer()?.record(&mark(RecordType::FINISHED_ROUND))?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(self.writer()?.flush()?)
    }

    fn finish(&mut self, features: &FeaturePayloads) -> Result<(), Error> {
        let mut writer = self.writer.take().ok_or_else(out_of_order)?;
        *writer.features() = features.clone();
        self.finished = Some(writer.finish()?);
        Ok(())
    }
}

/// A stream, as `perf record -o -` writes it.
#[derive(Debug)]
pub struct PipeSink<W> {
    out: Option<W>,
    options: WriteOptions,
    writer: Option<PipeWriter<W>>,
    finished: Option<W>,
}

impl<W: Write> PipeSink<W> {
    /// Returns a sink that writes to `out`; use a [`BufWriter`](std::io::BufWriter), which is flushed after each round.
    #[must_use]
    pub fn new(out: W) -> Self {
        Self::with_options(out, WriteOptions::default())
    }

    /// Returns a sink with these options, which can ask for compressed records.
    #[must_use]
    pub fn with_options(out: W, options: WriteOptions) -> Self {
        Self { out: Some(out), options, writer: None, finished: None }
    }

    /// Returns the output; `None` unless the capture is finished.
    #[must_use]
    pub fn into_inner(self) -> Option<W> {
        self.finished
    }

    fn writer(&mut self) -> Result<&mut PipeWriter<W>, Error> {
        self.writer.as_mut().ok_or_else(out_of_order)
    }
}

impl<W: Write> RecordingSink for PipeSink<W> {
    fn begin(&mut self, head: &CaptureHead<'_>) -> Result<(), Error> {
        let out = self.out.take().ok_or_else(out_of_order)?;
        let mut features = head.features.clone();
        // Only files have these features.
        [Feature::CACHE, Feature::STAT].into_iter().for_each(|feature| drop(features.remove(feature)));
        self.writer = Some(PipeWriter::new(out, head.events, &features, &self.options)?);
        Ok(())
    }

    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        Ok(self.writer()?.records(records)?)
    }

    fn record_with_data(&mut self, record: &[u8], data: &[u8]) -> Result<(), Error> {
        Ok(self.writer()?.record_with_data(record, data)?)
    }

    fn round(&mut self) -> Result<(), Error> {
        self.writer()?.record(&mark(RecordType::FINISHED_ROUND))?;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(self.writer()?.flush()?)
    }

    fn finish(&mut self, _: &FeaturePayloads) -> Result<(), Error> {
        let writer = self.writer.take().ok_or_else(out_of_order)?;
        self.finished = Some(writer.finish()?);
        Ok(())
    }
}

/// A file of a folder beside its `data`, such as `data.0`: the records of one ring. A [`FileSink`] writes `data`.
///
/// It has no rounds, as with perf: the records of a ring are in the order of their times.
#[derive(Debug)]
pub struct PartSink<W: Write> {
    writer: PartWriter<W>,
}

impl<W: Write> PartSink<W> {
    /// Returns a sink that writes to `out`; use a [`BufWriter`](std::io::BufWriter), which is flushed after each round. The
    /// options must be those of `data`.
    ///
    /// # Errors
    ///
    /// If this build cannot write compressed records.
    pub fn with_options(out: W, options: &WriteOptions) -> Result<Self, Error> {
        Ok(Self { writer: PartWriter::new(out, options)? })
    }
}

impl<W: Write> RecordingSink for PartSink<W> {
    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        Ok(self.writer.records(records)?)
    }

    fn round(&mut self) -> Result<(), Error> {
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        Ok(self.writer.flush()?)
    }
}

/// A function that gets each record. The synthesized records come first.
///
/// # Examples
///
/// ```
/// use perf_record::{CallbackSink, RecordingSink};
///
/// let mut kinds = Vec::new();
/// let mut sink = CallbackSink(|record: &perf_record::parse::RawRecord<'_, _>| {
///     kinds.push(record.kind());
///     Ok(())
/// });
/// let [first, second] = 8_u16.to_ne_bytes();
/// let header = [68_u32.to_ne_bytes(), [0, 0, first, second]];
/// sink.records(&header.concat())?;
/// assert_eq!(kinds.len(), 1);
/// # Ok::<(), perf_record::Error>(())
/// ```
pub struct CallbackSink<F>(pub F);

impl<F> core::fmt::Debug for CallbackSink<F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("CallbackSink").finish_non_exhaustive()
    }
}

/// The result of a [`CallbackSink`]: an error ends the recording.
type CallbackResult = Result<(), Box<dyn core::error::Error + Send + Sync>>;

impl<F: FnMut(&RawRecord<'_, NativeEndian>) -> CallbackResult> RecordingSink for CallbackSink<F> {
    fn records(&mut self, mut records: &[u8]) -> Result<(), Error> {
        while let Ok((record, rest)) = RawRecord::parse(records) {
            (self.0)(&record).map_err(Error::Callback)?;
            records = rest;
        }
        Ok(())
    }
}
