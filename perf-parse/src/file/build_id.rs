//! Build ids of the files that samples hit.

use perf_abi::endian::Endian;
use perf_abi::record::{CpuMode, Header, HeaderBuildId, Misc};

use super::error::FileError;
use super::features::FeatureSection;
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
    pub pid: i32,
    /// The build id, at its real length where that was written, otherwise 20 bytes.
    pub build_id: &'a [u8],
    /// The file.
    pub filename: &'a [u8],
}

impl BuildId<'_> {
    /// Whose file it is.
    #[must_use]
    pub fn cpumode(&self) -> CpuMode {
        self.misc.cpumode()
    }
}

/// An iterator over build ids; made by [`FeatureSection::build_ids`].
#[derive(Clone, Debug)]
pub struct BuildIds<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    order: core::marker::PhantomData<O>,
}

impl<'a, O: Endian> BuildIds<'a, O> {
    pub(super) fn new(section: FeatureSection<'a>) -> Self {
        Self { section, at: Cursor::new(section.bytes, 0), order: core::marker::PhantomData }
    }

    fn take(&mut self) -> Result<BuildId<'a>, Error> {
        let start = self.at.offset();
        let header = self.at.fixed::<Header<O>>("header")?;
        let size = header.size.get();
        let Some(body) = size.checked_sub(8) else {
            return Err(Error::new(ErrorKind::RecordSize { size }, start.saturating_add(6)));
        };
        let offset = self.at.offset();
        let body = self.at.bytes(u64::from(body), "build_id")?;
        let mut at = Cursor::new(body, offset);
        let fixed = at.fixed::<HeaderBuildId<O>>("build_id")?;
        let misc = Misc(header.misc.get());
        let len = if misc.contains(Misc::BUILD_ID_SIZE) { fixed.size } else { 20 };
        let Some(build_id) = fixed.build_id.get(..usize::from(len)) else {
            let kind = ErrorKind::OutOfRange { field: "build_id.size", value: u64::from(len), max: 20 };
            return Err(Error::new(kind, offset.saturating_add(24)));
        };
        Ok(BuildId { misc, pid: fixed.pid.get(), build_id, filename: at.string("filename")? })
    }
}

impl<'a, O: Endian> Iterator for BuildIds<'a, O> {
    type Item = Result<BuildId<'a>, FileError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at.rest().is_empty() {
            return None;
        }
        let taken = self.take();
        if taken.is_err() {
            self.at.take_rest();
        }
        Some(taken.map_err(|error| self.section.error(error)))
    }
}
