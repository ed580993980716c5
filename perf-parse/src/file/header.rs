//! The header of a file, and the sections it points to.

use core::ops::Range;

use perf_abi::endian::{Endian, Endianness, U64};
use zerocopy::FromBytes;

use crate::account::Account;
use crate::error::{FileError, FileErrorKind};

/// A range of bytes of the file.
///
/// perf: `struct perf_file_section`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Offset in bytes from the start of the file.
    pub offset: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Section {
    /// Returns whether the sections have a byte in common.
    pub(super) fn shares_bytes_with(&self, other: &Self) -> bool {
        let begins_in = |a: &Self, b: &Self| a.offset.checked_sub(b.offset).is_some_and(|at| at < b.size);
        self.size != 0 && other.size != 0 && (begins_in(self, other) || begins_in(other, self))
    }
}

/// The header of a file.
///
/// perf: `struct perf_file_header`, `tools/perf/util/header.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHeader {
    /// Version of the magic: 1 for `PERFFILE`, 2 for `PERFILE2`.
    pub version: u8,
    /// Size of the header in bytes: 104, or 72 in old files, which have no features.
    pub size: u64,
    /// Size of an entry of the attr section in bytes: the attr and 16 bytes more.
    pub attr_size: u64,
    /// The attrs, and the offsets of their ids.
    pub attrs: Section,
    /// The records. A recorder that did not end properly leaves a size of 0.
    pub data: Section,
    /// The names of events, in files of the first versions of perf.
    pub event_types: Section,
    /// The features of the file: bit `n % 64` of word `n / 64` for feature `n`.
    pub features: [u64; 4],
}

/// The magic of a version 1 file: the same bytes in both orders.
const MAGIC_1: &[u8; 8] = b"PERFFILE";

/// Returns the byte order of a file, from its magic.
pub(super) fn endianness(bytes: &[u8]) -> Result<Endianness, FileError> {
    let not = FileError::new(FileErrorKind::NotPerfData, 0);
    match bytes.get(..8) {
        Some(b"PERFILE2") => Ok(Endianness::Little),
        Some(b"2ELIFREP") => Ok(Endianness::Big),
        Some(magic) if magic == MAGIC_1 => {
            let attr_size = bytes.get(16..20).ok_or(not)?;
            // A plausible size is below 64 KiB: the order is the one in which the upper half is zero.
            Ok(if attr_size.starts_with(&[0, 0]) { Endianness::Big } else { Endianness::Little })
        }
        _ => Err(not),
    }
}

/// The names of the header's fields, in order. The four words of the bitmap share the last name.
const FIELDS: [&str; 10] = [
    "header.magic",
    "header.size",
    "header.attr_size",
    "header.attrs.offset",
    "header.attrs.size",
    "header.data.offset",
    "header.data.size",
    "header.event_types.offset",
    "header.event_types.size",
    "header.adds_features",
];

/// Returns whether a capture of byte order `O` is a stream: its header's size is 16.
pub(super) fn is_pipe<O: Endian>(bytes: &[u8]) -> bool {
    let size = bytes.get(8..).and_then(|rest| U64::<O>::read_from_prefix(rest).ok());
    !bytes.starts_with(MAGIC_1) && size.is_some_and(|(size, _)| size.get() == 16)
}

impl FileHeader {
    pub(super) fn read<O: Endian>(bytes: &[u8]) -> Result<Self, FileError> {
        let word = |index: usize| {
            let at = index.saturating_mul(8);
            let rest = bytes.get(at..).unwrap_or_default();
            U64::<O>::read_from_prefix(rest).map(|(word, _)| word.get()).map_err(|_| {
                let field = FIELDS.get(index).or(FIELDS.last()).copied().unwrap_or_default();
                let kind = FileErrorKind::Truncated { field, needed: 8, available: rest.len() as u64 };
                FileError::new(kind, at as u64)
            })
        };
        let section =
            |index: usize| Ok(Section { offset: word(index)?, size: word(index.saturating_add(1))? });
        let size = word(1)?;
        match size {
            104 | 72 => {}
            _ => return Err(FileError::invalid("header.size", size, "104, 72, or 16 in a pipe", 8)),
        }
        let header = Self {
            version: if bytes.starts_with(MAGIC_1) { 1 } else { 2 },
            size,
            attr_size: word(2)?,
            attrs: section(3)?,
            data: section(5)?,
            event_types: section(7)?,
            features: if size == 72 { [0; 4] } else { [word(9)?, word(10)?, word(11)?, word(12)?] },
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), FileError> {
        if self.attr_size < SMALLEST_ENTRY {
            let must = "at least 80: an attr of 64 bytes and the place of its ids";
            return Err(FileError::invalid("header.attr_size", self.attr_size, must, 16));
        }
        let must = "after the header";
        if self.attrs.offset < self.size {
            return Err(FileError::invalid("header.attrs.offset", self.attrs.offset, must, 24));
        }
        if self.data.offset < self.size {
            return Err(FileError::invalid("header.data.offset", self.data.offset, must, 40));
        }
        Ok(())
    }

    /// Returns the range of offsets of the records, cut off at the end of a file of `len` bytes.
    pub(super) fn data_range(&self, len: u64, account: &mut Account) -> Result<Range<u64>, FileError> {
        let Section { offset, size } = self.data;
        if offset > len {
            return Err(FileError::invalid("header.data.offset", offset, "inside the file", 40));
        }
        let field = "header.data.size";
        let available = len.saturating_sub(offset);
        if size == 0 {
            let must =
                "the size of the records; the recorder did not finish the file, which is read to its end";
            account.unfinished = true;
            account.note(FileError::invalid(field, 0, must, 48));
        } else if size <= available {
            return Ok(offset..offset.saturating_add(size));
        } else {
            account.note(FileError::new(FileErrorKind::Truncated { field, needed: size, available }, 48));
        }
        Ok(offset..len)
    }

    /// Returns the offset of the table of feature sections, which comes after the data.
    pub(super) fn feature_table(&self) -> u64 {
        self.data.offset.saturating_add(self.data.size)
    }
}

/// Size of the smallest entry of an attr section in bytes.
pub(super) const SMALLEST_ENTRY: u64 = 64 + 16;
