//! Writing the files of a folder that are beside its `data`.

use std::io::Write;

use perf_abi::endian::ByteOrder;

use super::WriteOptions;
use super::body::{RecordBody, record_methods};
use super::error::WriteFileError;
use crate::record::RawRecord;

/// Writes a file of a folder, such as `data.0`: records alone, without a header.
///
/// The file `data` of the folder is a [`FileWriter`](super::FileWriter)'s, with the feature
/// [`DIR_FORMAT`](perf_abi::feature::Feature::DIR_FORMAT). The records of each file must be in the order of their times,
/// as those of a ring are. Compressed records are a stream of their own in each file; `data` must have the same
/// [`WriteOptions`], for its feature `COMPRESSED`.
///
/// A folder has no index of AUXTRACE records outside of its `data`, so perf does not find those that are elsewhere.
///
/// # Examples
///
/// ```
/// use perf_parse::abi::endian::Endianness;
/// use perf_parse::file::write::{WriteOptions, PartWriter};
///
/// let options = WriteOptions { endianness: Endianness::Little, ..WriteOptions::default() };
/// let mut part = PartWriter::new(Vec::new(), &options)?;
/// part.record(&[68, 0, 0, 0, 0, 0, 8, 0])?;
/// assert_eq!(part.finish()?.len(), 8);
/// # Ok::<(), perf_parse::file::write::WriteFileError>(())
/// ```
///
/// perf: `perf_data__create_dir`, `tools/perf/util/data.c`; since 5.2.
#[derive(Debug)]
#[must_use = "records may wait to be compressed until it is finished"]
pub struct PartWriter<W> {
    body: RecordBody<W>,
}

impl<W: Write> PartWriter<W> {
    /// Begins a file at the present position of `out`. Writes nothing yet.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Option`].
    pub fn new(out: W, options: &WriteOptions) -> Result<Self, WriteFileError> {
        Ok(Self { body: RecordBody::new(out, options)? })
    }

    /// Appends a record that was read, whatever its size.
    pub(crate) fn copy(&mut self, record: &RawRecord<'_>) -> Result<(), WriteFileError> {
        self.body.copy(record, &[])
    }

    record_methods!();

    /// Ends the file and returns the output.
    ///
    /// # Errors
    ///
    /// [`WriteFileError::Io`], [`WriteFileError::Broken`].
    pub fn finish(mut self) -> Result<W, WriteFileError> {
        self.flush()?;
        Ok(self.body.sink.into_inner())
    }
}
