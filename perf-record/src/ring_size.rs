//! The default size of a ring.

use perf_open::{limits, ring};

/// KiB of a ring where the kernel does not say how many a user may lock.
const UNKNOWN_KB: usize = 512;

/// Returns the pages of a ring: as many as `perf_event_mlock_kb` allows beside the ring's control page, for root and for
/// ordinary users. The kernel allows users as much for each cpu.
pub(crate) fn default_pages() -> usize {
    pages(limits::mlock_kb().ok(), ring::page_bytes())
}

/// Returns the largest power of two of pages that these KiB allow.
///
/// perf: `perf_event_mlock_kb_in_pages`, `tools/perf/util/evlist.c`.
fn pages(mlock_kb: Option<u32>, page: usize) -> usize {
    let kb = mlock_kb.map_or(UNKNOWN_KB, |kb| (kb as usize).saturating_sub(page / 1024));
    let pages = kb.saturating_mul(1024) / page;
    1 << pages.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of perf's function.
    #[test]
    fn pages_by_what_may_be_locked() {
        for (mlock_kb, page, expected) in [
            (Some(516), 4096, 128),
            (Some(8196), 4096, 2048),
            // One page too few for 2048.
            (Some(8192), 4096, 1024),
            (Some(516), 65536, 4),
            (None, 4096, 128),
            (Some(4), 4096, 1),
            (Some(0), 4096, 1),
        ] {
            assert_eq!(pages(mlock_kb, page), expected, "{mlock_kb:?} KiB in pages of {page} bytes");
        }
    }
}
