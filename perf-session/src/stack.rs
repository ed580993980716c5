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
use crate::spaces::Spaces;

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

/// The frames of a stack, innermost first; made by [`At::stack`](crate::At::stack).
#[derive(Clone, Debug)]
pub struct Stack<'s, 'r> {
    spaces: Spaces<'s>,
    /// The next words of the call chain.
    words: ListIter<'r, u64>,
    /// What follows the chain, or is in its place.
    rest: Rest<'r>,
    /// The user part of the chain that came in a later record.
    deferred: &'r [u64],
    /// Whose code the next address is, and the mappings that have it.
    mode: CpuMode,
    maps: Option<&'s Maps>,
    /// The mapping that was found last in `maps`. Most frames are in the mapping of the frame before.
    last: Option<&'s Mapping>,
}

/// Where addresses come from that are no words of a call chain.
#[derive(Clone, Debug)]
enum Rest<'r> {
    Nothing,
    /// A sample without a call chain: its instruction pointer.
    Ip(u64),
    Deferred(Copied<slice::Iter<'r, u64>>),
    /// The kernel's part of the chain, then the branches of the user part.
    Lbr {
        frames: sample::Frames<'r>,
        branches: ListIter<'r, Branch>,
    },
    Branches {
        to: Option<u64>,
        branches: ListIter<'r, Branch>,
    },
}

impl<'s, 'r> Stack<'s, 'r> {
    /// See [`At::stack`](crate::At::stack).
    // Always, as a stack is returned in memory otherwise.
    #[inline(always)]
    pub(crate) fn new(
        spaces: Spaces<'s>,
        record: &'r EventRecord<'r>,
        sample: Sample<'r>,
        mode: CpuMode,
        deferred: Option<&'r [u64]>,
    ) -> Result<Self, FileError> {
        let (words, rest, mode) = if sample.layout().sample_type().contains(SampleType::CALLCHAIN) {
            // Before the first marker it is the user's, as perf reads it.
            match chain_of(record, sample)? {
                Chain::Words(words) => (words, Rest::Nothing, CpuMode::USER),
                Chain::Lbr(frames, branches) => (no_words(), Rest::Lbr { frames, branches }, CpuMode::USER),
            }
        } else {
            (no_words(), sample.ip().map_or(Rest::Nothing, Rest::Ip), mode)
        };
        let deferred = deferred.unwrap_or_default();
        Ok(Self { spaces, words, rest, deferred, mode, maps: spaces.maps(mode), last: None })
    }

    /// What follows is code of another mode.
    fn enter(&mut self, mode: CpuMode) {
        if self.mode != mode {
            (self.mode, self.maps, self.last) = (mode, self.spaces.maps(mode), None);
        }
    }

    /// The next address, where `word` is a marker of the chain, or the chain has ended.
    #[inline]
    fn next_address(&mut self, word: Option<u64>) -> Option<u64> {
        match (word, &self.rest) {
            (None, Rest::Nothing) => None,
            (None, &Rest::Ip(ip)) => {
                self.rest = Rest::Nothing;
                Some(ip)
            }
            _ => self.next_other(word),
        }
    }

    /// The same for all stacks. A separate function, so that the loop of a caller is small.
    #[inline(never)]
    fn next_other(&mut self, mut word: Option<u64>) -> Option<u64> {
        loop {
            let Some(found) = word else { return self.next_of_rest() };
            match CallchainContext::of(found) {
                None => return Some(found),
                Some(context) => self.mark(context),
            }
            word = self.words.next();
        }
    }

    /// Applies a marker of the chain.
    fn mark(&mut self, context: CallchainContext) {
        if context == CallchainContext::USER_DEFERRED {
            self.words = no_words();
            self.rest = Rest::Deferred(self.deferred.iter().copied());
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
    #[inline]
    fn next_of_rest(&mut self) -> Option<u64> {
        loop {
            match &mut self.rest {
                Rest::Nothing => return None,
                Rest::Ip(ip) => {
                    let ip = *ip;
                    self.rest = Rest::Nothing;
                    return Some(ip);
                }
                Rest::Deferred(words) => {
                    let word = words.next()?;
                    match CallchainContext::of(word) {
                        None => return Some(word),
                        // The kernel writes the marker of user code first.
                        Some(context) => self.enter(mode_of(context)),
                    }
                }
                Rest::Lbr { frames, branches } => match frames.next() {
                    Some(sample::Frame::Ip { ip, context: Some(context) })
                        if context != CallchainContext::USER =>
                    {
                        self.enter(mode_of(context));
                        return Some(ip);
                    }
                    _ => {
                        let to = branches.clone().next().map(|branch| branch.to);
                        self.rest = Rest::Branches { to, branches: branches.clone() };
                        self.enter(CpuMode::USER);
                    }
                },
                Rest::Branches { to, branches } => {
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
        let ip = match self.words.next() {
            Some(word) if CallchainContext::of(word).is_none() => word,
            word => self.next_address(word)?,
        };
        let mapping = match self.last {
            Some(mapping) if mapping.start <= ip && ip < mapping.end => Some(mapping),
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
enum Chain<'r> {
    Words(ListIter<'r, u64>),
    /// The user part is in the branches.
    Lbr(sample::Frames<'r>, ListIter<'r, Branch>),
}

/// Returns the call chain of a sample that has one.
#[inline]
fn chain_of<'r>(record: &EventRecord<'r>, sample: Sample<'r>) -> Result<Chain<'r>, FileError> {
    let chain = match sample.callchain().map_err(|error| record.error(error))? {
        Some(chain) => chain,
        None => return Ok(Chain::Words(no_words())),
    };
    Ok(match branches_of(record, &sample)? {
        Some(branches) => Chain::Lbr(chain.frames(), branches),
        None => Chain::Words(chain.words().iter()),
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
