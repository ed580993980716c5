//! Addresses in a debug file whose own file is missing.

use object::elf;
use perf_session::Mapping;

use crate::image::ElfImage;

/// Returns the address that a debug file has for an offset in the file that was mapped.
///
/// A debug file of `objcopy --only-keep-debug` has the addresses and the sizes of the segments in memory, and not their
/// offsets. The segment that was mapped is the one that takes as many pages as the mapping has. `None` if no segment does,
/// or if several do.
pub(crate) fn address_of(debug: &ElfImage, mapping: &Mapping, offset: u64) -> Option<u64> {
    // Of x86; of Arm also 16 KiB and 64 KiB, as of PowerPC.
    const PAGES: [u64; 3] = [1 << 12, 1 << 14, 1 << 16];
    if !mapping.is_executable() {
        return None;
    }
    let size = mapping.range().end.checked_sub(mapping.range().start)?;
    let starts = |page: u64| {
        let headers = debug.headers().iter().filter(|header| header.flags & elf::PF_X.0 != 0);
        headers.filter_map(move |header| {
            let start = header.address.checked_sub(header.address.checked_rem(page)?)?;
            let end = header.address.checked_add(header.memory_size)?.checked_next_multiple_of(page)?;
            (end.checked_sub(start)? == size).then_some(start)
        })
    };
    let page = PAGES.into_iter().find(|&page| starts(page).next().is_some())?;
    let mut starts = starts(page);
    let start = starts.next().filter(|_| starts.next().is_none())?;
    Some(offset.wrapping_sub(mapping.pgoff()).wrapping_add(start))
}
