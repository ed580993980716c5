//! An index as bytes, and the capture it belongs to.

use alloc::vec::Vec;

use perf_abi::endian::Endianness;

use super::chunk::Chunk;
use super::error::{IndexError, IndexErrorKind};
use super::fields::EncodedFields;
use super::{ChunkSpan, Index};
use crate::file::{Mode, Reader, Section};

const MAGIC: &[u8; 8] = b"PERFIDX1";

const VERSION: u32 = 1;

/// Offset of the checksum, which covers all other bytes.
const CHECKSUM: usize = 72;

/// Offset of the chunks.
const CHUNKS: usize = 80;

/// The identity of a capture. Another capture, and the same capture after a change, have other identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexIdentity {
    size: u64,
    modified: u64,
    header: u64,
    data: Section,
}

impl IndexIdentity {
    /// Creates the identity of an opened capture.
    ///
    /// `size` is its size in bytes; for a folder, that of its data files together. `modified` is the time of its last
    /// modification, in a unit of the caller's choice. The header, if the capture has one, comes from the reader.
    #[must_use]
    pub fn new(reader: &Reader<'_>, size: u64, modified: u64) -> Self {
        let mut hash = Fnv1a::new();
        hash.add(reader.mode().name().as_bytes());
        hash.add(&[u8::from(reader.endianness() == Endianness::Big)]);
        let mut data = Section::default();
        if let Mode::File(header) = reader.mode() {
            data = header.data;
            let (attrs, event_types) = (header.attrs, header.event_types);
            let words = [header.version.into(), header.size, header.attr_size, attrs.offset, attrs.size];
            let words = words.into_iter().chain([event_types.offset, event_types.size]);
            words.chain(header.features).for_each(|word| hash.add(&word.to_le_bytes()));
        }
        Self { size, modified, header: hash.0, data }
    }

    /// The words of the identity, with their names, in the order of the encoded index.
    fn fields(&self) -> [(&'static str, u64); 5] {
        [
            ("capture.size", self.size),
            ("capture.modified", self.modified),
            ("capture.header", self.header),
            ("capture.data.offset", self.data.offset),
            ("capture.data.size", self.data.size),
        ]
    }
}

impl Index {
    /// Encodes the index of the capture `identity`. The [module docs](super) describe the format.
    #[must_use]
    pub fn encode(&self, identity: &IndexIdentity) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len().saturating_add(CHUNKS));
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&u32::from(self.is_compressed).to_le_bytes());
        for (_, word) in identity.fields() {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.chunks.to_le_bytes());
        out.extend_from_slice(&(self.bytes.len() as u64).to_le_bytes());
        let mut checksum = Fnv1a::new();
        checksum.add(&out);
        checksum.add(&self.bytes);
        out.extend_from_slice(&checksum.0.to_le_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Decodes the index of the capture `identity`.
    ///
    /// Checks everything that a use of the index relies on. The index takes as many bytes of memory as its encoded
    /// form.
    ///
    /// # Errors
    ///
    /// [`IndexErrorKind::NotAnIndex`], [`IndexErrorKind::Version`], [`IndexErrorKind::Truncated`],
    /// [`IndexErrorKind::Residue`], [`IndexErrorKind::Checksum`], [`IndexErrorKind::Invalid`].
    /// [`IndexErrorKind::OtherCapture`] if the index was made from another capture, or if the capture has changed since.
    pub fn decode(bytes: &[u8], identity: &IndexIdentity) -> Result<Self, IndexError> {
        if !bytes.starts_with(MAGIC) {
            return Err(IndexError::new(IndexErrorKind::NotAnIndex, 0));
        }
        let version = u32::from_le_bytes(array(bytes, 8, "version")?);
        if version != VERSION {
            return Err(IndexError::new(IndexErrorKind::Version(version), 8));
        }
        let is_compressed = match u32::from_le_bytes(array(bytes, 12, "flags")?) {
            0 => false,
            1 => true,
            _ => return Err(IndexError::invalid("flags", "0 or 1", 12)),
        };
        let mut at = 16;
        for (field, in_capture) in identity.fields() {
            let in_index = word(bytes, at, field)?;
            if in_index != in_capture {
                let kind = IndexErrorKind::OtherCapture { field, in_index, in_capture };
                return Err(IndexError::new(kind, at as u64));
            }
            at = at.saturating_add(8);
        }
        let (chunks, size) = (word(bytes, 56, "chunks")?, word(bytes, 64, "chunks.size")?);
        let checksum = word(bytes, CHECKSUM, "checksum")?;
        let (head, body) = (bytes.get(..CHECKSUM), bytes.get(CHUNKS..).unwrap_or_default());
        let mut rest = EncodedFields::new(body, CHUNKS as u64);
        let fields = rest.part("chunks.size", size)?;
        rest.end()?;
        let mut hash = Fnv1a::new();
        hash.add(head.unwrap_or_default());
        hash.add(body);
        if hash.0 != checksum {
            return Err(IndexError::new(IndexErrorKind::Checksum, CHECKSUM as u64));
        }
        let last = check(fields, is_compressed, chunks, identity.size)?;
        Ok(Self { bytes: body.to_vec(), chunks, last, is_compressed })
    }
}

/// Checks the chunks. Returns the offset at which the last one begins.
fn check(
    mut fields: EncodedFields<'_>,
    is_compressed: bool,
    chunks: u64,
    capture: u64,
) -> Result<usize, IndexError> {
    let (mut count, mut last, mut span) = (0_u64, 0, None);
    let size = fields.rest().len();
    while !fields.is_empty() {
        let start = fields.offset();
        last = size.saturating_sub(fields.rest().len());
        let chunk = Chunk::read(&mut fields, is_compressed)?;
        chunk.check(start, capture)?;
        let own = Some(ChunkSpan::of(chunk.position()));
        if span >= own {
            return Err(IndexError::invalid(
                "chunk.offset",
                "in a later span of 64 KiB than the previous chunk",
                start,
            ));
        }
        span = own;
        count = count.saturating_add(1);
    }
    if count != chunks {
        return Err(IndexError::invalid("chunks", "the number of chunks", 56));
    }
    Ok(last)
}

/// Returns the word at an offset.
fn word(bytes: &[u8], at: usize, field: &'static str) -> Result<u64, IndexError> {
    array(bytes, at, field).map(u64::from_le_bytes)
}

/// Returns the bytes of a field at an offset.
fn array<const N: usize>(bytes: &[u8], at: usize, field: &'static str) -> Result<[u8; N], IndexError> {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().copied().ok_or_else(|| {
        let kind = IndexErrorKind::Truncated { field, needed: N as u64, available: rest.len() as u64 };
        IndexError::new(kind, at as u64)
    })
}

/// The hash FNV-1a of 64 bits.
struct Fnv1a(u64);

impl Fnv1a {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
}
