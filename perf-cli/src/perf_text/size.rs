//! Numbers of bytes, and sizes of pages.

use crate::render::digits::push_decimal;

/// Appends the size of a page, as perf names it.
///
/// perf: `get_page_size_name`, `tools/perf/util/session.c`.
pub(crate) fn push_page_size(out: &mut Vec<u8>, size: Option<u64>) {
    match size.filter(|&size| size != 0) {
        Some(size) => push_size(out, size),
        None => out.extend_from_slice(b"N/A"),
    }
}

/// Appends a number of bytes in units: `4K`.
///
/// perf: `unit_number__scnprintf`, `tools/perf/util/string.c`.
pub(crate) fn push_size(out: &mut Vec<u8>, mut size: u64) {
    let mut unit = 0;
    while size / 1024 > 1 && unit < 3 {
        size /= 1024;
        unit += 1;
    }
    push_decimal(out, size);
    out.push(b"BKMG"[unit]);
}
