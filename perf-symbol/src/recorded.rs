//! Names of files that the capture itself has.

use perf_session::{DsoKind, Mapping, RecordedFile, Session};

use crate::symtab::{NameSource, Symbol};

/// Returns the symbol that the capture has at the address `ip` of a mapping, and that address in the file. What a module does
/// not have, the kernel may.
///
/// simpleperf: `ThreadTree::FindSymbol`, `system/extras/simpleperf/thread_tree.cpp`.
pub(crate) fn find<'s>(session: &'s Session, mapping: &Mapping, ip: u64) -> Option<(Symbol<'s>, u64)> {
    let of = |file: &'s RecordedFile| {
        let address = file.address_of(mapping, ip);
        let it = file.find(address)?;
        let source = NameSource::Recorded;
        Some((Symbol { name: it.name, start: it.start, end: it.end, source }, address))
    };
    let own = session.recorded_file(mapping.dso()).and_then(of);
    own.or_else(|| {
        let text = session.kernel_maps().kernel().filter(|_| mapping.dso().kind() == DsoKind::Module)?;
        session.recorded_file(text.dso()).and_then(of)
    })
}
