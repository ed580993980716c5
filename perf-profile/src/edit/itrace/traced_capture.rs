//! A capture with samples of AUX data, in a file of its own.

use std::fs::File;
use std::io::{self, BufWriter, IntoInnerError};

use perf_parse::Reader;
use perf_parse::file::write::WriteFileError;
use perf_parse::rewrite::RepairStep;

use super::{TraceAccount, TraceSamples};

/// A capture with the samples that a decoder makes of its AUX data, opened to be read in place of the capture that has the data.
#[derive(Debug)]
#[non_exhaustive]
pub struct TracedCapture {
    /// The capture with the samples.
    pub reader: Reader<'static>,
    /// What was decoded of the AUX data.
    pub account: TraceAccount,
    /// Whether all records were read, and all AUX data was decoded.
    pub is_whole: bool,
    /// Number of bytes of the file.
    pub size: u64,
}

/// Number of bytes that are written at a time.
const BUFFER: usize = 1 << 20;

impl TraceSamples {
    /// Writes the capture with the samples into an empty file, which is open for reading too, and opens it. A file without a name is
    /// gone with the reader. Calls `report` at each step.
    ///
    /// # Errors
    ///
    /// Those of [`write_file`](Self::write_file).
    pub fn into_file(
        &self,
        reader: &Reader<'_>,
        file: File,
        report: impl FnMut(RepairStep<'_>),
    ) -> Result<TracedCapture, WriteFileError> {
        let (edited, account) = self.write_file(reader, BufWriter::with_capacity(BUFFER, file), report)?;
        let is_whole = edited.account.is_clean() && edited.dropped == 0 && account.is_clean();
        let file = edited.out.into_inner().map_err(IntoInnerError::into_error).map_err(WriteFileError::Io)?;
        let size = file.metadata().map_err(WriteFileError::Io)?.len();
        let reader = Reader::from_file(file).map_err(|error| WriteFileError::Io(io::Error::other(error)))?;
        Ok(TracedCapture { reader, account, is_whole, size })
    }
}
