//! The headers of a `perf.data`, and the structures that they refer to.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::attr::RawAttr;
use crate::endian::{Endian, U64};

/// The magic of a `perf.data`, a 64-bit number in the file's byte order: `PERFILE2` in little-endian files.
#[doc(alias = "PERF_MAGIC_PERFILE2_LE_U64")]
pub const MAGIC: u64 = 0x3245_4c49_4652_4550;

/// [`MAGIC`] read in the wrong byte order. Big-endian files begin with the bytes `2ELIFREP`.
#[doc(alias = "PERF_MAGIC_PERFILE2_SWAPPED_U64")]
pub const MAGIC_SWAPPED: u64 = MAGIC.swap_bytes();

/// The magic of files of the first format, the same in both byte orders. The attr's size
/// shows the byte order.
pub const MAGIC_V1: [u8; 8] = *b"PERFFILE";

codes! {
    /// The format of a `perf.data`, identified by its magic.
    ///
    /// perf: `enum perf_header_version`.
    pub struct HeaderVersion(u32) {
        /// Begins with [`MAGIC_V1`].
        VERSION_1 = 0, "PERF_HEADER_VERSION_1";
        /// Begins with [`MAGIC`].
        VERSION_2 = 1, "PERF_HEADER_VERSION_2";
    }
}

/// The position of a section of a file.
///
/// perf: `struct perf_file_section`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_section")]
pub struct RawSection<O: Endian> {
    /// Bytes from the start of the file.
    pub offset: U64<O>,
    /// Bytes of the section.
    pub size: U64<O>,
}

/// The header of a file.
///
/// In the oldest files the header ends before `adds_features`, with a `size` of 72.
///
/// perf: `struct perf_file_header`.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::BigEndian;
/// use perf_abi::file::{MAGIC, RawFileHeader};
/// use perf_abi::zerocopy::FromBytes;
///
/// let mut bytes = [0; 104];
/// bytes[..8].copy_from_slice(b"2ELIFREP");
/// let (header, _) = RawFileHeader::<BigEndian>::ref_from_prefix(&bytes).unwrap();
/// assert_eq!(header.magic.get(), MAGIC);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_header")]
pub struct RawFileHeader<O: Endian> {
    /// [`MAGIC`].
    pub magic: U64<O>,
    /// Bytes of this header: 104 or 72. A size of 16 means that it is a [`PipeHeader`].
    pub size: U64<O>,
    /// Bytes of an entry of `attrs`: an attr and a [`RawSection`].
    pub attr_size: U64<O>,
    /// The attrs. Each is a [`FileAttr`] in the writer's version of the attr.
    pub attrs: RawSection<O>,
    /// The records. A size of 0 means that the recording was not closed.
    pub data: RawSection<O>,
    /// Zero; the first tools stored the names of events here.
    pub event_types: RawSection<O>,
    /// A bit for each [`Feature`](crate::feature::Feature). The list of their sections follows `data`.
    pub adds_features: [U64<O>; 4],
}

/// The header of a pipe; records follow it.
///
/// perf: `struct perf_pipe_file_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_pipe_file_header")]
pub struct PipeHeader<O: Endian> {
    /// [`MAGIC`].
    pub magic: U64<O>,
    /// Bytes of this header: 16.
    pub size: U64<O>,
}

/// An entry of a file's attrs, with the newest attr that this crate knows.
///
/// Other writers use a shorter or longer attr. Read it with [`Attr::read`](crate::attr::Attr::read), and read
/// the section from the last 16 of the [`RawFileHeader::attr_size`] bytes.
///
/// perf: `struct perf_file_attr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_attr")]
pub struct FileAttr<O: Endian> {
    /// The attr.
    pub attr: RawAttr<O>,
    /// The ids of the attr's events, 64 bits each.
    pub ids: RawSection<O>,
}

codes! {
    /// The layout of a recording: the payload of the `dir_format` feature.
    ///
    /// perf: `enum perf_dir_version`.
    pub struct DirVersion(u64) {
        /// One file.
        SINGLE_FILE = 0, "PERF_DIR_SINGLE_FILE";
        /// A folder: the file `data`, and files `data.N` that contain only records.
        VERSION = 1, "PERF_DIR_VERSION";
    }
}

codes! {
    /// The compression of records: `type` of the `compressed` feature.
    ///
    /// perf: `enum perf_compress_type`.
    pub struct CompressType(u32) {
        /// Not compressed.
        NONE = 0, "PERF_COMP_NONE";
        /// Zstandard.
        ZSTD = 1, "PERF_COMP_ZSTD";
    }
}

impl CompressType {
    /// One past the highest code.
    #[doc(alias = "PERF_COMP_MAX")]
    pub const MAX: u32 = 2;
}
