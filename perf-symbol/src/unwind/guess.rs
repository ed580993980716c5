//! The caller of code without unwind information, by its frame pointer.

use super::end::StackEnd;
use super::machine::Machine;
use super::memory::Memory;
use super::registers::Registers;

/// What a guess found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guess {
    /// The registers are those of the caller.
    Caller,
    End(StackEnd),
}

/// Turns the registers of a frame into those of its caller, if its frame pointer leads to a return address. `is_return`
/// says that the frame called another one, and `is_code` whether an address is in code.
///
/// A function that has not set up its frame yet, or never does, has its return address at the stack pointer: that is tried
/// for the innermost frame.
pub(crate) fn caller(
    machine: Machine,
    registers: &mut Registers,
    memory: &Memory<'_>,
    is_return: bool,
    is_code: &mut dyn FnMut(u64) -> bool,
) -> Guess {
    let size = machine.address_size();
    // r11 of 32-bit Arm points to other places in other compilers' frames.
    let fp = if machine == Machine::Arm { None } else { registers.get(machine.fp()) };
    let Some(sp) = registers.get(machine.sp()) else { return Guess::End(StackEnd::NoUnwindInfo) };
    if fp == Some(0) && is_return {
        return Guess::End(StackEnd::Rooted);
    }
    let word = u64::from(size);
    let mut is_truncated = false;
    // The saved frame pointer, then the return address.
    if let Some(fp) = fp.filter(|&fp| fp >= sp && fp.is_multiple_of(word)) {
        let pair = memory.read(fp, size).zip(memory.read(fp.wrapping_add(word), size));
        if let Some((saved, pc)) = pair {
            let pc = pc & machine.code_mask();
            if pc == 0 || is_code(pc.wrapping_sub(1)) {
                registers.keep(0);
                registers.set(machine.fp(), saved);
                registers.set(machine.sp(), fp.wrapping_add(word.wrapping_mul(2)));
                registers.pc = pc;
                return Guess::Caller;
            }
        } else {
            // A frame pointer a little beyond the copy is one.
            is_truncated = is_return && fp.wrapping_sub(sp) < MAX_FRAME;
        }
    }
    // Of a machine that keeps it in a register, the function may have used that for something else since.
    let is_entered = !is_return && machine.link().is_none();
    if let Some(pc) = memory.read(sp, size).map(|pc| pc & machine.code_mask())
        && is_entered
        && pc != 0
        && is_code(pc.wrapping_sub(1))
    {
        registers.keep(machine.callee_saved());
        registers.set(machine.sp(), sp.wrapping_add(word));
        registers.pc = pc;
        return Guess::Caller;
    }
    Guess::End(if is_truncated { StackEnd::Truncated } else { StackEnd::NoUnwindInfo })
}

/// The largest distance from a stack pointer to a frame pointer that is taken for one.
const MAX_FRAME: u64 = 1 << 20;
