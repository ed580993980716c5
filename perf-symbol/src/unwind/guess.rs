//! The caller of code without unwind information: a guess.

use super::end::StackEnd;
use super::evidence::Evidence;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::registers::UnwindRegisters;

/// The largest distance from a stack pointer to a frame pointer.
const MAX_FRAME: u64 = 1 << 20;

/// A reading of the registers: where the caller goes on, and with which of them.
struct GuessedCaller {
    evidence: Evidence,
    caller: UnwindRegisters,
}

/// Turns the registers of a frame into those of its caller. `is_return` says that the frame called another one, and
/// `evidence` whether an address is a return address of a call of this frame's function.
///
/// There are two readings. The frame pointer leads to the caller's frame pointer and the return address. And a function that
/// has not set up its frame yet, or never does, has its return address at the stack pointer or in the link register: that is
/// for the innermost frame only. The reading with the better evidence counts.
///
/// # Errors
///
/// How the stack ends if there is no reading, or if two are as good as each other.
pub(crate) fn caller(
    machine: UnwindMachine,
    registers: &mut UnwindRegisters,
    memory: &StackMemory<'_>,
    is_return: bool,
    evidence: &mut dyn FnMut(u64) -> Evidence,
) -> Result<(), StackEnd> {
    let sp = registers.get(machine.sp()).ok_or(StackEnd::NoUnwindInfo)?;
    // r11 of 32-bit Arm points to other places in other compilers' frames.
    let fp = if machine == UnwindMachine::Arm { None } else { registers.get(machine.fp()) };
    let fp = fp.filter(|&fp| fp >= sp && fp.is_multiple_of(machine.address_size().into()));
    let framed = fp.and_then(|fp| of_frame(machine, registers, memory, fp, evidence));
    let entered = if is_return { None } else { of_entry(machine, registers, memory, sp, evidence) };
    let best = match (framed, entered) {
        (Some(framed), Some(entered)) if framed.evidence < entered.evidence => entered,
        (Some(framed), Some(entered))
            if framed.evidence == entered.evidence && framed.caller.pc != entered.caller.pc =>
        {
            return Err(StackEnd::NoUnwindInfo);
        }
        (Some(framed), _) => framed,
        (None, Some(entered)) => entered,
        (None, None) => {
            // A frame pointer a little beyond the copy is one.
            let is_beyond =
                |fp: u64| is_return && fp.wrapping_sub(sp) < MAX_FRAME && pair(machine, memory, fp).is_none();
            let is_truncated = fp.is_some_and(is_beyond);
            return Err(if is_truncated { StackEnd::Truncated } else { StackEnd::NoUnwindInfo });
        }
    };
    *registers = best.caller;
    Ok(())
}

/// Reads what a frame pointer leads to.
fn of_frame(
    machine: UnwindMachine,
    registers: &UnwindRegisters,
    memory: &StackMemory<'_>,
    fp: u64,
    evidence: &mut dyn FnMut(u64) -> Evidence,
) -> Option<GuessedCaller> {
    let (saved, pc) = pair(machine, memory, fp)?;
    let evidence = match evidence(pc) {
        Evidence::None => return None,
        // Without the bytes of the caller, its own frame has to be there.
        Evidence::Code if !is_frame(machine, memory, fp, saved) => return None,
        evidence => evidence,
    };
    let mut caller = *registers;
    caller.keep(0);
    caller.set(machine.fp(), saved);
    caller.set(machine.sp(), fp.wrapping_add(u64::from(machine.address_size()).wrapping_mul(2)));
    caller.pc = pc;
    Some(GuessedCaller { evidence, caller })
}

/// Reads the return address of a function that has no frame.
fn of_entry(
    machine: UnwindMachine,
    registers: &UnwindRegisters,
    memory: &StackMemory<'_>,
    sp: u64,
    evidence: &mut dyn FnMut(u64) -> Evidence,
) -> Option<GuessedCaller> {
    let size = machine.address_size();
    let (pc, sp) = match machine.link() {
        Some(link) => (registers.get(link)?, sp),
        None => (memory.read(sp, size)?, sp.wrapping_add(size.into())),
    };
    let pc = pc & machine.code_mask();
    let evidence = evidence(pc);
    if evidence <= Evidence::Code {
        return None;
    }
    let mut caller = *registers;
    caller.keep(machine.callee_saved());
    caller.set(machine.sp(), sp);
    caller.pc = pc;
    Some(GuessedCaller { evidence, caller })
}

/// Returns the saved frame pointer and the return address that a frame pointer leads to.
fn pair(machine: UnwindMachine, memory: &StackMemory<'_>, fp: u64) -> Option<(u64, u64)> {
    let size = machine.address_size();
    let (saved, pc) = memory.read(fp, size).zip(memory.read(fp.wrapping_add(size.into()), size))?;
    Some((saved, pc & machine.code_mask()))
}

/// Returns whether a saved frame pointer can be one: that of a frame after `fp`, not far away.
fn is_frame(machine: UnwindMachine, memory: &StackMemory<'_>, fp: u64, saved: u64) -> bool {
    let is_after = saved > fp && saved.wrapping_sub(fp) < MAX_FRAME;
    is_after
        && saved.is_multiple_of(machine.address_size().into())
        && pair(machine, memory, saved).is_none_or(|(next, _)| next == 0 || next > saved)
}
