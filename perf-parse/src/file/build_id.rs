//! Build ids of the files that samples hit.

use perf_abi::endian::Endian;
use perf_abi::record::{CpuMode, Header, HeaderBuildId, Misc};

use super::features::FeatureSection;
use crate::cursor::Cursor;
use crate::error::FileError;
use crate::error::{Error, ErrorKind};
pub use crate::record::user::BuildId;

/// An iterator over build ids; made by [`FeatureSection::build_ids`].
///
/// Entries of perf before 2.6.35 have no pid, and no field marks them. perf and this iterator recognise them by the
/// name of the kernel, which would lack its first four letters if the entry had a pid. All entries of a section have
/// the same layout.
#[derive(Clone, Debug)]
pub struct BuildIds<'a, O: Endian> {
    section: FeatureSection<'a>,
    at: Cursor<'a>,
    /// Whether the entries have no pid.
    old: bool,
    order: core::marker::PhantomData<O>,
}

/// `[kernel.kallsyms]`, read four bytes too late.
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
        BuildId::parse::<O>(&mut at, misc)
    }
}

/// Takes an entry: `misc` of its header, the bytes after the header, and their offset.
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
