//! The symbols of one DSO, loaded when they are first needed.

use std::path::PathBuf;
use std::sync::OnceLock;

use perf_session::{BuildId, Dso, DsoKind, Mapping, Segment, address_of};

use crate::answers::DsoAnswers;
use crate::debug_alone;
use crate::doubt::Doubt;
use crate::dso_files::DsoFiles;
use crate::file_finder::FileFinder;
use crate::file_origin::FileOrigin;
use crate::jitdump::Jitdump;
use crate::kernel::{KernelSymbols, RecordedKernel};
use crate::lazy_symtab::LazySymtab;
use crate::no_symbols::NoSymbols;
use crate::perf_map::PerfMap;
use crate::reservation::Reservation;
use crate::symtab::{NameSource, Symbol, Symtab};

/// The symbols of one DSO.
#[derive(Debug)]
pub(crate) struct DsoSymbols {
    pub(crate) table: SymbolTable,
    /// Why there are none.
    pub(crate) why: Option<NoSymbols>,
    /// Why the names may be wrong. That a jitdump has another clock is found with the first sample.
    pub(crate) doubt: OnceLock<Doubt>,
    /// Where the symbols are from; empty if there are none.
    pub(crate) path: PathBuf,
    /// The functions that the cache has, and gets; `None` if nothing of the file is kept there.
    pub(crate) answers: Option<DsoAnswers>,
    /// The memory that the table takes.
    _reservation: Option<Reservation>,
}

#[derive(Debug)]
pub(crate) enum SymbolTable {
    /// A file, a module or the vDSO.
    File(Box<DsoFiles>, Box<LazySymtab>),
    Kernel(Box<KernelSymbols>),
    /// Generated code, and how its map was found.
    PerfMap(PerfMap, FileOrigin),
    /// An archive, whose libraries are other DSOs.
    Archive,
    Nothing,
}

impl DsoSymbols {
    /// Finds the files of a DSO and reads their symbols.
    pub(crate) fn load(
        finder: &FileFinder,
        dso: &Dso,
        build_id: Option<BuildId>,
        recorded: RecordedKernel<'_>,
    ) -> Self {
        Self::load_of_host(finder, dso, build_id, recorded).kept_by(finder)
    }

    fn load_of_host(
        finder: &FileFinder,
        dso: &Dso,
        build_id: Option<BuildId>,
        recorded: RecordedKernel<'_>,
    ) -> Self {
        match dso.kind() {
            DsoKind::File => {
                let found = finder.find_mapped(dso, build_id);
                if found.image.is_none() && found.debug.is_none() && finder.is_archive(dso) {
                    return Self::of(SymbolTable::Archive);
                }
                Self::of_file(finder, found, Some(build_id))
            }
            DsoKind::Module => Self::of_file(finder, finder.find(dso.path(), build_id, dso.inode()), None),
            DsoKind::Vdso => Self::of_file(finder, finder.vdso(dso.name(), build_id), None),
            // The running kernel is not that of a guest.
            DsoKind::Kernel if !dso.name().starts_with(b"[guest") => {
                let kernel = KernelSymbols::load(finder, build_id, recorded);
                let (why, doubt, path) = (kernel.why, doubt(kernel.doubt), kernel.path.clone());
                Self { why, doubt, path, ..Self::of(SymbolTable::Kernel(Box::new(kernel))) }
            }
            DsoKind::Memory => match finder.perf_map_at(dso) {
                Ok((text, path, origin)) => {
                    let table = SymbolTable::PerfMap(PerfMap::read(text, finder.bounds()), origin);
                    Self { path, ..Self::of(table) }
                }
                Err(why) => Self::nothing(why),
            },
            DsoKind::Ksymbol(_) => Self::of(SymbolTable::Nothing),
            _ => Self::nothing(NoSymbols::NotFound),
        }
    }

    /// Finds the files of what a guest has mapped: by the build id alone, because the paths are those of the guest.
    pub(crate) fn load_of_guest(finder: &FileFinder, dso: &Dso, build_id: Option<BuildId>) -> Self {
        Self::load_from_guest(finder, dso, build_id).kept_by(finder)
    }

    fn load_from_guest(finder: &FileFinder, dso: &Dso, build_id: Option<BuildId>) -> Self {
        match (dso.kind(), build_id) {
            (DsoKind::File | DsoKind::Module, Some(_)) => {
                Self::of_file(finder, finder.find(dso.path(), build_id, dso.inode()), None)
            }
            (DsoKind::Vdso, Some(_)) => Self::of_file(finder, finder.vdso(dso.name(), build_id), None),
            (DsoKind::Ksymbol(_), _) => Self::of(SymbolTable::Nothing),
            _ => Self::nothing(NoSymbols::NotFound),
        }
    }

    /// Finds the file at a path, and reads its symbols.
    pub(crate) fn load_at(finder: &FileFinder, path: &[u8]) -> Self {
        Self::of_file(finder, finder.find(path, None, None), None).kept_by(finder)
    }

    /// Reserves the memory that the table takes. There are no symbols if it has no room, or if reading was cancelled.
    fn kept_by(self, finder: &FileFinder) -> Self {
        if finder.cancellation().is_cancelled() {
            return Self::nothing(NoSymbols::Cancelled);
        }
        let size = match &self.table {
            SymbolTable::File(_, symtab) => symtab.size_of_loaded(),
            SymbolTable::Kernel(kernel) => kernel.size(),
            SymbolTable::PerfMap(map, _) => map.size(),
            SymbolTable::Archive | SymbolTable::Nothing => 0,
        };
        match finder.reserve(size) {
            Ok(reservation) => Self { _reservation: Some(reservation), ..self },
            Err(why) => Self::nothing(why),
        }
    }

    /// Returns the segments of the file that was mapped; empty if it was not found.
    pub(crate) fn segments(&self) -> &[Segment] {
        match &self.table {
            SymbolTable::File(found, _) => found.image.as_ref().map_or(&[], |image| image.segments()),
            _ => &[],
        }
    }

    /// Returns how the file at [`path`](Self::path) was found.
    pub(crate) fn origin(&self) -> Option<FileOrigin> {
        match &self.table {
            SymbolTable::File(found, _) => found.origin.or(found.debug_origin),
            SymbolTable::Kernel(kernel) => kernel.origin(),
            SymbolTable::PerfMap(_, origin) => Some(*origin),
            SymbolTable::Archive | SymbolTable::Nothing => None,
        }
    }

    /// Returns how the file was found that has the names of a source. `None` for names of records and of jitdumps.
    pub(crate) fn origin_of(&self, source: NameSource) -> Option<FileOrigin> {
        match &self.table {
            _ if matches!(source, NameSource::Ksymbol | NameSource::Jitdump) => None,
            SymbolTable::File(found, _) => found.origin_of(source),
            SymbolTable::Kernel(kernel) => kernel.origin_of(source),
            SymbolTable::PerfMap(_, origin) => Some(*origin),
            SymbolTable::Archive | SymbolTable::Nothing => None,
        }
    }

    /// Returns the build id of Go's linker of the file that was mapped.
    pub(crate) fn go_build_id(&self) -> Option<&str> {
        match &self.table {
            SymbolTable::File(found, _) => found.image.as_ref()?.go_build_id(),
            _ => None,
        }
    }

    /// Returns whether a file was not fetched, because all that may be fetched was reached.
    pub(crate) fn is_beyond_limit(&self) -> bool {
        let is_debug = matches!(&self.table, SymbolTable::File(found, _) if found.is_beyond_limit);
        is_debug || self.why == Some(NoSymbols::FetchLimit)
    }

    /// Symbols of which nothing else is known.
    fn of(table: SymbolTable) -> Self {
        let (doubt, path) = (OnceLock::new(), PathBuf::new());
        Self { table, why: None, doubt, path, answers: None, _reservation: None }
    }

    fn nothing(why: NoSymbols) -> Self {
        Self { why: Some(why), ..Self::of(SymbolTable::Nothing) }
    }

    /// Reads the symbols of a file that was found; those of one that the cache has when one is needed. `kept_by` is the recorded
    /// build id of a file whose functions the cache may keep.
    fn of_file(finder: &FileFinder, found: DsoFiles, kept_by: Option<Option<BuildId>>) -> Self {
        let answers = kept_by.and_then(|id| DsoAnswers::open(finder, &found, id));
        let known = answers.as_ref().and_then(DsoAnswers::why);
        let symtab = LazySymtab::new(finder);
        let why = match known {
            Some(why) => why,
            None => {
                let has_none = symtab.load(&found, finder.bounds()).is_empty() && found.dwarf().is_none();
                found.why.or(has_none.then_some(NoSymbols::NotInTable))
            }
        };
        let path = if found.image.is_some() { found.path.clone() } else { found.debug_path.clone() };
        let doubt = doubt(found.doubt);
        let table = SymbolTable::File(Box::new(found), Box::new(symtab));
        Self { why, doubt, path, answers, ..Self::of(table) }
    }

    /// Returns the functions of the file; `None` if it is none that has a table.
    pub(crate) fn symtab(&self) -> Option<&Symtab> {
        match &self.table {
            SymbolTable::File(found, symtab) => Some(symtab.get(found)),
            _ => None,
        }
    }

    /// Returns why there are no symbols, or not all.
    pub(crate) fn why(&self) -> Option<NoSymbols> {
        match &self.table {
            SymbolTable::File(_, symtab) => self.why.or_else(|| symtab.why()),
            _ => self.why,
        }
    }

    /// Returns whether the file has another function of C++ with the same name without its parameters.
    pub(crate) fn has_overload(&self, name: &[u8]) -> bool {
        self.symtab().is_some_and(|symtab| symtab.has_overload(name))
    }

    /// Finds the symbol of `ip`, or of the address that many bytes back, which has this offset in the file that was mapped. Also
    /// returns the address in the file or, for what has no file, in memory.
    pub(crate) fn find(
        &self,
        mapping: &Mapping,
        offset: u64,
        ip: u64,
        back: u64,
    ) -> Option<(Symbol<'_>, u64)> {
        match &self.table {
            SymbolTable::File(found, symtab) => {
                let address = self.file_address(mapping, offset)?;
                Some((symtab.get(found).find(address.wrapping_sub(back))?, address))
            }
            SymbolTable::Kernel(kernel) => {
                let symbol = kernel.find(ip.wrapping_sub(back))?;
                // A module that is not mapped may have been loaded after the recording.
                let is_known = mapping.range().contains(&ip) || !kernel.is_of_module(&symbol);
                is_known.then_some((symbol, ip))
            }
            SymbolTable::PerfMap(map, _) => Some((map.find(ip.wrapping_sub(back))?, ip)),
            SymbolTable::Archive | SymbolTable::Nothing => None,
        }
    }

    /// Returns the address that a file's symbols have for an offset in it.
    fn file_address(&self, mapping: &Mapping, offset: u64) -> Option<u64> {
        let SymbolTable::File(found, _) = &self.table else { return None };
        // Modules are mapped from the start of their code, which has the address 0 in the file.
        if mapping.dso().kind() == DsoKind::Module {
            return Some(offset);
        }
        match &found.image {
            Some(image) => address_of(image.segments(), offset, mapping.is_executable()),
            None => debug_alone::address_of(found.debug.as_ref()?, mapping, offset),
        }
    }

    /// Returns the address that DWARF has for an offset.
    pub(crate) fn dwarf_address(&self, mapping: &Mapping, offset: u64) -> Option<u64> {
        match &self.table {
            SymbolTable::File(..) => self.file_address(mapping, offset),
            SymbolTable::Kernel(kernel) => Some(kernel.in_vmlinux(offset)),
            _ => None,
        }
    }
}

/// Returns a doubt that is known when the symbols are loaded.
fn doubt(doubt: Option<Doubt>) -> OnceLock<Doubt> {
    doubt.map_or_else(OnceLock::new, OnceLock::from)
}

/// Reads the jitdump that a process has mapped.
pub(crate) fn jitdump(finder: &FileFinder, dso: &Dso) -> Result<Jitdump, NoSymbols> {
    let jitdump = Jitdump::read(finder.jitdump(dso)?, finder.bounds());
    if finder.cancellation().is_cancelled() { Err(NoSymbols::Cancelled) } else { jitdump }
}

/// Returns the process of a DSO that is called `/tmp/perf-PID.map`.
pub(crate) fn pid_of(name: &[u8]) -> Option<i32> {
    let pid = name.strip_prefix(b"/tmp/perf-")?.strip_suffix(b".map")?;
    std::str::from_utf8(pid).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_maps() {
        assert_eq!(pid_of(b"/tmp/perf-1234.map"), Some(1234));
        assert_eq!(pid_of(b"/tmp/perf-.map"), None);
        assert_eq!(pid_of(b"//anon"), None);
    }
}
