//! Cutting and padding of a sort key's text, as perf does it.

use super::keys::Key;

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
pub(super) fn is_cut(key: Key) -> bool {
    !matches!(
        key,
        Key::Cpu
            | Key::Cgroup
            | Key::CgroupId
            | Key::LocalWeight
            | Key::Weight
            | Key::Socket
            | Key::Transaction
            | Key::SymbolSize
            | Key::DsoSize
            | Key::CodePageSize
            | Key::LocalInsLat
            | Key::InsLat
            | Key::LocalPStageCyc
            | Key::PStageCyc
            | Key::Addr
            | Key::Tlb
            | Key::Mem
            | Key::Snoop
            | Key::DataPageSize
    )
}

/// Returns whether perf pads the text of a key in the last column too.
pub(super) fn is_padded(key: Key) -> bool {
    !matches!(
        key,
        Key::Symbol
            | Key::SymbolFrom
            | Key::SymbolTo
            | Key::Cpu
            | Key::Srcline
            | Key::Srcfile
            | Key::Trace
            | Key::Cgroup
            | Key::CgroupId
            | Key::Time
            | Key::AddrFrom
            | Key::AddrTo
            | Key::Socket
            | Key::SymbolSize
            | Key::DsoSize
            | Key::SymbolDaddr
            | Key::SymbolIaddr
            | Key::Dcacheline
            | Key::Locked
            | Key::Blocked
    )
}
