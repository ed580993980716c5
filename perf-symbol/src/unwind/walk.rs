//! The walk from frame to frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use gimli::UnwindContext;
use perf_abi::callchain::MAX_STACK_DEPTH;
use perf_abi::record::CpuMode;

use super::end::StackEnd;
use super::evidence::Evidence;
use super::first::Boundary;
use super::frame::{FrameSource, UnwoundFrame};
use super::guess;
use super::machine::UnwindMachine;
use super::memory::{StackMemory, number as number_of};
use super::registers::UnwindRegisters;
use super::row::NoRow;
use super::rule::Rule;
use super::rule_cache::{RuleAnswer, RuleCache};
use super::sigreturn;
use super::space::{AddressKind, Space};
use super::trampoline;

/// What walks need and keep.
pub(crate) struct Walker {
    rules: RuleCache,
    context: UnwindContext<usize>,
    pub(crate) max_stack: usize,
    /// The address and the stack pointer of each frame of the last walk.
    pub(crate) places: Vec<(u64, u64)>,
    /// Functions that have a caller: the number of the module and the first address, and the address after the last one.
    called: BTreeMap<(u32, u64), u64>,
}

/// The start of a walk.
pub(crate) struct WalkStart<'a> {
    pub(crate) machine: UnwindMachine,
    pub(crate) registers: UnwindRegisters,
    pub(crate) memory: StackMemory<'a>,
    pub(crate) mode: CpuMode,
    /// Whether the kernel was interrupted, so that the instruction pointer may be that after a system call.
    pub(crate) is_in_kernel: bool,
}

impl Walker {
    pub(crate) fn new(max_stack: usize) -> Self {
        let (rules, context) = (RuleCache::new(), UnwindContext::new());
        Self { rules, context, max_stack, places: Vec::new(), called: BTreeMap::new() }
    }

    /// Adds the frames of a stack, innermost first. Returns how the stack ends.
    pub(crate) fn walk<S: Space>(
        &mut self,
        space: &mut S,
        start: WalkStart<'_>,
        frames: &mut Vec<UnwoundFrame>,
    ) -> StackEnd {
        let WalkStart { machine, mut registers, memory, mode, is_in_kernel } = start;
        let mut source = FrameSource::Registers;
        self.places.clear();
        // Most frames have a word of the stack at least. Those of code that lies about itself may have none.
        let limit = memory.words(machine.address_size()).saturating_add(MAX_STACK_DEPTH.into());
        for _ in 0..self.max_stack.min(limit) {
            let is_return = !source.is_exact();
            // No call is in data.
            if is_return && matches!(space.place(registers.pc.wrapping_sub(1)), AddressKind::Data(_)) {
                return StackEnd::Garbage;
            }
            let ip = machine.instruction(registers.pc);
            frames.push(UnwoundFrame { ip, mode, is_return, source });
            self.places.push((ip, registers.get(machine.sp()).unwrap_or(0)));
            // A call may be the last instruction of a function, so that its return address is in the next one.
            // So may a system call that does not return: that of a signal trampoline, or exit.
            let is_last = is_in_kernel && source == FrameSource::Registers && {
                let mut is_covered = |address| self.is_covered(space, machine, address);
                !is_covered(registers.pc) && is_covered(registers.pc.wrapping_sub(1))
            };
            let lookup = ip.wrapping_sub(u64::from(is_return || is_last));
            source = match self.step(space, machine, &mut registers, &memory, lookup, is_return) {
                Ok(source) => source,
                Err(end) => return end,
            };
            if registers.pc == 0 {
                return StackEnd::Rooted;
            }
        }
        StackEnd::Truncated
    }

    /// Turns the registers of a frame into those of its caller. Returns how the caller was found.
    fn step<S: Space>(
        &mut self,
        space: &mut S,
        machine: UnwindMachine,
        registers: &mut UnwindRegisters,
        memory: &StackMemory<'_>,
        lookup: u64,
        is_return: bool,
    ) -> Result<FrameSource, StackEnd> {
        let place = match space.place(lookup) {
            AddressKind::Nowhere => return Err(StackEnd::NoMapping),
            AddressKind::Data(_) => return Err(StackEnd::Garbage),
            AddressKind::Code(place) => place,
        };
        if let Some((number, address)) = place {
            let known = match self.rules.get(number, address) {
                Some(known) => known,
                None => self.learn(space, machine, number, address),
            };
            match known {
                RuleAnswer::Rule(rule) => {
                    let rule = self.rules.rule(rule).ok_or(StackEnd::Garbage)?;
                    let source = space.source(number);
                    return rule.apply(machine, registers, memory).map(|()| source);
                }
                RuleAnswer::AtCalls(rule) => {
                    let rule = *self.rules.rule(rule).ok_or(StackEnd::Garbage)?;
                    let mut caller = *registers;
                    let applied = rule.apply(machine, &mut caller, memory);
                    if is_return || applied.is_ok() && is_called(space, machine, registers, caller.pc, lookup)
                    {
                        *registers = caller;
                        let source = space.source(number);
                        return applied.map(|()| source);
                    }
                }
                RuleAnswer::Assumed(rule) => {
                    let rule = *self.rules.rule(rule).ok_or(StackEnd::Garbage)?;
                    let mut caller = *registers;
                    match rule.apply(machine, &mut caller, memory) {
                        Err(StackEnd::Truncated) => return Err(StackEnd::Truncated),
                        Ok(()) if caller.pc == 0 => return Err(StackEnd::NoUnwindInfo),
                        Ok(()) if Evidence::is_after_call(space, machine, caller.pc) => {
                            *registers = caller;
                            return Ok(FrameSource::RemappedCfi);
                        }
                        // Other code may be there by now.
                        _ => {}
                    }
                }
                RuleAnswer::Row => return self.apply_row(space, registers, memory, number, address, lookup),
                RuleAnswer::Malformed => return Err(StackEnd::Garbage),
                RuleAnswer::Boundary(Boundary::First) => return Err(StackEnd::Rooted),
                // More would be needed than the copy of one stack.
                RuleAnswer::Boundary(Boundary::OtherStack) => return Err(StackEnd::Truncated),
                RuleAnswer::Nothing => {}
            }
            let code = space
                .module(number)
                .and_then(|module| module.constant(address.wrapping_add(is_return.into())));
            if code.is_some_and(|code| sigreturn::is_trampoline(machine, code)) {
                return sigreturn::restore(machine, registers, memory).map(|()| FrameSource::Signal);
            }
        }
        let may_be_trampoline = place.is_none() && is_return && trampoline::is_possible(machine);
        if may_be_trampoline && space.is_trampoline(lookup) {
            let mut caller = *registers;
            trampoline::restore(machine, &mut caller, memory)?;
            if Evidence::is_after_call(space, machine, caller.pc) {
                *registers = caller;
                return Ok(FrameSource::Trampoline);
            }
        }
        let mut evidence = |pc: u64| Evidence::of(space, machine, pc, lookup);
        guess::caller(machine, registers, memory, is_return, &mut evidence)?;
        Ok(FrameSource::FramePointer)
    }

    /// Returns whether an unwind table covers an address.
    fn is_covered<S: Space>(&mut self, space: &mut S, machine: UnwindMachine, address: u64) -> bool {
        let AddressKind::Code(Some((number, address))) = space.place(address) else { return false };
        let known = self.rules.get(number, address);
        known.unwrap_or_else(|| self.learn(space, machine, number, address)) != RuleAnswer::Nothing
    }

    /// Returns whether the unwind tables say that the function with a return address has no caller.
    pub(crate) fn is_root<S: Space>(
        &mut self,
        space: &mut S,
        machine: UnwindMachine,
        return_address: u64,
    ) -> bool {
        let AddressKind::Code(Some((number, address))) = space.place(return_address.wrapping_sub(1)) else {
            return false;
        };
        if space.source(number) != FrameSource::Cfi {
            return false;
        }
        if let Some(boundary) = space.module(number).and_then(|module| module.boundary(address)) {
            return boundary == Boundary::First;
        }
        let before = self.called.range(..=(number, address)).next_back();
        if before.is_some_and(|(&(module, _), &end)| module == number && address < end) {
            return false;
        }
        let module = space.module(number).filter(|module| module.machine() == machine);
        if let Some(range) = module.and_then(|module| module.called(address)) {
            self.called.insert((number, range.start), range.end);
            return false;
        }
        match self.learn(space, machine, number, address) {
            RuleAnswer::Rule(rule) => self.rules.rule(rule).is_some_and(Rule::is_root),
            _ => false,
        }
    }

    /// Forgets what was found in modules, whose numbers others get now.
    pub(crate) fn forget(&mut self) {
        self.rules.clear();
        self.called.clear();
    }

    /// Reads the unwind tables for an address that is not in the cache.
    #[cold]
    fn learn<S: Space>(
        &mut self,
        space: &S,
        machine: UnwindMachine,
        number: u32,
        address: u64,
    ) -> RuleAnswer {
        let Some(module) = space.module(number).filter(|module| module.machine() == machine) else {
            return RuleAnswer::Nothing;
        };
        let boundary = module.boundary(address);
        let known = match module.row(address, &mut self.context) {
            _ if boundary.is_some() => boundary.map_or(RuleAnswer::Nothing, RuleAnswer::Boundary),
            Err(NoRow::Nothing) => match module.exidx_rule(address) {
                Err(NoRow::Nothing) => RuleAnswer::Nothing,
                Err(NoRow::Malformed) => RuleAnswer::Malformed,
                Ok(rule) => RuleAnswer::AtCalls(self.rules.number_of(rule)),
            },
            Err(NoRow::Malformed) => RuleAnswer::Malformed,
            Ok(row) => match row.rule() {
                Some(rule) if space.source(number) == FrameSource::RemappedCfi => {
                    RuleAnswer::Assumed(self.rules.number_of(rule))
                }
                Some(rule) => RuleAnswer::Rule(self.rules.number_of(rule)),
                None => RuleAnswer::Row,
            },
        };
        self.rules.add(number, address, known);
        known
    }

    #[cold]
    fn apply_row<S: Space>(
        &mut self,
        space: &mut S,
        registers: &mut UnwindRegisters,
        memory: &StackMemory<'_>,
        module: u32,
        address: u64,
        lookup: u64,
    ) -> Result<FrameSource, StackEnd> {
        let source = space.source(module);
        let module = Arc::clone(space.module(module).ok_or(StackEnd::NoUnwindInfo)?);
        let row = module.row(address, &mut self.context).map_err(|_| StackEnd::Garbage)?;
        row.apply(registers, memory, lookup.wrapping_sub(address), &mut |addr, size| {
            memory.read(addr, size).or_else(|| {
                let (AddressKind::Code(Some((number, address))) | AddressKind::Data(Some((number, address)))) =
                    space.place(addr)
                else {
                    return None;
                };
                let module = space.module(number)?;
                number_of(module.constant(address)?, size, module.order())
            })
        })?;
        Ok(if row.is_signal { FrameSource::Signal } else { source })
    }
}

/// Returns whether `caller`, to which a rule for calls leads, is that of a function that was interrupted. In its prologue, the
/// function has not saved what the rule restores, and the link register still has the return address: one in another function.
fn is_called<S: Space>(
    space: &mut S,
    machine: UnwindMachine,
    registers: &UnwindRegisters,
    caller: u64,
    lookup: u64,
) -> bool {
    let link = machine.link().and_then(|link| registers.get(link)).map(|link| link & machine.code_mask());
    let is_caller = |link: u64| {
        let function = |space: &mut S, addr: u64| match space.place(addr) {
            AddressKind::Code(Some((number, address))) => {
                Some((number, space.module(number)?.exidx_function(address)?))
            }
            _ => None,
        };
        link != caller
            && function(space, link.wrapping_sub(1)) != function(space, lookup)
            && Evidence::of(space, machine, link, lookup) == Evidence::Direct
    };
    !link.is_some_and(is_caller) && Evidence::is_after_call(space, machine, caller)
}
