//! The output of a recording: a file or a stream.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use perf_parse::file::write::{FeaturePayloads, WriteFileError, WriteOptions};
use perf_record::{CaptureHead, Error, FileSink, PipeSink, RecordWindow, RecordingSink, copy_kcore};

use crate::escape::shown;
use crate::outcome::Failure;
use crate::output::aside::KCORE_DIR;
use crate::output::{CaptureFolder, FileContent, Outputs, UnfinishedFile};

/// Bytes that are collected before they are written. Longer spans of a ring are written at once.
pub(super) const CHUNK: usize = 1 << 16;

/// A capture that is being written.
pub(in crate::live) struct CaptureOutput {
    /// The name in messages.
    pub(in crate::live) name: String,
    to: OutputKind,
    /// The folder that `to` is in.
    folder: Option<CaptureFolder>,
    /// The files of rings.
    parts: Vec<File>,
    /// Whether the reader of the stream has closed its end, as `head` does. Then nothing more is written.
    is_closed: bool,
    /// The samples of the last while, for a view beside the capture.
    pub(super) window: Option<RecordWindow>,
    /// The files that publishing removed: the rings would fill while their blocks are freed, so they are closed at the end.
    removed: Vec<File>,
}

enum OutputKind {
    File {
        sink: Box<FileSink<BufWriter<File>>>,
        /// The same file, for its size.
        file: File,
        /// The unfinished file; `None` after it was published.
        unfinished: Option<Box<UnfinishedFile>>,
    },
    Stream(Box<PipeSink<BufWriter<io::Stdout>>>),
}

impl CaptureOutput {
    /// Creates a file, or a stream on standard output if `path` is `-`. [`publish`](Self::publish) gives the file its
    /// name, and renames an existing file to `path.old`.
    pub(in crate::live) fn create(path: &Path, options: WriteOptions) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let out = BufWriter::with_capacity(CHUNK, io::stdout());
            let to = OutputKind::Stream(Box::new(PipeSink::with_options(out, options)));
            let name = "standard output".to_owned();
            return Ok(Self {
                name,
                to,
                folder: None,
                parts: Vec::new(),
                is_closed: false,
                window: None,
                removed: Vec::new(),
            });
        }
        let name = shown(path).to_string();
        let claim = Outputs::default().claim_recording("--output", path)?;
        let (out, unfinished) = claim.create(FileContent::Recording)?;
        let file = out.try_clone()?;
        let sink = Box::new(FileSink::with_options(BufWriter::with_capacity(CHUNK, out), options));
        Ok(Self {
            name,
            to: OutputKind::File { sink, file, unfinished: Some(Box::new(unfinished)) },
            folder: None,
            parts: Vec::new(),
            is_closed: false,
            window: None,
            removed: Vec::new(),
        })
    }

    /// Creates a folder, with the capture in its file `data`. [`publish`](Self::publish) gives the folder its name, and
    /// renames an existing capture to `path.old`.
    pub(super) fn create_folder(path: &Path, options: WriteOptions) -> Result<Self, Failure> {
        let folder = CaptureFolder::create(path)?;
        let mut data = Self::create(&folder.path().join("data"), options)?;
        data.publish()?;
        Ok(Self { name: shown(path).to_string(), folder: Some(folder), ..data })
    }

    /// Copies the code of the kernel to the folder.
    pub(super) fn copy_kcore(&self) -> Result<(), Failure> {
        let Some(folder) = &self.folder else { return Ok(()) };
        copy_kcore(Path::new("/proc"), &folder.path().join(KCORE_DIR))
            .map_err(|error| Failure(format!("--kcore: {error}")))
    }

    /// Creates the file of a ring, in a folder.
    pub(super) fn part(&mut self, ring: usize) -> Result<File, Failure> {
        let Some(folder) = &self.folder else {
            return Err(Failure(format!("{}: is no folder", self.name)));
        };
        let file = folder.file(&format!("data.{ring}"))?;
        self.parts.push(file.try_clone()?);
        Ok(file)
    }

    /// Gives the file its name. Writing continues after that, so the records of a recorder that is killed later are in
    /// the file.
    pub(in crate::live) fn publish(&mut self) -> Result<(), Failure> {
        if let OutputKind::File { unfinished, .. } = &mut self.to
            && let Some(unfinished) = unfinished.take()
        {
            self.removed.extend(unfinished.publish()?);
        }
        if let Some(folder) = &mut self.folder {
            self.removed.extend(folder.publish()?);
        }
        Ok(())
    }

    /// Returns whether the reader has closed its end.
    pub(in crate::live) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the bytes in the file, or in all files of the folder; `None` for a stream, and for a file that is not regular.
    pub(in crate::live) fn size(&self) -> Option<u64> {
        match &self.to {
            OutputKind::File { file, .. } => {
                let len = |file: &File| file.metadata().ok().filter(|it| it.is_file()).map(|it| it.len());
                [file].into_iter().chain(&self.parts).map(len).sum()
            }
            OutputKind::Stream(_) => None,
        }
    }

    fn put(&mut self, write: impl FnOnce(&mut dyn RecordingSink) -> Result<(), Error>) -> Result<(), Error> {
        if self.is_closed {
            return Ok(());
        }
        let result = match &mut self.to {
            OutputKind::File { sink, .. } => write(&mut **sink),
            OutputKind::Stream(sink) => write(&mut **sink),
        };
        match result {
            Err(error) if error.is_closed_pipe() => {
                self.is_closed = true;
                Ok(())
            }
            result => result.map_err(|error| named(&self.name, error)),
        }
    }
}

/// Returns an error of writing with the name of the output.
pub(super) fn named(name: &str, error: Error) -> Error {
    match error {
        Error::Write(WriteFileError::Io(error)) => Error::Io { path: name.to_owned(), error },
        error => error,
    }
}

impl RecordingSink for CaptureOutput {
    fn begin(&mut self, head: &CaptureHead<'_>) -> Result<(), Error> {
        self.put(|sink| sink.begin(head))
    }

    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        self.put(|sink| sink.records(records))?;
        self.window.as_mut().map_or(Ok(()), |window| window.records(records))
    }

    fn record_with_data(&mut self, record: &[u8], data: &[u8]) -> Result<(), Error> {
        self.put(|sink| sink.record_with_data(record, data))
    }

    fn round(&mut self) -> Result<(), Error> {
        self.put(|sink| sink.round())?;
        self.window.as_mut().map_or(Ok(()), RecordingSink::round)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.put(|sink| sink.flush())
    }

    fn finish(&mut self, features: &FeaturePayloads) -> Result<(), Error> {
        self.put(|sink| sink.finish(features))
    }
}
