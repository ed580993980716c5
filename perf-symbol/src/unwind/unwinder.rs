//! The unwinder: from a sample to its stack.

use std::fmt;
use std::sync::Arc;

use perf_abi::callchain::MAX_STACK_DEPTH;
use perf_abi::record::CpuMode;
use perf_abi::regs::{Arch, RegsAbi};
use perf_parse::FileError;
use perf_session::{Dso, Mapping, SampleContext};

use super::chain::{self, UserFrame};
use super::end::StackEnd;
use super::frame::UnwoundFrame;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::module::Module;
use super::module_cache::{ModuleCache, ProcessSpace};
use super::registers::UnwindRegisters;
use super::thread_roots::{PartialStack, ThreadRoots};
use super::unwound::UnwoundStack;
use super::walk::{WalkStart, Walker};
use crate::file_finder::FileFinder;
use crate::trampolines::Trampolines;

/// Unwinds the copied user stacks of samples. See the [module docs](super) for an example.
///
/// It keeps the modules that it got, and what it found in their unwind tables. Each thread that unwinds needs one of its
/// own; the modules can be shared.
///
/// perf: `unwind__get_entries`, `tools/perf/util/unwind.h`.
pub struct Unwinder {
    arch: Arch,
    walker: Walker,
    files: ModuleCache,
    earlier: ThreadRoots,
    /// `None` if trampolines of Python are not looked for.
    pub(crate) trampolines: Option<Trampolines>,
    /// The user part of the call chain.
    chain: Vec<UserFrame>,
}

impl fmt::Debug for Unwinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unwinder").field("arch", &self.arch).finish_non_exhaustive()
    }
}

impl Unwinder {
    /// Creates an unwinder for captures of an architecture: that of the recording kernel,
    /// [`Arch::from_machine`](perf_abi::regs::Arch::from_machine). Stacks have as many user frames as perf's: 127.
    #[must_use]
    pub fn new(arch: Arch) -> Self {
        Self::with_max_stack(arch, MAX_STACK_DEPTH.into())
    }

    /// Creates an unwinder whose stacks have at most `max_stack` user frames, and no more than 127 in addition to the words
    /// of the copied stack.
    #[must_use]
    pub fn with_max_stack(arch: Arch, max_stack: usize) -> Self {
        let walker = Walker::new(max_stack);
        Self {
            arch,
            walker,
            files: ModuleCache::default(),
            earlier: ThreadRoots::new(max_stack),
            trampolines: None,
            chain: Vec::new(),
        }
    }

    /// Has libraries in archives found: see [`FileFinder::library`].
    pub(crate) fn with_libraries(mut self, finder: &FileFinder) -> Self {
        self.files.set_finder(finder.clone());
        self
    }

    /// Returns the architecture of the captures.
    pub(crate) fn arch(&self) -> Arch {
        self.arch
    }

    /// Appends the stack of a sample to `frames`, innermost first: the kernel's frames of its call chain, then the user
    /// frames that its registers and its copy of the stack lead to. `None` if these do not lead to any; the stack is then
    /// [`SampleContext::stack`]. The [module docs](super#parts-of-a-stack) have a table.
    ///
    /// `module_of` returns the module of what is mapped; `None` if it is not to be had. It is called once for each file.
    /// `deferred` is as for [`SampleContext::stack`].
    ///
    /// Takes time proportional to the number of frames. The first address of a function that occurs costs a search in the
    /// unwind tables of its file.
    ///
    /// # Errors
    ///
    /// Those of [`EventRecord::tail`](perf_parse::EventRecord::tail) and of [`SampleContext::stack`]. `frames` is then as before.
    pub fn unwind<'r>(
        &mut self,
        at: &SampleContext<'_, 'r>,
        deferred: Option<&'r [u64]>,
        module_of: &mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
        frames: &mut Vec<UnwoundFrame>,
    ) -> Result<Option<UnwoundStack>, FileError> {
        let Some(unwound) = self.unwind_first(at, deferred, module_of, frames)? else { return Ok(None) };
        Ok(Some(self.earlier.complete_places(unwound, at.thread().key(), &self.walker.places, frames)))
    }

    /// Does the part of [`unwind`](Self::unwind) that does not depend on the stacks before, so that several threads can share
    /// the work on a thread's stacks. [`ThreadRoots::complete`] does the rest.
    ///
    /// # Errors
    ///
    /// Those of [`unwind`](Self::unwind).
    pub fn unwind_alone<'r>(
        &mut self,
        at: &SampleContext<'_, 'r>,
        deferred: Option<&'r [u64]>,
        module_of: &mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
        frames: &mut Vec<UnwoundFrame>,
    ) -> Result<Option<PartialStack>, FileError> {
        let Some(unwound) = self.unwind_first(at, deferred, module_of, frames)? else { return Ok(None) };
        Ok(Some(PartialStack::new(unwound, at.thread().key(), &self.walker.places)))
    }

    /// Returns what completes the stacks of threads that [unwind alone](Self::unwind_alone).
    #[must_use]
    pub fn earlier(&self) -> ThreadRoots {
        ThreadRoots::new(self.walker.max_stack)
    }

    /// Unwinds a stack without those before.
    fn unwind_first<'r>(
        &mut self,
        at: &SampleContext<'_, 'r>,
        deferred: Option<&'r [u64]>,
        module_of: &mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
        frames: &mut Vec<UnwoundFrame>,
    ) -> Result<Option<UnwoundStack>, FileError> {
        // A stack without user frames has none.
        self.walker.places.clear();
        let record = at.record();
        let sample = at.sample();
        let tail = sample.tail().map_err(|error| record.error(error))?;
        let (Some(regs), Some(stack)) = (tail.regs_user, tail.stack_user) else { return Ok(None) };
        // The registers are the host's; a guest has no copy of its stack.
        if !matches!(at.mode(), CpuMode::USER | CpuMode::KERNEL) {
            return Ok(None);
        }
        let start = frames.len();
        chain::split(at, deferred, frames, &mut self.chain)?;
        let user = frames.len();
        if regs.abi == RegsAbi::NONE && at.mode() == CpuMode::KERNEL && self.chain.is_empty() {
            // A task without user space.
            return Ok(Some(UnwoundStack { end: StackEnd::Rooted, spliced: false, guessed: false }));
        }
        let Some((machine, registers)) = UnwindMachine::of_task(self.arch, regs.abi)
            .and_then(|machine| Some((machine, UnwindRegisters::of_sample(machine, &regs)?)))
        else {
            frames.truncate(start);
            return Ok(None);
        };
        if self.files.is_full() {
            self.files.clear();
            self.walker.forget();
        }
        let find = |addr| at.find(CpuMode::USER, addr);
        let mut process = ProcessSpace::new(&find, &mut self.files, module_of)
            .with_trampolines(at.session(), self.trampolines.as_mut());
        let memory = StackMemory::new(
            registers.get(machine.sp()).unwrap_or(0),
            stack.copied(),
            record.raw().endianness(),
        );
        let from = WalkStart {
            machine,
            registers,
            memory,
            mode: CpuMode::USER,
            is_in_kernel: at.mode() == CpuMode::KERNEL,
        };
        let mut end = self.walker.walk(&mut process, from, frames);
        let spliced = chain::splice(&self.chain, end, frames, user);
        if spliced {
            let is_root =
                frames.last().is_some_and(|last| self.walker.is_root(&mut process, machine, last.ip));
            end = match end {
                _ if is_root => StackEnd::Rooted,
                StackEnd::Truncated => StackEnd::Truncated,
                _ => StackEnd::NoUnwindInfo,
            };
        }
        let added = frames.get(user..).unwrap_or_default();
        let guessed = added.iter().any(|frame| frame.source.guess().is_some());
        if guessed && end == StackEnd::Rooted {
            end = StackEnd::NoUnwindInfo;
        }
        Ok(Some(UnwoundStack { end, spliced, guessed }))
    }

    /// Returns whether a frame of a call chain is the first function of its program or thread: its unwind tables say that
    /// it has no caller. `return_address` is the address of the frame, and `mapping` what is mapped there. `module_of` is as for
    /// [`unwind`](Self::unwind).
    pub fn is_first_function(
        &mut self,
        mapping: &Mapping,
        module_of: &mut dyn FnMut(&Dso) -> Option<Arc<Module>>,
        return_address: u64,
    ) -> bool {
        let Some(machine) = UnwindMachine::of_task(self.arch, RegsAbi::ABI_64) else { return false };
        let find = |addr| Some(mapping).filter(|mapping| mapping.range().contains(&addr));
        let mut process = ProcessSpace::new(&find, &mut self.files, module_of);
        self.walker.is_root(&mut process, machine, return_address)
    }
}
