//! The trampolines of Python that processes named.

use std::collections::HashMap;
use std::sync::Arc;

use perf_session::{Dso, DsoKind, Mapping, Session};

use crate::dso_symbols::{self, SymbolTable};
use crate::python;
use crate::shared::{LazySymbols, SymbolStore, SymbolsKey};

/// The largest number of processes whose maps are kept.
const MAX_MAPS: usize = 4096;

/// The largest trampoline, in bytes. They have some 20 at most.
const LARGEST: u64 = 64;

/// Finds the trampolines of Python by the names that processes gave to generated code, in perf maps and jitdumps.
#[derive(Debug)]
pub(crate) struct Trampolines {
    shared: Arc<SymbolStore>,
    /// By the address of the DSO, which is kept.
    maps: HashMap<usize, (Arc<Dso>, LazySymbols)>,
}

impl Trampolines {
    pub(crate) fn new(shared: Arc<SymbolStore>) -> Self {
        Self { shared, maps: HashMap::new() }
    }

    /// Returns whether an address in a mapping is in a trampoline.
    pub(crate) fn has(&mut self, session: &Session, mapping: &Mapping, address: u64) -> bool {
        let dso = mapping.dso();
        if dso.kind() != DsoKind::Memory {
            return false;
        }
        if self.maps.len() >= MAX_MAPS {
            self.maps.clear();
        }
        let shared = &self.shared;
        let (_, symbols) = self.maps.entry(Arc::as_ptr(dso).addr()).or_insert_with(|| {
            (Arc::clone(dso), shared.symbols_not_wanted(&SymbolsKey::of(session, dso, false)))
        });
        let is_trampoline = |name: &[u8], size: u64| size <= LARGEST && python::path(name).is_some();
        if let Some(SymbolTable::PerfMap(map, _)) = symbols.get().map(|symbols| &symbols.table)
            && let Some(symbol) = map.find(address)
        {
            return is_trampoline(symbol.name, symbol.end.saturating_sub(symbol.start));
        }
        let marker = dso_symbols::pid_of(dso.name())
            .and_then(|pid| session.maps(session.thread(pid)?))
            .and_then(|maps| maps.jitdump());
        let jitdump =
            marker.and_then(|marker| self.shared.jitdump(marker.dso(), &Default::default()).ok()?);
        // Python reuses no address.
        let jitted = jitdump.as_deref().and_then(|jitdump| jitdump.find(address, None));
        jitted.is_some_and(|it| is_trampoline(it.symbol.name, it.symbol.end.saturating_sub(it.symbol.start)))
    }
}
