//! The texts of keys of memory accesses and of addresses.

use perf_abi::data_src::DataSrc;
use perf_abi::record::CpuMode;
use perf_profile::Symbol;
use perf_profile::report::SortKey;

use crate::escape::{print, push_name};
use crate::perf_text::data_src;

/// Returns the letter that marks whose code it is.
pub(super) fn level(mode: CpuMode) -> char {
    match mode {
        CpuMode::USER => '.',
        CpuMode::KERNEL => 'k',
        CpuMode::GUEST_KERNEL => 'g',
        CpuMode::GUEST_USER => 'u',
        _ => 'H',
    }
}

/// Appends the part of a data source that a key shows.
pub(super) fn push_source(out: &mut Vec<u8>, key: SortKey, source: DataSrc) {
    match key {
        SortKey::Locked => out.extend_from_slice(data_src::lock(source).as_bytes()),
        SortKey::Tlb => data_src::push_tlb(out, source),
        SortKey::Mem => data_src::push_level(out, source),
        SortKey::Snoop => data_src::push_snoop(out, source),
        SortKey::Blocked => data_src::push_blocked(out, source),
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
pub(super) fn least_width(key: SortKey, symbol: Option<usize>) -> usize {
    // The letter in brackets and the prefix, and the address.
    const ADDRESS: usize = 6 + 16;
    match key {
        SortKey::SymbolDaddr | SortKey::SymbolIaddr => symbol.map_or(0, |name| name + ADDRESS).max(ADDRESS),
        SortKey::Dcacheline => symbol.map_or(0, |name| name + ADDRESS + 1).max(ADDRESS),
        SortKey::PhysDaddr | SortKey::DataPageSize => ADDRESS,
        SortKey::Locked => 6,
        SortKey::Tlb => 22,
        SortKey::Snoop => 12,
        SortKey::Mem => 24,
        SortKey::Blocked => 10,
        _ => 0,
    }
}
