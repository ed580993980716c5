//! Code of a file in memory that was laid over it.

use perf_session::{Mapping, Segment, Session};

use super::Symbolizer;
use crate::dso_symbols::SymbolTable;

impl Symbolizer {
    /// Returns the mapping of a file whose code may be in memory without a file now, and the number of the file. `None` if the
    /// process has named the code at the address itself, or if the memory is not within one executable segment of the file.
    pub(super) fn remapped(
        &mut self,
        session: &Session,
        mapping: &Mapping,
        dso: usize,
        address: u64,
    ) -> Option<(Mapping, usize)> {
        let file = mapping.remapped()?;
        let symbols = self.states.get(dso)?.symbols.get()?;
        if matches!(&symbols.table, SymbolTable::PerfMap(map, _) if map.find(address).is_some()) {
            return None;
        }
        let is_guest = self.states.get(dso)?.is_guest;
        let number = self.dso(session, file.dso(), is_guest);
        let segments = self.states.get(number)?.symbols.get()?.segments();
        is_in_code(segments, &file, mapping).then_some((file, number))
    }
}

/// Returns whether memory is within one executable segment of the file that was mapped there before. Pages are mapped whole.
fn is_in_code(segments: &[Segment], file: &Mapping, memory: &Mapping) -> bool {
    const PAGE: u64 = 4096;
    let start = file.offset_of(memory.range().start);
    let end = start.saturating_add(memory.range().end.saturating_sub(memory.range().start));
    segments.iter().filter(|it| it.is_executable).any(|it| {
        let last = it.offset.saturating_add(it.size);
        it.offset & !PAGE.wrapping_sub(1) <= start
            && end <= last.checked_next_multiple_of(PAGE).unwrap_or(last)
    })
}
