//! The output of a recording: a file or a stream.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use perf_abi::endian::NativeEndian;
use perf_parse::file::write::{FeaturePayloads, Options, WriteFileError};
use perf_record::{Error, FileSink, Head, PipeSink, Sink};

use crate::Failure;
use crate::escape::shown;
use crate::output::{Holds, Outputs, Unfinished};

/// Bytes that are collected before they are written. Longer spans of a ring are written at once.
const CHUNK: usize = 1 << 16;

/// A capture that is being written.
pub(in crate::live) struct Output {
    /// The name in messages.
    pub(in crate::live) name: String,
    to: To,
    /// Whether the reader of the stream has closed its end, as `head` does. Then nothing more is written.
    is_closed: bool,
}

enum To {
    File {
        sink: Box<FileSink<BufWriter<File>>>,
        /// The same file, for its size.
        file: File,
        /// The unfinished file; `None` after it was published.
        unfinished: Option<Box<Unfinished>>,
    },
    Stream(Box<PipeSink<BufWriter<io::Stdout>>>),
}

impl Output {
    /// Creates a file, or a stream on standard output if `path` is `-`. [`publish`](Self::publish) gives the file its
    /// name, and renames an existing file to `path.old`.
    pub(in crate::live) fn create(path: &Path, options: Options) -> Result<Self, Failure> {
        if path == Path::new("-") {
            let out = BufWriter::with_capacity(CHUNK, io::stdout());
            let to = To::Stream(Box::new(PipeSink::with_options(out, options)));
            return Ok(Self { name: "standard output".to_owned(), to, is_closed: false });
        }
        let name = shown(path).to_string();
        let (out, unfinished) = Outputs::default().claim("--output", path)?.create(Holds::Recording)?;
        let file = out.try_clone()?;
        let sink = Box::new(FileSink::with_options(BufWriter::with_capacity(CHUNK, out), options));
        Ok(Self {
            name,
            to: To::File { sink, file, unfinished: Some(Box::new(unfinished)) },
            is_closed: false,
        })
    }

    /// Gives the file its name. Writing continues after that, so the records of a recorder that is killed later are in
    /// the file.
    pub(in crate::live) fn publish(&mut self) -> Result<(), Failure> {
        match &mut self.to {
            To::File { unfinished, .. } => unfinished.take().map_or(Ok(()), |it| it.publish()),
            To::Stream(_) => Ok(()),
        }
    }

    /// Returns whether the reader has closed its end.
    pub(in crate::live) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns the bytes in the file; `None` for a stream, and for a file that is not regular.
    pub(in crate::live) fn size(&self) -> Option<u64> {
        match &self.to {
            To::File { file, .. } => file.metadata().ok().filter(|it| it.is_file()).map(|it| it.len()),
            To::Stream(_) => None,
        }
    }

    fn put(&mut self, write: impl FnOnce(&mut dyn Sink) -> Result<(), Error>) -> Result<(), Error> {
        if self.is_closed {
            return Ok(());
        }
        let result = match &mut self.to {
            To::File { sink, .. } => write(&mut **sink),
            To::Stream(sink) => write(&mut **sink),
        };
        match result {
            Err(error) if error.is_closed_pipe() => {
                self.is_closed = true;
                Ok(())
            }
            Err(Error::Write(WriteFileError::Io(error))) => Err(Error::Io { path: self.name.clone(), error }),
            result => result,
        }
    }
}

impl Sink for Output {
    fn begin(&mut self, head: &Head<'_>) -> Result<(), Error> {
        self.put(|sink| sink.begin(head))
    }

    fn records(&mut self, records: &[u8]) -> Result<(), Error> {
        self.put(|sink| sink.records(records))
    }

    fn round(&mut self) -> Result<(), Error> {
        self.put(|sink| sink.round())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.put(|sink| sink.flush())
    }

    fn finish(&mut self, features: &FeaturePayloads<NativeEndian>) -> Result<(), Error> {
        self.put(|sink| sink.finish(features))
    }
}
