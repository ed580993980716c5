//! Records of simpleperf that are longer than 65535 bytes.

use alloc::vec::Vec;

use perf_abi::endian::{ByteOrder, Endianness};
use perf_abi::record::RecordType;

use super::RawRecord;
use crate::error::{Error, ErrorKind};

/// Joins the records that simpleperf split because they are longer than 65535 bytes: the pieces are SPLIT records, one
/// after another, and a SPLIT_END.
///
/// The joined record has the same header with a size of 32 bits as all records of simpleperf. KERNEL_SYMBOL and TRACING_DATA
/// are such records. The memory is that of the record; it is used again for the next one.
///
/// simpleperf: `RecordFileWriter::WriteRecord`, `system/extras/simpleperf/record_file_writer.cpp`.
///
/// # Examples
///
/// ```
/// use perf_parse::RawRecord;
/// use perf_parse::abi::endian::LittleEndian;
/// use perf_parse::abi::record::RecordType;
/// use perf_parse::record::SplitJoiner;
///
/// let pieces = [
///     &b"\x04\x80\0\0\0\0\x12\0\x0a\x80\0\0\0\0\x18\0\x07\0"[..], // SPLIT
///     b"\x04\x80\0\0\0\0\x16\0\0\0\0\0\0\0hi\0\0\0\0\0\0",       // SPLIT
///     b"\x05\x80\0\0\0\0\x08\0",                                 // SPLIT_END
/// ];
/// let mut joiner = SplitJoiner::new();
/// for piece in pieces {
///     let (piece, _) = RawRecord::<LittleEndian>::parse(piece)?;
///     if let Some(joined) = joiner.push(&piece.untyped())? {
///         assert_eq!((joined.kind(), joined.size()), (RecordType::DEBUG, 24));
///     }
/// }
/// # Ok::<(), perf_parse::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SplitJoiner {
    bytes: Vec<u8>,
    /// The types that are joined; `None` for all.
    types: Option<&'static [RecordType]>,
    state: JoinState,
}

/// The pieces that came last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum JoinState {
    /// None, or of a record that is complete.
    #[default]
    Done,
    /// Pieces of a record that is not complete.
    Pieces,
    /// Pieces of a record that is not wanted, or faulty.
    Skipped,
}

impl SplitJoiner {
    /// Creates a joiner without pieces.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), types: None, state: JoinState::Done }
    }

    /// Creates a joiner of the records that describe a capture. It skips others.
    pub(crate) const fn of_descriptions() -> Self {
        let types: &[RecordType] = &[RecordType::EVENT_ID, RecordType::TRACING_DATA];
        Self { bytes: Vec::new(), types: Some(types), state: JoinState::Done }
    }

    /// Takes the next record of a capture. Returns the joined record if this is the SPLIT_END of one. `None` for a SPLIT, for
    /// a SPLIT_END after a fault, and for a record of any other type, which the joiner ignores.
    ///
    /// # Errors
    ///
    /// If the pieces do not make one record: [`Truncated`](ErrorKind::Truncated), [`Residue`](ErrorKind::Residue), or
    /// [`RecordSize`](ErrorKind::RecordSize), with the offset in the joined record. The pieces are dropped; later records can
    /// be joined.
    pub fn push(&mut self, record: &RawRecord<'_>) -> Result<Option<RawRecord<'_>>, Error> {
        match record.kind() {
            RecordType::SPLIT => self.add(record.payload(), record.endianness()).map(|()| None),
            RecordType::SPLIT_END => match core::mem::take(&mut self.state) {
                JoinState::Pieces => {
                    let (joined, rest) = RawRecord::parse_in(record.endianness(), &self.bytes)?;
                    let residue = |joined: RawRecord<'_>| {
                        let bytes = u32::try_from(rest.len()).unwrap_or(u32::MAX);
                        Error::new(ErrorKind::Residue { bytes }, joined.size())
                    };
                    if rest.is_empty() { Ok(Some(joined)) } else { Err(residue(joined)) }
                }
                JoinState::Done | JoinState::Skipped => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// Returns whether pieces of a wanted record came, and its end did not.
    pub(crate) fn is_joining(&self) -> bool {
        self.state == JoinState::Pieces
    }

    /// Adds a piece.
    fn add(&mut self, piece: &[u8], order: Endianness) -> Result<(), Error> {
        match self.state {
            JoinState::Skipped => return Ok(()),
            JoinState::Done => self.bytes.clear(),
            JoinState::Pieces => {}
        }
        self.state = JoinState::Pieces;
        self.bytes.extend_from_slice(piece);
        let Some(size) = RawRecord::<Endianness>::announced_size(order, &self.bytes) else { return Ok(()) };
        let kind = self.bytes.first_chunk().map(|&kind| RecordType(Endianness::u32(order, kind)));
        if self.types.is_some_and(|types| kind.is_none_or(|kind| !types.contains(&kind))) {
            self.state = JoinState::Skipped;
            self.bytes.clear();
            return Ok(());
        }
        // Pieces without end would otherwise be kept.
        let surplus = self.bytes.len().saturating_sub(size);
        if surplus > 0 {
            self.state = JoinState::Skipped;
            self.bytes.clear();
            let bytes = u32::try_from(surplus).unwrap_or(u32::MAX);
            return Err(Error::new(ErrorKind::Residue { bytes }, u32::try_from(size).unwrap_or(u32::MAX)));
        }
        Ok(())
    }
}
