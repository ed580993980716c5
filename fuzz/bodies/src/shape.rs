//! The places of the parts of a capture, found without the library under test.

use core::ops::Range;

/// The parts of a capture, as far as they can be found. None of them need be correct.
#[derive(Debug, Default)]
pub struct Shape {
    /// Whether the numbers are big-endian.
    pub big: bool,
    /// Whether the capture is a stream.
    pub is_pipe: bool,
    /// The records, each with the data after it.
    pub records: Vec<Range<usize>>,
    /// The attrs without the places of their ids.
    pub attrs: Vec<Range<usize>>,
    /// The offsets of the entries of the feature table.
    pub entries: Vec<usize>,
    /// The payloads of features, including those of a stream.
    pub features: Vec<Range<usize>>,
    /// The ids of the events.
    pub ids: Vec<u64>,
}

/// Bytes of the header of a file, and of a stream.
pub const FILE_HEADER: usize = 104;
const PIPE_HEADER: usize = 16;
/// Offset of the size of the data in the header of a file.
pub const DATA_SIZE: usize = 48;
/// Offset of the bitmap of features in the header of a file.
pub const BITMAP: usize = 72;

/// Types of records: `HEADER_ATTR`, `HEADER_TRACING_DATA`, `AUXTRACE`, `HEADER_FEATURE`.
const ATTR: u64 = 64;
const TRACING_DATA: u64 = 66;
const AUXTRACE: u64 = 71;
const FEATURE: u64 = 80;

/// Reads a number of `width` bytes; 0 if it is incomplete.
#[must_use]
pub fn number(bytes: &[u8], big: bool, at: usize, width: usize) -> u64 {
    let Some(bytes) = bytes.get(at..at.saturating_add(width)) else { return 0 };
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    if big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) }
}

/// Writes a number of `width` bytes if there is room for all of it.
pub fn put(bytes: &mut [u8], big: bool, at: usize, width: usize, value: u64) {
    if let Some(bytes) = bytes.get_mut(at..at.saturating_add(width)) {
        let value = value.to_be_bytes();
        bytes.copy_from_slice(&value[8 - width..]);
        if !big {
            bytes.reverse();
        }
    }
}

impl Shape {
    /// Finds the parts of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        let big = bytes.starts_with(b"2ELIFREP");
        let word = |at| number(bytes, big, at, 8);
        let place = |at| usize::try_from(word(at)).map_or(bytes.len(), |place| place.min(bytes.len()));
        let mut this = Self { big, is_pipe: word(8) == PIPE_HEADER as u64, ..Self::default() };
        if this.is_pipe {
            this.records(bytes, PIPE_HEADER, bytes.len());
            this.of_records(bytes);
            return this;
        }
        let (stride, attrs, attrs_size) = (place(16), place(24), place(32));
        if stride > 16 {
            let ends = attrs.saturating_add(attrs_size).min(bytes.len());
            let starts = (attrs..ends).step_by(stride).take(64).filter(|at| at + stride <= ends);
            this.attrs = starts.map(|at| at..at + stride - 16).collect();
        }
        for attr in &this.attrs {
            let (at, size) = (place(attr.end), place(attr.end + 8));
            this.ids.extend((at..at.saturating_add(size)).step_by(8).take(64).map(word));
        }
        let data = place(40);
        let end = match place(DATA_SIZE) {
            0 => bytes.len(),
            size => data.saturating_add(size).min(bytes.len()),
        };
        this.records(bytes, data, end);
        let features: u32 = (0..4).map(|index| word(BITMAP + 8 * index).count_ones()).sum();
        this.entries = (0..features as usize).map(|index| end + 16 * index).collect();
        this.entries.retain(|at| at + 16 <= bytes.len());
        let sections = this.entries.iter().map(|&at| (place(at), place(at + 8)));
        this.features = sections.map(|(at, size)| at..at.saturating_add(size).min(bytes.len())).collect();
        this.features.retain(|section| !section.is_empty());
        this
    }

    fn records(&mut self, bytes: &[u8], mut at: usize, end: usize) {
        while at + 8 <= end {
            let size = number(bytes, self.big, at + 6, 2) as usize;
            let (fields, announced, unit) = match number(bytes, self.big, at, 4) {
                AUXTRACE => (48, number(bytes, self.big, at + 8, 8), 1),
                TRACING_DATA => (12, number(bytes, self.big, at + 8, 4), 8),
                _ => (0, 0, 1),
            };
            let is_inside = announced.checked_add(fields).is_some_and(|end| end <= size as u64);
            let behind = if is_inside { 0 } else { announced.next_multiple_of(unit) };
            let next = usize::try_from(behind).ok().and_then(|behind| (at + size).checked_add(behind));
            let Some(next) = next.filter(|&next| size >= 8 && next <= end) else { return };
            self.records.push(at..next);
            at = next;
        }
    }

    /// Finds the attrs and features that are records.
    fn of_records(&mut self, bytes: &[u8]) {
        for record in &self.records {
            match number(bytes, self.big, record.start, 4) {
                ATTR => {
                    let size = number(bytes, self.big, record.start + 12, 4) as usize;
                    let attr = record.start + 8..(record.start + 8 + size).min(record.end);
                    let ids = (attr.end..record.end).step_by(8).take(64);
                    self.ids.extend(ids.map(|at| number(bytes, self.big, at, 8)));
                    self.attrs.push(attr);
                }
                TRACING_DATA | FEATURE if record.len() > 16 => {
                    self.features.push(record.start + 16..record.end)
                }
                _ => {}
            }
        }
    }
}
