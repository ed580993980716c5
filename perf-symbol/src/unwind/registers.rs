//! The registers of a frame.

use gimli::Register;
use perf_parse::sample::Regs;

use super::machine::UnwindMachine;

/// Number of registers that are kept: as many as arm64 has.
const COUNT: usize = 32;

/// The registers of a frame, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnwindRegisters {
    /// The address of the next instruction of the frame.
    pub(crate) pc: u64,
    values: [u64; COUNT],
    /// Which of the values are known, as bits.
    known: u64,
}

impl UnwindRegisters {
    pub(crate) fn new(pc: u64) -> Self {
        Self { pc, values: [0; COUNT], known: 0 }
    }

    /// Returns the registers of a sample; `None` if it has no instruction pointer.
    pub(crate) fn of_sample(machine: UnwindMachine, regs: &Regs<'_>) -> Option<Self> {
        let mask = machine.address_mask();
        let mut registers = Self::new(regs.get(machine.pc_bit())? & mask);
        for (bit, value) in regs {
            if let Some(register) = machine.register_of(bit) {
                registers.set(register, value & mask);
            }
        }
        Some(registers)
    }

    #[inline]
    pub(crate) fn get(&self, register: Register) -> Option<u64> {
        let value = *self.values.get(usize::from(register.0))?;
        (self.known >> register.0 & 1 == 1).then_some(value)
    }

    /// Sets a register. One that is not kept is ignored.
    #[inline]
    pub(crate) fn set(&mut self, register: Register, value: u64) {
        if let Some(slot) = self.values.get_mut(usize::from(register.0)) {
            *slot = value;
            self.known |= 1_u64 << register.0;
        }
    }

    #[inline]
    pub(crate) fn forget(&mut self, register: Register) {
        if usize::from(register.0) < COUNT {
            self.known &= !(1_u64 << register.0);
        }
    }

    /// Forgets all registers but those of a mask.
    #[inline]
    pub(crate) fn keep(&mut self, mask: u64) {
        self.known &= mask;
    }
}
