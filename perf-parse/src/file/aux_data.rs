//! The data of AUX areas.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use perf_abi::record::RecordType;

use super::decompress::Payloads;
use super::{Reader, Section};
use crate::error::{FileError, FileErrorKind};
use crate::event::EventRecord;

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

impl Reader<'_> {
    /// Returns the data of an AUX area after an AUXTRACE record of this capture, as the hardware wrote it. Empty for other records.
    ///
    /// `simpleperf record -z` compresses the data of each AUXTRACE record by zstd; its
    /// [`size`](crate::record::user::Auxtrace::size) is that of the compressed data. This takes time and memory proportional
    /// to the data, within [`limits`](Self::limits). perf never compresses the data; it is borrowed from a capture in memory.
    ///
    /// simpleperf: `RecordFileReader::ReadAuxDataFromDecompressor`, `system/extras/simpleperf/record_file_reader.cpp`.
    ///
    /// # Errors
    ///
    /// Those of [`trailing`](Self::trailing): a stream has skipped the data. [`FileErrorKind::Decompress`] if the data is
    /// damaged or expands beyond [`Limits::decompressed`](crate::file::Limits::decompressed) and
    /// [`Limits::decompressed_ratio`](crate::file::Limits::decompressed_ratio), with the offset of the record.
    pub fn aux_data<'b>(&'b self, record: &'b EventRecord<'_>) -> Result<Cow<'b, [u8]>, FileError> {
        if record.kind() != RecordType::AUXTRACE {
            return Ok(Cow::Borrowed(&[]));
        }
        self.decompressed(self.trailing(record)?, record.offset())
    }

    /// Returns the data of an AUX area as [`aux_data`](Self::aux_data), of an AUXTRACE record that an earlier walk returned:
    /// `data` is its data in the data file, as [`RecordPosition::data_file`](crate::event::RecordPosition::data_file) counts
    /// them. So a program can note where the data is, and read it later.
    ///
    /// # Errors
    ///
    /// Those of [`bytes_in`](Self::bytes_in), and [`FileErrorKind::Decompress`] as for [`aux_data`](Self::aux_data), with the
    /// offset of the data.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::Reader;
    /// use perf_parse::abi::record::RecordType;
    /// use perf_parse::file::Section;
    ///
    /// # let path = "examples/captures/auxtrace.le.data";
    /// let reader = Reader::open(path)?;
    /// for record in reader.records().only(&[RecordType::AUXTRACE]) {
    ///     let record = record?;
    ///     let offset = record.offset() + u64::from(record.raw().size());
    ///     let data = Section { offset, size: record.trailing_size() };
    ///     assert_eq!(reader.aux_data_at(record.position().data_file, data)?, reader.aux_data(&record)?);
    /// }
    /// # Ok::<(), perf_parse::FileError>(())
    /// ```
    pub fn aux_data_at(&self, data_file: usize, data: Section) -> Result<Cow<'_, [u8]>, FileError> {
        self.decompressed(self.bytes_in(data_file, data)?, data.offset)
    }

    /// Returns data without the compression of simpleperf. `offset` is for the errors.
    fn decompressed<'b>(&self, data: Cow<'b, [u8]>, offset: u64) -> Result<Cow<'b, [u8]>, FileError> {
        if !data.starts_with(&MAGIC) {
            return Ok(data);
        }
        let mut rest = &*data;
        let fault = |what| FileError::new(FileErrorKind::Decompress { what }, offset);
        let (mut payload, mut out) = (Payloads::new(self.limits()), Vec::new());
        payload.begin(rest.len());
        loop {
            let len = out.len();
            let (taken, is_done) = payload.step(rest, &mut out).map_err(fault)?;
            rest = rest.get(taken..).unwrap_or_default();
            // A decoder may hold the next frame until the output of the one before is taken.
            if is_done && out.len() == len {
                break;
            }
        }
        if payload.finish(&mut out) > 0 {
            return Err(fault("ends within a block"));
        }
        Ok(Cow::Owned(out))
    }
}
