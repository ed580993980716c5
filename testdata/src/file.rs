//! Writes a `perf.data` in perf's layout: header, ids, attrs, data, feature table, features.

use perf_abi::attr::{Attr, AttrVersion};

use crate::Bytes;

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct Builder {
    /// Whether the byte order is big-endian.
    pub big: bool,
    /// The first 8 bytes.
    pub magic: [u8; 8],
    /// 104, or 72 for a header without the bitmap of features.
    pub header_size: usize,
    /// The size of the attrs.
    pub version: AttrVersion,
    /// The events with their ids.
    pub events: Vec<(Attr, Vec<u64>)>,
    /// The records.
    pub data: Vec<u8>,
    /// In ascending order of numbers.
    pub features: Vec<(u32, Vec<u8>)>,
}

/// A file and the offsets of its parts.
#[derive(Clone, Debug)]
pub struct Built {
    big: bool,
    /// The file.
    pub bytes: Vec<u8>,
    /// Offset of the ids.
    pub ids: usize,
    /// Offset of the attrs.
    pub attrs: usize,
    /// Bytes from one entry of the attrs to the next.
    pub stride: usize,
    /// Offset of the records.
    pub data: usize,
    /// Offset of the table of features. The sections follow the table.
    pub table: usize,
}

impl Builder {
    /// A file without events, records and features, with attrs of version 5.
    #[must_use]
    pub fn new(big: bool) -> Self {
        Self {
            big,
            magic: if big { *b"2ELIFREP" } else { *b"PERFILE2" },
            header_size: 104,
            version: AttrVersion::VER5,
            events: Vec::new(),
            data: Vec::new(),
            features: Vec::new(),
        }
    }

    /// Appends an event.
    #[must_use]
    pub fn event(mut self, attr: Attr, ids: &[u64]) -> Self {
        self.events.push((attr, ids.to_vec()));
        self
    }

    /// Appends to the data.
    #[must_use]
    pub fn data(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.data.extend_from_slice(bytes.as_ref());
        self
    }

    /// Appends a feature, whose number must be larger than those before.
    #[must_use]
    pub fn feature(mut self, number: u32, bytes: Vec<u8>) -> Self {
        self.features.push((number, bytes));
        self
    }

    /// Returns the file.
    #[must_use]
    pub fn build(&self) -> Built {
        let new = || Bytes::new(self.big);
        let attr_size = self.version.size() as usize;
        let stride = attr_size + 16;
        let ids = self.header_size;
        let attrs = ids + 8 * self.events.iter().map(|(_, ids)| ids.len()).sum::<usize>();
        let data = attrs + stride * self.events.len();
        let table = data + self.data.len();

        let mut bitmap = [0_u64; 4];
        for &(number, _) in &self.features {
            bitmap[number as usize / 64] |= 1 << (number % 64);
        }
        let word = |value: usize| value as u64;
        let mut out = new().raw(&self.magic).u64s(&[word(self.header_size), word(stride)]);
        out = out.u64s(&[word(attrs), word(stride * self.events.len())]);
        out = out.u64s(&[word(data), word(self.data.len()), 0, 0]);
        if self.header_size == 104 {
            out = out.u64s(&bitmap);
        }
        for (_, ids) in &self.events {
            out = out.u64s(ids);
        }
        let mut at = ids;
        for (attr, ids) in &self.events {
            out = out.attr(attr, attr_size).u64(word(at)).u64(8 * word(ids.len()));
            at += 8 * ids.len();
        }
        out = out.raw(&self.data);
        let mut at = table + 16 * self.features.len();
        for (_, section) in &self.features {
            out = out.u64(word(at)).u64(word(section.len()));
            at += section.len();
        }
        for (_, section) in &self.features {
            out = out.raw(section);
        }
        Built { big: self.big, bytes: out.out, ids, attrs, stride, data, table }
    }
}

impl Built {
    /// Overwrites a word.
    #[must_use]
    pub fn put(mut self, at: usize, value: u64) -> Self {
        self.bytes[at..at + 8].copy_from_slice(&Bytes::new(self.big).u64(value).out);
        self
    }

    /// Truncates the file.
    #[must_use]
    pub fn cut(mut self, size: usize) -> Self {
        self.bytes.truncate(size);
        self
    }
}
