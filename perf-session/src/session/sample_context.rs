//! The thread and the mappings of a sample.

use perf_abi::record::CpuMode;
use perf_parse::{EventRecord, FileError, Sample};

use super::Session;
use crate::map::Mapping;
use crate::spaces::AddressSpaces;
use crate::stack::Stack;
use crate::thread::Thread;

/// The state in which a sample was taken: its thread, and what was mapped at that time. Made by [`Session::at`].
#[derive(Clone, Copy, Debug)]
pub struct SampleContext<'s, 'r> {
    pub(super) session: &'s Session,
    pub(super) spaces: AddressSpaces<'s>,
    pub(super) record: &'r EventRecord<'r>,
    pub(super) sample: Sample<'r>,
    pub(super) mode: CpuMode,
}

impl<'s, 'r> SampleContext<'s, 'r> {
    /// Returns the thread.
    #[must_use]
    pub fn thread(&self) -> &'s Thread {
        self.spaces.thread
    }

    /// Returns the session, as it was when the sample was taken.
    #[must_use]
    pub fn session(&self) -> &'s Session {
        self.session
    }

    /// Returns the record.
    #[must_use]
    pub fn record(&self) -> &'r EventRecord<'r> {
        self.record
    }

    /// Returns the sample.
    #[must_use]
    pub fn sample(&self) -> Sample<'r> {
        self.sample
    }

    /// Returns whose code was interrupted.
    #[must_use]
    pub fn mode(&self) -> CpuMode {
        self.mode
    }

    /// Returns the path of the sample's cgroup; `None` if it was not recorded.
    #[must_use]
    pub fn cgroup(&self) -> Option<&'s [u8]> {
        self.session.cgroup(self.sample.tail().ok()?.cgroup?)
    }

    /// Returns the mapping that has an address of code or data; `None` if none has it.
    #[must_use]
    pub fn find(&self, mode: CpuMode, addr: u64) -> Option<&'s Mapping> {
        self.spaces.find(mode, addr)
    }

    /// Returns the mapping that has an address of data that the sample accessed, or of a branch; `None` if none has it.
    /// The kernel accesses data of the process, and branches enter and leave the kernel, so the address says whose it is.
    ///
    /// perf: `thread__find_map_fb`, `tools/perf/util/event.c`.
    #[must_use]
    pub fn find_data(&self, addr: u64) -> Option<&'s Mapping> {
        let is_kernel = addr >= self.spaces.machine.kernel.start();
        let mode = match self.mode() {
            CpuMode::KERNEL | CpuMode::USER if is_kernel => CpuMode::KERNEL,
            CpuMode::KERNEL | CpuMode::USER => CpuMode::USER,
            CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER if is_kernel => CpuMode::GUEST_KERNEL,
            CpuMode::GUEST_KERNEL | CpuMode::GUEST_USER => CpuMode::GUEST_USER,
            mode => mode,
        };
        self.find(self.mode(), addr).or_else(|| self.find(mode, addr))
    }

    /// Returns the stack of the sample, innermost frame first: its call chain, or its instruction pointer if it has
    /// none. If the branches of the event are its call stack, they are the user part. `deferred` is the user part of
    /// the chain that came in a later record: see [`DeferredSamples`](perf_parse::file::DeferredSamples) and
    /// [`DeferredChains`](perf_parse::file::DeferredChains).
    ///
    /// # Errors
    ///
    /// Those of [`EventRecord::callchain`], and of [`Sample::tail`] for a stack of branches.
    #[inline]
    pub fn stack(&self, deferred: Option<&'r [u64]>) -> Result<Stack<'s, 'r>, FileError> {
        Stack::new(self.spaces, self.record, self.sample, self.mode, deferred)
    }
}
