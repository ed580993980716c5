//! The modules of the files that processes have mapped.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_session::{Dso, DsoKind, Mapping};

use super::module::Module;
use super::space::{AddressKind, Space};

/// The largest number of files that are kept.
const MAX_FILES: usize = 4096;

/// The modules of the files that occurred, each asked for once.
#[derive(Debug, Default)]
pub(crate) struct ModuleCache {
    /// By the address of the DSO, which is kept, so that no other one gets its address. A session has equal DSOs once.
    by_dso: HashMap<usize, (Arc<Dso>, Option<u32>)>,
    modules: Vec<Arc<Module>>,
}

impl ModuleCache {
    /// Returns whether so many files are kept that they should be [cleared](Self::clear).
    pub(crate) fn is_full(&self) -> bool {
        self.by_dso.len() >= MAX_FILES
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The address space of a process, or what is known of it.
pub(crate) struct ProcessSpace<'a, 's> {
    mapping_at: &'a dyn Fn(u64) -> Option<&'s Mapping>,
    files: &'a mut ModuleCache,
    module_of: &'a mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
    /// What was found last.
    recent: [RecentRange; 4],
    next: usize,
}

/// A range of addresses in which addresses of the process and of the module differ by one number.
#[derive(Clone, Copy, Default)]
struct RecentRange {
    start: u64,
    end: u64,
    delta: u64,
    module: Option<u32>,
    is_code: bool,
}

impl RecentRange {
    fn place(&self, addr: u64) -> AddressKind {
        let inside = self.module.map(|module| (module, addr.wrapping_add(self.delta)));
        if self.is_code { AddressKind::Code(inside) } else { AddressKind::Data(inside) }
    }
}

impl<'a, 's> ProcessSpace<'a, 's> {
    pub(crate) fn new(
        mapping_at: &'a dyn Fn(u64) -> Option<&'s Mapping>,
        files: &'a mut ModuleCache,
        module_of: &'a mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
    ) -> Self {
        Self { mapping_at, files, module_of, recent: [RecentRange::default(); 4], next: 0 }
    }

    fn module_number(&mut self, dso: &Arc<Dso>) -> Option<u32> {
        if !matches!(dso.kind(), DsoKind::File | DsoKind::Vdso) {
            return None;
        }
        let key = Arc::as_ptr(dso).addr();
        if let Some((_, number)) = self.files.by_dso.get(&key) {
            return *number;
        }
        let number = (self.module_of)(dso).and_then(|module| {
            let number = u32::try_from(self.files.modules.len()).ok()?;
            self.files.modules.push(module);
            Some(number)
        });
        self.files.by_dso.insert(key, (Arc::clone(dso), number));
        number
    }

    #[cold]
    fn find(&mut self, addr: u64) -> Option<RecentRange> {
        let mapping = (self.mapping_at)(addr)?;
        let module = self.module_number(mapping.dso());
        let span = module.and_then(|number| {
            let module = self.files.modules.get(usize::try_from(number).ok()?)?;
            Some((number, module.span(mapping.offset_of(addr), mapping.is_executable())?))
        });
        let range = mapping.range();
        let is_code = mapping.is_executable();
        Some(match span {
            None => RecentRange { start: range.start, end: range.end, delta: 0, module: None, is_code },
            Some((number, span)) => {
                let base = mapping.pgoff().wrapping_sub(range.start);
                // Offsets of the file as addresses of the process, cut at the ends of the mapping.
                let to_addr = |offset: u64| {
                    range.start.saturating_add(offset.saturating_sub(mapping.pgoff())).min(range.end)
                };
                RecentRange {
                    start: to_addr(span.start),
                    end: to_addr(span.end),
                    delta: base.wrapping_add(span.delta),
                    module: Some(number),
                    is_code,
                }
            }
        })
    }
}

impl Space for ProcessSpace<'_, '_> {
    #[inline]
    fn place(&mut self, addr: u64) -> AddressKind {
        if let Some(recent) = self.recent.iter().find(|it| it.start <= addr && addr < it.end) {
            return recent.place(addr);
        }
        let Some(found) = self.find(addr) else { return AddressKind::Nowhere };
        if let Some(slot) = self.recent.get_mut(self.next) {
            *slot = found;
        }
        self.next = self.next.wrapping_add(1) % 4;
        found.place(addr)
    }

    #[inline]
    fn module(&self, number: u32) -> Option<&Arc<Module>> {
        self.files.modules.get(usize::try_from(number).ok()?)
    }
}
