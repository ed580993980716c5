//! The front door: from a frame to its functions.

mod address;
mod code;
mod go_frames;
mod library;
mod line_rows;
mod remapped;

use std::ops::Range;
use std::sync::Arc;

use hashbrown::HashMap;
use perf_abi::record::CpuMode;
use perf_session::{Dso, DsoKind, Frame, Mapping, SampleContext, Session};

use crate::cancellation::{Cancellation, Cancelled};
use crate::doubt::Doubt;
use crate::dso_states::{DsoState, DsoStates};
use crate::dso_symbols::{self, DsoSymbols, SymbolTable};
use crate::file_finder::FileFinder;
use crate::files::{Files, ReadFiles};
use crate::function::Function;
use crate::function_lists::FunctionLists;
use crate::jitdump::Jitdump;
use crate::kernel_frames::{self, KernelFrames};
use crate::names::NameCache;
use crate::options::SymbolOptions;
use crate::shared::{self, LazySymbols, SymbolStore, SymbolsKey};
use crate::symbol_lookup::SymbolLookup;

/// Finds the functions of frames.
///
/// A clone shares the files and their symbols, and has its own results and its own parsed DWARF. So each thread uses a clone
/// of its own, without waiting for the others.
#[derive(Debug)]
pub struct Symbolizer {
    shared: Arc<SymbolStore>,
    /// By the address of the DSO, which is kept alive beside its number, and by whether it is of a guest.
    dsos: HashMap<(usize, bool), usize>,
    states: DsoStates,
    /// By path, for what is in no capture.
    paths: HashMap<Vec<u8>, usize>,
    /// Where the functions of an address are.
    cache: HashMap<AddressKey, Range<u32>>,
    functions: Vec<Function>,
    /// Number of addresses that `cache` has at most.
    cached: usize,
    /// The numbers of the mappings in keys, from 1 on, by offset and size. They are kept when `cache` is cleared, as the key
    /// that is looked up has one.
    pages: HashMap<(u64, u64), u32>,
    names: NameCache,
    jitdumps: HashMap<i32, Option<Arc<Jitdump>>>,
    kernel_frames: KernelFrames,
    cancellation: Cancellation,
}

/// What functions depend on. Small, as there is one for each address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct AddressKey {
    offset: u64,
    dso: u32,
    /// Number of the load in the jitdump, from 1 on; 0 for what is not of a jitdump.
    load: u32,
    /// Whether there is a jitdump, and the time of the sample is not of its clock.
    has_other_clock: bool,
    is_caller: bool,
    is_executable: bool,
    /// Whether it is assumed that memory without a file has the code of this one.
    is_remapped: bool,
    /// The number of offset and size of the mapping, for a debug file alone: they tell which of its segments was mapped.
    /// 0 for other files.
    pages: u32,
}

impl Symbolizer {
    /// Makes a symbolizer that reads files of this machine.
    #[must_use]
    pub fn new(options: SymbolOptions) -> Self {
        Self::with_files(options, Arc::new(ReadFiles))
    }

    /// Makes a symbolizer that gets files from `files`.
    #[must_use]
    pub fn with_files(options: SymbolOptions, files: Arc<dyn Files>) -> Self {
        let finder = FileFinder::new(files, Arc::new(options));
        Self::of(Arc::new(SymbolStore::new(finder)))
    }

    fn of(shared: Arc<SymbolStore>) -> Self {
        let limits = &shared.finder.options().limits;
        let (names, cached) = (NameCache::new(limits.long_names), limits.cached);
        Self {
            kernel_frames: KernelFrames::new(Arc::clone(&shared)),
            shared,
            dsos: HashMap::new(),
            states: DsoStates::default(),
            paths: HashMap::new(),
            cache: HashMap::new(),
            functions: Vec::new(),
            cached,
            pages: HashMap::new(),
            names,
            jitdumps: HashMap::new(),
            cancellation: Cancellation::default(),
        }
    }

    /// Sets the flag that ends the look-ups of this symbolizer early, and of clones that are made of it from now on.
    ///
    /// A look-up that was cancelled has fewer functions, or none, and nothing of it is kept: with another flag, the same look-up
    /// finds all.
    pub fn set_cancellation(&mut self, cancellation: Cancellation) {
        self.states.set_cancellation(&cancellation);
        self.cancellation = cancellation;
    }

    /// Returns the flag that ends the look-ups of this symbolizer early.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Returns what all clones share.
    pub(crate) fn shared(&self) -> &Arc<SymbolStore> {
        &self.shared
    }

    /// Returns the finder, for uses of files other than names.
    #[must_use]
    pub fn finder(&self) -> &FileFinder {
        &self.shared.finder
    }

    /// Returns the functions at the address of a frame, the innermost inlined one first. Empty if nothing is known: the
    /// address is in no mapping, or [`lookups`](Self::lookups) has the reason.
    ///
    /// `is_caller` is whether the address is a return address, as [`StackFrame::is_caller`](crate::StackFrame::is_caller) has it.
    /// Such an address is after the call, so the byte before it is looked up; unless no call can be there, as in the padding
    /// before a function of the kernel.
    ///
    /// `time` is that of the sample if its clock is `CLOCK_MONOTONIC` (`perf record -k mono`). Only generated code with a
    /// jitdump, whose addresses are reused, depends on it. Without a time, and if the jitdump has
    /// [other times](Jitdump::has_arch_times), such a function has a name only if all code at the address had this one; the
    /// name is then a [guess](Function::guess).
    ///
    /// perf records the kernel's mapping up to the end of its text. Addresses after that, such as those of code that runs
    /// only while the machine starts, are in no mapping, but have the names that the kernel's symbols have there.
    ///
    /// The first call for a file reads it. Further calls for the same address take two look-ups in tables.
    pub fn functions(
        &mut self,
        session: &Session,
        frame: &Frame<'_>,
        is_caller: bool,
        time: Option<u64>,
    ) -> &[Function] {
        let Some(mapping) = frame.mapping.or_else(|| kernel_frames::text_before(session, frame)) else {
            return &[];
        };
        let is_guest = shared::is_guest(frame.mode);
        let dso = self.dso(session, mapping.dso(), is_guest);
        let jitdump = if mapping.dso().kind() == DsoKind::Memory && !is_guest {
            self.jitdump(session, mapping)
        } else {
            None
        };
        let address = if is_caller { frame.ip.wrapping_sub(1) } else { frame.ip };
        let time = time.filter(|_| jitdump.as_deref().is_none_or(|jitdump| !jitdump.has_arch_times()));
        let has_other_clock = jitdump.is_some() && time.is_none();
        let jitted = jitdump.as_deref().and_then(|jitdump| jitdump.find(address, time));
        if has_other_clock && let Some(symbols) = self.states.get(dso).and_then(|it| it.symbols.get()) {
            // Another thread may have been the first.
            let _ = symbols.doubt.set(Doubt::Clock);
        }
        let remapped = if jitted.is_some() { None } else { self.remapped(session, mapping, dso, address) };
        let is_remapped = remapped.is_some();
        let file = remapped.or_else(|| self.library(session, mapping, dso));
        let (mapping, dso) = file.as_ref().map_or((mapping, dso), |(file, number)| (file, *number));
        let key = AddressKey {
            dso: u32::try_from(dso).unwrap_or(u32::MAX),
            offset: mapping.offset_of(frame.ip),
            load: jitted.map_or(0, |jitted| jitted.load.saturating_add(1)),
            has_other_clock,
            is_caller,
            is_executable: mapping.is_executable(),
            is_remapped,
            pages: self.pages(dso, mapping),
        };
        let range = match self.cache.get(&key) {
            Some(range) => range.clone(),
            None => self.look_up(session, mapping, key, frame.ip, jitted),
        };
        let place = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        self.functions.get(place(range.start)..place(range.end)).unwrap_or_default()
    }

    /// Sets the number of addresses whose names are kept, [`SymbolLimits::cached`](crate::SymbolLimits::cached) until then.
    /// A caller that looks each address up once, in ascending order, needs few.
    pub fn set_cached(&mut self, addresses: usize) {
        self.cached = addresses;
    }

    /// Returns the number of a mapping in keys.
    fn pages(&mut self, dso: usize, mapping: &Mapping) -> u32 {
        if !self.states.get(dso).is_some_and(|state| state.is_debug_alone) {
            return 0;
        }
        let range = mapping.range();
        let next = u32::try_from(self.pages.len()).unwrap_or(u32::MAX).saturating_add(1);
        *self.pages.entry((mapping.pgoff(), range.end.wrapping_sub(range.start))).or_insert(next)
    }

    /// Like [`functions`](Self::functions), with the time of a sample if its clock permits.
    pub fn functions_at(
        &mut self,
        at: &SampleContext<'_, '_>,
        frame: &Frame<'_>,
        is_caller: bool,
    ) -> &[Function] {
        let is_monotonic = at.record().event().is_some_and(|event| event.attr.has_monotonic_times());
        let time = at.sample().time().filter(|_| is_monotonic);
        self.functions(at.session(), frame, is_caller, time)
    }

    /// Returns whether the file of a mapping was found, which reads it if it is the first time. `mode` is that of the sample: the
    /// files of guests are found by their build ids alone.
    pub fn has_file(&mut self, session: &Session, mapping: &Mapping, mode: CpuMode) -> bool {
        let dso = self.dso(session, mapping.dso(), shared::is_guest(mode));
        let symbols = self.states.get(dso).and_then(|state| state.symbols.get());
        symbols.is_some_and(|symbols| match &symbols.table {
            SymbolTable::File(found, _) => found.image.is_some(),
            table => matches!(table, SymbolTable::Archive),
        })
    }

    /// Returns a frame with its mapping. perf records the kernel's mapping up to the end of its text. The symbols of the kernel
    /// tell that an address after that, such as in code that runs only while the machine starts, is in it too.
    ///
    /// Frames of [`StackFinder::with_symbols`](crate::StackFinder::with_symbols) have these mappings.
    #[must_use]
    pub fn mapped<'s>(&mut self, session: &'s Session, frame: Frame<'s>) -> Frame<'s> {
        let mapping = frame.mapping.or_else(|| self.kernel_frames.mapping_after(session, &frame));
        Frame { mapping, ..frame }
    }

    /// Returns the functions at an address of the file at `path`, as its symbols have addresses; the innermost inlined one
    /// first. Empty if there is no file, and where it has no function.
    ///
    /// Nothing is kept of the result, but the file is. [`functions_of`](Self::functions_of) looks up many addresses.
    pub fn functions_in(&mut self, path: &[u8], address: u64) -> Vec<Function> {
        let (dso, mut found) = (self.dso_at(path), Vec::new());
        self.functions_of_dso(dso, address, &mut found);
        found
    }

    /// Returns the functions at many addresses of the file at `path`, in the order of `addresses`: each as
    /// [`functions_in`](Self::functions_in) finds them. An address that occurs again costs nothing.
    ///
    /// They are looked up in ascending order, so that each part of the DWARF is read once.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if the [flag](Self::set_cancellation) ended it.
    ///
    /// # Examples
    ///
    /// ```
    /// use perf_symbol::{Cancelled, SymbolOptions, Symbolizer};
    ///
    /// let mut symbolizer = Symbolizer::new(SymbolOptions::default());
    /// let addresses = [0x2345, 0x1234, 0x2345];
    /// let found = symbolizer.functions_of(b"/usr/bin/true", &addresses)?;
    /// for (address, functions) in addresses.iter().zip(found.iter()) {
    ///     println!("{address:x}: {} functions", functions.len());
    /// }
    /// # Ok::<(), Cancelled>(())
    /// ```
    pub fn functions_of(&mut self, path: &[u8], addresses: &[u64]) -> Result<FunctionLists, Cancelled> {
        let dso = self.dso_at(path);
        FunctionLists::find(
            addresses,
            |it| *it,
            &self.cancellation.clone(),
            |address, found| self.functions_of_dso(dso, *address, found),
        )
    }

    /// Returns the functions at many frames, in their order: each as [`functions`](Self::functions) finds them without a time.
    /// Each frame is given with whether its address is a return address.
    ///
    /// They are looked up file by file, in the order of the addresses.
    ///
    /// # Errors
    ///
    /// [`Cancelled`] if the [flag](Self::set_cancellation) ended it.
    pub fn functions_of_frames(
        &mut self,
        session: &Session,
        frames: &[(Frame<'_>, bool)],
    ) -> Result<FunctionLists, Cancelled> {
        // Frames of one file are those of one DSO, and those of one mapping have one mode.
        let key = |(frame, is_caller): &(Frame<'_>, bool)| {
            let dso =
                frame.mapping.map(|mapping| (Arc::as_ptr(mapping.dso()).addr(), mapping.offset_of(frame.ip)));
            (dso, frame.mode, frame.ip, *is_caller)
        };
        FunctionLists::find(frames, key, &self.cancellation.clone(), |(frame, is_caller), found| {
            found.extend_from_slice(self.functions(session, frame, *is_caller, None));
        })
    }

    /// Returns the number of the file at a path.
    fn dso_at(&mut self, path: &[u8]) -> usize {
        if let Some(&dso) = self.paths.get(path) {
            return dso;
        }
        let finder = self.shared.finder.with_cancellation(&self.cancellation);
        let symbols = LazySymbols::default();
        symbols.get_or_init(|| DsoSymbols::load_at(&finder, path));
        let is_whole = !shared::is_cancelled(&symbols);
        let dso = self.states.push(DsoState::new(None, symbols, false));
        if is_whole {
            self.paths.insert(path.to_vec(), dso);
        }
        dso
    }

    /// Adds the functions at an address to those that are found.
    fn functions_of_dso(&mut self, dso: usize, address: u64, found: &mut Vec<Function>) {
        let symbols = self.states.get(dso).map(|state| Arc::clone(&state.symbols)).unwrap_or_default();
        let symbol = symbols.get().and_then(|symbols| {
            let symbol = symbols.symtab()?.find(address)?;
            Some((symbol, symbols.origin_of(symbol.source)))
        });
        let function = symbol.map(|(symbol, origin)| {
            self.function(dso, (&symbol, origin), address.wrapping_sub(symbol.start), true)
        });
        // They are added at the end of this list.
        std::mem::swap(&mut self.functions, found);
        self.add_with_lines(dso, Some(address), function, true);
        std::mem::swap(&mut self.functions, found);
    }

    /// Returns the files that were looked for until now, by any clone, ordered by DSO.
    #[must_use]
    pub fn lookups(&self) -> Vec<SymbolLookup> {
        self.shared.lookups()
    }

    /// Returns the number of a DSO, which is another one in a guest.
    fn dso(&mut self, session: &Session, dso: &Arc<Dso>, is_guest: bool) -> usize {
        let place = (Arc::as_ptr(dso) as usize, is_guest);
        if let Some(&number) = self.dsos.get(&place) {
            return number;
        }
        let symbols = self.shared.symbols(&SymbolsKey::of(session, dso, is_guest), &self.cancellation);
        let is_whole = !shared::is_cancelled(&symbols);
        let number = self.states.push(DsoState::new(Some(Arc::clone(dso)), symbols, is_guest));
        if is_whole {
            self.dsos.insert(place, number);
        }
        number
    }

    /// Returns the addresses of a symbol of the recorded kernel by its name: the first one in kallsyms, or in vmlinux without
    /// kallsyms. Empty if another symbol has the same address; such as those of the marks that the linker puts at the start and the
    /// end of sections (`__sched_text_start`). `None` if there is none, and without symbols of the kernel.
    ///
    /// Reads the table up to the symbol. Nothing is kept.
    pub fn kernel_symbol(&mut self, session: &Session, name: &[u8]) -> Option<Range<u64>> {
        let number = self.kernel(session)?;
        let symbols = Arc::clone(&self.states.get(number)?.symbols);
        match &symbols.get()?.table {
            SymbolTable::Kernel(kernel) => kernel.range_of(name, self.shared.finder.bounds()),
            _ => None,
        }
    }

    /// Returns the number of the kernel's DSO, if its mapping is known.
    fn kernel(&mut self, session: &Session) -> Option<usize> {
        let kernel = session.kernel_maps().kernel()?;
        Some(self.dso(session, &Arc::clone(kernel.dso()), false))
    }

    /// Returns the jitdump of the process whose generated code is mapped. The process has mapped the file, so that the
    /// capture has its path.
    fn jitdump(&mut self, session: &Session, mapping: &Mapping) -> Option<Arc<Jitdump>> {
        let pid = dso_symbols::pid_of(mapping.dso().name())?;
        if let Some(Some(jitdump)) = self.jitdumps.get(&pid) {
            return Some(Arc::clone(jitdump));
        }
        let marker = session.maps(session.thread(pid)?)?.jitdump()?;
        let jitdump = self.shared.jitdump(marker.dso(), &self.cancellation).ok()?;
        self.jitdumps.insert(pid, jitdump.clone());
        jitdump
    }
}

impl Clone for Symbolizer {
    fn clone(&self) -> Self {
        Self { cancellation: self.cancellation.clone(), ..Self::of(Arc::clone(&self.shared)) }
    }
}
