//! Writes a `perf.data` in perf's layout: header, ids, attrs, data, feature table, features.

use perf_parse::abi::attr::{Attr, AttrVersion};
use perf_parse::abi::endian::{BigEndian, LittleEndian};

use crate::common::Bytes;

/// The contents of a file.
pub(crate) struct Builder {
    pub(crate) big: bool,
    pub(crate) magic: [u8; 8],
    /// 104, or 72 for a header without the bitmap of features.
    pub(crate) header_size: usize,
    pub(crate) version: AttrVersion,
    pub(crate) events: Vec<(Attr, Vec<u64>)>,
    pub(crate) data: Vec<u8>,
    /// In ascending order of numbers.
    pub(crate) features: Vec<(u32, Vec<u8>)>,
}

/// A file and the offsets of its parts.
#[derive(Clone)]
pub(crate) struct Built {
    big: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) ids: usize,
    pub(crate) attrs: usize,
    /// Bytes from one entry of the attrs to the next.
    pub(crate) stride: usize,
    pub(crate) data: usize,
    /// Offset of the table of features. The sections follow the table.
    pub(crate) table: usize,
}

impl Builder {
    pub(crate) fn new(big: bool) -> Self {
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

    pub(crate) fn event(mut self, attr: Attr, ids: &[u64]) -> Self {
        self.events.push((attr, ids.to_vec()));
        self
    }

    /// Appends to the data.
    pub(crate) fn data(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.data.extend_from_slice(bytes.as_ref());
        self
    }

    pub(crate) fn feature(mut self, number: u32, bytes: Vec<u8>) -> Self {
        self.features.push((number, bytes));
        self
    }

    pub(crate) fn build(&self) -> Built {
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
            let wire = if self.big {
                attr.write::<BigEndian>(self.version)
            } else {
                attr.write::<LittleEndian>(self.version)
            };
            out = out.raw(&wire.unwrap()).u64(word(at)).u64(8 * word(ids.len()));
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
    pub(crate) fn put(mut self, at: usize, value: u64) -> Self {
        self.bytes[at..at + 8].copy_from_slice(&Bytes::new(self.big).u64(value).out);
        self
    }

    /// Truncates the file.
    pub(crate) fn cut(mut self, size: usize) -> Self {
        self.bytes.truncate(size);
        self
    }
}
