//! The stack of a sample, as addresses with their mappings.

use core::iter::Copied;
use core::slice;

use perf_abi::branch::BranchSampleType;
use perf_abi::callchain::CallchainContext;
use perf_abi::endian::Endianness;
use perf_abi::record::CpuMode;
use perf_abi::sample_type::SampleType;
use perf_parse::list::{Branch, List, ListIter};
use perf_parse::sample;
use perf_parse::{EventRecord, FileError, Sample};

use crate::map::Mapping;
use crate::maps::Maps;
use crate::spaces::AddressSpaces;

/// A frame of a stack.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'s> {
    /// The address, as recorded: of the instruction in the first frame, a return address in the others.
    pub ip: u64,
    /// Whose code it is. `CPUMODE_UNKNOWN` after a context marker that this crate does not know.
    pub mode: CpuMode,
    /// The mapping that has the address; `None` if none has it.
    pub mapping: Option<&'s Mapping>,
}

/// The frames of a stack, innermost first; made by [`SampleContext::stack`](crate::SampleContext::stack).
#[derive(Clone, Debug)]
pub struct Stack<'s, 'r> {
    spaces: AddressSpaces<'s>,
    /// The next words of the call chain.
    words: ListIter<'r, u64>,
    /// The instruction pointer of a sample without a chain.
    ip: Option<u64>,
    /// What follows the words of the chain, or is in their place.
    rest: Option<RestOfChain<'r>>,
    /// The user part of the chain that came in a later record.
    deferred: &'r [u64],
    /// Whose code the next address is, and the mappings that have it.
    mode: CpuMode,
    maps: Option<&'s Maps>,
    /// The mapping that was found last in `maps`, or that the process was in last. Most frames are in the mapping of the
    /// frame before.
    last: Option<&'s Mapping>,
}

/// Where addresses come from that are not in the words of a call chain.
#[derive(Clone, Debug)]
enum RestOfChain<'r> {
    Deferred(Copied<slice::Iter<'r, u64>>),
    /// The kernel's part of the chain, then the branches of the user part.
    Lbr {
        frames: sample::ChainFrames<'r>,
        branches: ListIter<'r, Branch>,
    },
    Branches {
        to: Option<u64>,
        branches: ListIter<'r, Branch>,
    },
}

impl<'s, 'r> Stack<'s, 'r> {
    /// See [`SampleContext::stack`](crate::SampleContext::stack).
    // Always, as a stack is returned in memory otherwise.
    #[inline(always)]
    pub(crate) fn new(
        spaces: AddressSpaces<'s>,
        record: &'r EventRecord<'r>,
        sample: Sample<'r>,
        mode: CpuMode,
        deferred: Option<&'r [u64]>,
    ) -> Result<Self, FileError> {
        let (words, ip, rest, mode) = if sample.layout().sample_type().contains(SampleType::CALLCHAIN) {
            // Before the first marker it is the user's, as perf reads it.
            match chain_of(record, sample)? {
                SampleChain::Words(words) => (words, None, None, CpuMode::USER),
                SampleChain::Lbr(frames, branches) => {
                    (no_words(), None, Some(RestOfChain::Lbr { frames, branches }), CpuMode::USER)
                }
            }
        } else {
            (no_words(), sample.ip(), None, mode)
        };
        let deferred = deferred.unwrap_or_default();
        let maps = spaces.maps(mode);
        Ok(Self { spaces, words, ip, rest, deferred, mode, maps, last: maps.and_then(Maps::noted) })
    }

    /// Returns whether the address returned last is that of a call instruction in a branch record, or of the branch that is
    /// the newest, and not a return address of a call chain.
    #[inline]
    #[must_use]
    pub fn is_in_branches(&self) -> bool {
        matches!(self.rest, Some(RestOfChain::Branches { .. }))
    }

    /// What follows is code of another mode.
    fn enter(&mut self, mode: CpuMode) {
        if self.mode != mode {
            (self.mode, self.maps) = (mode, self.spaces.maps(mode));
            self.last = self.maps.and_then(Maps::noted);
        }
    }

    /// The next address, where the words of the chain have ended.
    #[inline]
    fn next_other(&mut self) -> Option<u64> {
        if let Some(ip) = self.ip.take() {
            return Some(ip);
        }
        if self.rest.is_none() { None } else { self.next_of_rest() }
    }

    /// Applies a marker of the chain.
    #[inline(never)]
    fn mark(&mut self, context: CallchainContext) {
        if context == CallchainContext::USER_DEFERRED {
            self.words = no_words();
            self.rest = Some(RestOfChain::Deferred(self.deferred.iter().copied()));
            self.enter(CpuMode::USER);
        } else {
            self.enter(mode_of(context));
        }
    }

    /// The mapping of an address that is not in the mapping of the frame before.
    #[inline(never)]
    fn find(&mut self, ip: u64) -> Option<&'s Mapping> {
        let mapping = self.maps.and_then(|maps| maps.find(ip));
        if mapping.is_none() {
            return self.find_before_exec(ip);
        }
        self.last = mapping;
        mapping
    }

    #[cold]
    fn find_before_exec(&self, ip: u64) -> Option<&'s Mapping> {
        self.spaces.find_before_exec(self.mode, ip)
    }

    /// The next address of what is not a chain.
    #[inline(never)]
    fn next_of_rest(&mut self) -> Option<u64> {
        loop {
            match self.rest.as_mut()? {
                RestOfChain::Deferred(words) => {
                    let word = words.next()?;
                    match CallchainContext::of(word) {
                        None => return Some(word),
                        // The kernel writes the marker of user code first.
                        Some(context) => self.enter(mode_of(context)),
                    }
                }
                RestOfChain::Lbr { frames, branches } => match frames.next() {
                    Some(sample::ChainFrame::Ip { ip, context: Some(context) })
                        if context != CallchainContext::USER =>
                    {
                        self.enter(mode_of(context));
                        return Some(ip);
                    }
                    _ => {
                        let to = branches.clone().next().map(|branch| branch.to);
                        self.rest = Some(RestOfChain::Branches { to, branches: branches.clone() });
                        self.enter(CpuMode::USER);
                    }
                },
                RestOfChain::Branches { to, branches } => {
                    return to.take().or_else(|| branches.next().map(|branch| branch.from));
                }
            }
        }
    }
}

impl<'s> Iterator for Stack<'s, '_> {
    type Item = Frame<'s>;

    // Always, as a frame is returned in memory otherwise. What most frames do not need is in functions of its own, which
    // return a register.
    #[inline(always)]
    fn next(&mut self) -> Option<Frame<'s>> {
        let ip = loop {
            match self.words.next() {
                None => break self.next_other()?,
                Some(word) => match CallchainContext::of(word) {
                    None => break word,
                    Some(context) => self.mark(context),
                },
            }
        };
        let mapping = match self.last {
            Some(mapping) if mapping.contains(ip) => Some(mapping),
            _ => self.find(ip),
        };
        Some(Frame { ip, mode: self.mode, mapping })
    }
}

/// The words of an empty chain.
#[inline]
fn no_words<'r>() -> ListIter<'r, u64> {
    List::new_in(Endianness::Little, &[]).iter()
}

/// The call chain of a sample.
enum SampleChain<'r> {
    Words(ListIter<'r, u64>),
    /// The user part is in the branches.
    Lbr(sample::ChainFrames<'r>, ListIter<'r, Branch>),
}

/// Returns the call chain of a sample that has one.
#[inline]
fn chain_of<'r>(record: &EventRecord<'r>, sample: Sample<'r>) -> Result<SampleChain<'r>, FileError> {
    let chain = match sample.callchain().map_err(|error| record.error(error))? {
        Some(chain) => chain,
        None => return Ok(SampleChain::Words(no_words())),
    };
    Ok(match branches_of(record, &sample)? {
        Some(branches) => SampleChain::Lbr(chain.frames(), branches),
        None => SampleChain::Words(chain.words().iter()),
    })
}

/// Returns the branches of a sample, if they are its call stack.
#[inline]
fn branches_of<'r>(
    record: &EventRecord<'r>,
    sample: &Sample<'r>,
) -> Result<Option<ListIter<'r, Branch>>, FileError> {
    let event = record.event();
    if event.is_none_or(|it| !it.attr.branch_sample_type.contains(BranchSampleType::CALL_STACK)) {
        return Ok(None);
    }
    let tail = sample.tail().map_err(|error| record.error(error))?;
    Ok(tail.branch_stack.filter(|it| !it.entries.is_empty()).map(|it| it.entries.iter()))
}

/// Returns whose code follows a context marker.
fn mode_of(context: CallchainContext) -> CpuMode {
    match context {
        CallchainContext::USER => CpuMode::USER,
        CallchainContext::KERNEL => CpuMode::KERNEL,
        CallchainContext::HV => CpuMode::HYPERVISOR,
        CallchainContext::GUEST_KERNEL => CpuMode::GUEST_KERNEL,
        CallchainContext::GUEST_USER => CpuMode::GUEST_USER,
        _ => CpuMode::CPUMODE_UNKNOWN,
    }
}
