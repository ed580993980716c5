//! The state that all clones of a symbolizer share: files, and their symbols, each loaded once.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use perf_abi::record::CpuMode;
use perf_session::{BuildId, Dso, DsoKind, Session};

use crate::cancellation::{Cancellation, Cancelled};
use crate::decompressed::lock;
use crate::doubt::Doubt;
use crate::dso_symbols::{self, DsoSymbols};
use crate::file_finder::FileFinder;
use crate::jitdump::Jitdump;
use crate::kernel::RecordedKernel;
use crate::mounts;
use crate::no_symbols::NoSymbols;
use crate::symbol_lookup::SymbolLookup;
use crate::symtab::Symtab;

/// Symbols that the first thread loads that needs them, while the others wait.
pub(crate) type LazySymbols = Arc<OnceLock<DsoSymbols>>;

/// What symbols depend on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SymbolsKey {
    dso: Arc<Dso>,
    build_id: Option<BuildId>,
    is_guest: bool,
    /// A symbol of the kernel and its recorded address; `None` for other files.
    relocation: Option<(Vec<u8>, u64)>,
    /// The text of `/proc/kallsyms` that the capture has; `None` for other files than the kernel.
    kallsyms: Option<RecordedKallsyms>,
    /// The path of the kernel in the list of build ids; `None` for other files than the kernel.
    kernel_path: Option<Vec<u8>>,
}

/// The text of `/proc/kallsyms` that a capture has. It equals itself alone, as comparing texts takes long.
#[derive(Clone, Debug)]
struct RecordedKallsyms(Arc<[u8]>);

impl PartialEq for RecordedKallsyms {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for RecordedKallsyms {}

impl Hash for RecordedKallsyms {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.as_ptr().hash(hasher);
    }
}

impl SymbolsKey {
    /// Returns what the symbols of a DSO depend on, as far as it is known now.
    pub(crate) fn of(session: &Session, dso: &Arc<Dso>, is_guest: bool) -> Self {
        // Those that the capture lists by path are of the host.
        let build_id = if is_guest { dso.build_id() } else { session.build_id(dso) };
        let is_kernel = dso.kind() == DsoKind::Kernel && !is_guest;
        let relocation = session.kernel_relocation().filter(|_| is_kernel);
        let relocation = relocation.map(|(name, address)| (name.to_vec(), address));
        let kallsyms = session.recorded_kallsyms().filter(|_| is_kernel);
        let kallsyms = kallsyms.map(|text| RecordedKallsyms(Arc::clone(text)));
        let kernel_path = session.kernel_path().filter(|_| is_kernel).map(<[u8]>::to_vec);
        Self { dso: Arc::clone(dso), build_id, is_guest, relocation, kallsyms, kernel_path }
    }

    /// Finds the files, and reads their symbols.
    pub(crate) fn load(&self, finder: &FileFinder) -> DsoSymbols {
        if self.is_guest {
            return DsoSymbols::load_of_guest(finder, &self.dso, self.build_id);
        }
        let relocation = self.relocation.as_ref().map(|(name, address)| (&**name, *address));
        let kallsyms = self.kallsyms.as_ref().map(|it| &it.0);
        DsoSymbols::load(
            finder,
            &self.dso,
            self.build_id,
            RecordedKernel { relocation, kallsyms, path: self.kernel_path.as_deref() },
        )
    }
}

/// What all clones of a symbolizer share.
#[derive(Debug)]
pub(crate) struct SymbolStore {
    pub(crate) finder: FileFinder,
    loaded: Mutex<HashMap<SymbolsKey, LoadedSymbols>>,
    /// By the file, which a process has mapped.
    jitdumps: Mutex<HashMap<Arc<Dso>, Option<Arc<Jitdump>>>>,
}

/// The functions of a file, which are loaded when they are first needed.
pub(crate) struct SharedFunctions {
    shared: Arc<SymbolStore>,
    identity: SymbolsKey,
    symbols: OnceLock<LazySymbols>,
}

impl SharedFunctions {
    pub(crate) fn new(shared: &Arc<SymbolStore>, identity: SymbolsKey) -> Self {
        Self { shared: Arc::clone(shared), identity, symbols: OnceLock::new() }
    }

    /// Returns the functions; `None` if the file was not found or not read.
    pub(crate) fn get(&self) -> Option<&Symtab> {
        let symbols = self.symbols.get_or_init(|| self.shared.symbols_not_wanted(&self.identity));
        symbols.get()?.symtab()
    }
}

#[derive(Debug, Default)]
struct LoadedSymbols {
    symbols: LazySymbols,
    /// Whether a look-up asked for them. Others are loaded ahead, and do not count as looked for: see
    /// [`LoadAhead`](crate::LoadAhead).
    is_wanted: bool,
}

/// Returns why a file has no names. The names of generated code with a jitdump are in that, and not in a perf map.
fn why(symbols: &DsoSymbols) -> Option<NoSymbols> {
    let has_other_clock = symbols.doubt.get() == Some(&Doubt::Clock);
    symbols
        .why()
        .map(|why| if has_other_clock && why == NoSymbols::NotFound { NoSymbols::OtherClock } else { why })
}

/// Returns whether reading the symbols was cancelled.
pub(crate) fn is_cancelled(symbols: &LazySymbols) -> bool {
    symbols.get().is_some_and(|symbols| symbols.why == Some(NoSymbols::Cancelled))
}

/// Returns whether an address is of a guest, whose files are not those of the host.
pub(crate) fn is_guest(mode: CpuMode) -> bool {
    matches!(mode, CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER)
}

impl SymbolStore {
    pub(crate) fn new(finder: FileFinder) -> Self {
        Self { finder, loaded: Mutex::default(), jitdumps: Mutex::default() }
    }

    /// Returns symbols. Loads them, or waits for the thread that does. What was [cancelled](NoSymbols::Cancelled) is not kept.
    pub(crate) fn symbols(&self, identity: &SymbolsKey, cancellation: &Cancellation) -> LazySymbols {
        loop {
            let symbols = self.loaded(identity, true, cancellation);
            if !is_cancelled(&symbols) {
                return symbols;
            }
            let mut all = lock(&self.loaded);
            if all.get(identity).is_some_and(|loaded| Arc::ptr_eq(&loaded.symbols, &symbols)) {
                all.remove(identity);
            }
            drop(all);
            // Another thread may have been cancelled.
            if cancellation.is_cancelled() {
                return symbols;
            }
        }
    }

    /// Returns the jitdump that a process has mapped, read once; `None` if it cannot be read.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if the flag ended it.
    pub(crate) fn jitdump(
        &self,
        dso: &Arc<Dso>,
        cancellation: &Cancellation,
    ) -> Result<Option<Arc<Jitdump>>, Cancelled> {
        let mut jitdumps = lock(&self.jitdumps);
        if let Some(jitdump) = jitdumps.get(dso) {
            return Ok(jitdump.clone());
        }
        let loaded = dso_symbols::jitdump(&self.finder.with_cancellation(cancellation), dso);
        if matches!(loaded, Err(NoSymbols::Cancelled)) {
            return Err(Cancelled);
        }
        let jitdump = loaded.ok().map(Arc::new);
        jitdumps.insert(Arc::clone(dso), jitdump.clone());
        Ok(jitdump)
    }

    /// Like [`symbols`](Self::symbols), for other uses than names: the file does not count as looked for.
    pub(crate) fn symbols_not_wanted(&self, identity: &SymbolsKey) -> LazySymbols {
        self.loaded(identity, false, &Cancellation::default())
    }

    fn loaded(&self, identity: &SymbolsKey, is_wanted: bool, cancellation: &Cancellation) -> LazySymbols {
        let mut all = lock(&self.loaded);
        let loaded = all.entry(identity.clone()).or_default();
        loaded.is_wanted |= is_wanted;
        let symbols = loaded.symbols.clone();
        // Others may load other files meanwhile.
        drop(all);
        symbols.get_or_init(|| identity.load(&self.finder.with_cancellation(cancellation)));
        symbols
    }

    /// Returns the place for symbols that are loaded ahead; `None` if they were asked for already.
    pub(crate) fn ahead(&self, identity: &SymbolsKey) -> Option<LazySymbols> {
        let mut all = lock(&self.loaded);
        let loaded = all.entry(identity.clone()).or_default();
        (!loaded.is_wanted).then(|| loaded.symbols.clone())
    }

    /// Forgets the symbols that were loaded ahead and not asked for.
    pub(crate) fn forget_ahead(&self) {
        lock(&self.loaded).retain(|_, loaded| loaded.is_wanted);
    }

    /// Returns the files that were looked for until now, ordered by DSO.
    pub(crate) fn lookups(&self) -> Vec<SymbolLookup> {
        let loaded = lock(&self.loaded);
        let looked = loaded.iter().filter(|(_, loaded)| loaded.is_wanted);
        let looked = looked.filter_map(|(identity, loaded)| Some((identity, loaded.symbols.get()?)));
        let mut looked: Vec<_> = looked.collect();
        looked.sort_by_key(|(it, _)| (&it.dso, it.build_id, it.is_guest));
        let without_device = |symbols: &DsoSymbols, dso: &Dso| {
            let inode = dso.inode().filter(|inode| inode.maj == 0 && inode.min != 0);
            inode.filter(|_| symbols.why == Some(NoSymbols::NotFound)).map(|inode| inode.min)
        };
        // A file below another root is of another machine.
        let is_here = self.finder.options().symfs.is_none();
        let has_any =
            is_here && looked.iter().any(|(it, symbols)| without_device(symbols, &it.dso).is_some());
        let mounts = if has_any { mounts::without_device(&**self.finder.files()) } else { Vec::new() };
        looked
            .into_iter()
            .map(|(identity, symbols)| SymbolLookup {
                is_mounted: without_device(symbols, &identity.dso)
                    .is_some_and(|minor| mounts.contains(&minor)),
                dso: Arc::clone(&identity.dso),
                build_id: identity.build_id,
                go_build_id: symbols.go_build_id().map(Arc::from),
                path: symbols.path.clone(),
                origin: symbols.origin(),
                why: why(symbols),
                is_beyond_limit: symbols.is_beyond_limit(),
                doubt: symbols.doubt.get().copied(),
                segments: symbols.segments().to_vec(),
            })
            .collect()
    }
}

impl Drop for SymbolStore {
    /// Writes what the cache gets.
    fn drop(&mut self) {
        let loaded = self.loaded.get_mut().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.values().filter_map(|loaded| loaded.symbols.get());
        let mut written = None;
        for (symbols, answers) in loaded.filter_map(|symbols| Some((symbols, symbols.answers.as_ref()?))) {
            if answers.save(symbols.why) {
                written = Some(answers);
            }
        }
        if let Some(answers) = written {
            answers.make_room();
        }
    }
}
