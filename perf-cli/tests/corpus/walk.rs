//! A simple walk over the record headers of a little-endian capture. It gives the types and offsets of its records, for
//! comparison with a dump.

use std::io::Write;

use zstd::stream::write::Decoder;

const AUXTRACE: usize = 71;
const HEADER_TRACING_DATA: usize = 66;
const COMPRESSED: usize = 81;
const COMPRESSED2: usize = 83;

/// A record's offset and header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecordPosition {
    /// The offset in the file. For a compressed record, the offset of the record that contains its end.
    pub(crate) offset: usize,
    /// The offset in the decompressed stream; `None` if the record was not compressed.
    pub(crate) inner: Option<usize>,
    header: usize,
}

impl RecordPosition {
    pub(crate) fn type_id(self) -> usize {
        self.header & 0xffff_ffff
    }

    pub(crate) fn misc(self) -> usize {
        self.header >> 32 & 0xffff
    }

    pub(crate) fn size(self) -> usize {
        self.header >> 48
    }
}

/// The records of a complete capture, and the numbers of its compressed ones.
pub(crate) struct Walk {
    pub(crate) is_pipe: bool,
    /// All records; compressed ones are replaced by their content.
    pub(crate) records: Vec<RecordPosition>,
    /// The number of compressed records.
    pub(crate) chunks: usize,
    /// The number of bytes in records and in the data that belongs to them.
    pub(crate) bytes: usize,
}

impl Walk {
    pub(crate) fn of(file: &[u8]) -> Self {
        let is_pipe = word(file, 8) == 16;
        let (start, len) = if is_pipe { (16, file.len() - 16) } else { (word(file, 40), word(file, 48)) };
        let mut walk = Self { is_pipe, records: Vec::new(), chunks: 0, bytes: len };
        let mut stream = Decoder::new(Vec::new()).expect("a decoder");
        let (mut at, mut taken) = (start, 0);
        while at < start + len {
            let place = RecordPosition { offset: at, inner: None, header: word(file, at) };
            let data = match place.type_id() {
                COMPRESSED => Some(at + 8..at + place.size()),
                COMPRESSED2 => Some(at + 16..at + 16 + word(file, at + 8)),
                _ => None,
            };
            match data {
                Some(data) => {
                    walk.chunks += 1;
                    stream.write_all(&file[data]).expect("a zstd stream");
                    stream.flush().expect("a zstd stream");
                    walk.inflated(stream.get_ref(), &mut taken, at);
                }
                None => walk.records.push(place),
            }
            let (fields, announced, unit) = match place.type_id() {
                AUXTRACE => (48, word(file, at + 8), 1),
                HEADER_TRACING_DATA => (12, word(file, at + 8) & 0xffff_ffff, 8),
                _ => (0, 0, 1),
            };
            let is_inside = fields + announced <= place.size();
            at += place.size() + if is_inside { 0 } else { announced.next_multiple_of(unit) };
        }
        assert_eq!((at, taken), (start + len, stream.get_ref().len()), "the capture ends amid a record");
        walk
    }

    /// Adds the records that are complete after the record at `offset` was decompressed.
    fn inflated(&mut self, stream: &[u8], taken: &mut usize, offset: usize) {
        while stream.len() >= *taken + 8 {
            let place = RecordPosition { offset, inner: Some(*taken), header: word(stream, *taken) };
            assert!(place.size() >= 8, "no record has the size {}", place.size());
            if stream.len() < *taken + place.size() {
                return;
            }
            *taken += place.size();
            self.records.push(place);
        }
    }

    /// Returns the records of a type before the first that is not the perf tool's own.
    pub(crate) fn before_records(&self, type_id: usize) -> impl Iterator<Item = &RecordPosition> {
        let before =
            self.records.iter().take_while(|record| record.inner.is_none() && record.type_id() >= 64);
        before.filter(move |record| record.type_id() == type_id)
    }
}

/// Returns the little-endian word at a byte offset.
pub(crate) fn word(bytes: &[u8], at: usize) -> usize {
    let bytes = bytes.get(at..at + 8).expect("a whole capture");
    usize::try_from(u64::from_le_bytes(bytes.try_into().expect("8 bytes"))).expect("64 bits")
}
