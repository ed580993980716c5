//! The machine and the tool: names, sizes, the command line.

use alloc::vec::Vec;

use perf_abi::endian::Endian;

use super::FeatureSection;
use super::fields::{number, string, strings};
use crate::error::FileError;

impl<'a> FeatureSection<'a> {
    /// Decodes `HOSTNAME`, `OSRELEASE`, `VERSION`, `ARCH`, `CPUDESC` or `CPUID`: one string.
    ///
    /// # Errors
    ///
    /// [`FileErrorKind::Feature`](crate::file::FileErrorKind::Feature) if the section ends within a field, a string has
    /// no NUL, or bytes are left after the last field. The error's offset is that of the field or of these bytes.
    pub fn string<O: Endian>(&self) -> Result<&'a [u8], FileError> {
        self.whole(|at| string::<O>(at, "string"))
    }

    /// Decodes `CMDLINE`: the words of the command line.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn strings<O: Endian>(&self) -> Result<Vec<&'a [u8]>, FileError> {
        self.whole(|at| strings::<O>(at, "nr", "string"))
    }

    /// Decodes `NRCPUS`: the number of CPUs available and the number of CPUs online.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn nr_cpus<O: Endian>(&self) -> Result<(u32, u32), FileError> {
        self.whole(|at| Ok((number::<O>(at, "nr_cpus_available")?, number::<O>(at, "nr_cpus_online")?)))
    }

    /// Decodes `TOTAL_MEM`: the size of the memory in KiB.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn total_mem<O: Endian>(&self) -> Result<u64, FileError> {
        self.whole(|at| at.word::<O>("total_mem"))
    }

    /// Decodes `CLN_SIZE`: the size of a cache line in bytes.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn cln_size<O: Endian>(&self) -> Result<u32, FileError> {
        self.whole(|at| number::<O>(at, "cln_size"))
    }

    /// Decodes `E_MACHINE`: the machine as ELF files identify it.
    ///
    /// # Errors
    ///
    /// As [`string`](Self::string).
    pub fn e_machine<O: Endian>(&self) -> Result<EMachine, FileError> {
        self.whole(|at| {
            Ok(EMachine { e_machine: number::<O>(at, "e_machine")?, e_flags: number::<O>(at, "e_flags")? })
        })
    }
}

/// A machine as the header of an ELF file identifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EMachine {
    /// `EM_*` of `elf.h`.
    pub e_machine: u32,
    /// `EF_*` of that machine; 0 if perf could not determine them.
    pub e_flags: u32,
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
