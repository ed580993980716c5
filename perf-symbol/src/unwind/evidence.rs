//! The evidence that an address on a stack is the return address of a call.

use super::call::{self, Calls};
use super::linkage::LinkageStub;
use super::machine::UnwindMachine;
use super::module::Module;
use super::space::{AddressKind, Space};

/// The evidence that a word of a stack is the return address of a call of a function, the weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// The address is not in code, or no call that can get to the function is before it.
    None,
    /// It is in code whose bytes are not known: that of a just-in-time compiler, or a file that is not available.
    Code,
    /// A call through a register or memory is before it.
    Indirect,
    /// A direct call of the function, or of its PLT stub, is before it.
    Direct,
}

impl Evidence {
    /// Returns whether a call, of any function, is before an address of code; true where the bytes are not known.
    pub(crate) fn is_after_call<S: Space>(space: &mut S, machine: UnwindMachine, pc: u64) -> bool {
        match Self::calls(space, machine, pc) {
            Ok((_, calls)) => calls.is_indirect || calls.direct.is_some(),
            Err(evidence) => evidence == Self::Code,
        }
    }

    /// Returns the calls before an address of code, and the number of its module.
    ///
    /// # Errors
    ///
    /// [`None`](Self::None) if the address is not in code, [`Code`](Self::Code) if its bytes are not known.
    fn calls<S: Space>(space: &mut S, machine: UnwindMachine, pc: u64) -> Result<(u32, Calls), Self> {
        let is_thumb = machine == UnwindMachine::Arm && pc & 1 == 1;
        let (number, address) = match space.place(pc.wrapping_sub(1)) {
            AddressKind::Nowhere | AddressKind::Data(_) => return Err(Self::None),
            AddressKind::Code(None) => return Err(Self::Code),
            AddressKind::Code(Some((number, before))) => (number, before.wrapping_add(1)),
        };
        let module = space.module(number).filter(|module| module.machine() == machine).ok_or(Self::Code)?;
        let bytes = before(module, address.wrapping_sub(is_thumb.into())).ok_or(Self::Code)?;
        Ok((number, Calls::before(machine, bytes, address)))
    }

    /// Returns the evidence that `pc` is the return address of a call of the function that is at `callee`.
    pub(crate) fn of<S: Space>(space: &mut S, machine: UnwindMachine, pc: u64, callee: u64) -> Self {
        let (caller, calls) = match Self::calls(space, machine, pc) {
            Ok(found) => found,
            Err(evidence) => return evidence,
        };
        let callee = match space.place(callee) {
            AddressKind::Code(callee) => callee,
            AddressKind::Nowhere | AddressKind::Data(_) => None,
        };
        let Some(target) = calls.direct else {
            return if calls.is_indirect { Self::Indirect } else { Self::None };
        };
        let Some(module) = space.module(caller) else { return Self::Code };
        let callee = callee.and_then(|(number, address)| Some((number, space.module(number)?, address)));
        let is_reached = callee.is_some_and(|(callee, in_module, to)| {
            callee == caller && is_in_function(in_module, target, to)
                || is_linked(module, target, in_module, to, callee == caller)
        });
        // Bytes that read as a direct call of other code and as an indirect one are the former.
        let is_elsewhere = || module.constant(target).is_some();
        match is_reached {
            true => Self::Direct,
            false if calls.is_indirect && !is_elsewhere() => Self::Indirect,
            false => Self::None,
        }
    }
}

/// Returns the bytes before an address of a file, as many as a call may have; `None` if they are not known.
fn before(module: &Module, address: u64) -> Option<&[u8]> {
    // A segment may start a few bytes before it.
    (1..=call::LONGEST).rev().find_map(|count| {
        let bytes = module.constant(address.checked_sub(count)?)?;
        bytes.get(..usize::try_from(count).ok()?)
    })
}

/// The largest distance from the start of a function to an address that is taken to be in it, if the file has no symbol for
/// either.
const LARGEST: u64 = 1 << 16;

/// Returns whether an address is in the function that a call in the same file is to.
fn is_in_function(module: &Module, target: u64, address: u64) -> bool {
    let functions = module.functions();
    match (functions.find(target), functions.find(address)) {
        (Some(called), Some(of)) => called.start == of.start || (called.start..called.end).contains(&address),
        (None, None) => target <= address && address.wrapping_sub(target) < LARGEST,
        _ => false,
    }
}

/// Returns whether a call gets to an address by a stub of the caller's PLT.
fn is_linked(caller: &Module, target: u64, callee: &Module, address: u64, is_same: bool) -> bool {
    match caller.linkage().stub(target) {
        Some(LinkageStub::Named(name)) => callee.linkage().is_reached(name, address),
        Some(LinkageStub::Chosen) => is_same,
        None => false,
    }
}
