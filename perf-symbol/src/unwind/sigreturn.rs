//! Signal trampolines without unwind information: those of musl, of Go, and of the vdso of arm64.

use gimli::Register;

use super::end::StackEnd;
use super::machine::UnwindMachine;
use super::memory::StackMemory;
use super::registers::UnwindRegisters;

/// Returns whether code is the call of `rt_sigreturn`.
pub(crate) fn is_trampoline(machine: UnwindMachine, code: &[u8]) -> bool {
    match machine {
        // mov $15, %rax; syscall
        UnwindMachine::X86_64 => code.starts_with(&[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]),
        // mov x8, #139; svc #0
        UnwindMachine::Aarch64 => code.starts_with(&[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4]),
        UnwindMachine::X86 | UnwindMachine::Arm => false,
    }
}

/// Turns the registers of a trampoline into those of the code that the signal interrupted: the kernel put them on the
/// stack.
///
/// Kernel: `struct rt_sigframe`, `struct sigcontext`, `arch/x86/include/uapi/asm/sigcontext.h`,
/// `arch/arm64/include/uapi/asm/sigcontext.h`.
///
/// # Errors
///
/// How the stack ends, if the frame was not copied.
pub(crate) fn restore(
    machine: UnwindMachine,
    registers: &mut UnwindRegisters,
    memory: &StackMemory<'_>,
) -> Result<(), StackEnd> {
    use gimli::X86_64 as X;
    const ORDER: [Register; 16] = [
        X::R8,
        X::R9,
        X::R10,
        X::R11,
        X::R12,
        X::R13,
        X::R14,
        X::R15,
        X::RDI,
        X::RSI,
        X::RBP,
        X::RBX,
        X::RDX,
        X::RAX,
        X::RCX,
        X::RSP,
    ];
    let sp = registers.get(machine.sp()).ok_or(StackEnd::Garbage)?;
    let read = |addr: u64| memory.read(addr, 8).ok_or_else(|| memory.end_without(addr));
    let mut interrupted = UnwindRegisters::new(0);
    let mut place = match machine {
        // The return address is popped. Flags, link and stack of the context precede the registers.
        UnwindMachine::X86_64 => sp.wrapping_add(40),
        // The siginfo, then flags, link, stack and mask of the context, and the fault address.
        UnwindMachine::Aarch64 => sp.wrapping_add(312),
        UnwindMachine::X86 | UnwindMachine::Arm => return Err(StackEnd::NoUnwindInfo),
    };
    let aarch64 = (0..=gimli::AArch64::SP.0).map(Register);
    let x86_64 = ORDER.into_iter();
    let order: &mut dyn Iterator<Item = Register> =
        if machine == UnwindMachine::X86_64 { &mut { x86_64 } } else { &mut { aarch64 } };
    for register in order {
        interrupted.set(register, read(place)?);
        place = place.wrapping_add(8);
    }
    interrupted.pc = read(place)?;
    *registers = interrupted;
    Ok(())
}
