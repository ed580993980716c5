//! Build ids of files: as records, and as the entries of the feature `BUILD_ID`.

use perf_abi::endian::Endian;
use perf_abi::record::{CpuMode, HeaderBuildId, Misc};

use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind};

/// The build id of a file.
///
/// perf: `struct perf_record_header_build_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildId<'a> {
    /// Whether the file is the kernel's or a program's, of host or guest; `BUILD_ID_SIZE` tells that the length of
    /// the build id was written.
    pub misc: Misc,
    /// The machine: -1 for the host, otherwise the process of the guest.
    ///
    /// The first tools did not write it; theirs are -1, or 0 for a guest, as perf reads them.
    pub pid: i32,
    /// The build id, at its real length where that was written, otherwise 20 bytes.
    pub build_id: &'a [u8],
    /// The file.
    pub filename: &'a [u8],
}

impl<'a> BuildId<'a> {
    /// Takes what stands behind the header, whose `misc` is given.
    pub(crate) fn parse<O: Endian>(at: &mut Cursor<'a>, misc: Misc) -> Result<Self, Error> {
        let offset = at.offset();
        let fixed = at.fixed::<HeaderBuildId<O>>("build_id")?;
        let len = if misc.contains(Misc::BUILD_ID_SIZE) { fixed.size } else { 20 };
        let Some(build_id) = fixed.build_id.get(..usize::from(len)) else {
            let kind = ErrorKind::OutOfRange { field: "build_id.size", value: u64::from(len), max: 20 };
            return Err(Error::new(kind, offset.saturating_add(24)));
        };
        Ok(Self { misc, pid: fixed.pid.get(), build_id, filename: at.string("filename")? })
    }

    /// Whose file it is.
    #[must_use]
    pub fn cpumode(&self) -> CpuMode {
        self.misc.cpumode()
    }
}
