//! Mappings: MMAP and MMAP2.

use perf_abi::endian::{Endian, U32};
use perf_abi::record::{self as wire, Misc};

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};
use crate::layout::Mmap2Layout;
use crate::sample::Reading;

/// A file or anonymous memory was mapped. `misc` has `MMAP_DATA` if the mapping is not executable.
///
/// Kernel: `PERF_RECORD_MMAP`; since Linux 2.6.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "MmapRecord")]
pub struct Mmap<'a> {
    /// Process id; -1 for mappings of the kernel, which perf synthesises.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// Start address.
    pub addr: u64,
    /// Bytes of the mapping.
    pub len: u64,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: u64,
    /// Path of the file, or the kernel's name for memory without a file: `//anon`, `[heap]`, `[vdso]`, ...
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub filename: &'a [u8],
}

impl<'a> Mmap<'a> {
    pub(super) fn parse<O: Endian>(at: &mut Cursor<'a>) -> Result<Self, Error> {
        let wire::RawMmap { pid, tid, addr, len, pgoff } = at.fixed::<wire::RawMmap<O>>("pid")?;
        Ok(Self {
            pid: pid.get(),
            tid: tid.get(),
            addr: addr.get(),
            len: len.get(),
            pgoff: pgoff.get(),
            filename: at.string("filename")?,
        })
    }
}

/// A file was mapped. Its inode or build id identifies it.
///
/// Kernel: `PERF_RECORD_MMAP2`; since Linux 3.16, and in its first layout in kernels of the time of 3.12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "Mmap2Record")]
pub struct Mmap2<'a> {
    /// Process id; -1 for mappings of the kernel, which perf synthesises.
    pub pid: i32,
    /// Thread id.
    pub tid: i32,
    /// Start address.
    pub addr: u64,
    /// Bytes of the mapping.
    pub len: u64,
    /// Offset of the mapping in the file, in bytes.
    pub pgoff: u64,
    /// Identity of the file.
    pub id: FileId,
    /// Protection (`PROT_*`) and flags (`MAP_*`) of `mmap(2)`.
    ///
    /// `None` in records of the first layout, which has the path in this place. The record does not state its layout:
    /// see [`reading`](Self::reading). Some writers store other values here: `perf inject --jit` the mode of the file.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub prot_flags: Option<(u32, u32)>,
    /// How the layout was found. [`Certain`](Reading::Certain) if the bytes fit one layout only.
    /// [`Usual`](Reading::Usual) is the layout with protection and flags, and [`Other`](Reading::Other) the one without,
    /// of a record whose bytes fit both.
    ///
    /// Such a record is read as the certain ones among the first records of the file. If there are none, it is read
    /// without protection and flags if the bytes in their place begin like a path.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Reading::is_certain"))]
    pub reading: Reading,
    /// Path of the file.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::text"))]
    pub filename: &'a [u8],
}

/// The identity of the file in an MMAP2 record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum FileId {
    /// The file's inode.
    Inode {
        /// Major number of the device.
        maj: u32,
        /// Minor number of the device.
        min: u32,
        /// Inode number.
        ino: u64,
        /// Generation of the inode number.
        ino_generation: u64,
    },
    /// The file's build id, if `misc` has `MMAP_BUILD_ID`. Since Linux 5.12.
    BuildId {
        /// Bytes of `bytes` in use, at most 20.
        size: u8,
        /// The build id, then zeros.
        #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
        bytes: [u8; 20],
    },
}

impl FileId {
    /// Returns the used bytes of the build id; `None` if the record identifies the file by inode.
    #[must_use]
    pub fn build_id(&self) -> Option<&[u8]> {
        match self {
            Self::Inode { .. } => None,
            Self::BuildId { size, bytes } => bytes.get(..usize::from(*size)),
        }
    }

    fn parse<O: Endian>(union: &[u8; 24], misc: Misc, offset: u32) -> Result<Self, Error> {
        if misc.contains(Misc::MMAP_BUILD_ID) {
            let wire::Mmap2BuildId { build_id_size: size, build_id: bytes, .. } =
                zerocopy::transmute!(*union);
            if usize::from(size) > bytes.len() {
                let kind = ErrorKind::OutOfRange { field: "build_id_size", value: u64::from(size), max: 20 };
                return Err(Error::new(kind, offset));
            }
            return Ok(Self::BuildId { size, bytes });
        }
        let wire::Mmap2Inode { maj, min, ino, ino_generation } = zerocopy::transmute!(*union);
        let _: U32<O> = maj;
        Ok(Self::Inode {
            maj: maj.get(),
            min: min.get(),
            ino: ino.get(),
            ino_generation: ino_generation.get(),
        })
    }
}

impl<'a> Mmap2<'a> {
    pub(super) fn parse<O: Endian>(
        at: &mut Cursor<'a>,
        misc: Misc,
        others: Option<Mmap2Layout>,
    ) -> Result<Self, Error> {
        let wire::RawMmap { pid, tid, addr, len, pgoff } = at.fixed::<wire::RawMmap<O>>("pid")?;
        let union_offset = at.offset();
        let union = at.fixed::<[u8; 24]>("maj")?;
        let id = FileId::parse::<O>(union, misc, union_offset)?;
        let (layout, reading) = match id {
            // Build ids are newer than the old layout.
            FileId::BuildId { .. } => (Mmap2Layout::Current, Reading::Certain),
            FileId::Inode { .. } => Mmap2Layout::choose::<O>(at.rest(), others),
        };
        let prot_flags = match layout {
            Mmap2Layout::Current => {
                let [prot, flags] = at.fixed::<[U32<O>; 2]>("prot")?;
                Some((prot.get(), flags.get()))
            }
            Mmap2Layout::Old => None,
        };
        Ok(Self {
            pid: pid.get(),
            tid: tid.get(),
            addr: addr.get(),
            len: len.get(),
            pgoff: pgoff.get(),
            id,
            prot_flags,
            reading,
            filename: at.string("filename")?,
        })
    }
}
