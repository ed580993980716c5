//! A walk over the pieces of a capture that a program needs.

use alloc::vec::Vec;

use perf_abi::endian::{BigEndian, Endian, Endianness, LittleEndian};

use super::Index;
use super::chunk::Chunk;
use crate::event::RecordPosition;
use crate::file::{EventRecords, FilePiece, Reader};
use crate::record::RawRecord;

impl Index {
    /// Walks over the chunks that `wants` selects, and over the records of all other chunks that are not samples: what a
    /// program needs that counts the samples of a span of time.
    ///
    /// The records are in the order of the capture, with the errors between them; call
    /// [`in_time_order`](EventRecords::in_time_order) for the other order. What is left out is not read and not in the
    /// account, neither its records nor its faults. Begins in a time that grows with the index. Holds 32 bytes for each
    /// piece of the capture that is read.
    ///
    /// `reader` must have opened the capture that was indexed. `None` if the capture is compressed or is not in memory, or
    /// if the index does not fit it; then walk over all of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_parse::{Index, Reader};
    ///
    /// # let path = "examples/captures/plain.data";
    /// let bytes = std::fs::read(path)?;
    /// let reader = Reader::new(&bytes)?;
    /// let index = Index::from_records(reader.records())?;
    /// let none = index.walk(&reader, |_| false).expect("in memory, and not compressed");
    /// let others: Vec<_> = none.collect::<Result<_, _>>()?;
    /// assert!(others.iter().all(|record| record.sample().is_none()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn walk<'r>(
        &self,
        reader: &'r Reader<'_>,
        wants: impl Fn(&Chunk<'_>) -> bool,
    ) -> Option<EventRecords<'r>> {
        if self.is_compressed || !reader.is_in_memory() {
            return None;
        }
        let size: fn(&[u8]) -> Option<u64> = match reader.endianness() {
            Endianness::Little => size_of::<LittleEndian>,
            Endianness::Big => size_of::<BigEndian>,
        };
        let mut pieces = PieceList::default();
        let mut chunks = self.chunks().peekable();
        while let Some(chunk) = chunks.next() {
            let RecordPosition { data_file, offset, .. } = chunk.position();
            if wants(&chunk) {
                let next = chunks.peek().map(Chunk::position).filter(|next| next.data_file == data_file);
                pieces.add(data_file, offset, next.map_or(u64::MAX, |next| next.offset));
                continue;
            }
            for other in chunk.others()? {
                let RecordPosition { data_file, offset, .. } = other.position;
                let size = size(reader.bytes_from(data_file, offset)?)?;
                pieces.add(data_file, offset, offset.checked_add(size)?);
            }
        }
        Some(reader.records().of_pieces(pieces.0))
    }
}

/// The pieces so far, in the order of the capture.
#[derive(Debug, Default)]
struct PieceList(Vec<FilePiece>);

impl PieceList {
    /// Adds a range of offsets, after those before it.
    fn add(&mut self, data_file: usize, start: u64, end: u64) {
        match self.0.last_mut() {
            Some(last) if last.data_file == data_file && last.range.end == start => last.range.end = end,
            _ => self.0.push(FilePiece { data_file, range: start..end }),
        }
    }
}

/// Returns the size of the record at the start of `bytes`, with the bytes after it that belong to it.
fn size_of<O: Endian>(bytes: &[u8]) -> Option<u64> {
    let (raw, _) = RawRecord::<O>::whole((), bytes)?;
    u64::from(raw.size()).checked_add(raw.trailing_size().unwrap_or(0))
}
