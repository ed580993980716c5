//! The stack of a sample, whatever it was recorded as.

use std::sync::Arc;

use perf_abi::record::CpuMode;
use perf_abi::regs::Arch;
use perf_abi::sample_type::SampleType;
use perf_parse::FileError;
use perf_session::{Dso, DsoKind, Frame, SampleContext, Session};

use crate::file_finder::FileFinder;
use crate::guess::Guess;
use crate::kernel_frames::KernelFrames;
use crate::recorded;
use crate::shared::{SharedFunctions, SymbolStore, SymbolsKey};
use crate::symbolizer::Symbolizer;
use crate::trampolines::Trampolines;
use crate::unwind::{self, FrameSource, Module, PartialStack, StackEnd, ThreadRoots, Unwinder};

/// A frame of a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackFrame<'s> {
    /// The address and what is mapped there.
    pub frame: Frame<'s>,
    /// Whether the address is a return address, so that its call is before it. The others are those of instructions that were
    /// about to run: the first address of the kernel and the first of user code, what an interrupt of the kernel or an
    /// unwound signal interrupted; the calls in branch records (`--call-graph lbr`); and those in call chains of simpleperf.
    pub is_caller: bool,
    /// How the frame was found.
    pub source: FrameSource,
}

impl<'s> StackFrame<'s> {
    /// Returns a frame that was unwound, with what is mapped at its address.
    #[must_use]
    pub fn unwound(at: &SampleContext<'s, '_>, it: &unwind::UnwoundFrame) -> Self {
        let frame = Frame { ip: it.ip, mode: it.mode, mapping: at.find(it.mode, it.ip) };
        Self { frame, is_caller: it.is_return, source: it.source }
    }

    /// Returns why the frame is a guess; `None` if it is not one.
    #[must_use]
    pub fn guess(&self) -> Option<Guess> {
        self.source.guess()
    }

    /// Returns the address as perf prints it: perf's unwinder goes back into the call of a return address, by one byte. The
    /// kernel does not, so in call chains it is the recorded address.
    ///
    /// perf: `entry`, `tools/perf/util/unwind-libdw.c`.
    #[must_use]
    pub fn shown(&self) -> u64 {
        let goes_back = self.is_caller && self.source != FrameSource::Chain;
        self.frame.ip.wrapping_sub(goes_back.into())
    }
}

/// Finds the stacks of samples: their call chains, or what their copies of the user stack unwind to.
///
/// Each thread that finds stacks needs one of its own. To have the same stacks on any number of threads, find all stacks of
/// a thread of the capture with the same one, in time order: see [`FrameSource::Earlier`].
#[derive(Debug)]
pub struct StackFinder {
    finder: FileFinder,
    unwinder: Unwinder,
    /// The largest number of words that the kernel records of a chain: a longer stack is cut.
    max_chain: usize,
    unwound: Vec<unwind::UnwoundFrame>,
    /// `None` if the kernel's symbols are not to be used.
    kernel: Option<KernelFrames>,
}

impl StackFinder {
    /// Finds stacks in captures of an architecture with the files of `finder`. `max_chain` is the recording machine's
    /// `kernel.perf_event_max_stack`, 127 unless somebody changed it: a chain with so many frames is taken to be cut.
    #[must_use]
    pub fn new(arch: Arch, max_chain: usize, finder: FileFinder) -> Self {
        let unwinder = Unwinder::with_max_stack(arch, max_chain).with_libraries(&finder);
        Self { finder, unwinder, max_chain, unwound: Vec::new(), kernel: None }
    }

    /// Uses the symbols of the kernel that `symbolizer` finds. They tell which frames of the kernel an interrupt came before,
    /// so that their addresses are [no return addresses](StackFrame::is_caller), and which addresses after the recorded text are
    /// the kernel's: see [`Symbolizer::mapped`].
    ///
    /// The first stack with two frames of the kernel, or with an address of the kernel in no mapping, loads the symbols.
    #[must_use]
    pub fn with_symbols(self, symbolizer: &Symbolizer) -> Self {
        let kernel = Some(KernelFrames::new(Arc::clone(symbolizer.shared())));
        Self { kernel, ..self.with_trampolines(symbolizer) }
    }

    /// Unwinds copied stacks through the trampolines by which Python calls its functions if it runs with `-X perf`: they have no
    /// unwind information. They are those that the process has named `py::NAME:PATH`, in the perf map or jitdump that `symbolizer`
    /// finds. [`with_symbols`](Self::with_symbols) does so, too.
    #[must_use]
    pub fn with_trampolines(mut self, symbolizer: &Symbolizer) -> Self {
        self.unwinder.trampolines = Some(Trampolines::new(Arc::clone(symbolizer.shared())));
        self
    }

    /// Unwinds up to `max_stack` user frames of a stack, if that is more than chains can have: as many as by
    /// [`new`](Self::new) otherwise. A copy of the stack has room for no more than one frame for each of its words.
    #[must_use]
    pub fn with_max_stack(self, max_stack: usize) -> Self {
        let mut unwinder = Unwinder::with_max_stack(self.unwinder.arch(), max_stack.max(self.max_chain));
        unwinder.trampolines = self.unwinder.trampolines;
        let unwinder = unwinder.with_libraries(&self.finder);
        Self { unwinder, ..self }
    }

    /// Appends the stack of a sample to `frames`, innermost first. `deferred` is as for [`SampleContext::stack`].
    ///
    /// Returns how a stack that was unwound ends, and [`StackEnd::Truncated`] for a call chain that is empty, or as long as
    /// chains can be. `None` for any other chain, which ends as its last frame tells: see [`end_of`](Self::end_of); and for
    /// a sample without a stack, whose own address is the only frame.
    ///
    /// # Errors
    ///
    /// Those of [`Unwinder::unwind`] and [`SampleContext::stack`]. `frames` is then as before.
    pub fn push<'s, 'r>(
        &mut self,
        at: &SampleContext<'s, 'r>,
        deferred: Option<&'r [u64]>,
        frames: &mut Vec<StackFrame<'s>>,
    ) -> Result<Option<StackEnd>, FileError> {
        let Self { finder, unwinder, unwound, kernel, .. } = self;
        let shared = kernel.as_ref().map(KernelFrames::shared);
        let mut module_of = |dso: &Dso| module_of(finder, shared, at.session(), dso);
        unwound.clear();
        let start = frames.len();
        if let Some(stack) = unwinder.unwind(at, deferred, &mut module_of, unwound)? {
            frames.extend(unwound.iter().map(|it| StackFrame::unwound(at, it)));
            self.complete(at.session(), frames, start);
            return Ok(Some(stack.end));
        }
        let mut mode = None;
        let has_returns = !at.session().is_of_simpleperf();
        let mut stack = at.stack(deferred)?;
        while let Some(frame) = stack.next() {
            // The first address of the kernel and that of the code that it interrupted were about to run. A branch record has
            // the address of the call.
            let is_caller = has_returns && mode == Some(frame.mode) && !stack.is_in_branches();
            mode = Some(frame.mode);
            frames.push(StackFrame { frame, is_caller, source: FrameSource::Chain });
        }
        self.complete(at.session(), frames, start);
        // simpleperf unwinds and joins stacks itself.
        let most = if has_returns { self.max_chain } else { usize::MAX };
        let is_whole = (1..most).contains(&frames.len().saturating_sub(start));
        let has_chain = at.sample().layout().sample_type().contains(SampleType::CALLCHAIN);
        Ok((has_chain && !is_whole).then_some(StackEnd::Truncated))
    }

    /// Adds to the frames from `start` on what the kernel's symbols tell.
    fn complete<'s>(&mut self, session: &'s Session, frames: &mut [StackFrame<'s>], start: usize) {
        let Some(kernel) = &mut self.kernel else { return };
        let frames = frames.get_mut(start..).unwrap_or_default();
        kernel.find_interrupted(session, frames, |it| (it.frame.mode, it.frame.ip, &mut it.is_caller));
        for it in frames.iter_mut().filter(|it| it.frame.mapping.is_none()) {
            it.frame.mapping = kernel.mapping_after(session, &it.frame);
        }
    }

    /// Appends the stack of a sample with copied user registers and stack to `frames`, as far as it does not depend on the
    /// stacks before: see [`Unwinder::unwind_alone`]. `None` for other samples.
    ///
    /// # Errors
    ///
    /// Those of [`push`](Self::push).
    pub fn push_alone<'r>(
        &mut self,
        at: &SampleContext<'_, 'r>,
        deferred: Option<&'r [u64]>,
        frames: &mut Vec<unwind::UnwoundFrame>,
    ) -> Result<Option<PartialStack>, FileError> {
        let Self { finder, unwinder, kernel, .. } = self;
        let shared = kernel.as_ref().map(KernelFrames::shared);
        let mut module_of = |dso: &Dso| module_of(finder, shared, at.session(), dso);
        let start = frames.len();
        let alone = unwinder.unwind_alone(at, deferred, &mut module_of, frames)?;
        if let Some(kernel) = kernel {
            let frames = frames.get_mut(start..).unwrap_or_default();
            kernel.find_interrupted(at.session(), frames, |it| (it.mode, it.ip, &mut it.is_return));
        }
        Ok(alone)
    }

    /// Returns what completes the stacks of all threads that use [`push_alone`](Self::push_alone).
    #[must_use]
    pub fn earlier(&self) -> ThreadRoots {
        self.unwinder.earlier()
    }

    /// Returns how a call chain with this last frame ends, which is neither empty nor cut: [`StackEnd::Rooted`] if the unwind
    /// tables say that the function has no caller, or simpleperf recorded the name of one with which Android's programs and
    /// threads start, and for a chain of the kernel alone; [`StackEnd::NoMapping`] and
    /// [`StackEnd::Garbage`] if it is no code; else [`StackEnd::NoUnwindInfo`]: the kernel found no further frame pointer. The
    /// files of a guest are not those of the host, so its chains never end at a root.
    pub fn end_of(&mut self, session: &Session, last: &Frame<'_>) -> StackEnd {
        if !matches!(last.mode, CpuMode::USER | CpuMode::GUEST_USER) {
            return StackEnd::Rooted;
        }
        let Some(mapping) = last.mapping else { return StackEnd::NoMapping };
        if !mapping.is_executable() {
            return StackEnd::Garbage;
        }
        if recorded::find(session, mapping, last.ip)
            .is_some_and(|(symbol, _)| is_first_of_android(symbol.name))
        {
            return StackEnd::Rooted;
        }
        let Self { finder, unwinder, kernel, .. } = self;
        let shared = kernel.as_ref().map(KernelFrames::shared);
        let mut module_of = |dso: &Dso| module_of(finder, shared, session, dso);
        let is_of_host = last.mode == CpuMode::USER;
        if is_of_host && unwinder.is_first_function(mapping, &mut module_of, last.ip) {
            StackEnd::Rooted
        } else {
            StackEnd::NoUnwindInfo
        }
    }
}

/// Returns whether a function is one with which a program or a thread of Android starts. The files of a device are seldom here, so
/// that their unwind tables cannot tell.
///
/// Bionic: `libc/bionic/libc_init_dynamic.cpp`, `libc/arch-common/bionic/crtbegin.c`, `libc/bionic/clone.cpp`.
fn is_first_of_android(name: &[u8]) -> bool {
    matches!(name, b"__start_thread" | b"__libc_init" | b"_start_main" | b"_start")
}

/// Returns the module of what is mapped. Its functions are those that clones of a symbolizer share.
fn module_of(
    finder: &FileFinder,
    shared: Option<&Arc<SymbolStore>>,
    session: &Session,
    dso: &Dso,
) -> Option<Arc<Module>> {
    let build_id = session.build_id(dso);
    let found = match dso.kind() {
        DsoKind::File => finder.for_unwinding().find_mapped(dso, build_id),
        DsoKind::Vdso => finder.vdso(dso.name(), build_id),
        _ => return None,
    };
    let image = found.image?;
    let module = Module::new(&image, found.debug.as_deref()).ok()?;
    let mut module = module.with_mini_debug_info(found.mini.as_deref()).with_doubt(found.doubt);
    if let Some(shared) = shared {
        let identity = SymbolsKey::of(session, &Arc::new(dso.clone()), false);
        module = module.with_functions(SharedFunctions::new(shared, identity));
    }
    Some(Arc::new(module))
}
