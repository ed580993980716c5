//! Cutting and padding of a sort key's text, as perf does it.

use perf_profile::report::SortKey;

/// Returns a number with as many digits as the column is wide.
///
/// perf: `hist_entry__cpu_snprintf`, `tools/perf/util/sort.c`.
pub(super) fn zero_padded(number: &[u8], width: usize) -> Vec<u8> {
    let (sign, digits) = number.strip_prefix(b"-").map_or((&b""[..], number), |digits| (b"-", digits));
    [sign, &vec![b'0'; width.saturating_sub(digits.len())], digits].concat()
}

/// Returns a text with blanks in front of it up to a width.
pub(super) fn aligned(text: &[u8], width: usize) -> Vec<u8> {
    [&vec![b' '; width.saturating_sub(text.len())], text].concat()
}

/// Replaces a separator in a text by dots.
///
/// perf: `repsep_snprintf`, `tools/perf/util/sort.c`.
pub(super) fn replaced(text: &[u8], separator: char) -> Vec<u8> {
    String::from_utf8_lossy(text).replace(separator, ".").into_bytes()
}

/// Returns whether perf cuts the text of a key to the width of the column.
pub(super) fn is_cut(key: SortKey) -> bool {
    !matches!(
        key,
        SortKey::Cpu
            | SortKey::Cgroup
            | SortKey::CgroupId
            | SortKey::LocalWeight
            | SortKey::Weight
            | SortKey::Socket
            | SortKey::Transaction
            | SortKey::SymbolSize
            | SortKey::DsoSize
            | SortKey::CodePageSize
            | SortKey::LocalInsLat
            | SortKey::InsLat
            | SortKey::LocalPStageCyc
            | SortKey::PStageCyc
            | SortKey::Addr
            | SortKey::Tlb
            | SortKey::Mem
            | SortKey::Snoop
            | SortKey::DataPageSize
            | SortKey::Field(_)
    )
}

/// Returns whether perf pads the text of a key in the last column too.
pub(super) fn is_padded(key: SortKey) -> bool {
    !matches!(
        key,
        SortKey::Symbol
            | SortKey::SymbolFrom
            | SortKey::SymbolTo
            | SortKey::Cpu
            | SortKey::Srcline
            | SortKey::Srcfile
            | SortKey::Trace
            | SortKey::Cgroup
            | SortKey::CgroupId
            | SortKey::Time
            | SortKey::AddrFrom
            | SortKey::AddrTo
            | SortKey::Socket
            | SortKey::SymbolSize
            | SortKey::DsoSize
            | SortKey::SymbolDaddr
            | SortKey::SymbolIaddr
            | SortKey::Dcacheline
            | SortKey::Locked
            | SortKey::Blocked
    )
}
