//! The rows of line tables of a part of a mapping.

use std::ops::Range;

use perf_session::{Frame, Session};

use super::Symbolizer;
use crate::dso_states::DwarfState;
use crate::lines::LineRow;

impl Symbolizer {
    /// Calls `each` for each row of the line tables that has an address in `range`, which are addresses of a process in the mapping of
    /// a frame: see [`DwarfLines::rows`](crate::DwarfLines::rows). The addresses of rows are those of `range`.
    ///
    /// There are none without [`SymbolOptions::lines`](crate::SymbolOptions::lines) and
    /// [`SymbolOptions::inlines`](crate::SymbolOptions::inlines), of generated code, and of files whose lines are not those of
    /// DWARF.
    pub fn line_rows(
        &mut self,
        session: &Session,
        frame: &Frame<'_>,
        range: Range<u64>,
        each: &mut dyn FnMut(LineRow<'_>),
    ) {
        let Some((mapping, dso)) = self.code_mapping(session, frame, range.start) else { return };
        let offset = mapping.offset_of(range.start);
        let symbols = self.states.get(dso).and_then(|state| state.symbols.get());
        let Some(start) = symbols.and_then(|symbols| symbols.dwarf_address(&mapping, offset)) else { return };
        let Self { shared, states, cancellation, .. } = self;
        states.parse_lines(dso, &shared.finder, cancellation);
        let Some(DwarfState::Some(lines)) = states.get(dso).map(|state| &state.lines) else { return };
        let end = start.saturating_add(range.end.saturating_sub(range.start));
        let in_process = |address: u64| address.wrapping_sub(start).wrapping_add(range.start);
        lines.rows(start..end, &mut |row| {
            each(LineRow { start: in_process(row.start), end: in_process(row.end), ..row });
        });
    }
}
