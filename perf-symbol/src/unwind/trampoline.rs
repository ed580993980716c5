//! Trampolines by which Python calls its functions, each with code of its own: `python -X perf`.

use super::end::StackEnd;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::registers::UnwindRegisters;

/// Returns whether Python has trampolines for a machine.
pub(crate) fn is_possible(machine: UnwindMachine) -> bool {
    matches!(machine, UnwindMachine::X86_64 | UnwindMachine::Aarch64)
}

/// Turns the registers of a trampoline that called the interpreter into those of its caller.
///
/// A trampoline moves its stack pointer by 16 bytes. The outer 8 are the return address. Where it has set up a frame, the
/// inner 8 are the frame pointer of its caller. It saves nothing else.
///
/// CPython: `Python/asm_trampoline.S`.
///
/// # Errors
///
/// How the stack ends if the copy does not have these bytes.
pub(crate) fn restore(
    machine: UnwindMachine,
    registers: &mut UnwindRegisters,
    memory: &StackMemory<'_>,
) -> Result<(), StackEnd> {
    let sp = registers.get(machine.sp()).ok_or(StackEnd::NoUnwindInfo)?;
    let read = |addr| memory.read(addr, 8).ok_or_else(|| memory.end_without(addr));
    let pc = read(sp.wrapping_add(8))? & machine.code_mask();
    let has_frame = registers.get(machine.fp()) == Some(sp);
    let saved = if has_frame { Some(read(sp)?) } else { None };
    registers.keep(machine.callee_saved());
    if let Some(saved) = saved {
        registers.set(machine.fp(), saved);
    }
    registers.set(machine.sp(), sp.wrapping_add(16));
    registers.pc = pc;
    Ok(())
}
