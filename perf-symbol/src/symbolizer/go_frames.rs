//! The functions at one address of a program of Go.

use super::Symbolizer;
use crate::dso_states::{DsoState, GoState};
use crate::function::Function;
use crate::symtab::NameSource;

impl Symbolizer {
    /// Adds the inlined functions at an address of a program of Go, and the one that has its code.
    pub(super) fn add_go_frames(&mut self, dso: usize, address: u64) {
        self.states.parse_go(dso, &self.shared.finder);
        let Some(DsoState { symbols, go: GoState::Some(lines), .. }) = self.states.get_mut(dso) else {
            return;
        };
        let options = self.shared.finder.options();
        let origin = symbols.get().and_then(|symbols| symbols.origin_of(NameSource::GoPclntab));
        let (functions, names) = (&mut self.functions, &mut self.names);
        let start = functions.len();
        lines.look_up(address, &mut |frame| {
            if functions.len().saturating_sub(start) >= options.limits.inlined {
                return;
            }
            let name = frame.name.map(|name| names.share(name));
            let source = name.is_some().then_some(NameSource::GoPclntab);
            functions.push(Function {
                source,
                origin: source.and(origin),
                raw_name: name.clone(),
                name,
                offset: None,
                size: None,
                file: frame.file.filter(|_| options.lines).map(|file| names.share(file)),
                line: frame.line.filter(|_| options.lines),
                column: None,
                is_inlined: true,
                guess: None,
            });
        });
    }
}
