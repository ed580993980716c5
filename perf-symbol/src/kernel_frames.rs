//! Frames of the kernel: the kernel's mapping after its text, and the addresses before which an interrupt came.

use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_session::{Dso, Frame, Mapping, Session};

use crate::dso_symbols::SymbolTable;
use crate::kernel::KernelSymbols;
use crate::shared::{LazySymbols, SymbolStore, SymbolsKey};

/// What the kernel's symbols tell of the frames of a stack.
///
/// The symbols are loaded when the first frame needs them.
#[derive(Clone, Debug)]
pub(crate) struct KernelFrames {
    shared: Arc<SymbolStore>,
    loaded: Option<(Arc<Dso>, LazySymbols)>,
}

impl KernelFrames {
    pub(crate) fn new(shared: Arc<SymbolStore>) -> Self {
        Self { shared, loaded: None }
    }

    /// Returns what clones of the symbolizer share.
    pub(crate) fn shared(&self) -> &Arc<SymbolStore> {
        &self.shared
    }

    /// Returns the mapping of an address that is in none: that of the kernel, if its symbols have the address. perf records
    /// that mapping up to the end of the text, and extends it to the last symbol.
    ///
    /// perf: `map__fixup_end`, `tools/perf/util/map.c`.
    pub(crate) fn mapping_after<'s>(
        &mut self,
        session: &'s Session,
        frame: &Frame<'_>,
    ) -> Option<&'s Mapping> {
        let mapping = text_before(session, frame)?;
        let kernel = self.kernel(session, mapping.dso())?;
        let symbol = kernel.find(frame.ip)?;
        // A module that is not mapped may have been loaded after the recording.
        (!kernel.is_of_module(&symbol)).then_some(mapping)
    }

    /// Finds the return addresses that are none: an interrupt came before the instruction at the address. `frames` are the
    /// frames of a stack, innermost first, and `parts` returns mode, address and whether it is a return address.
    pub(crate) fn find_interrupted<T>(
        &mut self,
        session: &Session,
        frames: &mut [T],
        mut parts: impl FnMut(&mut T) -> (CpuMode, u64, &mut bool),
    ) {
        let is_kernel = |frame: &mut T| parts(frame).0 == CpuMode::KERNEL;
        // One frame has no caller.
        if frames.iter_mut().map(is_kernel).filter(|&it| it).nth(1).is_none() {
            return;
        }
        let text = session.kernel_maps().kernel();
        let Some(kernel) = text.and_then(|text| self.kernel(session, text.dso())) else { return };
        let entries = kernel.interrupt_entries();
        let mut is_interrupted = false;
        for frame in frames {
            let (mode, ip, is_return) = parts(frame);
            if mode != CpuMode::KERNEL {
                is_interrupted = false;
                continue;
            }
            *is_return &= !is_interrupted;
            is_interrupted = entries.contains(ip.wrapping_sub(u64::from(*is_return)));
        }
    }

    fn kernel(&mut self, session: &Session, dso: &Arc<Dso>) -> Option<&KernelSymbols> {
        if !self.loaded.as_ref().is_some_and(|(loaded, _)| Arc::ptr_eq(loaded, dso)) {
            let symbols = self.shared.symbols_not_wanted(&SymbolsKey::of(session, dso, false));
            self.loaded = Some((Arc::clone(dso), symbols));
        }
        let (_, symbols) = self.loaded.as_ref()?;
        match &symbols.get()?.table {
            SymbolTable::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }
}

/// Returns the mapping of the kernel's text, for an address of the kernel after it that is in no mapping.
pub(crate) fn text_before<'s>(session: &'s Session, frame: &Frame<'_>) -> Option<&'s Mapping> {
    if frame.mode != CpuMode::KERNEL || frame.mapping.is_some() {
        return None;
    }
    session.kernel_maps().kernel().filter(|text| text.range().end <= frame.ip)
}
