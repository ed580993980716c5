//! `E_MACHINE`: the machine as ELF files identify it.

use super::codec::entry;

entry! {
    /// A machine as the header of an ELF file identifies it.
    ///
    /// perf: `write_e_machine`, `tools/perf/util/header.c`.
    pub struct EMachine {
        /// `EM_*` of `elf.h`.
        pub e_machine: u32,
        /// `EF_*` of that machine; 0 if perf could not determine them.
        pub e_flags: u32,
    }
}

impl EMachine {
    /// Returns the name of the machine as in `elf.h`, without `EM_`; `None` for a machine that Linux does not run on.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        Some(match self.e_machine {
            2 => "SPARC",
            3 => "386",
            4 => "68K",
            8 => "MIPS",
            15 => "PARISC",
            20 => "PPC",
            21 => "PPC64",
            22 => "S390",
            40 => "ARM",
            42 => "SH",
            43 => "SPARCV9",
            62 => "X86_64",
            93 => "ARC_COMPACT",
            94 => "XTENSA",
            164 => "HEXAGON",
            183 => "AARCH64",
            189 => "MICROBLAZE",
            195 => "ARC_COMPACT2",
            243 => "RISCV",
            252 => "CSKY",
            258 => "LOONGARCH",
            0x9026 => "ALPHA",
            _ => return None,
        })
    }
}
