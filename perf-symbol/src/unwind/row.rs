//! The row of an unwind table that covers an address, and its evaluation with all registers.

use std::ops::Range;

use gimli::{
    BaseAddresses, CallFrameInstruction, CfaRule, Encoding, EndianSlice, EvaluationResult, Expression,
    Operation, Register, RegisterRule, RunTimeEndian, UnwindContext, UnwindExpression, UnwindSection,
    UnwindTableRow, Value,
};

use super::end::StackEnd;
use super::expression::has_oversized_piece;
use super::fde::{Fde, Slice};
use super::lookup::FdeLookup;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::module::Module;
use super::registers::UnwindRegisters;
use super::rule::Rule;

/// The largest entry that is evaluated, in bytes. That of a function of 100,000 lines is smaller.
const MAX_ENTRY: usize = 256 << 10;

/// The largest number of operations of an expression.
const MAX_OPERATIONS: u32 = 1000;

/// The row for an address.
pub(crate) struct UnwindRow<'m, 'c> {
    row: &'c UnwindTableRow<usize>,
    return_address: Register,
    encoding: Encoding,
    /// Whether the function is a signal trampoline: its caller did not call it.
    pub(crate) is_signal: bool,
    section: &'m [u8],
    order: RunTimeEndian,
    machine: UnwindMachine,
}

/// Why there is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRow {
    /// No entry covers the address.
    Nothing,
    /// The entry is malformed.
    Malformed,
}

impl Module {
    /// Returns the addresses of the function at an address of the file if its entry never says that it has no caller.
    pub(crate) fn called(&self, address: u64) -> Option<Range<u64>> {
        let fde = match &self.fde(address)? {
            FdeLookup::Eh(section, fde) => is_called(section, &self.bases, fde).then(|| fde.clone()),
            FdeLookup::Debug(section, fde) => is_called(section, &self.bases, fde).then(|| fde.clone()),
        }?;
        Some(fde.initial_address()..fde.end_address())
    }

    /// Returns the row for an address of the file.
    pub(crate) fn row<'m, 'c>(
        &'m self,
        address: u64,
        context: &'c mut UnwindContext<usize>,
    ) -> Result<UnwindRow<'m, 'c>, NoRow> {
        let found = self.fde(address).ok_or(NoRow::Nothing)?;
        let (section, fde, row) = match &found {
            FdeLookup::Eh(section, fde) => {
                (&self.eh_frame, fde, row_of(section, &self.bases, fde, context, address))
            }
            FdeLookup::Debug(section, fde) => {
                (&self.debug_frame, fde, row_of(section, &self.bases, fde, context, address))
            }
        };
        let section = section.as_ref().ok_or(NoRow::Nothing)?;
        Ok(UnwindRow {
            row: row.ok_or(NoRow::Malformed)?,
            return_address: fde.cie().return_address_register(),
            encoding: fde.cie().encoding(),
            is_signal: fde.is_signal_trampoline() && section.is_signal(fde.cie().offset()),
            section: &section.bytes,
            order: self.gimli_order(),
            machine: self.machine(),
        })
    }
}

/// Returns whether no instruction of an entry says that a function has no caller.
fn is_called<'a, S: UnwindSection<Slice<'a>>>(section: &S, bases: &BaseAddresses, fde: &Fde<'a>) -> bool {
    if fde.entry_len() > MAX_ENTRY || fde.cie().entry_len() > MAX_ENTRY {
        return false;
    }
    let return_address = fde.cie().return_address_register();
    [fde.cie().instructions(section, bases), fde.instructions(section, bases)].into_iter().all(|mut it| {
        loop {
            match it.next() {
                Ok(Some(CallFrameInstruction::Undefined { register })) if register == return_address => {
                    return false;
                }
                Ok(Some(_)) => {}
                Ok(None) => return true,
                // What follows cannot be read.
                Err(_) => return false,
            }
        }
    })
}

fn row_of<'a, 'c, S: UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &BaseAddresses,
    fde: &Fde<'a>,
    context: &'c mut UnwindContext<usize>,
    address: u64,
) -> Option<&'c UnwindTableRow<usize>> {
    if fde.entry_len() > MAX_ENTRY || fde.cie().entry_len() > MAX_ENTRY {
        return None;
    }
    fde.unwind_info_for_address(section, bases, context, address).ok()
}

impl<'m> UnwindRow<'m, '_> {
    /// Returns the row as a rule; `None` if it needs more than a rule can say.
    pub(crate) fn rule(&self) -> Option<Rule> {
        if self.is_signal {
            return None;
        }
        let indirect = match self.row.cfa() {
            CfaRule::RegisterAndOffset { .. } => None,
            CfaRule::Expression(expression) => Some(self.indirect(expression)?),
        };
        Rule::of_row(self.machine, self.row, self.return_address, indirect)
    }

    /// Returns the register and the offset of an expression that reads the memory there, and does nothing else.
    fn indirect(&self, expression: &UnwindExpression<usize>) -> Option<(Register, i64)> {
        let mut operations = self.expression(expression)?.operations(self.encoding);
        let Ok(Some(Operation::RegisterOffset { register, offset, .. })) = operations.next() else {
            return None;
        };
        let Ok(Some(Operation::Deref { size, space: false, .. })) = operations.next() else { return None };
        let is_all = size == self.machine.address_size() && matches!(operations.next(), Ok(None));
        is_all.then_some((register, offset))
    }

    fn expression(&self, expression: &UnwindExpression<usize>) -> Option<Expression<Slice<'m>>> {
        let end = expression.offset.checked_add(expression.length)?;
        let bytes = self.section.get(expression.offset..end).filter(|bytes| !has_oversized_piece(bytes))?;
        Some(Expression(EndianSlice::new(bytes, self.order)))
    }

    /// Turns the registers of a frame into those of its caller. `bias` is what an address of the file needs to become one
    /// of the process. `read` reads memory of up to 8 bytes.
    ///
    /// # Errors
    ///
    /// How the stack ends, if there is no caller or it cannot be found.
    pub(crate) fn apply(
        &self,
        registers: &mut UnwindRegisters,
        memory: &StackMemory<'_>,
        bias: u64,
        read: &mut dyn FnMut(u64, u8) -> Option<u64>,
    ) -> Result<(), StackEnd> {
        let machine = self.machine;
        let (mask, size) = (machine.address_mask(), machine.address_size());
        let mut read =
            |addr: u64, size: u8| read(addr & mask, size).ok_or_else(|| memory.end_without(addr & mask));
        let cfa = match self.row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                registers.get(*register).ok_or(StackEnd::Garbage)?.wrapping_add_signed(*offset)
            }
            CfaRule::Expression(expression) => self.evaluate(expression, None, registers, bias, &mut read)?,
        } & mask;
        let sp = registers.get(machine.sp()).ok_or(StackEnd::Garbage)?;
        let mut value_of = |register: Register, rule: &RegisterRule<usize>| {
            let value = match rule {
                RegisterRule::SameValue => registers.get(register).ok_or(StackEnd::Garbage)?,
                RegisterRule::Offset(offset) => read(cfa.wrapping_add_signed(*offset), size)?,
                RegisterRule::ValOffset(offset) => cfa.wrapping_add_signed(*offset),
                RegisterRule::Register(other) => registers.get(*other).ok_or(StackEnd::Garbage)?,
                RegisterRule::Expression(expression) => {
                    let place = self.evaluate(expression, Some(cfa), registers, bias, &mut read)?;
                    read(place, size)?
                }
                RegisterRule::ValExpression(expression) => {
                    self.evaluate(expression, Some(cfa), registers, bias, &mut read)?
                }
                RegisterRule::Constant(value) => *value,
                _ => return Err(StackEnd::Garbage),
            };
            Ok(value & mask)
        };
        let pc = match self.row.register(self.return_address) {
            Some(RegisterRule::Undefined) => return Err(StackEnd::Rooted),
            Some(rule) => value_of(self.return_address, &rule)?,
            None if machine.link() == Some(self.return_address) => {
                value_of(self.return_address, &RegisterRule::SameValue).map_err(|_| StackEnd::NoUnwindInfo)?
            }
            None => return Err(StackEnd::Garbage),
        };
        let mut caller = *registers;
        if !self.is_signal {
            caller.keep(machine.callee_saved());
        }
        caller.set(machine.sp(), cfa);
        for (register, rule) in self.row.registers() {
            match value_of(*register, rule) {
                Ok(value) => caller.set(*register, value),
                // It was popped: the register has the value again. Compilers leave that out of the tables.
                Err(_) if matches!(rule, RegisterRule::Offset(at) if cfa.wrapping_add_signed(*at) < sp) => {}
                Err(_) => caller.forget(*register),
            }
        }
        caller.pc = pc & machine.code_mask();
        // A signal may have switched stacks. A function whose return address is in a register may have saved nothing.
        let new_sp = caller.get(machine.sp()).ok_or(StackEnd::Garbage)?;
        if !self.is_signal && (new_sp < sp || new_sp == sp && caller.pc == registers.pc) {
            return Err(StackEnd::Garbage);
        }
        *registers = caller;
        Ok(())
    }

    fn evaluate(
        &self,
        expression: &UnwindExpression<usize>,
        cfa: Option<u64>,
        registers: &UnwindRegisters,
        bias: u64,
        read: &mut dyn FnMut(u64, u8) -> Result<u64, StackEnd>,
    ) -> Result<u64, StackEnd> {
        let malformed = |_| StackEnd::Garbage;
        let expression = self.expression(expression).ok_or(StackEnd::Garbage)?;
        let mut evaluation = expression.evaluation(self.encoding);
        evaluation.set_max_iterations(MAX_OPERATIONS);
        if let Some(cfa) = cfa {
            evaluation.set_initial_value(cfa);
        }
        let mut result = evaluation.evaluate().map_err(malformed)?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = match register {
                        // The instruction pointer, which has a number of its own on x86.
                        _ if register == self.return_address && self.machine.link().is_none() => registers.pc,
                        _ => registers.get(register).ok_or(StackEnd::Garbage)?,
                    };
                    evaluation.resume_with_register(Value::Generic(value)).map_err(malformed)?
                }
                EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                    let value = read(address, size)?;
                    evaluation.resume_with_memory(Value::Generic(value)).map_err(malformed)?
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    let address = address.wrapping_add(bias);
                    evaluation.resume_with_relocated_address(address).map_err(malformed)?
                }
                EvaluationResult::RequiresCallFrameCfa => {
                    let cfa = cfa.ok_or(StackEnd::Garbage)?;
                    evaluation.resume_with_call_frame_cfa(cfa).map_err(malformed)?
                }
                _ => return Err(StackEnd::Garbage),
            };
        }
        match evaluation.as_result() {
            [piece] => match piece.location {
                gimli::Location::Address { address } => Ok(address),
                _ => Err(StackEnd::Garbage),
            },
            _ => Err(StackEnd::Garbage),
        }
    }
}
