//! Stacks of samples, and the functions at their addresses.

use std::sync::Arc;

use perf_abi::regs::Arch;
use perf_parse::FileError;
use perf_parse::feature::Features;
use perf_session::{Frame, Mapping, SampleContext};
use perf_symbol::unwind::{self, FrameSource, PartialStack, StackEnd, ThreadRoots};
use perf_symbol::{
    FileFinder, Files, Function, StackFinder, StackFrame, SymbolLookup, SymbolOptions, Symbolizer,
};

use crate::capture_info::CaptureInfo;
use crate::interpreter::{InterpreterFolder, InterpreterFrames};
use crate::origin::{machine_of, recorded_until};

/// Finds the stacks of samples, and the functions of their frames.
///
/// A clone is for another thread: it shares the files and their symbols, and has its own results.
///
/// # Examples
///
/// Symbols of this machine, and of files in a folder:
///
/// ```
/// use perf_parse::Reader;
/// use perf_profile::Symbols;
///
/// # let path = "examples/captures/plain.data";
/// let reader = Reader::open(path)?;
/// let symbols = Symbols::of(&reader);
/// let mut options = perf_symbol::SymbolOptions::default();
/// options.debug_dirs.push("/tmp/debug".into());
/// let with_folder = Symbols::new(reader.features(), options);
/// # let _ = (symbols, with_folder);
/// # Ok::<(), perf_parse::FileError>(())
/// ```
#[derive(Debug)]
pub struct Symbols {
    symbolizer: Symbolizer,
    has_names: bool,
    kernel: KernelUse,
    arch: Arch,
    max_stack: usize,
    stacks: StackFinder,
    /// `None` if stacks have the frames of interpreters.
    folder: Option<InterpreterFolder>,
    is_leaf_folded: bool,
    /// The memory of the last stack.
    spare: Vec<StackFrame<'static>>,
}

/// The use of the kernel's symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KernelUse {
    /// For names, and for the ends of stacks: see [`StackFinder::with_symbols`].
    NamesAndStacks,
    /// For names alone.
    Names,
}

impl Clone for Symbols {
    fn clone(&self) -> Self {
        let symbolizer = self.symbolizer.clone();
        let Self { has_names, kernel, arch, max_stack, .. } = *self;
        let stacks = stacks(arch, &symbolizer, kernel, max_stack);
        let (folder, spare) = (self.folder.clone(), Vec::new());
        let is_leaf_folded = false;
        Self { symbolizer, has_names, kernel, arch, max_stack, stacks, folder, is_leaf_folded, spare }
    }
}

impl Symbols {
    /// Number of frames of a call chain unless the recording machine's `kernel.perf_event_max_stack` was changed.
    pub const MAX_CHAIN: usize = 127;

    /// Returns how many frames of a stack are used: `wanted`, unless that is the default of 127 and the capture is one of
    /// simpleperf, whose call chains may be longer than those of the kernel: then all.
    ///
    /// simpleperf: `CallChainJoiner`, `system/extras/simpleperf/CallChainJoiner.h`.
    #[must_use]
    pub fn max_stack(features: &Features<'_>, wanted: usize) -> usize {
        let is_default = wanted == Self::MAX_CHAIN;
        if is_default && features.is_of_simpleperf() { Self::LONGEST_CHAIN } else { wanted }
    }

    /// Number of addresses that fit into a record.
    const LONGEST_CHAIN: usize = (1 << 16) / 8;

    /// Finds symbols in the files of this machine, as [`perf_symbol::SymbolOptions`] are by default.
    #[must_use]
    pub fn of<'c>(capture: impl Into<CaptureInfo<'c>>) -> Self {
        Self::new(capture.into().features(), SymbolOptions::default())
    }

    /// Finds symbols in the files that `options` name. Without [`SymbolOptions::recorded_until`], it is the end of the recording by
    /// the features, if they relate the clock of the samples to the wall clock.
    #[must_use]
    pub fn new(features: &Features<'_>, mut options: SymbolOptions) -> Self {
        options.recorded_until = options.recorded_until.or_else(|| recorded_until(features));
        Self::of_symbolizer(features, Symbolizer::new(options))
    }

    /// Like [`new`](Self::new), with the bytes of all files from `files`: those of a sandbox, an archive or a server.
    #[must_use]
    pub fn with_files(features: &Features<'_>, mut options: SymbolOptions, files: Arc<dyn Files>) -> Self {
        options.recorded_until = options.recorded_until.or_else(|| recorded_until(features));
        Self::of_symbolizer(features, Symbolizer::with_files(options, files))
    }

    fn of_symbolizer(features: &Features<'_>, symbolizer: Symbolizer) -> Self {
        let arch = Arch::from_machine(&machine_of(features)).unwrap_or(Arch::X86);
        let (kernel, max_stack) = (KernelUse::NamesAndStacks, Self::MAX_CHAIN);
        let stacks = stacks(arch, &symbolizer, kernel, max_stack);
        Self {
            symbolizer,
            has_names: true,
            kernel,
            arch,
            max_stack,
            stacks,
            folder: None,
            is_leaf_folded: false,
            spare: Vec::new(),
        }
    }

    /// Finds no names: stacks alone, with the files that unwinding needs.
    #[must_use]
    pub fn without_names(self) -> Self {
        Self { has_names: false, ..self.without_kernel_in_stacks() }
    }

    /// Uses the symbols of the kernel for names alone, so that they are not loaded if no name is asked for.
    #[must_use]
    pub fn without_kernel_in_stacks(self) -> Self {
        let kernel = KernelUse::Names;
        Self { stacks: stacks(self.arch, &self.symbolizer, kernel, self.max_stack), kernel, ..self }
    }

    /// Unwinds up to so many user frames of a stack, if that is more than call chains have.
    #[must_use]
    pub fn with_max_stack(self, max_stack: usize) -> Self {
        Self { stacks: self.stacks.with_max_stack(max_stack), max_stack, ..self }
    }

    /// Has stacks with the frames of interpreters, or without: those of [`stack`](Self::stack) and of [`mapped`](Self::mapped). To
    /// fold them, the functions of all frames are looked up, unless names are [not wanted](Self::without_names).
    #[must_use]
    pub fn with_interpreter_frames(self, frames: InterpreterFrames) -> Self {
        let folder = match frames {
            InterpreterFrames::Show => None,
            InterpreterFrames::Fold => Some(InterpreterFolder::default()),
        };
        Self { folder, ..self }
    }

    /// Returns whether frames of interpreters are folded away.
    pub(crate) fn folds_interpreters(&self) -> bool {
        self.folder.is_some() && self.has_names
    }

    /// Returns whether the innermost frame of the last stack was folded away.
    pub(crate) fn is_leaf_folded(&self) -> bool {
        self.is_leaf_folded
    }

    /// Folds the frames of interpreters away, if that is asked for.
    fn fold(&mut self, at: &SampleContext<'_, '_>, frames: &mut Vec<StackFrame<'_>>) {
        let Self { folder: Some(folder), symbolizer, has_names: true, .. } = self else { return };
        folder.begin();
        for it in frames.iter() {
            folder.add(it.frame.mapping, symbolizer.functions_at(at, &it.frame, it.is_caller));
        }
        let kept = folder.kept();
        self.is_leaf_folded = kept.first() == Some(&false);
        let mut kept = kept.iter();
        frames.retain(|_| kept.next() != Some(&false));
    }

    /// Returns the stack of a sample, innermost frame first, and how it ends if that does not follow from its last frame: see
    /// [`StackFinder::push`]. `deferred` is the user part of its call chain if that came in a later record.
    /// [`done`](Self::done) takes the memory of the stack back, which saves an allocation for the next one.
    ///
    /// # Errors
    ///
    /// A fault of the sample's fields.
    pub fn stack<'s>(
        &mut self,
        at: &SampleContext<'s, '_>,
        deferred: Option<&[u64]>,
    ) -> Result<(Vec<StackFrame<'s>>, Option<StackEnd>), FileError> {
        let mut frames = emptied(core::mem::take(&mut self.spare));
        match self.stacks.push(at, deferred, &mut frames) {
            Ok(end) => {
                self.fold(at, &mut frames);
                Ok((frames, end))
            }
            Err(error) => {
                self.done(frames);
                Err(error)
            }
        }
    }

    /// Appends the stack of a sample, as far as it does not depend on the stacks before: see [`StackFinder::push_alone`]. `None` if
    /// it is not unwound from a copy, or cannot be decoded.
    pub fn push_alone(
        &mut self,
        at: &SampleContext<'_, '_>,
        deferred: Option<&[u64]>,
        frames: &mut Vec<unwind::UnwoundFrame>,
    ) -> Option<PartialStack> {
        // What cannot be decoded has no stack.
        self.stacks.push_alone(at, deferred, frames).ok().flatten()
    }

    /// Returns what completes the stacks of [`push_alone`](Self::push_alone), of all threads.
    #[must_use]
    pub fn earlier(&self) -> ThreadRoots {
        self.stacks.earlier()
    }

    /// Returns a stack that was found before, with what is mapped at its addresses. Give it back with [`done`](Self::done).
    pub fn mapped<'s>(
        &mut self,
        at: &SampleContext<'s, '_>,
        frames: impl Iterator<Item = unwind::UnwoundFrame>,
    ) -> Vec<StackFrame<'s>> {
        let mut stack = emptied(core::mem::take(&mut self.spare));
        stack.extend(frames.map(|it| {
            let it = StackFrame::unwound(at, &it);
            StackFrame { frame: self.in_kernel(at, it.frame), ..it }
        }));
        self.fold(at, &mut stack);
        stack
    }

    /// Returns a frame with the kernel module or BPF program that is mapped there: see [`Symbolizer::mapped`].
    pub fn in_kernel<'s>(&mut self, at: &SampleContext<'s, '_>, frame: Frame<'s>) -> Frame<'s> {
        match self.kernel {
            KernelUse::NamesAndStacks => self.symbolizer.mapped(at.session(), frame),
            KernelUse::Names => frame,
        }
    }

    /// Returns the address of a sample with its mapping.
    pub fn own_frame<'s>(&mut self, at: &SampleContext<'s, '_>) -> Frame<'s> {
        self.in_kernel(at, own_frame(at))
    }

    /// Takes the memory of a stack back.
    pub fn done(&mut self, frames: Vec<StackFrame<'_>>) {
        self.spare = emptied(frames);
    }

    /// Returns how a call chain with this last frame ends.
    pub fn end_of(&mut self, at: &SampleContext<'_, '_>, last: &StackFrame<'_>) -> StackEnd {
        self.stacks.end_of(at.session(), &last.frame)
    }

    /// Returns the functions at an address, the innermost inlined one first; empty if none is known.
    pub fn functions(
        &mut self,
        at: &SampleContext<'_, '_>,
        frame: &Frame<'_>,
        is_caller: bool,
    ) -> &[Function] {
        if !self.has_names {
            return &[];
        }
        self.symbolizer.functions_at(at, frame, is_caller)
    }

    /// Returns whether the file of a mapping was found; `false` if names are not wanted.
    pub fn has_file(&mut self, at: &SampleContext<'_, '_>, mapping: &Mapping) -> bool {
        self.has_names && self.symbolizer.has_file(at.session(), mapping, at.mode())
    }

    /// Returns the finder of stacks and that of functions; `None` for the latter if names are not wanted.
    pub fn parts(&mut self) -> (&mut StackFinder, Option<&mut Symbolizer>) {
        (&mut self.stacks, self.has_names.then_some(&mut self.symbolizer))
    }

    /// Returns the finder of functions; `None` if names are not wanted.
    pub fn symbolizer_mut(&mut self) -> Option<&mut Symbolizer> {
        self.parts().1
    }

    /// Returns the finder of functions; `None` if names are not wanted.
    #[must_use]
    pub fn symbolizer(&self) -> Option<&Symbolizer> {
        self.has_names.then_some(&self.symbolizer)
    }

    /// Returns the finder of files.
    #[must_use]
    pub fn finder(&self) -> &FileFinder {
        self.symbolizer.finder()
    }

    /// Returns the files that names were looked for in.
    #[must_use]
    pub fn lookups(&self) -> Vec<SymbolLookup> {
        self.symbolizer.lookups()
    }
}

/// Returns the address of a sample with its mapping by the records of the capture.
#[must_use]
pub fn own_frame<'s>(at: &SampleContext<'s, '_>) -> Frame<'s> {
    let ip = at.sample().ip().unwrap_or(0);
    Frame { ip, mode: at.mode(), mapping: at.find(at.mode(), ip) }
}

/// Returns a frame that was recorded outside of a stack, such as a sample's own address.
#[must_use]
pub fn recorded_frame(frame: Frame<'_>) -> StackFrame<'_> {
    StackFrame { frame, is_caller: false, source: FrameSource::Chain }
}

/// Returns a finder of stacks.
fn stacks(arch: Arch, symbolizer: &Symbolizer, kernel: KernelUse, max_stack: usize) -> StackFinder {
    let stacks =
        StackFinder::new(arch, Symbols::MAX_CHAIN, symbolizer.finder().clone()).with_max_stack(max_stack);
    match kernel {
        KernelUse::NamesAndStacks => stacks.with_symbols(symbolizer),
        KernelUse::Names => stacks.with_trampolines(symbolizer),
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
