//! The keys of `--mem-mode`: what a sample says of the memory access that it is of.

use core::cmp::Ordering;

use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;
use perf_parse::sample::Tail;
use perf_profile::Symbol;
use perf_session::{At, Inode, Mapping};

use super::keys::Key;
use crate::escape::{print, push_name};
use crate::render::weight;
use crate::script::data_src;
use crate::script::line::push_page_size;

/// A memory access, as far as the keys distinguish it. What no key needs is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Access {
    /// The address of the data, in memory.
    pub(super) address: u64,
    /// The address of the instruction, in memory.
    pub(super) ip: u64,
    pub(super) physical: u64,
    pub(super) page_size: u64,
    /// The bits that the keys print.
    source: u64,
    pub(super) line: Line,
}

/// The line of the cache that an access is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Line {
    /// Whose code made the access.
    mode: u8,
    level: Level,
    /// The file, if its inode is known.
    inode: Option<Inode>,
    /// What else is mapped, by its number.
    dso: u32,
    /// The process, for memory that no other process has at the place.
    pid: i32,
    /// The address of its first byte, as [`Mapping::offset_of`] has it.
    pub(super) start: u64,
}

/// What the letter before a line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Level {
    /// Whose code made the access.
    #[default]
    Code,
    /// That processes share the memory.
    Shared,
    /// That nothing is mapped there.
    Nothing,
}

/// `MAP_SHARED` of mmap.
///
/// Kernel: `include/uapi/linux/mman.h`.
const MAP_SHARED: u32 = 1;

/// Returns what an access counts: its weight, or 1.
///
/// perf: `iter_add_single_mem_entry`, `tools/perf/util/hist.c`.
pub(super) fn period(tail: &Tail<'_>) -> u64 {
    weight(tail).unwrap_or(0).max(1)
}

impl Access {
    /// Adds what a key needs. perf compares fewer bits of the source than it prints, so that a row of perf can have
    /// accesses that its text is not true of; here each key compares all that it prints.
    pub(super) fn add(&mut self, key: Key, at: &At<'_, '_>, tail: &Tail<'_>) {
        let source = tail.data_src.unwrap_or(data_src::NONE);
        let none = DataSrc(0);
        let bits = match key {
            Key::SymbolDaddr => {
                self.address = address_of(at);
                none
            }
            Key::SymbolIaddr => {
                self.ip = at.sample().ip().unwrap_or(0);
                none
            }
            Key::PhysDaddr => {
                self.physical = tail.phys_addr.unwrap_or(0);
                none
            }
            Key::DataPageSize => {
                self.page_size = tail.data_page_size.unwrap_or(0);
                none
            }
            Key::Locked => none.with_lock(source.lock()),
            Key::Tlb => none.with_dtlb(source.dtlb()),
            Key::Mem => none
                .with_lvl(source.lvl())
                .with_lvl_num(source.lvl_num())
                .with_remote(source.remote())
                .with_hops(source.hops()),
            Key::Snoop => none.with_snoop(source.snoop()).with_snoopx(source.snoopx()),
            Key::Blocked => none.with_blk(source.blk()),
            _ => none,
        };
        self.source |= bits.0;
    }
}

/// Returns the address that a sample is of; 0 if it was not recorded.
pub(super) fn address_of(at: &At<'_, '_>) -> u64 {
    at.sample().addr().unwrap_or(0)
}

impl Line {
    /// Returns the line of an address. `dso` is the number of what is mapped there, `size` that of the bytes of a line.
    ///
    /// perf: `sort__dcacheline_cmp`, `hist_entry__dcacheline_snprintf`, `tools/perf/util/sort.c`.
    pub(super) fn of(at: &At<'_, '_>, mapping: Option<&Mapping>, dso: u32, size: u64) -> Self {
        let address = address_of(at);
        let is_known = |it: &Inode| (it.maj, it.min, it.ino, it.ino_generation) != (0, 0, 0, 0);
        let inode = mapping.and_then(|it| it.dso().inode()).filter(is_known);
        let is_shared = mapping.is_some_and(|it| it.flags() & MAP_SHARED != 0);
        let is_user = at.mode() != CpuMode::KERNEL;
        let is_own = is_user && mapping.is_some() && !is_shared && inode.is_none();
        let level = match mapping {
            None => Level::Nothing,
            Some(it) if is_user && is_shared && inode.is_some() && !it.is_executable() => Level::Shared,
            Some(_) => Level::Code,
        };
        Self {
            mode: at.mode().0,
            level,
            inode,
            dso: if inode.is_some() { 0 } else { dso },
            pid: if is_own { at.thread().pid() } else { 0 },
            start: mapping.map_or(address, |it| it.offset_of(address)) & !(size - 1),
        }
    }

    /// Returns the letter before the line; `code` is that of the code.
    pub(super) fn letter(&self, code: char) -> char {
        match self.level {
            Level::Code => code,
            Level::Shared => 's',
            Level::Nothing => 'X',
        }
    }

    /// perf: `sort__dcacheline_cmp`.
    fn compare(&self, other: &Self) -> Ordering {
        let is_nothing = |it: &Self| it.level == Level::Nothing;
        self.mode
            .cmp(&other.mode)
            .then_with(|| is_nothing(self).cmp(&is_nothing(other)))
            .then_with(|| self.inode.cmp(&other.inode))
            .then_with(|| self.pid.cmp(&other.pid))
            .then_with(|| self.start.cmp(&other.start))
            .then_with(|| self.dso.cmp(&other.dso))
    }
}

/// Compares two accesses by a key that says nothing of what is mapped.
///
/// perf: `sort__lvl_cmp` and the like, `tools/perf/util/sort.c`.
pub(super) fn compare(key: Key, one: &Access, other: &Access) -> Ordering {
    // As differences of addresses, which perf compares, have it.
    let signed = |one: u64, other: u64| one.cast_signed().cmp(&other.cast_signed());
    let (a, b) = (DataSrc(one.source), DataSrc(other.source));
    match key {
        Key::SymbolDaddr => signed(one.address, other.address),
        Key::SymbolIaddr => signed(one.ip, other.ip),
        Key::PhysDaddr => signed(one.physical, other.physical),
        Key::DataPageSize => signed(one.page_size, other.page_size),
        Key::Dcacheline => one.line.compare(&other.line),
        Key::Locked => a.lock().0.cmp(&b.lock().0),
        Key::Tlb => a.dtlb().0.cmp(&b.dtlb().0),
        Key::Mem => {
            let rest = |it: DataSrc| (it.lvl_num().0, it.remote().0, it.hops().0);
            a.lvl().0.cmp(&b.lvl().0).then_with(|| rest(a).cmp(&rest(b)))
        }
        Key::Snoop => (a.snoop().0, a.snoopx().0).cmp(&(b.snoop().0, b.snoopx().0)),
        Key::Blocked => a.blk().0.cmp(&b.blk().0),
        _ => Ordering::Equal,
    }
}

/// Appends the text of a key that says nothing of what is mapped. `code` is the letter that marks whose code it is.
pub(super) fn push_text(out: &mut Vec<u8>, key: Key, access: &Access, code: char) {
    let source = DataSrc(access.source);
    match key {
        Key::Locked => out.extend_from_slice(data_src::lock(source).as_bytes()),
        Key::Tlb => data_src::push_tlb(out, source),
        Key::Mem => data_src::push_level(out, source),
        Key::Snoop => data_src::push_snoop(out, source),
        Key::Blocked => data_src::push_blocked(out, source),
        Key::DataPageSize => push_page_size(out, Some(access.page_size)),
        Key::PhysDaddr => push_symbol(out, code, None, access.physical),
        _ => {}
    }
}

/// Appends a symbol with an offset, or an address without one.
///
/// perf: `_hist_entry__sym_snprintf`, `tools/perf/util/sort.c`.
pub(super) fn push_symbol(
    out: &mut Vec<u8>,
    letter: char,
    symbol: Option<(&Symbol, Option<u64>)>,
    address: u64,
) {
    print(out, format_args!("[{letter}] "));
    match symbol {
        Some((symbol, offset)) => {
            push_name(out, &symbol.label());
            if let Some(offset) = offset {
                print(out, format_args!("+0x{offset:x}"));
            }
        }
        // As C prints it: without the prefix if it is 0.
        None if address == 0 => out.extend_from_slice(b"0000000000000000"),
        None => print(out, format_args!("0x{address:016x}")),
    }
}

/// Returns the least width of the column of a key. `symbol` is the longest name of its symbols.
///
/// perf: `hists__calc_col_len`, `tools/perf/util/hist.c`.
pub(super) fn least_width(key: Key, symbol: Option<usize>) -> usize {
    // The letter in brackets and the prefix, and the address.
    const ADDRESS: usize = 6 + 16;
    match key {
        Key::SymbolDaddr | Key::SymbolIaddr => symbol.map_or(0, |name| name + ADDRESS).max(ADDRESS),
        Key::Dcacheline => symbol.map_or(0, |name| name + ADDRESS + 1).max(ADDRESS),
        Key::PhysDaddr | Key::DataPageSize => ADDRESS,
        Key::Locked => 6,
        Key::Tlb => 22,
        Key::Snoop => 12,
        Key::Mem => 24,
        Key::Blocked => 10,
        _ => 0,
    }
}
