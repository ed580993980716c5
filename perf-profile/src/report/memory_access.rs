//! Memory accesses, as far as keys distinguish them.

use core::cmp::Ordering;

use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;
use perf_parse::sample::Tail;
use perf_session::{Inode, Mapping, SampleContext};

use super::sort_key::SortKey;

/// The source of the data of a sample that does not have one.
///
/// perf: `PERF_MEM_DATA_SRC_NONE`, `tools/perf/util/mem-events.h`.
pub const NO_DATA_SRC: DataSrc = DataSrc(0x0508_0021);

/// A memory access, as far as keys distinguish it. What no key needs is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MemoryAccess {
    /// The address of the data, in memory.
    pub(super) address: u64,
    /// The address of the instruction, in memory.
    pub(super) ip: u64,
    pub(super) physical: u64,
    pub(super) page_size: u64,
    /// The bits that the keys show.
    pub(super) source: u64,
    pub(super) line: CacheLine,
}

/// The line of the data cache that an access is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct CacheLine {
    /// Whose code made the access.
    mode: u8,
    pub(super) sharing: LineSharing,
    /// The file, if its inode is known.
    inode: Option<Inode>,
    /// What else is mapped, by its number.
    dso: u32,
    /// The process, for memory that no other process has at the address.
    pid: i32,
    /// The address of its first byte, as [`Mapping::offset_of`] has it.
    pub(super) start: u64,
}

/// Whether processes share the memory of a line of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineSharing {
    /// They do not, or it is not known.
    #[default]
    Private,
    /// They share the mapping of a file.
    Shared,
    /// Nothing is mapped there.
    Unmapped,
}

/// `MAP_SHARED` of mmap.
///
/// Kernel: `include/uapi/linux/mman.h`.
const MAP_SHARED: u32 = 1;

/// Returns the weight of a sample, whichever field has it; `None` if none has.
#[must_use]
pub fn weight_of(tail: &Tail<'_>) -> Option<u64> {
    tail.weight_struct.map(|parts| parts.var1_dw().into()).or(tail.weight)
}

/// Returns what an access counts: its weight, or 1.
///
/// perf: `iter_add_single_mem_entry`, `tools/perf/util/hist.c`.
pub(super) fn period_of(tail: &Tail<'_>) -> u64 {
    weight_of(tail).unwrap_or(0).max(1)
}

impl MemoryAccess {
    /// Adds what a key needs. perf compares fewer bits of the source than it prints, so that a row of perf can have
    /// accesses that its text is not true of; here each key compares all that it shows.
    pub(super) fn add(&mut self, key: SortKey, at: &SampleContext<'_, '_>, tail: &Tail<'_>) {
        let source = tail.data_src.unwrap_or(NO_DATA_SRC);
        let none = DataSrc(0);
        let bits = match key {
            SortKey::SymbolDaddr => {
                self.address = address_of(at);
                none
            }
            SortKey::SymbolIaddr => {
                self.ip = at.sample().ip().unwrap_or(0);
                none
            }
            SortKey::PhysDaddr => {
                self.physical = tail.phys_addr.unwrap_or(0);
                none
            }
            SortKey::DataPageSize => {
                self.page_size = tail.data_page_size.unwrap_or(0);
                none
            }
            SortKey::Locked => none.with_lock(source.lock()),
            SortKey::Tlb => none.with_dtlb(source.dtlb()),
            SortKey::Mem => none
                .with_lvl(source.lvl())
                .with_lvl_num(source.lvl_num())
                .with_remote(source.remote())
                .with_hops(source.hops()),
            SortKey::Snoop => none.with_snoop(source.snoop()).with_snoopx(source.snoopx()),
            SortKey::Blocked => none.with_blk(source.blk()),
            _ => none,
        };
        self.source |= bits.0;
    }
}

/// Returns the address that a sample is of; 0 if it was not recorded.
pub(super) fn address_of(at: &SampleContext<'_, '_>) -> u64 {
    at.sample().addr().unwrap_or(0)
}

impl CacheLine {
    /// Returns the line of an address. `dso` is the number of what is mapped there, `size` the number of bytes of a line.
    ///
    /// perf: `sort__dcacheline_cmp`, `hist_entry__dcacheline_snprintf`, `tools/perf/util/sort.c`.
    pub(super) fn of(at: &SampleContext<'_, '_>, mapping: Option<&Mapping>, dso: u32, size: u64) -> Self {
        let address = address_of(at);
        let is_known = |it: &Inode| (it.maj, it.min, it.ino, it.ino_generation) != (0, 0, 0, 0);
        let inode = mapping.and_then(|it| it.dso().inode()).filter(is_known);
        let is_shared = mapping.is_some_and(|it| it.flags() & MAP_SHARED != 0);
        let is_user = at.mode() != CpuMode::KERNEL;
        let is_own = is_user && mapping.is_some() && !is_shared && inode.is_none();
        let sharing = match mapping {
            None => LineSharing::Unmapped,
            Some(it) if is_user && is_shared && inode.is_some() && !it.is_executable() => LineSharing::Shared,
            Some(_) => LineSharing::Private,
        };
        Self {
            mode: at.mode().0,
            sharing,
            inode,
            dso: if inode.is_some() { 0 } else { dso },
            pid: if is_own { at.thread().pid() } else { 0 },
            start: mapping.map_or(address, |it| it.offset_of(address)) & !(size - 1),
        }
    }

    /// perf: `sort__dcacheline_cmp`.
    fn compare(&self, other: &Self) -> Ordering {
        let is_unmapped = |it: &Self| it.sharing == LineSharing::Unmapped;
        self.mode
            .cmp(&other.mode)
            .then_with(|| is_unmapped(self).cmp(&is_unmapped(other)))
            .then_with(|| self.inode.cmp(&other.inode))
            .then_with(|| self.pid.cmp(&other.pid))
            .then_with(|| self.start.cmp(&other.start))
            .then_with(|| self.dso.cmp(&other.dso))
    }
}

/// Compares two accesses by a key that says nothing of what is mapped.
///
/// perf: `sort__lvl_cmp` and the like, `tools/perf/util/sort.c`.
pub(super) fn compare(key: SortKey, one: &MemoryAccess, other: &MemoryAccess) -> Ordering {
    // As differences of addresses, which perf compares, have it.
    let signed = |one: u64, other: u64| one.cast_signed().cmp(&other.cast_signed());
    let (a, b) = (DataSrc(one.source), DataSrc(other.source));
    match key {
        SortKey::SymbolDaddr => signed(one.address, other.address),
        SortKey::SymbolIaddr => signed(one.ip, other.ip),
        SortKey::PhysDaddr => signed(one.physical, other.physical),
        SortKey::DataPageSize => signed(one.page_size, other.page_size),
        SortKey::Dcacheline => one.line.compare(&other.line),
        SortKey::Locked => a.lock().0.cmp(&b.lock().0),
        SortKey::Tlb => a.dtlb().0.cmp(&b.dtlb().0),
        SortKey::Mem => {
            let rest = |it: DataSrc| (it.lvl_num().0, it.remote().0, it.hops().0);
            a.lvl().0.cmp(&b.lvl().0).then_with(|| rest(a).cmp(&rest(b)))
        }
        SortKey::Snoop => (a.snoop().0, a.snoopx().0).cmp(&(b.snoop().0, b.snoopx().0)),
        SortKey::Blocked => a.blk().0.cmp(&b.blk().0),
        _ => Ordering::Equal,
    }
}
