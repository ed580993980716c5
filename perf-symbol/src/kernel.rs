//! The symbols of a recorded kernel.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use perf_session::BuildId;

use crate::bounds::ReadBounds;
use crate::bytes::FileBytes;
use crate::doubt::Doubt;
use crate::dso_files::{DsoFiles, FoundFile};
use crate::elf_symbols;
use crate::file_finder::{FileFinder, same_id};
use crate::file_origin::FileOrigin;
use crate::files::BuildIdFile;
use crate::interrupts::InterruptEntries;
use crate::kallsyms::Kallsyms;
use crate::no_symbols::NoSymbols;
use crate::symtab::{NameSource, Symbol, Symtab};

/// The symbols of a recorded kernel: by kallsyms, or by vmlinux.
#[derive(Debug, Default)]
pub(crate) struct KernelSymbols {
    pub(crate) kallsyms: Option<Kallsyms>,
    vmlinux: Option<Symtab>,
    /// vmlinux, if its DWARF is to be read.
    pub(crate) found: DsoFiles,
    pub(crate) path: PathBuf,
    kallsyms_origin: Option<FileOrigin>,
    pub(crate) doubt: Option<Doubt>,
    pub(crate) why: Option<NoSymbols>,
    /// What is added to a recorded address for the address in the tables.
    kallsyms_delta: u64,
    vmlinux_delta: u64,
    interrupt_entries: OnceLock<InterruptEntries>,
    /// The recorded build id.
    build_id: Option<BuildId>,
    /// The relocation symbol with its recorded address.
    relocation: Option<(Box<[u8]>, u64)>,
    is_running: OnceLock<bool>,
}

/// The relocation symbol and its recorded address.
pub(crate) type Relocation<'a> = Option<(&'a [u8], u64)>;

/// What a capture has of its kernel.
#[derive(Clone, Copy)]
pub(crate) struct RecordedKernel<'a> {
    pub(crate) relocation: Relocation<'a>,
    /// The text of `/proc/kallsyms`.
    pub(crate) kallsyms: Option<&'a Arc<[u8]>>,
    /// The path of the file that perf found when it wrote the list of build ids.
    pub(crate) path: Option<&'a [u8]>,
}

impl KernelSymbols {
    /// Finds the symbols: those that were given, then those that the capture has, those of the recorded build id, and those of
    /// the running kernel and of the file at the recorded path if they have that build id.
    ///
    /// perf: `dso__load_kernel_sym`, `tools/perf/util/symbol.c`.
    pub(crate) fn load(finder: &FileFinder, build_id: Option<BuildId>, recorded: RecordedKernel<'_>) -> Self {
        let relocation = recorded.relocation;
        let options = finder.options();
        let mut it = Self {
            build_id,
            relocation: relocation.map(|(name, address)| (name.into(), address)),
            ..Self::default()
        };
        let mut problem = None;
        if let Some(path) = &options.vmlinux {
            match finder.open(path, build_id) {
                Ok(image) => {
                    let file = FoundFile { image, path: path.clone(), origin: FileOrigin::Given };
                    it.set_vmlinux(finder, file, relocation);
                }
                Err(why) => problem = Some(why),
            }
        }
        if it.vmlinux.is_none() {
            match kallsyms(finder, build_id, recorded.kallsyms) {
                Ok((kallsyms, path, origin)) => {
                    let is_doubtful = build_id.is_none() && origin == FileOrigin::Running;
                    it.doubt = is_doubtful.then_some(Doubt::Unproven);
                    it.kallsyms_origin = Some(origin);
                    it.set_kallsyms(kallsyms, path, relocation);
                }
                Err(why) => problem = problem.or(Some(why)),
            }
            let by_id = build_id.and_then(|id| finder.debug_of(id));
            // It is large, so that it is fetched only if there are no names without it.
            let mut fetched = || {
                let fetched = finder.fetch(build_id, BuildIdFile::DebugInfo, NoSymbols::NotFound);
                problem = if matches!(fetched, Err(NoSymbols::FetchLimit)) {
                    fetched.as_ref().err().copied()
                } else {
                    problem
                };
                fetched.ok()
            };
            let at_path = || finder.at_path(recorded.path?, Some(build_id?)).ok();
            let vmlinux =
                by_id.or_else(at_path).or_else(|| if it.kallsyms.is_none() { fetched() } else { None });
            if let Some(file) = vmlinux {
                it.set_vmlinux(finder, file, relocation);
            }
        }
        if it.vmlinux.is_some() && build_id.is_none() {
            it.doubt = Some(Doubt::Unproven);
        }
        if it.kallsyms.is_none() && it.vmlinux.is_none() {
            it.why = Some(problem.unwrap_or(NoSymbols::NotFound));
        }
        it
    }

    fn set_kallsyms(&mut self, kallsyms: Kallsyms, path: PathBuf, relocation: Relocation<'_>) {
        self.kallsyms_delta = delta(relocation, |name| kallsyms.address(name));
        (self.kallsyms, self.path) = (Some(kallsyms), path);
    }

    fn set_vmlinux(&mut self, finder: &FileFinder, file: FoundFile, relocation: Relocation<'_>) {
        let symtab = elf_symbols::load(None, &[(&file.image, NameSource::Symtab)], finder.bounds());
        if symtab.is_empty() {
            return;
        }
        self.vmlinux_delta =
            delta(relocation, |name| elf_symbols::address(&file.image, name, finder.bounds()));
        if self.kallsyms.is_none() {
            self.path.clone_from(&file.path);
        }
        self.found.set_image(file);
        self.vmlinux = Some(symtab);
    }

    /// Returns the symbol that has an address of the running kernel. Its addresses are those of the recorded kernel.
    pub(crate) fn find(&self, address: u64) -> Option<Symbol<'_>> {
        let by_kallsyms = || find(self.kallsyms.as_ref().map(Kallsyms::symtab), address, self.kallsyms_delta);
        let (symbol, delta) =
            by_kallsyms().or_else(|| find(self.vmlinux.as_ref(), address, self.vmlinux_delta))?;
        let recorded = |address: u64| address.wrapping_sub(delta);
        Some(Symbol { start: recorded(symbol.start), end: recorded(symbol.end), ..symbol })
    }
}

impl KernelSymbols {
    /// Returns the addresses of the first symbol of a name in the recorded kernel, whatever its type; `None` if there is none. They
    /// are empty if the table has another symbol at the address, as it has for the ends of sections.
    pub(crate) fn range_of(&self, name: &[u8], limits: ReadBounds<'_>) -> Option<Range<u64>> {
        let recorded = |address: u64, delta| address.wrapping_sub(delta);
        let start = match &self.kallsyms {
            Some(kallsyms) => recorded(kallsyms.address(name)?, self.kallsyms_delta),
            None => {
                let image = self.found.image.as_ref()?;
                recorded(elf_symbols::address(image, name, limits)?, self.vmlinux_delta)
            }
        };
        let symbol = self.find(start).filter(|symbol| symbol.name == name);
        Some(start..symbol.map_or(start, |symbol| symbol.end.max(start)))
    }

    /// Returns how the file at [`path`](Self::path) was found.
    pub(crate) fn origin(&self) -> Option<FileOrigin> {
        self.kallsyms_origin.filter(|_| self.kallsyms.is_some()).or(self.found.origin)
    }

    /// Returns whether the kernel that runs is the recorded one, at the same addresses: without its build id, since the same start
    /// of the machine, which is not known. The first call reads `/proc/kallsyms`.
    pub(crate) fn is_running(&self, finder: &FileFinder) -> bool {
        *self.is_running.get_or_init(|| {
            let (Some(id), Some((name, address))) = (&self.build_id, &self.relocation) else { return false };
            if finder.options().symfs.is_some()
                || !running_build_id(finder).is_some_and(|it| same_id(*id, it))
            {
                return false;
            }
            running_kallsyms(finder).is_ok_and(|running| running.address(name) == Some(*address))
        })
    }

    /// Returns how the file was found that has the names of a source.
    pub(crate) fn origin_of(&self, source: NameSource) -> Option<FileOrigin> {
        if source == NameSource::Kallsyms { self.kallsyms_origin } else { self.found.origin }
    }

    /// Returns the number of bytes of the tables.
    pub(crate) fn size(&self) -> usize {
        let tables = [self.kallsyms.as_ref().map(Kallsyms::symtab), self.vmlinux.as_ref()];
        tables.into_iter().flatten().map(Symtab::size).fold(0, usize::saturating_add)
    }

    /// Returns whether a symbol that was [found](Self::find) is of a module.
    pub(crate) fn is_of_module(&self, symbol: &Symbol<'_>) -> bool {
        self.kallsyms.as_ref().is_some_and(|kallsyms| kallsyms.is_of_module(symbol.name))
    }

    /// Returns where interrupts enter the kernel, by addresses of the recorded kernel. The first call reads all names.
    pub(crate) fn interrupt_entries(&self) -> &InterruptEntries {
        self.interrupt_entries.get_or_init(|| {
            let kallsyms = self.kallsyms.as_ref().map(|it| (it.symtab(), self.kallsyms_delta));
            let vmlinux = self.vmlinux.as_ref().map(|symtab| (symtab, self.vmlinux_delta));
            let symbols = kallsyms.or(vmlinux).into_iter().flat_map(|(symtab, delta)| {
                let recorded = move |address: u64| address.wrapping_sub(delta);
                symtab.names().map(move |(name, range)| (name, recorded(range.start)..recorded(range.end)))
            });
            InterruptEntries::new(symbols)
        })
    }

    /// Returns the address in vmlinux, whose DWARF is that of [`found`](Self::found).
    pub(crate) fn in_vmlinux(&self, address: u64) -> u64 {
        address.wrapping_add(self.vmlinux_delta)
    }
}

/// Returns the symbol of a table whose addresses differ by `delta`, and `delta`.
fn find(symtab: Option<&Symtab>, address: u64, delta: u64) -> Option<(Symbol<'_>, u64)> {
    Some((symtab?.find(address.wrapping_add(delta))?, delta))
}

/// How far the table is from where the kernel ran; 0 if that is not known.
fn delta(relocation: Relocation<'_>, address: impl Fn(&[u8]) -> Option<u64>) -> u64 {
    relocation.and_then(|(name, recorded)| Some(address(name)?.wrapping_sub(recorded))).unwrap_or(0)
}

const RUNNING: &str = "/proc/kallsyms";

/// Returns kallsyms, their path, and how they were found.
fn kallsyms(
    finder: &FileFinder,
    build_id: Option<BuildId>,
    recorded: Option<&Arc<[u8]>>,
) -> Result<(Kallsyms, PathBuf, FileOrigin), NoSymbols> {
    let options = finder.options();
    let parse = |text| Kallsyms::read(text, finder.bounds());
    if let Some(path) = &options.kallsyms {
        // A copy may be in /proc, and has no build id.
        let read = finder.read(path).ok().filter(|text| !text.is_empty());
        let text =
            read.map_or_else(|| finder.read_by(|limit| finder.files().read_kernel(path, limit)), Ok)?;
        return Ok((parse(text)?, path.clone(), FileOrigin::Given));
    }
    if let Some(text) = recorded
        && let Ok(kallsyms) = parse(FileBytes::new(Arc::clone(text)))
    {
        return Ok((kallsyms, RUNNING.into(), FileOrigin::Capture));
    }
    if let Some(text) = build_id.and_then(|id| finder.cached_text(id, "kallsyms"))
        && let Ok(kallsyms) = parse(text)
    {
        return Ok((kallsyms, PathBuf::from("kallsyms"), FileOrigin::BuildId));
    }
    if options.symfs.is_some() {
        return Err(NoSymbols::NotFound);
    }
    let running = running_build_id(finder);
    if let Some(recorded) = build_id
        && !running.is_some_and(|running| same_id(recorded, running))
    {
        return Err(NoSymbols::WrongBuildId(running));
    }
    Ok((running_kallsyms(finder)?, RUNNING.into(), FileOrigin::Running))
}

/// Returns the kallsyms of the running kernel.
fn running_kallsyms(finder: &FileFinder) -> Result<Kallsyms, NoSymbols> {
    let text = finder.read_by(|limit| finder.files().read_kernel(Path::new(RUNNING), limit))?;
    Kallsyms::read(text, finder.bounds())
}

/// Returns the build id of the running kernel.
fn running_build_id(finder: &FileFinder) -> Option<BuildId> {
    let notes = finder.files().read_kernel(Path::new("/sys/kernel/notes"), 1 << 20).ok()?;
    let number = |at: usize| {
        let bytes = notes.get(at..at.checked_add(4)?)?;
        // Of this machine.
        usize::try_from(u32::from_ne_bytes(*bytes.first_chunk()?)).ok()
    };
    let mut at = 0usize;
    // Each note takes 12 bytes at least.
    loop {
        let (name_size, size, kind) = (number(at)?, number(at.checked_add(4)?)?, number(at.checked_add(8)?)?);
        let name = at.checked_add(12)?;
        let start = name.checked_add(name_size.checked_next_multiple_of(4)?)?;
        let end = start.checked_add(size)?;
        if kind == 3 && notes.get(name..name.checked_add(name_size)?)? == b"GNU\0" {
            return Some(BuildId::new(notes.get(start..end)?));
        }
        at = start.checked_add(size.checked_next_multiple_of(4)?)?;
    }
}
