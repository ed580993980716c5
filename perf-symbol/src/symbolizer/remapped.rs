//! Code of a file in memory that was laid over it.

use perf_session::{Mapping, Session};

use super::Symbolizer;
use crate::dso_symbols::SymbolTable;
use crate::remapped;

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
        let SymbolTable::File(found, _) = &self.states.get(number)?.symbols.get()?.table else { return None };
        let image = found.image.as_deref()?;
        remapped::is_in_code(image, &file, mapping).then_some((file, number))
    }
}
