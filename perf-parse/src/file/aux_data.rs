//! The data of AUX areas.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use perf_abi::record::RecordType;

use super::decompress::Payloads;
use crate::error::{FileError, FileErrorKind};
use crate::event::EventRecord;
use crate::limits::Limits;

/// The first bytes of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

impl<'r> EventRecord<'r> {
    /// Returns the data of an AUX area after an AUXTRACE record, as the hardware wrote it. Empty for other records, and for
    /// a stream, which skips the data.
    ///
    /// `simpleperf record -z` compresses the data of each AUXTRACE record by zstd; its
    /// [`size`](crate::record::user::Auxtrace::size) is that of the compressed data. This takes time and memory proportional
    /// to the data, within `limits`. perf never compresses the data; it is borrowed.
    ///
    /// simpleperf: `RecordFileReader::ReadAuxDataFromDecompressor`, `system/extras/simpleperf/record_file_reader.cpp`.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Decompress`] if the data is damaged or expands beyond [`Limits::decompressed`] and
    /// [`Limits::decompressed_ratio`], with the offset of the record.
    pub fn aux_data(&self, limits: &Limits) -> Result<Cow<'_, [u8]>, FileError> {
        if self.kind() != RecordType::AUXTRACE {
            return Ok(Cow::Borrowed(&[]));
        }
        let mut rest = self.trailing();
        if !rest.starts_with(&MAGIC) {
            return Ok(Cow::Borrowed(rest));
        }
        let fault = |what| FileError::new(FileErrorKind::Decompress { what }, self.offset());
        let (mut payload, mut out) = (Payloads::new(limits), Vec::new());
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
