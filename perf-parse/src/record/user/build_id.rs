//! Build ids of files, as records and as entries of the feature `BUILD_ID`.

use perf_abi::endian::Endian;
use perf_abi::record::{CpuMode, HeaderBuildId, Misc};

use crate::byte_str::ByteStr;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};

/// The build id of a file.
///
/// perf: `struct perf_record_header_build_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[doc(alias = "DsoBuildId")]
pub struct BuildId<'a> {
    /// Whether the file belongs to the kernel or to user space, of the host or of a guest. `BUILD_ID_SIZE` means that
    /// the length of the build id is recorded.
    pub misc: Misc,
    /// The machine: -1 for the host, otherwise the process id of the guest.
    ///
    /// The first versions of perf did not write it. For their entries it is -1, or 0 for a guest, as perf reads them.
    pub pid: i32,
    /// The build id, with its real length if that is recorded, otherwise 20 bytes.
    #[cfg_attr(feature = "serde", serde(serialize_with = "crate::serialize::bytes"))]
    pub build_id: &'a [u8],
    /// Path of the file.
    pub filename: ByteStr<'a>,
}

impl<'a> BuildId<'a> {
    /// Takes the bytes after the header, whose `misc` is given.
    pub(crate) fn parse<O: Endian>(at: &mut Cursor<'a>, misc: Misc) -> Result<Self, Error> {
        let offset = at.offset();
        let fixed = at.fixed::<HeaderBuildId<O>>("build_id")?;
        let len = if misc.contains(Misc::BUILD_ID_SIZE) { fixed.size } else { 20 };
        let Some(build_id) = fixed.build_id.get(..usize::from(len)) else {
            let kind = ErrorKind::OutOfRange { field: "build_id.size", value: u64::from(len), max: 20 };
            return Err(Error::new(kind, offset.saturating_add(24)));
        };
        Ok(Self { misc, pid: fixed.pid.get(), build_id, filename: at.string("filename")?.into() })
    }

    /// Returns the CPU mode of the file: kernel or user, host or guest.
    #[must_use]
    pub fn cpumode(&self) -> CpuMode {
        self.misc.cpumode()
    }
}
