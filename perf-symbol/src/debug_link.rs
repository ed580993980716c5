//! The sections that name the debug files of a file.

use perf_session::BuildId;

use crate::bytes::FileBytes;
use crate::image::ElfImage;

/// What `.gnu_debuglink` has: the name of a debug file, and the CRC-32 of its contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DebugLink {
    pub(crate) name: Vec<u8>,
    pub(crate) crc: u32,
}

/// Returns the link of a file; `None` if it has none.
pub(crate) fn of(image: &ElfImage) -> Option<DebugLink> {
    let data = image.raw_data(image.section(".gnu_debuglink")?);
    let end = data.iter().position(|&byte| byte == 0)?;
    // The checksum is aligned.
    let at = end.checked_add(1)?.checked_next_multiple_of(4)?;
    let crc = u32::try_from(image.number(&data, at.try_into().ok()?, 4)?).ok()?;
    Some(DebugLink { name: data.get(..end)?.to_vec(), crc })
}

/// Returns path and build id of the file that several debug files share; `None` if there is none.
pub(crate) fn shared(image: &ElfImage) -> Option<(Vec<u8>, BuildId)> {
    let data: FileBytes = image.raw_data(image.section(".gnu_debugaltlink")?);
    let end = data.iter().position(|&byte| byte == 0)?;
    let id = data.get(end.checked_add(1)?..).filter(|id| !id.is_empty())?;
    Some((data.get(..end)?.to_vec(), BuildId::new(id)))
}

/// Returns the CRC-32 of the contents of a debug file.
pub(crate) fn crc(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}
