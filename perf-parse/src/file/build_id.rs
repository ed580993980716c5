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
    ///
    /// The first tools did not write it; theirs are -1, or 0 for a guest, as perf reads them.
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
///
/// Entries of perf before 2.6.35 have no pid, and nothing that tells: as in perf, the kernel's name does, which then
/// would miss its first four letters. All entries of a section are of one kind.
#[derive(Clone, Debug)]
pub struct BuildIds<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    /// Whether the entries have no pid.
    old: bool,
    order: core::marker::PhantomData<O>,
}

/// `[kernel.kallsyms]` where the name is looked for four bytes too late.
const SHIFTED_KERNEL: &[u8] = b"nel.kallsyms]";

impl<'a, O: Endian> BuildIds<'a, O> {
    pub(super) fn new(section: FeatureSection<'a>) -> Self {
        let at = Cursor::new(section.bytes, 0);
        let (mut entries, mut old) = (at, false);
        while let Ok((_, body, _)) = entry::<O>(&mut entries) {
            old |= body
                .get(size_of::<HeaderBuildId<O>>()..)
                .is_some_and(|name| name.starts_with(SHIFTED_KERNEL));
        }
        Self { section, at, old, order: core::marker::PhantomData }
    }

    fn take(&mut self) -> Result<BuildId<'a>, Error> {
        let (misc, body, offset) = entry::<O>(&mut self.at)?;
        let mut at = Cursor::new(body, offset);
        if self.old {
            let [build_id @ .., _, _, _, _] = at.fixed::<[u8; 24]>("build_id")?;
            let guest = matches!(misc.cpumode(), CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER);
            let pid = if guest { 0 } else { -1 };
            return Ok(BuildId { misc, pid, build_id, filename: at.string("filename")? });
        }
        let fixed = at.fixed::<HeaderBuildId<O>>("build_id")?;
        let len = if misc.contains(Misc::BUILD_ID_SIZE) { fixed.size } else { 20 };
        let Some(build_id) = fixed.build_id.get(..usize::from(len)) else {
            let kind = ErrorKind::OutOfRange { field: "build_id.size", value: u64::from(len), max: 20 };
            return Err(Error::new(kind, offset.saturating_add(24)));
        };
        Ok(BuildId { misc, pid: fixed.pid.get(), build_id, filename: at.string("filename")? })
    }
}

/// Takes an entry: what its header says, what is behind that, and where.
fn entry<'a, O: Endian>(at: &mut Cursor<'a>) -> Result<(Misc, &'a [u8], u32), Error> {
    let start = at.offset();
    let header = at.fixed::<Header<O>>("header")?;
    let size = header.size.get();
    let Some(body) = size.checked_sub(8) else {
        return Err(Error::new(ErrorKind::RecordSize { size }, start.saturating_add(6)));
    };
    let offset = at.offset();
    Ok((Misc(header.misc.get()), at.bytes(u64::from(body), "build_id")?, offset))
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
