//! Checks, compresses and writes the records of a capture.

use alloc::vec::Vec;
use std::io::Write;

use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::record::{Misc, RecordType};

use super::compress::Packer;
use super::error::{RecordFault, WriteFileError};
use super::sink::CountedOutput;
use super::{WriteOptions, ZstdOptions, header};
use crate::feature::AuxtraceEntry;
use crate::record::RawRecord;

/// The records of a capture: checked, compressed if requested, and counted.
#[derive(Debug)]
pub(super) struct RecordBody<W> {
    pub(super) sink: CountedOutput<W>,
    packer: Option<Packer>,
    records: u64,
    /// Offset and size of each AUXTRACE record.
    auxtrace: Vec<AuxtraceEntry>,
    endianness: Endianness,
}

impl<W: Write> RecordBody<W> {
    pub(super) fn new(out: W, options: &WriteOptions) -> Result<Self, WriteFileError> {
        let endianness = options.endianness;
        let packer = options.zstd.map(|zstd| Packer::new(zstd, endianness)).transpose()?;
        Ok(Self { sink: CountedOutput::new(out), packer, records: 0, auxtrace: Vec::new(), endianness })
    }

    /// Returns the byte order of the capture.
    pub(super) fn endianness(&self) -> Endianness {
        self.endianness
    }

    /// Returns the number of records that were written.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Returns offset and size of each AUXTRACE record.
    pub(super) fn auxtrace(&self) -> &[AuxtraceEntry] {
        &self.auxtrace
    }

    /// Returns how records are compressed, and the ratio so far.
    pub(super) fn compression(&self) -> Option<(ZstdOptions, u32)> {
        self.packer.as_ref().map(|packer| (packer.zstd(), packer.ratio()))
    }

    /// Writes one record, given as bytes.
    pub(super) fn record(&mut self, bytes: &[u8], data: &[u8]) -> Result<(), WriteFileError> {
        if let Ok((record, [])) = RawRecord::<Endianness>::parse_in(self.endianness, bytes) {
            return self.raw(&record, data);
        }
        let kind = bytes.first_chunk().map(|&kind| Endianness::u32(self.endianness, kind));
        let size = RawRecord::<Endianness>::announced_size(self.endianness, bytes);
        let header = kind.zip(size.and_then(|size| u32::try_from(size).ok()));
        let (kind, fault) = match header {
            None => (None, RecordFault::Header { len: bytes.len() }),
            Some((kind, size)) => (Some(RecordType(kind)), RecordFault::Size { size, len: bytes.len() }),
        };
        Err(WriteFileError::Record { index: self.records, kind, fault })
    }

    /// Writes FINISHED_ROUND.
    pub(super) fn end_round(&mut self) -> Result<(), WriteFileError> {
        self.record(&header(self.endianness, RecordType::FINISHED_ROUND, Misc(0), 8), &[])
    }

    /// Writes records that follow each other, as few writes as possible. Stops at a record with a fault.
    pub(super) fn records_of(&mut self, bytes: &[u8]) -> Result<(), WriteFileError> {
        let is_plain = |record: &RawRecord<'_>| {
            let kind = record.kind();
            let is_packed = kind == RecordType::COMPRESSED || kind == RecordType::COMPRESSED2;
            !has_data(kind) && !is_packed && (record.size().is_multiple_of(8) || kind.is_user())
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            let (start, mut count) = (rest, 0_u64);
            while let Some((_, after)) =
                RawRecord::whole(self.endianness, rest).filter(|(record, _)| is_plain(record))
            {
                (rest, count) = (after, count.saturating_add(1));
            }
            let plain = start.get(..start.len().saturating_sub(rest.len())).unwrap_or_default();
            // Records that only wait to be compressed would not notice a broken output.
            self.sink.with(|_| Ok(()))?;
            match &mut self.packer {
                Some(packer) => packer.push(&mut self.sink, plain)?,
                None => self.sink.put(plain)?,
            }
            self.records = self.records.saturating_add(count);
            match RawRecord::<Endianness>::whole(self.endianness, rest) {
                Some((record, after)) => {
                    self.raw(&record, &[])?;
                    rest = after;
                }
                None if rest.is_empty() => {}
                // Is refused, with the reason.
                None => return self.record(rest, &[]),
            }
        }
        Ok(())
    }

    /// Writes one record and the data after it.
    pub(super) fn raw(&mut self, record: &RawRecord<'_>, data: &[u8]) -> Result<(), WriteFileError> {
        if !record.size().is_multiple_of(8) && !record.kind().is_user() {
            let fault = RecordFault::Unaligned { size: record.size() };
            return Err(WriteFileError::Record { index: self.records, kind: Some(record.kind()), fault });
        }
        self.copy(record, data)
    }

    /// Writes one record as [`raw`](Self::raw), of any size.
    pub(super) fn copy(&mut self, record: &RawRecord<'_>, data: &[u8]) -> Result<(), WriteFileError> {
        let (kind, size) = (record.kind(), record.size());
        if let Some(fault) = fault(self.endianness, record, data) {
            return Err(WriteFileError::Record { index: self.records, kind: Some(kind), fault });
        }
        // A record that only waits to be compressed would not notice a broken output.
        self.sink.with(|_| Ok(()))?;
        match &mut self.packer {
            Some(packer) if !has_data(kind) => {
                packer.push(&mut self.sink, record.as_bytes())?;
            }
            _ => {
                self.flush()?;
                let offset = self.sink.position();
                self.sink.put(record.as_bytes())?;
                self.sink.put(data)?;
                if kind == RecordType::AUXTRACE {
                    self.auxtrace.push(AuxtraceEntry { file_offset: offset, size: size.into() });
                }
            }
        }
        self.records = self.records.saturating_add(1);
        Ok(())
    }

    /// Writes the records that wait to be compressed.
    pub(super) fn flush(&mut self) -> Result<(), WriteFileError> {
        self.packer.as_mut().map_or(Ok(()), |packer| packer.flush(&mut self.sink))
    }
}

/// The methods that both writers have. They pass the records to the writer's `body`.
macro_rules! record_methods {
    () => {
        /// Appends one record, given as all of its bytes. Only the header is checked.
        ///
        /// # Errors
        ///
        /// [`WriteFileError::Record`] for bytes that are not exactly one record, for a compressed record, and for one
        /// with data after it; [`WriteFileError::Io`], [`WriteFileError::Broken`].
        pub fn record(&mut self, record: &[u8]) -> Result<(), WriteFileError> {
            self.body.record(record, &[])
        }

        /// Appends one record and the data after it: AUXTRACE or HEADER_TRACING_DATA, whose first field is the size of
        /// that data.
        ///
        /// A file gets the offsets of its AUXTRACE records as the feature `AUXTRACE`.
        ///
        /// # Errors
        ///
        /// As [`record`](Self::record); [`RecordFault::Data`](super::RecordFault::Data) if `data` does not have the
        /// size in the record.
        pub fn record_with_data(&mut self, record: &[u8], data: &[u8]) -> Result<(), WriteFileError> {
            self.body.record(record, data)
        }

        /// Appends records that follow each other, such as a span of a ring, in one write. Only their headers are
        /// checked.
        ///
        /// # Errors
        ///
        /// As [`record`](Self::record), for the first record with a fault; the records before it are written.
        pub fn records(&mut self, records: &[u8]) -> Result<(), WriteFileError> {
            self.body.records_of(records)
        }

        /// Appends one record that was read, and the data after it, which is empty for most records.
        ///
        /// # Errors
        ///
        /// As [`record_with_data`](Self::record_with_data); [`RecordFault::ByteOrder`](super::RecordFault::ByteOrder) if
        /// the record has another byte order than the capture to be written.
        pub fn raw<O: ByteOrder>(
            &mut self,
            record: &RawRecord<'_, O>,
            data: &[u8],
        ) -> Result<(), WriteFileError> {
            self.body.raw(&record.typed(record.endianness()), data)
        }

        /// Ends a round of the recorder: appends FINISHED_ROUND. No later record may be earlier than the records of the
        /// round before, so that a reader can order them in bounded memory.
        ///
        /// # Errors
        ///
        /// [`WriteFileError::Io`], [`WriteFileError::Broken`].
        pub fn end_round(&mut self) -> Result<(), WriteFileError> {
            self.body.end_round()
        }

        /// Writes everything given so far, including records that wait to be compressed.
        ///
        /// # Errors
        ///
        /// [`WriteFileError::Io`], [`WriteFileError::Broken`].
        pub fn flush(&mut self) -> Result<(), WriteFileError> {
            self.body.flush()?;
            self.body.sink.with(W::flush)
        }
    };
}
pub(super) use record_methods;

/// Returns whether records of this type have data after them.
fn has_data(kind: RecordType) -> bool {
    kind == RecordType::AUXTRACE || kind == RecordType::HEADER_TRACING_DATA
}

fn fault(endianness: Endianness, record: &RawRecord<'_>, data: &[u8]) -> Option<RecordFault> {
    let (kind, size) = (record.kind(), record.size());
    if record.endianness() != endianness {
        return Some(RecordFault::ByteOrder { endianness: record.endianness() });
    }
    if kind == RecordType::COMPRESSED || kind == RecordType::COMPRESSED2 {
        return Some(RecordFault::Compressed);
    }
    let needed = if has_data(kind) { record.announced() } else { Some(0) };
    match needed {
        Some(needed) if needed == data.len() as u64 => None,
        Some(needed) => Some(RecordFault::Data { needed, given: data.len() }),
        None => Some(RecordFault::Payload { size }),
    }
}
