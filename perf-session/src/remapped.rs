//! Code of a file that a program moved into memory without a file, at the same addresses.

use alloc::sync::Arc;
use core::ops::Range;

use crate::dso::{DsoKind, RemappedCode};
use crate::maps::Maps;

/// Returns the executable mapping of a file that has all addresses of new executable memory without a file. That of memory that
/// was laid over a file before is the same one: its protection changed, or a part of it was replaced.
///
/// Programs do so to have their code on large pages: ClickHouse, Node.js with `--use-largepages`, HHVM.
pub(crate) fn file_below(maps: &Maps, new: Range<u64>) -> Option<Arc<RemappedCode>> {
    let below = maps.find(new.start).filter(|below| new.end <= below.end)?;
    if below.dso.kind() == DsoKind::Memory {
        return below.dso.code().cloned();
    }
    let is_code = below.dso.kind() == DsoKind::File && below.is_executable();
    let (dso, start, end) = (Arc::clone(&below.dso), below.start, below.end);
    let code = RemappedCode { dso, start, end, pgoff: below.pgoff, prot: below.prot, flags: below.flags };
    is_code.then(|| Arc::new(code))
}
