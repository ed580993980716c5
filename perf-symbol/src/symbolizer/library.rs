//! Code of libraries in archives.

use perf_session::{Mapping, Session};

use super::Symbolizer;

impl Symbolizer {
    /// Returns the mapping of a library whose archive is mapped, and the number of the library. `None` for all other mappings.
    pub(super) fn library(
        &mut self,
        session: &Session,
        mapping: &Mapping,
        dso: usize,
    ) -> Option<(Mapping, usize)> {
        let state = self.states.get(dso).filter(|state| state.is_archive)?;
        let is_guest = state.is_guest;
        let library = self.shared.finder.library(mapping)?;
        let number = self.dso(session, library.dso(), is_guest);
        Some((library, number))
    }
}
