//! The stack of a sample, as addresses with their mappings.

use core::iter::Copied;
use core::slice;

use perf_abi::branch::BranchSampleType;
use perf_abi::callchain::CallchainContext;
use perf_abi::record::CpuMode;
use perf_parse::list::{Branch, ListIter};
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
    addresses: Addresses<'r>,
    /// Whose code the next address is, and the mappings that have it.
    mode: CpuMode,
    maps: Option<&'s Maps>,
    /// The mapping that was found last in `maps`. Most frames are in the mapping of the frame before.
    last: Option<&'s Mapping>,
}

/// Where the addresses come from.
#[derive(Clone, Debug)]
enum Addresses<'r> {
    /// A sample without a call chain: its instruction pointer.
    Ip(Option<u64>),
    Chain {
        words: ListIter<'r, u64>,
        /// The user part that came in a later record.
        deferred: &'r [u64],
    },
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
    #[inline]
    pub(crate) fn new(
        spaces: Spaces<'s>,
        record: &'r EventRecord<'r>,
        sample: Sample<'r>,
        deferred: Option<&'r [u64]>,
    ) -> Result<Self, FileError> {
        let (addresses, mode) = match sample.callchain().map_err(|error| record.error(error))? {
            None => (Addresses::Ip(sample.ip()), record.misc().cpumode()),
            Some(chain) => {
                let addresses = match branches_of(record, &sample)? {
                    Some(branches) => Addresses::Lbr { frames: chain.frames(), branches },
                    None => Addresses::Chain {
                        words: chain.words().iter(),
                        deferred: deferred.unwrap_or_default(),
                    },
                };
                // Before the first marker it is the user's, as perf reads it.
                (addresses, CpuMode::USER)
            }
        };
        Ok(Self { spaces, addresses, mode, maps: spaces.maps(mode), last: None })
    }

    /// What follows is code of another mode.
    fn enter(&mut self, mode: CpuMode) {
        if self.mode != mode {
            (self.mode, self.maps, self.last) = (mode, self.spaces.maps(mode), None);
        }
    }

    #[inline]
    fn next_address(&mut self) -> Option<u64> {
        while let Addresses::Chain { words, deferred } = &mut self.addresses {
            let word = words.next()?;
            match CallchainContext::of(word) {
                None => return Some(word),
                Some(CallchainContext::USER_DEFERRED) => {
                    self.addresses = Addresses::Deferred(deferred.iter().copied());
                    self.enter(CpuMode::USER);
                }
                Some(context) => self.enter(mode_of(context)),
            }
        }
        self.next_other()
    }

    /// The frame of an address that is not in the mapping of the frame before.
    #[inline]
    fn find(&mut self, ip: u64) -> Frame<'s> {
        let mapping = self.maps.and_then(|maps| maps.find(ip));
        if mapping.is_some() {
            self.last = mapping;
        }
        let mapping = mapping.or_else(|| self.spaces.find_before_exec(self.mode, ip));
        Frame { ip, mode: self.mode, mapping }
    }

    /// The next address of what is not a chain.
    #[inline(never)]
    fn next_other(&mut self) -> Option<u64> {
        loop {
            match &mut self.addresses {
                Addresses::Ip(ip) => return ip.take(),
                Addresses::Chain { .. } => return None,
                Addresses::Deferred(words) => {
                    let word = words.next()?;
                    match CallchainContext::of(word) {
                        None => return Some(word),
                        // The kernel writes the marker of user code first.
                        Some(context) => self.enter(mode_of(context)),
                    }
                }
                Addresses::Lbr { frames, branches } => match frames.next() {
                    Some(sample::Frame::Ip { ip, context: Some(context) })
                        if context != CallchainContext::USER =>
                    {
                        self.enter(mode_of(context));
                        return Some(ip);
                    }
                    _ => {
                        let to = branches.clone().next().map(|branch| branch.to);
                        self.addresses = Addresses::Branches { to, branches: branches.clone() };
                        self.enter(CpuMode::USER);
                    }
                },
                Addresses::Branches { to, branches } => {
                    return to.take().or_else(|| branches.next().map(|branch| branch.from));
                }
            }
        }
    }
}

impl<'s> Iterator for Stack<'s, '_> {
    type Item = Frame<'s>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'s>> {
        let ip = self.next_address()?;
        match self.last {
            Some(mapping) if mapping.start <= ip && ip < mapping.end => {
                Some(Frame { ip, mode: self.mode, mapping: Some(mapping) })
            }
            _ => Some(self.find(ip)),
        }
    }
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
