//! The bytes of functions.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use perf_session::{DsoKind, Frame, Mapping, Session};

use super::Symbolizer;
use crate::code::{self, FunctionCode, NoCode};
use crate::code_origin::CodeOrigin;
use crate::dso_symbols::{DsoSymbols, SymbolTable};
use crate::function::Function;
use crate::kernel::KernelSymbols;
use crate::kernel_frames;
use crate::no_symbols::NoSymbols;
use crate::shared;

/// The memory of the running kernel.
const KCORE: &str = "/proc/kcore";

impl Symbolizer {
    /// Returns the bytes at addresses of a process, `range`, in the mapping of a frame: of the file that [`functions`](Self::functions)
    /// has the names of. Copies nothing of a file; of the kernel's memory, it reads the range.
    ///
    /// The kernel's code is that of vmlinux, or else of [`SymbolOptions::kcore`](crate::SymbolOptions::kcore), or of `/proc/kcore` if
    /// the kernel that runs is the recorded one, since the same start of the machine.
    ///
    /// # Errors
    ///
    /// Why there are none. [`NoCode::Generated`] for code in no file: of JIT compilers, BPF programs and what else the kernel
    /// generates.
    pub fn code(
        &mut self,
        session: &Session,
        frame: &Frame<'_>,
        range: Range<u64>,
    ) -> Result<FunctionCode, NoCode> {
        let (mapping, dso) = self.code_mapping(session, frame, range.start).ok_or(NoCode::NotMapped)?;
        if matches!(mapping.dso().kind(), DsoKind::Memory | DsoKind::Ksymbol(_)) {
            return Err(NoCode::Generated);
        }
        let symbols = self.states.get(dso).and_then(|state| state.symbols.get());
        let symbols = symbols.ok_or(NoCode::File(NoSymbols::NotFound))?;
        match &symbols.table {
            SymbolTable::Kernel(kernel) => self.kernel_code(kernel, range),
            _ => self.file_code(symbols, &mapping, range),
        }
    }

    /// Returns the mapping that has the code at an address, in the mapping of a frame, and the number of its DSO.
    pub(super) fn code_mapping<'s>(
        &mut self,
        session: &'s Session,
        frame: &Frame<'s>,
        address: u64,
    ) -> Option<(Cow<'s, Mapping>, usize)> {
        let mapping = frame.mapping.or_else(|| kernel_frames::text_before(session, frame))?;
        let dso = self.dso(session, mapping.dso(), shared::is_guest(frame.mode));
        let file = self.remapped(session, mapping, dso, address);
        let file = file.or_else(|| self.library(session, mapping, dso));
        Some(file.map_or((Cow::Borrowed(mapping), dso), |(file, number)| (Cow::Owned(file), number)))
    }

    /// Returns the symbol at an address of the file in which a frame is, as [`FunctionCode::start`] is one: of a function, of an entry of
    /// the PLT or of a variable. `None` if it has none, and for code of the kernel and in no file.
    pub fn symbol_at(&mut self, session: &Session, frame: &Frame<'_>, address: u64) -> Option<Function> {
        let (_, dso) = self.code_mapping(session, frame, frame.ip)?;
        let symbols = Arc::clone(&self.states.get(dso)?.symbols);
        let symbols = symbols.get()?;
        let symbol = symbols.symtab()?.find(address)?;
        let origin = symbols.origin_of(symbol.source);
        Some(self.function(dso, (&symbol, origin), address.wrapping_sub(symbol.start), true))
    }

    fn file_code(
        &self,
        symbols: &DsoSymbols,
        mapping: &Mapping,
        range: Range<u64>,
    ) -> Result<FunctionCode, NoCode> {
        let why = symbols.why().unwrap_or(NoSymbols::NotFound);
        let SymbolTable::File(found, _) = &symbols.table else { return Err(NoCode::File(why)) };
        let Some(image) = &found.image else {
            return Err(if found.debug.is_some() { NoCode::OnlyDebugFile } else { NoCode::File(why) });
        };
        let start =
            symbols.dwarf_address(mapping, mapping.offset_of(range.start)).ok_or(NoCode::NotInFile)?;
        let addresses = start..start.saturating_add(range.end.saturating_sub(range.start));
        let (path, limits) = (found.path.clone(), self.shared.finder.bounds());
        let code = if image.is_relocatable() {
            FunctionCode::of_relocatable(image, path, addresses, limits)
        } else {
            FunctionCode::of_image(image, path, addresses, limits)
        };
        code.filter(|code| !code.bytes.is_empty()).ok_or(NoCode::NotInFile)
    }

    fn kernel_code(&self, kernel: &KernelSymbols, range: Range<u64>) -> Result<FunctionCode, NoCode> {
        let finder = &self.shared.finder;
        if let Some(image) = &kernel.found.image {
            let start = kernel.in_vmlinux(range.start);
            let addresses = start..start.saturating_add(range.end.saturating_sub(range.start));
            let code = FunctionCode::of_image(image, kernel.found.path.clone(), addresses, finder.bounds());
            if let Some(code) = code.filter(|code| !code.bytes.is_empty()) {
                return Ok(code);
            }
        }
        let options = finder.options();
        let path = match &options.kcore {
            Some(path) => path.as_path(),
            // Its addresses would be others after the machine was started anew.
            None if kernel.is_running(finder) => Path::new(KCORE),
            None => return Err(NoCode::Kernel),
        };
        match code::read_kcore(&**finder.files(), path, range) {
            Ok(code) => Ok(FunctionCode { origin: CodeOrigin::Kcore, ..code }),
            // Where the kernel does not offer it, or does not have the code.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(NoCode::Kernel),
            Err(error) => Err(NoCode::Kcore(error.kind())),
        }
    }
}
