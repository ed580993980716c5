//! The modules of the files that processes have mapped.

use std::sync::Arc;

use hashbrown::HashMap;
use perf_session::{Dso, DsoKind, Mapping, Session};

use super::frame::FrameSource;
use super::module::Module;
use super::space::{AddressKind, Space};
use crate::file_finder::FileFinder;
use crate::remapped;
use crate::trampolines::Trampolines;

/// The largest number of files that are kept.
const MAX_FILES: usize = 4096;

/// The modules of the files that occurred, each asked for once. One whose code was also moved has two numbers, so that what is found
/// in it is kept apart.
#[derive(Debug, Default)]
pub(crate) struct ModuleCache {
    /// By the address of the DSO, which is kept, so that no other one gets its address. A session has equal DSOs once.
    by_dso: HashMap<(usize, CodePlacement), (Arc<Dso>, Option<u32>)>,
    modules: Vec<(Arc<Module>, CodePlacement)>,
    /// Finds the libraries in archives; `None` if there is no finder.
    finder: Option<FileFinder>,
}

/// Where the code of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CodePlacement {
    /// In the mapping of the file.
    Mapped,
    /// In memory that was laid over it, it is assumed.
    Remapped,
}

impl ModuleCache {
    pub(crate) fn set_finder(&mut self, finder: FileFinder) {
        self.finder = Some(finder);
    }

    /// Returns whether so many files are kept that they should be [cleared](Self::clear).
    pub(crate) fn is_full(&self) -> bool {
        self.by_dso.len() >= MAX_FILES
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { finder: self.finder.take(), ..Self::default() };
    }
}

/// The address space of a process, or what is known of it.
pub(crate) struct ProcessSpace<'a, 's> {
    mapping_at: &'a dyn Fn(u64) -> Option<&'s Mapping>,
    files: &'a mut ModuleCache,
    module_of: &'a mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
    trampolines: Option<(&'a Session, &'a mut Trampolines)>,
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
        let recent = [RecentRange::default(); 4];
        Self { mapping_at, files, module_of, trampolines: None, recent, next: 0 }
    }

    /// Has trampolines of Python found.
    pub(crate) fn with_trampolines(self, session: &'a Session, found: Option<&'a mut Trampolines>) -> Self {
        Self { trampolines: found.map(|found| (session, found)), ..self }
    }

    fn module_number(&mut self, dso: &Arc<Dso>, kind: CodePlacement) -> Option<u32> {
        if !matches!(dso.kind(), DsoKind::File | DsoKind::Vdso) {
            return None;
        }
        let key = (Arc::as_ptr(dso).addr(), kind);
        if let Some((_, number)) = self.files.by_dso.get(&key) {
            return *number;
        }
        let module = match kind {
            CodePlacement::Mapped => (self.module_of)(dso),
            CodePlacement::Remapped => {
                let number = self.module_number(dso, CodePlacement::Mapped);
                number.and_then(|number| self.module(number)).cloned()
            }
        };
        let number = module.and_then(|module| {
            let number = u32::try_from(self.files.modules.len()).ok()?;
            self.files.modules.push((module, kind));
            Some(number)
        });
        self.files.by_dso.insert(key, (Arc::clone(dso), number));
        number
    }

    /// Returns the mapping of the file whose code memory has, it is assumed, and the number of the module.
    fn remapped(&mut self, memory: &Mapping) -> Option<(Mapping, u32)> {
        let file = memory.remapped()?;
        let number = self.module_number(file.dso(), CodePlacement::Remapped)?;
        let is_in_code = remapped::is_in_code(self.module(number)?.image(), &file, memory);
        is_in_code.then_some((file, number))
    }

    #[cold]
    fn find(&mut self, addr: u64) -> Option<RecentRange> {
        let mapping = (self.mapping_at)(addr)?;
        let (range, is_code) = (mapping.range(), mapping.is_executable());
        let remapped = self.remapped(mapping);
        let library = self.files.finder.as_ref().and_then(|finder| finder.library(mapping));
        let mapping = library.as_ref().unwrap_or(mapping);
        let (mapping, module) = match &remapped {
            Some((file, number)) => (file, Some(*number)),
            None => (mapping, self.module_number(mapping.dso(), CodePlacement::Mapped)),
        };
        let span = module.and_then(|number| {
            Some((number, self.module(number)?.span(mapping.offset_of(addr), mapping.is_executable())?))
        });
        Some(match span {
            None => RecentRange { start: range.start, end: range.end, delta: 0, module: None, is_code },
            Some((number, span)) => {
                let base = mapping.pgoff().wrapping_sub(mapping.range().start);
                // Offsets of the file as addresses of the process, cut at the ends of what is mapped.
                let to_addr = |offset: u64| {
                    let skipped = offset.saturating_sub(mapping.pgoff());
                    mapping.range().start.saturating_add(skipped).clamp(range.start, range.end)
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
        self.files.modules.get(usize::try_from(number).ok()?).map(|(module, _)| module)
    }

    #[cold]
    fn is_trampoline(&mut self, addr: u64) -> bool {
        let Some((session, trampolines)) = &mut self.trampolines else { return false };
        (self.mapping_at)(addr).is_some_and(|mapping| trampolines.has(session, mapping, addr))
    }

    #[inline]
    fn source(&self, number: u32) -> FrameSource {
        let found = usize::try_from(number).ok().and_then(|number| self.files.modules.get(number));
        match found {
            Some((_, CodePlacement::Remapped)) => FrameSource::RemappedCfi,
            Some((module, CodePlacement::Mapped)) => module.source(),
            None => FrameSource::Cfi,
        }
    }
}
