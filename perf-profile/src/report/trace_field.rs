//! Fields of tracepoints as keys.

use core::cmp::Ordering;

/// A field of tracepoints by which samples are grouped: its number in [`Layout::trace_fields`](super::Layout::trace_fields).
///
/// perf: `struct hpp_dynamic_entry`, `tools/perf/util/sort.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceField(pub(super) u16);

/// The largest number of fields of a report.
pub(super) const MOST: usize = 1000;

/// Compares two values of a field: numbers by what they are, before texts.
pub(super) fn compare(one: &[u8], other: &[u8]) -> Ordering {
    let number = |text: &[u8]| core::str::from_utf8(text).ok().and_then(|text| text.parse::<i128>().ok());
    match (number(one), number(other)) {
        (Some(a), Some(b)) => a.cmp(&b).then_with(|| one.cmp(other)),
        (a, b) => b.is_some().cmp(&a.is_some()).then_with(|| one.cmp(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_before_texts() {
        let mut values = [&b"b"[..], b"10", b"9", b"-1", b"", b"a", b"09"];
        values.sort_by(|one, other| compare(one, other));
        assert_eq!(values, [&b"-1"[..], b"09", b"9", b"10", b"", b"a", b"b"]);
    }
}
