//! The registers of a machine, by their numbers in DWARF.

use gimli::Register;
use perf_abi::provisional::simd_regs::without_simd;
use perf_abi::regs::{Arch, RegsAbi, arm, arm64, x86};

/// A machine whose stacks can be unwound: what an ELF file is for, and what a task runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnwindMachine {
    /// x86, 64 bits.
    X86_64,
    /// x86, 32 bits.
    X86,
    /// Arm, 64 bits.
    Aarch64,
    /// Arm, 32 bits.
    Arm,
}

impl UnwindMachine {
    /// Returns the machine of a task, by the architecture of the recording kernel and the ABI in the sample. `None` for
    /// an architecture that is not supported, and for a task without user space.
    ///
    /// Kernel: `perf_reg_abi`, `arch/*/kernel/perf_regs.c`.
    #[must_use]
    pub fn of_task(arch: Arch, abi: RegsAbi) -> Option<Self> {
        // Vector registers after the others do not matter here.
        match (arch, without_simd(abi)) {
            (Arch::X86, RegsAbi::ABI_64) => Some(Self::X86_64),
            (Arch::X86, RegsAbi::ABI_32) => Some(Self::X86),
            (Arch::Arm64, RegsAbi::ABI_64) => Some(Self::Aarch64),
            (Arch::Arm64 | Arch::Arm, RegsAbi::ABI_32) => Some(Self::Arm),
            _ => None,
        }
    }

    /// Returns the machine of an ELF file; `None` for one that is not supported.
    pub(crate) fn of_file(machine: u16, is_64: bool) -> Option<Self> {
        match (object::elf::Machine(machine), is_64) {
            (object::elf::EM_X86_64, true) => Some(Self::X86_64),
            (object::elf::EM_386, false) => Some(Self::X86),
            (object::elf::EM_AARCH64, true) => Some(Self::Aarch64),
            (object::elf::EM_ARM, false) => Some(Self::Arm),
            _ => None,
        }
    }

    /// Returns the number of bytes of an address.
    pub(crate) fn address_size(self) -> u8 {
        match self {
            Self::X86_64 | Self::Aarch64 => 8,
            Self::X86 | Self::Arm => 4,
        }
    }

    /// Returns the part of a word that is an address.
    pub(crate) fn address_mask(self) -> u64 {
        match self {
            Self::X86_64 | Self::Aarch64 => u64::MAX,
            Self::X86 | Self::Arm => u32::MAX as u64,
        }
    }

    /// Returns the part of a return address that is the address. On arm64, processes have 48 bits of addresses, unless
    /// they ask for more; the bits above may be a signature.
    ///
    /// Kernel: `Documentation/arch/arm64/pointer-authentication.rst`.
    pub(crate) fn code_mask(self) -> u64 {
        match self {
            Self::Aarch64 => (1 << 48) - 1,
            _ => self.address_mask(),
        }
    }

    /// Returns the address of the instruction that a value of the program counter means. Of 32-bit Arm, the lowest bit of a return
    /// address says that it is Thumb code.
    pub(crate) fn instruction(self, pc: u64) -> u64 {
        if self == Self::Arm { pc & !1 } else { pc }
    }

    /// The stack pointer.
    pub(crate) fn sp(self) -> Register {
        match self {
            Self::X86_64 => gimli::X86_64::RSP,
            Self::X86 => gimli::X86::ESP,
            Self::Aarch64 => gimli::AArch64::SP,
            Self::Arm => gimli::Arm::R13,
        }
    }

    /// The frame pointer.
    pub(crate) fn fp(self) -> Register {
        match self {
            Self::X86_64 => gimli::X86_64::RBP,
            Self::X86 => gimli::X86::EBP,
            Self::Aarch64 => gimli::AArch64::X29,
            Self::Arm => gimli::Arm::R11,
        }
    }

    /// The register that has the return address when a function is entered; `None` if the stack has it.
    pub(crate) fn link(self) -> Option<Register> {
        match self {
            Self::X86_64 | Self::X86 => None,
            Self::Aarch64 => Some(gimli::AArch64::X30),
            Self::Arm => Some(gimli::Arm::R14),
        }
    }

    /// The registers that a function leaves as they were, as bits. The value of another one is lost in its caller.
    pub(crate) fn callee_saved(self) -> u64 {
        match self {
            // rbx, rbp, rsp, r12 to r15
            Self::X86_64 => 0b1111_0000_1100_1000,
            // ebx, esp, ebp, esi, edi
            Self::X86 => 0b1111_1000,
            // x19 to x29, sp
            Self::Aarch64 => 0b1011_1111_1111_1000_0000_0000_0000_0000,
            // r4 to r11, sp
            Self::Arm => 0b0010_1111_1111_0000,
        }
    }

    /// Returns the register in DWARF of a bit of `sample_regs_user`; `None` for other bits, and for the instruction
    /// pointer.
    pub(crate) fn register_of(self, bit: u32) -> Option<Register> {
        let bit = u8::try_from(bit).ok()?;
        match self {
            Self::X86_64 => match x86::Reg(bit) {
                x86::Reg::AX => Some(gimli::X86_64::RAX),
                x86::Reg::BX => Some(gimli::X86_64::RBX),
                x86::Reg::CX => Some(gimli::X86_64::RCX),
                x86::Reg::DX => Some(gimli::X86_64::RDX),
                x86::Reg::SI => Some(gimli::X86_64::RSI),
                x86::Reg::DI => Some(gimli::X86_64::RDI),
                x86::Reg::BP => Some(gimli::X86_64::RBP),
                x86::Reg::SP => Some(gimli::X86_64::RSP),
                // R8 to R15 are 8 to 15.
                _ if (x86::Reg::R8.0..=x86::Reg::R15.0).contains(&bit) => {
                    Some(Register(u16::from(bit.saturating_sub(x86::Reg::R8.0)).saturating_add(8)))
                }
                _ => None,
            },
            Self::X86 => match x86::Reg(bit) {
                x86::Reg::AX => Some(gimli::X86::EAX),
                x86::Reg::BX => Some(gimli::X86::EBX),
                x86::Reg::CX => Some(gimli::X86::ECX),
                x86::Reg::DX => Some(gimli::X86::EDX),
                x86::Reg::SI => Some(gimli::X86::ESI),
                x86::Reg::DI => Some(gimli::X86::EDI),
                x86::Reg::BP => Some(gimli::X86::EBP),
                x86::Reg::SP => Some(gimli::X86::ESP),
                _ => None,
            },
            // The numbers are those of DWARF.
            Self::Aarch64 => (bit <= arm64::Reg::SP.0).then_some(Register(bit.into())),
            Self::Arm => (bit < arm::Reg::PC.0).then_some(Register(bit.into())),
        }
    }

    /// Returns the bit of `sample_regs_user` of the instruction pointer.
    pub(crate) fn pc_bit(self) -> u32 {
        match self {
            Self::X86_64 | Self::X86 => x86::Reg::IP.0.into(),
            Self::Aarch64 => arm64::Reg::PC.0.into(),
            // Those of a 32-bit task on arm64 are the first ones, too.
            Self::Arm => arm::Reg::PC.0.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_the_names_of_both_tables() {
        for bit in 0..64 {
            let name = |arch: Arch| arch.name(bit).unwrap().to_lowercase();
            if let Some(register) = UnwindMachine::X86_64.register_of(bit) {
                let theirs = gimli::X86_64::register_name(register).unwrap();
                assert_eq!(theirs.trim_start_matches('r'), name(Arch::X86).trim_start_matches('r'));
            }
            if let Some(register) = UnwindMachine::X86.register_of(bit) {
                assert_eq!(gimli::X86::register_name(register).unwrap(), format!("e{}", name(Arch::X86)));
            }
            if let Some(register) = UnwindMachine::Aarch64.register_of(bit) {
                let theirs = gimli::AArch64::register_name(register).unwrap().to_lowercase();
                assert_eq!(theirs, name(Arch::Arm64).replace("lr", "x30"));
            }
            if let Some(register) = UnwindMachine::Arm.register_of(bit) {
                let theirs = gimli::Arm::register_name(register).unwrap().to_lowercase();
                let ours = name(Arch::Arm);
                assert!(
                    theirs == ours || ["fp", "ip", "sp", "lr"].contains(&ours.as_str()),
                    "{theirs} {ours}"
                );
            }
        }
        let known =
            |machine: UnwindMachine| (0..64).filter(|&bit| machine.register_of(bit).is_some()).count();
        assert_eq!(known(UnwindMachine::X86_64), 16);
        assert_eq!(known(UnwindMachine::X86), 8);
        assert_eq!(known(UnwindMachine::Aarch64), 32);
        assert_eq!(known(UnwindMachine::Arm), 15);
    }

    #[test]
    fn what_a_function_keeps() {
        for machine in [UnwindMachine::X86_64, UnwindMachine::X86, UnwindMachine::Aarch64, UnwindMachine::Arm]
        {
            let keeps = |register: Register| machine.callee_saved() >> register.0 & 1 == 1;
            assert!(keeps(machine.sp()) && keeps(machine.fp()), "{machine:?}");
            assert!(!machine.link().is_some_and(keeps), "{machine:?}");
        }
    }
}
