//! The DSOs of a symbolizer: their symbols, and as much of their DWARF and lines of Go as may be kept.

use std::sync::Arc;

use perf_session::Dso;

use crate::cancellation::Cancellation;
use crate::dso_symbols::SymbolTable;
use crate::file_finder::FileFinder;
use crate::go::GoLines;
use crate::limits::SymbolLimits;
use crate::lines::DwarfLines;
use crate::name_forms::NameForms;
use crate::shared::LazySymbols;

/// The DSOs of a symbolizer, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct DsoStates {
    list: Vec<DsoState>,
    /// Those whose DWARF or lines of Go are parsed.
    parsed: Vec<usize>,
    uses: u64,
}

/// A DSO in a symbolizer.
#[derive(Debug)]
pub(crate) struct DsoState {
    /// Keeps its address from being that of another one.
    _dso: Option<Arc<Dso>>,
    pub(crate) symbols: LazySymbols,
    pub(crate) is_guest: bool,
    /// Whether only its debug file was found.
    pub(crate) is_debug_alone: bool,
    /// Whether it is an archive, whose libraries are other DSOs.
    pub(crate) is_archive: bool,
    pub(crate) lines: DwarfState,
    pub(crate) go: GoState,
    pub(crate) forms: NameForms,
    /// When `lines` or `go` was used last, counted in uses.
    used: u64,
}

/// The DWARF of a DSO.
#[derive(Debug, Default)]
pub(crate) enum DwarfState {
    #[default]
    NotYet,
    None,
    Some(Box<DwarfLines>),
}

/// The lines of a program of Go, which are needed where DWARF has none.
#[derive(Debug, Default)]
pub(crate) enum GoState {
    #[default]
    NotYet,
    None,
    Some(Box<GoLines>),
}

impl DsoState {
    /// Makes the state of a DSO whose symbols are loaded.
    pub(crate) fn new(dso: Option<Arc<Dso>>, symbols: LazySymbols, is_guest: bool) -> Self {
        let is_debug_alone = match symbols.get().map(|symbols| &symbols.table) {
            Some(SymbolTable::File(found, _)) => found.image.is_none() && found.debug.is_some(),
            _ => false,
        };
        let is_archive = symbols.get().is_some_and(|symbols| matches!(symbols.table, SymbolTable::Archive));
        let (lines, go, forms) = (DwarfState::NotYet, GoState::NotYet, NameForms::default());
        Self { _dso: dso, symbols, is_guest, is_debug_alone, is_archive, lines, go, forms, used: 0 }
    }
}

impl DsoStates {
    /// Adds a DSO, and returns its number.
    pub(crate) fn push(&mut self, state: DsoState) -> usize {
        self.list.push(state);
        self.list.len().saturating_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, dso: usize) -> Option<&DsoState> {
        self.list.get(dso)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, dso: usize) -> Option<&mut DsoState> {
        self.list.get_mut(dso)
    }

    /// Forgets which names were found to be those of several functions.
    pub(crate) fn forget_forms(&mut self) {
        self.list.iter_mut().for_each(|state| state.forms = NameForms::default());
    }

    /// Sets the flag that ends look-ups in the DWARF that was parsed until now.
    pub(crate) fn set_cancellation(&self, cancellation: &Cancellation) {
        for state in self.parsed.iter().filter_map(|&dso| self.list.get(dso)) {
            if let DwarfState::Some(lines) = &state.lines {
                lines.set_cancellation(cancellation);
            }
        }
    }

    /// Parses the DWARF of a DSO, if the options ask for it. The one that was not used for the longest time makes room.
    pub(crate) fn parse_lines(&mut self, dso: usize, finder: &FileFinder, cancellation: &Cancellation) {
        let options = finder.options();
        if !options.inlines {
            return;
        }
        self.uses = self.uses.saturating_add(1);
        let Some(state) = self.list.get_mut(dso) else { return };
        state.used = self.uses;
        if !matches!(state.lines, DwarfState::NotYet) {
            return;
        }
        let found = state.symbols.get().and_then(|symbols| match &symbols.table {
            SymbolTable::File(found, _) => Some(&**found),
            SymbolTable::Kernel(kernel) => Some(&kernel.found),
            _ => None,
        });
        let finder = finder.with_cancellation(cancellation);
        let Some(lines) = found.and_then(|found| DwarfLines::load(&finder, found)) else {
            state.lines = DwarfState::None;
            return;
        };
        state.lines = DwarfState::Some(Box::new(lines));
        self.add_parsed(dso, &options.limits);
    }

    /// Returns whether the DWARF of a DSO had all that was looked up in it, and is in files that are known: see
    /// [`DwarfLines::is_whole`].
    pub(crate) fn lines_are_whole(&self, dso: usize) -> bool {
        match self.list.get(dso).map(|state| &state.lines) {
            Some(DwarfState::Some(lines)) => lines.is_whole(),
            _ => true,
        }
    }

    /// Finds the lines of a program of Go, if they are asked for.
    pub(crate) fn parse_go(&mut self, dso: usize, finder: &FileFinder) {
        let options = finder.options();
        let Some(state) = self.list.get_mut(dso).filter(|_| options.inlines) else { return };
        if !matches!(state.go, GoState::NotYet) {
            return;
        }
        let image = state.symbols.get().and_then(|symbols| match &symbols.table {
            SymbolTable::File(found, _) => found.image.as_deref(),
            _ => None,
        });
        let Some(lines) = image.and_then(GoLines::load) else {
            state.go = GoState::None;
            return;
        };
        state.go = GoState::Some(Box::new(lines));
        self.add_parsed(dso, &options.limits);
    }

    /// Adds a DSO to those that are parsed. The one that was not used for the longest time makes room.
    fn add_parsed(&mut self, dso: usize, limits: &SymbolLimits) {
        if !self.parsed.contains(&dso) {
            self.parsed.push(dso);
        }
        while self.lines_are_too_large(limits) {
            let used = |number: usize| self.list.get(number).map_or(0, |state| state.used);
            let others = self.parsed.iter().enumerate().filter(|(_, number)| **number != dso);
            let Some((at, &oldest)) = others.min_by_key(|(_, number)| used(**number)) else { break };
            self.parsed.swap_remove(at);
            if let Some(oldest) = self.list.get_mut(oldest) {
                (oldest.lines, oldest.go) = (DwarfState::NotYet, GoState::NotYet);
            }
        }
    }

    /// Drops the DWARF of a DSO whose reading was cancelled.
    pub(crate) fn drop_lines(&mut self, dso: usize) {
        self.parsed.retain(|&number| number != dso);
        if let Some(state) = self.list.get_mut(dso) {
            (state.lines, state.go) = (DwarfState::NotYet, GoState::NotYet);
        }
    }

    /// Returns whether more DWARF is kept than may be.
    fn lines_are_too_large(&self, limits: &SymbolLimits) -> bool {
        let of_dwarf =
            |state: &DsoState| if let DwarfState::Some(lines) = &state.lines { lines.used() } else { 0 };
        let of_go = |state: &DsoState| if let GoState::Some(lines) = &state.go { lines.used() } else { 0 };
        let used = |number: &usize| {
            self.list.get(*number).map_or(0, |state| of_dwarf(state).saturating_add(of_go(state)))
        };
        let all = self.parsed.iter().map(used).fold(0, u64::saturating_add);
        self.parsed.len() > limits.parsed || all > limits.dwarf
    }
}
