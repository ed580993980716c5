//! The machines of ELF files.

use object::elf;

/// Returns `e_machine` of the ELF files of a machine, by its name in `uname -m`: `EM_*`; 0 (`EM_NONE`) for one that is not known.
#[must_use]
pub fn elf_machine(name: &str) -> u16 {
    let machine = match name {
        "x86_64" | "amd64" => elf::EM_X86_64,
        "x86" | "i386" | "i486" | "i586" | "i686" => elf::EM_386,
        _ if name.starts_with("aarch64") || name.starts_with("arm64") => elf::EM_AARCH64,
        _ if name.starts_with("arm") => elf::EM_ARM,
        _ if name.starts_with("ppc64") || name.starts_with("powerpc64") => elf::EM_PPC64,
        _ if name.starts_with("ppc") => elf::EM_PPC,
        _ if name.starts_with("riscv") => elf::EM_RISCV,
        _ if name.starts_with("s390") => elf::EM_S390,
        _ if name.starts_with("mips") => elf::EM_MIPS,
        _ if name.starts_with("loongarch") => elf::EM_LOONGARCH,
        _ => elf::EM_NONE,
    };
    machine.0
}
