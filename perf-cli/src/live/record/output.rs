//! The output of a recording: a file or a stream.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use perf_abi::endian::NativeEndian;
use perf_abi::record::RecordType;
use perf_parse::RawRecord;
use perf_parse::file::write::{
    EventFields, FeaturePayloads, FileWriter, Options, PipeWriter, WriteFileError,
};

use crate::Failure;
use crate::escape::shown;
use crate::output::{Holds, Outputs, Unfinished};

/// Bytes that are collected before they are written.
const CHUNK: usize = 1 << 18;

/// A capture that is being written.
pub(super) enum Output {
    File(Box<InFile>),
    Stream(Stream),
}

/// A capture that is written to a file.
pub(super) struct InFile {
    /// The name of the file in messages.
    pub(super) name: String,
    pub(super) writer: FileWriter<NativeEndian, BufWriter<File>>,
    /// The unfinished file; `None` after it was published.
    pub(super) unfinished: Option<Unfinished>,
}

/// A capture that is written to standard output.
pub(super) struct Stream {
    writer: PipeWriter<NativeEndian, BufWriter<io::Stdout>>,
    /// Whether the reader has closed its end, as `head` does. Then nothing more is written.
    is_closed: bool,
}

impl Stream {
    fn put(
        &mut self,
        write: impl FnOnce(&mut PipeWriter<NativeEndian, BufWriter<io::Stdout>>) -> Result<(), WriteFileError>,
    ) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        match write(&mut self.writer) {
            Err(error) if is_closed(&error) => {
                self.is_closed = true;
                Ok(())
            }
            result => result.map_err(|error| failure(&error)),
        }
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.is_closed {
            return Ok(());
        }
        match self.writer.finish() {
            Err(error) if !is_closed(&error) => Err(failure(&error)),
            _ => Ok(()),
        }
    }
}

/// Returns the failure of a write to the stream.
fn failure(error: &WriteFileError) -> Failure {
    Failure(format!("standard output: {error}"))
}

impl InFile {
    /// Returns the failure of a write to the file.
    fn failure(&self, error: &WriteFileError) -> Failure {
        Failure(format!("{}: {error}", self.name))
    }
}

impl Output {
    /// Starts a file. [`publish`](Self::publish) gives it the name `path`, and renames an existing file to `path.old`.
    pub(super) fn file(
        path: &Path,
        events: &[EventFields],
        features: FeaturePayloads<NativeEndian>,
        options: &Options,
    ) -> Result<Self, Failure> {
        let name = shown(path).to_string();
        let (file, unfinished) = Outputs::default().claim("--output", path)?.create(Holds::Recording)?;
        let mut writer = FileWriter::new(BufWriter::with_capacity(CHUNK, file), events, options)?;
        *writer.features() = features;
        Ok(Self::File(Box::new(InFile { name, writer, unfinished: Some(unfinished) })))
    }

    /// Gives the file its name. Writing continues after that, so the records of a recorder that is killed later are in
    /// the file.
    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.unfinished.take().map_or(Ok(()), Unfinished::publish),
            Self::Stream(_) => Ok(()),
        }
    }

    /// Starts a stream on standard output.
    pub(super) fn stream(
        events: &[EventFields],
        mut features: FeaturePayloads<NativeEndian>,
        options: &Options,
    ) -> Result<Self, Failure> {
        // Only files have this feature.
        features.remove(perf_abi::feature::Feature::CACHE);
        let out = BufWriter::with_capacity(CHUNK, io::stdout());
        let writer = PipeWriter::new(out, events, &features, options)?;
        Ok(Self::Stream(Stream { writer, is_closed: false }))
    }

    /// Appends a record of the kernel, unchanged.
    pub(super) fn raw(&mut self, record: &RawRecord<'_, NativeEndian>) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.writer.raw(record, &[]).map_err(|error| file.failure(&error)),
            Self::Stream(stream) => stream.put(|writer| writer.raw(record, &[])),
        }
    }

    /// Appends the bytes of a record.
    pub(super) fn record(&mut self, record: &[u8]) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.writer.record(record).map_err(|error| file.failure(&error)),
            Self::Stream(stream) => stream.put(|writer| writer.record(record)),
        }
    }

    /// Appends a record that consists only of a header.
    pub(super) fn mark(&mut self, kind: RecordType) -> Result<(), Failure> {
        let mut header = [0; 8];
        let (start, size) = (kind.0.to_ne_bytes(), 8_u16.to_ne_bytes());
        header[..4].copy_from_slice(&start);
        header[6..].copy_from_slice(&size);
        self.record(&header)
    }

    /// Writes the collected bytes.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        match self {
            Self::File(file) => file.writer.flush().map_err(|error| file.failure(&error)),
            Self::Stream(stream) => stream.put(|writer| writer.flush()),
        }
    }

    /// Returns whether the reader has closed its end.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self, Self::Stream(Stream { is_closed: true, .. }))
    }
}

/// Returns whether an error means that the reader has closed its end.
fn is_closed(error: &WriteFileError) -> bool {
    matches!(error, WriteFileError::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
}
