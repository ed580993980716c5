//! The names of addresses, and the stacks of samples.

use alloc::sync::Arc;
use perf_abi::regs::Arch;
use perf_parse::FileError;
use perf_parse::feature::Features;
use perf_session::{At, Frame, Mapping};
use perf_symbol::unwind::{self, Alone, Earlier, FrameSource, StackEnd};
use perf_symbol::{Demangle, Files, Finder, Function, Looked, Options, StackFrame, Stacks, Symbolizer};

use crate::args::symbols::SymbolArgs;
use crate::input::Memory;
use crate::mapped_files::MappedFiles;
use crate::{Failure, debug_archive, recording_end};

/// Finds the stacks of samples, and the names of their frames.
#[derive(Debug)]
pub(crate) struct Names {
    symbolizer: Symbolizer,
    has_symbols: bool,
    kernel: KernelSymbols,
    arch: Arch,
    max_stack: usize,
    stacks: Stacks,
    /// The memory of the last stack.
    spare: Vec<StackFrame<'static>>,
    /// The folders of unpacked archives, which are removed with the last copy of this.
    archives: Arc<Vec<debug_archive::Folder>>,
}

/// When lines are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Even if inlined functions are not wanted. They are then found nevertheless.
    Always,
    /// If inlined functions are wanted.
    WithInlined,
    Never,
}

/// How functions are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameStyle {
    /// No two functions of a file have one name.
    Distinct,
    /// As perf 6.1 names them: without parameters, and inlined ones without what they are in.
    Perf,
}

/// What the symbols of the kernel are used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KernelSymbols {
    /// For names, and for what they tell of stacks: see [`Stacks::with_symbols`].
    NamesAndStacks,
    /// For names alone.
    Names,
}

/// The copy is for another thread: it shares the files and their symbols, and has its own results.
impl Clone for Names {
    fn clone(&self) -> Self {
        let symbolizer = self.symbolizer.clone();
        let Self { has_symbols, kernel, arch, max_stack, ref archives, .. } = *self;
        let stacks = stacks(arch, &symbolizer, kernel, max_stack);
        let archives = Arc::clone(archives);
        Self { symbolizer, has_symbols, kernel, arch, max_stack, stacks, spare: Vec::new(), archives }
    }
}

impl Names {
    /// Number of frames of a call chain unless the recording machine's `kernel.perf_event_max_stack` was changed.
    pub(crate) const MAX_CHAIN: usize = 127;

    /// # Errors
    ///
    /// If an archive of files cannot be unpacked.
    pub(crate) fn new(
        args: &SymbolArgs,
        features: &Features<'_>,
        memory: Memory<'_>,
    ) -> Result<Self, Failure> {
        Self::with(args, features, memory, Lines::WithInlined, NameStyle::Distinct)
    }

    /// Like [`new`](Self::new), with a choice of when lines are looked up, and of how functions are named.
    pub(crate) fn with(
        args: &SymbolArgs,
        features: &Features<'_>,
        memory: Memory<'_>,
        lines: Lines,
        style: NameStyle,
    ) -> Result<Self, Failure> {
        let mut archives = Vec::new();
        let mut options = Options::default();
        options.symfs.clone_from(&args.symfs);
        for path in &args.debug_dirs {
            if path.is_file() && !args.no_symbols {
                let folder = debug_archive::unpack(path)?;
                options.debug_dirs.push(folder.path().to_owned());
                archives.push(folder);
            } else {
                options.debug_dirs.push(path.clone());
            }
        }
        options.vmlinux.clone_from(&args.vmlinux);
        options.kallsyms = args.kallsyms.clone().or_else(|| memory.kallsyms());
        options.recorded_until = recording_end::of(features, memory);
        options.inlines = !args.no_inline || lines == Lines::Always;
        options.lines = lines != Lines::Never;
        options.demangle = match args.demangle() {
            Demangle::Distinct if style == NameStyle::Perf => Demangle::Short,
            demangle => demangle,
        };
        options.qualified = style == NameStyle::Distinct;
        let symbolizer = Symbolizer::with_files(options, files(args));
        let arch = Arch::from_machine(&machine_of(features)).unwrap_or(Arch::X86);
        let has_symbols = !args.no_symbols;
        let kernel = if has_symbols { KernelSymbols::NamesAndStacks } else { KernelSymbols::Names };
        let max_stack = Self::MAX_CHAIN;
        let stacks = stacks(arch, &symbolizer, kernel, max_stack);
        let archives = Arc::new(archives);
        Ok(Self { symbolizer, has_symbols, kernel, arch, max_stack, stacks, spare: Vec::new(), archives })
    }

    /// Uses the symbols of the kernel for names alone, so that they are not loaded if no name is asked for.
    #[must_use]
    pub(crate) fn without_kernel_in_stacks(self) -> Self {
        let kernel = KernelSymbols::Names;
        Self { stacks: stacks(self.arch, &self.symbolizer, kernel, self.max_stack), kernel, ..self }
    }

    /// Unwinds up to so many user frames of a stack, if that is more than call chains have.
    #[must_use]
    pub(crate) fn with_max_stack(self, max_stack: usize) -> Self {
        Self { stacks: self.stacks.with_max_stack(max_stack), max_stack, ..self }
    }

    /// Returns the stack of a sample, and how it ends if its last frame does not tell: see [`Stacks::push`]. `user` is the part of
    /// its call chain that came later. Give the stack back with [`done`](Self::done).
    pub(crate) fn stack<'s>(
        &mut self,
        at: &At<'s, '_>,
        user: Option<&[u64]>,
    ) -> Result<(Vec<StackFrame<'s>>, Option<StackEnd>), FileError> {
        let mut frames = emptied(core::mem::take(&mut self.spare));
        match self.stacks.push(at, user, &mut frames) {
            Ok(end) => Ok((frames, end)),
            Err(error) => {
                self.done(frames);
                Err(error)
            }
        }
    }

    /// Appends the stack of a sample, as far as it does not depend on the stacks before: see [`Stacks::push_alone`].
    pub(crate) fn push_alone(
        &mut self,
        at: &At<'_, '_>,
        user: Option<&[u64]>,
        frames: &mut Vec<unwind::Frame>,
    ) -> Option<Alone> {
        // What cannot be decoded has no stack.
        self.stacks.push_alone(at, user, frames).ok().flatten()
    }

    /// Returns what completes the stacks of [`push_alone`](Self::push_alone), of all threads.
    pub(crate) fn earlier(&self) -> Earlier {
        self.stacks.earlier()
    }

    /// Returns a stack that was found before, with what is mapped at its addresses. Give it back with [`done`](Self::done).
    pub(crate) fn mapped<'s>(
        &mut self,
        at: &At<'s, '_>,
        frames: impl Iterator<Item = unwind::Frame>,
    ) -> Vec<StackFrame<'s>> {
        let mut stack = emptied(core::mem::take(&mut self.spare));
        stack.extend(frames.map(|it| {
            let it = StackFrame::unwound(at, &it);
            StackFrame { frame: self.in_kernel(at, it.frame), ..it }
        }));
        stack
    }

    /// Returns a frame with its mapping: see [`Symbolizer::mapped`].
    pub(crate) fn in_kernel<'s>(&mut self, at: &At<'s, '_>, frame: Frame<'s>) -> Frame<'s> {
        match self.kernel {
            KernelSymbols::NamesAndStacks => self.symbolizer.mapped(at.session(), frame),
            KernelSymbols::Names => frame,
        }
    }

    /// Returns the address of a sample, and what is mapped there.
    pub(crate) fn own_frame<'s>(&mut self, at: &At<'s, '_>) -> Frame<'s> {
        self.in_kernel(at, own_frame(at))
    }

    /// Takes the memory of a stack back.
    pub(crate) fn done(&mut self, frames: Vec<StackFrame<'_>>) {
        self.spare = emptied(frames);
    }

    /// Returns how a call chain with this last frame ends.
    pub(crate) fn end_of(&mut self, at: &At<'_, '_>, last: &StackFrame<'_>) -> StackEnd {
        self.stacks.end_of(at.session(), &last.frame)
    }

    /// Returns the functions at an address, the innermost inlined one first; empty if none is known.
    pub(crate) fn functions(&mut self, at: &At<'_, '_>, frame: &Frame<'_>, is_caller: bool) -> &[Function] {
        if !self.has_symbols {
            return &[];
        }
        self.symbolizer.functions_at(at, frame, is_caller)
    }

    /// Returns whether the file of a mapping was found; `false` if names are not wanted.
    pub(crate) fn has_file(&mut self, at: &At<'_, '_>, mapping: &Mapping) -> bool {
        self.has_symbols && self.symbolizer.has_file(at.session(), mapping, at.mode())
    }

    /// Returns what finds stacks, and what finds functions.
    pub(crate) fn parts(&mut self) -> (&mut Stacks, Option<&mut Symbolizer>) {
        (&mut self.stacks, self.has_symbols.then_some(&mut self.symbolizer))
    }

    /// Returns what finds the functions while the capture is walked; `None` if names are not wanted.
    pub(crate) fn symbolizer_mut(&mut self) -> Option<&mut Symbolizer> {
        self.parts().1
    }

    /// Returns what finds the functions; `None` if names are not wanted.
    pub(crate) fn symbolizer(&self) -> Option<&Symbolizer> {
        self.has_symbols.then_some(&self.symbolizer)
    }

    /// Returns what finds the files.
    pub(crate) fn finder(&self) -> &Finder {
        self.symbolizer.finder()
    }

    /// Returns the files that names were looked for in.
    pub(crate) fn looked(&self) -> Vec<Looked> {
        self.symbolizer.looked()
    }
}

/// Returns the address of a sample, and what the records of the capture say is mapped there.
pub(crate) fn own_frame<'s>(at: &At<'s, '_>) -> Frame<'s> {
    let ip = at.sample().ip().unwrap_or(0);
    Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) }
}

/// Returns a frame that was recorded, and is in no stack.
pub(crate) fn alone(frame: Frame<'_>) -> StackFrame<'_> {
    StackFrame { frame, is_caller: false, source: FrameSource::Chain }
}

/// Returns where files come from: this machine, and servers if that is asked for.
#[cfg(feature = "debuginfod")]
fn files(args: &SymbolArgs) -> Arc<dyn Files> {
    match &args.debuginfod {
        Some(servers) => Arc::new(perf_symbol::Debuginfod::new(MappedFiles::default(), servers.clone())),
        None => Arc::new(MappedFiles::default()),
    }
}

/// Returns where files come from: this machine.
#[cfg(not(feature = "debuginfod"))]
fn files(_: &SymbolArgs) -> Arc<dyn Files> {
    Arc::new(MappedFiles::default())
}

/// Returns what finds stacks.
fn stacks(arch: Arch, symbolizer: &Symbolizer, kernel: KernelSymbols, max_stack: usize) -> Stacks {
    let stacks = Stacks::new(arch, Names::MAX_CHAIN, symbolizer.finder().clone()).with_max_stack(max_stack);
    match kernel {
        KernelSymbols::NamesAndStacks => stacks.with_symbols(symbolizer),
        KernelSymbols::Names => stacks,
    }
}

/// Returns an empty list in the memory of another one.
fn emptied<'s>(mut frames: Vec<StackFrame<'_>>) -> Vec<StackFrame<'s>> {
    frames.clear();
    frames
        .into_iter()
        .map(|StackFrame { is_caller, source, frame: Frame { ip, mode, .. } }| StackFrame {
            is_caller,
            source,
            frame: Frame { ip, mode, mapping: None },
        })
        .collect()
}

/// Returns a path without its folders.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// Returns the machine that recorded the capture; this machine if the capture does not tell.
pub(crate) fn machine_of(features: &Features<'_>) -> String {
    match features.arch() {
        Some(Ok(name)) => String::from_utf8_lossy(name).into_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}
