//! What tells lines of the cache from each other.

use core::cmp::Ordering;

use perf_abi::record::CpuMode;
use perf_session::{Mapping, SampleContext};

/// `MAP_SHARED` of mmap.
///
/// Kernel: `include/uapi/linux/mman.h`.
const MAP_SHARED: u32 = 1;

/// A line of the cache, as perf tells them from each other: lines of a file are the same in all processes, and lines of memory
/// without a file are their process's own, whatever is mapped there.
///
/// perf: `sort__dcacheline_cmp`, `tools/perf/util/sort.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineKey {
    /// Whose code made the access.
    mode: u8,
    is_unmapped: bool,
    /// Device, inode and generation of the file; zeros without one.
    file: (u32, u32, u64, u64),
    /// 0 for memory that several processes may have at the address.
    pid: i32,
    /// The address of the first byte: in the file, or in memory where nothing is mapped.
    start: u64,
}

impl LineKey {
    /// Returns the line of `size` bytes that an access to `address` is in.
    pub(super) fn of(at: &SampleContext<'_, '_>, address: u64, mapping: Option<&Mapping>, size: u64) -> Self {
        let file = mapping.and_then(|it| it.dso().inode());
        let file = file.map_or((0, 0, 0, 0), |it| (it.maj, it.min, it.ino, it.ino_generation));
        let is_own = at.mode() != CpuMode::KERNEL
            && file == (0, 0, 0, 0)
            && mapping.is_some_and(|it| it.flags() & MAP_SHARED == 0);
        Self {
            mode: at.mode().0,
            is_unmapped: mapping.is_none(),
            file,
            pid: if is_own { at.thread().pid() } else { 0 },
            start: line_of(mapping.map_or(address, |it| it.offset_of(address)), size),
        }
    }

    /// Compares lines in the order in which perf has those with equal counts.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let of = |it: &Self| (it.mode, it.is_unmapped, it.file, it.pid, it.start);
        of(self).cmp(&of(other))
    }
}

/// Returns the address of the first byte of the line of `size` bytes, a power of two.
pub(super) fn line_of(address: u64, size: u64) -> u64 {
    address & !size.saturating_sub(1)
}
