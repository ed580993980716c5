//! The stack of a sample, as addresses with their mappings.

use core::iter::Copied;
use core::slice;

use perf_abi::branch::BranchSampleType;
use perf_abi::callchain::CallchainContext;
use perf_abi::record::CpuMode;
use perf_parse::FileError;
use perf_parse::list::ListIter;
use perf_parse::sample;

use crate::map::Mapping;
use crate::session::At;

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

/// The frames of a stack, innermost first; made by [`At::stack`].
#[derive(Clone, Debug)]
pub struct Stack<'s, 'r> {
    at: At<'s, 'r>,
    addresses: Addresses<'r>,
    /// The mapping that was found last. Most frames are in the mapping of the frame before.
    last: Option<(CpuMode, &'s Mapping)>,
}

/// Where the addresses come from.
#[derive(Clone, Debug)]
enum Addresses<'r> {
    /// A sample without a call chain: its instruction pointer.
    Ip(Option<(u64, CpuMode)>),
    Chain {
        frames: sample::Frames<'r>,
        /// The user part that came in a later record.
        deferred: Option<&'r [u64]>,
    },
    Deferred(Copied<slice::Iter<'r, u64>>),
    /// The kernel's part of the chain, then the branches of the user part.
    Lbr {
        frames: sample::Frames<'r>,
        branches: ListIter<'r, perf_parse::list::Branch>,
    },
    Branches {
        to: Option<u64>,
        branches: ListIter<'r, perf_parse::list::Branch>,
    },
}

impl<'s, 'r> Stack<'s, 'r> {
    /// See [`At::stack`].
    pub(crate) fn new(at: At<'s, 'r>, deferred: Option<&'r [u64]>) -> Result<Self, FileError> {
        let sample = at.sample();
        let addresses = match at.record().callchain()? {
            None => Addresses::Ip(sample.ip().map(|ip| (ip, at.mode()))),
            Some(chain) if is_call_stack(&at) => {
                let tail = sample.tail().map_err(|error| at.record().error(error))?;
                match tail.branch_stack {
                    Some(branches) if !branches.entries.is_empty() => {
                        Addresses::Lbr { frames: chain.frames(), branches: branches.entries.iter() }
                    }
                    _ => Addresses::Chain { frames: chain.frames(), deferred },
                }
            }
            Some(chain) => Addresses::Chain { frames: chain.frames(), deferred },
        };
        Ok(Self { at, addresses, last: None })
    }

    fn next_address(&mut self) -> Option<(u64, CpuMode)> {
        loop {
            match &mut self.addresses {
                Addresses::Ip(ip) => return ip.take(),
                Addresses::Chain { frames, deferred } => match frames.next()? {
                    sample::Frame::Ip { ip, context } => return Some((ip, mode_of(context))),
                    _ => self.addresses = Addresses::Deferred(deferred.unwrap_or_default().iter().copied()),
                },
                Addresses::Deferred(ips) => return Some((ips.next()?, CpuMode::USER)),
                Addresses::Lbr { frames, branches } => match frames.next() {
                    Some(sample::Frame::Ip { ip, context })
                        if context.is_some_and(|it| it != CallchainContext::USER) =>
                    {
                        return Some((ip, mode_of(context)));
                    }
                    _ => {
                        let to = branches.clone().next().map(|branch| branch.to);
                        self.addresses = Addresses::Branches { to, branches: branches.clone() };
                    }
                },
                Addresses::Branches { to, branches } => {
                    let ip = to.take().or_else(|| branches.next().map(|branch| branch.from))?;
                    return Some((ip, CpuMode::USER));
                }
            }
        }
    }
}

impl<'s> Iterator for Stack<'s, '_> {
    type Item = Frame<'s>;

    fn next(&mut self) -> Option<Frame<'s>> {
        let (ip, mode) = self.next_address()?;
        let near = self.last.filter(|(of, mapping)| *of == mode && mapping.range().contains(&ip));
        let mapping = match near {
            Some((_, mapping)) => Some(mapping),
            None => self.at.find(mode, ip),
        };
        self.last = mapping.map(|mapping| (mode, mapping)).or(self.last);
        Some(Frame { ip, mode, mapping })
    }
}

/// Returns whether the branches of an event are its call stack.
fn is_call_stack(at: &At<'_, '_>) -> bool {
    let event = at.record().event();
    event.is_some_and(|event| event.attr.branch_sample_type.contains(BranchSampleType::CALL_STACK))
}

/// Returns whose code follows a context marker. Before the first marker it is the user's, as perf reads it.
fn mode_of(context: Option<CallchainContext>) -> CpuMode {
    match context {
        None | Some(CallchainContext::USER) => CpuMode::USER,
        Some(CallchainContext::KERNEL) => CpuMode::KERNEL,
        Some(CallchainContext::HV) => CpuMode::HYPERVISOR,
        Some(CallchainContext::GUEST_KERNEL) => CpuMode::GUEST_KERNEL,
        Some(CallchainContext::GUEST_USER) => CpuMode::GUEST_USER,
        Some(_) => CpuMode::CPUMODE_UNKNOWN,
    }
}
