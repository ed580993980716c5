//! The headers of a `perf.data`, and what they refer to.

use zerocopy_derive::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::attr::RawAttr;
use crate::endian::{Endian, U64};

/// What a `perf.data` begins with, as a 64-bit number in its own byte order: `PERFILE2` in little-endian files.
#[doc(alias = "PERF_MAGIC_PERFILE2_LE_U64")]
pub const MAGIC: u64 = 0x3245_4c49_4652_4550;

/// [`MAGIC`] read in the wrong byte order: `2ELIFREP` is how big-endian files begin.
#[doc(alias = "PERF_MAGIC_PERFILE2_SWAPPED_U64")]
pub const MAGIC_SWAPPED: u64 = MAGIC.swap_bytes();

/// What files of the first format begin with, whatever their byte order; the attr's size tells that.
pub const MAGIC_V1: [u8; 8] = *b"PERFFILE";

codes! {
    /// The format of a `perf.data`, told by its magic.
    ///
    /// perf: `enum perf_header_version`.
    pub struct HeaderVersion(u32) {
        /// Begins with [`MAGIC_V1`].
        VERSION_1 = 0, "PERF_HEADER_VERSION_1";
        /// Begins with [`MAGIC`].
        VERSION_2 = 1, "PERF_HEADER_VERSION_2";
    }
}

/// A part of a file.
///
/// perf: `struct perf_file_section`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_section")]
pub struct Section<O: Endian> {
    /// Bytes from the start of the file.
    pub offset: U64<O>,
    /// Bytes.
    pub size: U64<O>,
}

/// The header of a file.
///
/// The oldest files end it before `adds_features`, with a `size` of 72.
///
/// perf: `struct perf_file_header`.
///
/// # Examples
///
/// ```
/// use perf_abi::endian::BigEndian;
/// use perf_abi::file::{FileHeader, MAGIC};
/// use zerocopy::FromBytes;
///
/// let mut bytes = [0; 104];
/// bytes[..8].copy_from_slice(b"2ELIFREP");
/// let (header, _) = FileHeader::<BigEndian>::ref_from_prefix(&bytes).unwrap();
/// assert_eq!(header.magic.get(), MAGIC);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_header")]
pub struct FileHeader<O: Endian> {
    /// [`MAGIC`].
    pub magic: U64<O>,
    /// Bytes of this header: 104, or 72. 16 says it is a [`PipeHeader`].
    pub size: U64<O>,
    /// Bytes of an entry of `attrs`: an attr and a [`Section`].
    pub attr_size: U64<O>,
    /// The attrs, each a [`FileAttr`] in the writer's version of the attr.
    pub attrs: Section<O>,
    /// The records. A size of 0 says that the recording was not closed.
    pub data: Section<O>,
    /// Zero; the first tools' names of events.
    pub event_types: Section<O>,
    /// A bit for each [`Feature`](crate::feature::Feature); their sections are listed behind `data`.
    pub adds_features: [U64<O>; 4],
}

/// The header of a pipe; records follow.
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

/// An entry of a file's attrs, where its writer knows the newest attr.
///
/// In the files of other writers the attr is shorter or longer: read it with [`Attr::read`](crate::attr::Attr::read)
/// and find the section in the last 16 of [`FileHeader::attr_size`] bytes.
///
/// perf: `struct perf_file_attr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
#[doc(alias = "perf_file_attr")]
pub struct FileAttr<O: Endian> {
    /// The attr.
    pub attr: RawAttr<O>,
    /// The ids of its events, 64 bits each.
    pub ids: Section<O>,
}

codes! {
    /// How the data of a recording is laid out: the payload of the `dir_format` feature.
    ///
    /// perf: `enum perf_dir_version`.
    pub struct DirVersion(u64) {
        /// One file.
        SINGLE_FILE = 0, "PERF_DIR_SINGLE_FILE";
        /// A directory: `data`, and `data.N` with records alone.
        VERSION = 1, "PERF_DIR_VERSION";
    }
}

codes! {
    /// How records are compressed: `type` of the `compressed` feature.
    ///
    /// perf: `enum perf_compress_type`.
    pub struct CompressType(u32) {
        /// They are not.
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
