//! The header of a jitdump.

use perf_abi::endian::Endianness;

use super::error::JitdumpError;
use super::fields::RecordFields;

/// The header of a jitdump.
///
/// perf: `struct jitheader`, `tools/perf/util/jitdump.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JitdumpHeader {
    /// Byte order of the machine that wrote the file.
    pub endianness: Endianness,
    /// Version of the format; 1.
    pub version: u32,
    /// Size of the header in bytes, at least 40: the offset of the first record.
    pub total_size: u32,
    /// The machine of the code: `EM_*` of `elf.h`.
    pub elf_mach: u32,
    /// Process id of the program, as the program saw it.
    pub pid: u32,
    /// The time at which the file was made, of the clock of the records.
    pub timestamp: u64,
    /// Flags: see [`has_arch_times`](Self::has_arch_times).
    pub flags: u64,
}

const MAGIC: [u8; 4] = *b"JiTD";
const LEAST: u32 = 40;

/// `JITDUMP_FLAGS_ARCH_TIMESTAMP`.
const ARCH_TIMESTAMP: u64 = 1;

impl JitdumpHeader {
    /// Size of the fields in bytes.
    pub const SIZE: usize = LEAST as usize;

    /// Reads the header from the first [`SIZE`](Self::SIZE) bytes of a file, of either byte order.
    ///
    /// # Errors
    ///
    /// [`JitdumpError::Header`] if the bytes are fewer, or are not the header of a jitdump of version 1.
    pub fn parse(bytes: &[u8]) -> Result<Self, JitdumpError> {
        const MAGIC_NUMBER: JitdumpError = JitdumpError::Header { field: "magic", must: "that of a jitdump" };
        const WHOLE: JitdumpError = JitdumpError::Header { field: "total_size", must: "40 bytes or more" };
        let magic: [u8; 4] = *bytes.first_chunk().ok_or(MAGIC_NUMBER)?;
        // The magic is a number, so that its bytes are in this order on big-endian machines.
        let endianness = if magic == MAGIC {
            Endianness::Big
        } else if magic.iter().rev().eq(&MAGIC) {
            Endianness::Little
        } else {
            return Err(MAGIC_NUMBER);
        };
        let fields = RecordFields { bytes, endianness };
        let (word, long) =
            (|at| fields.u32(at, "").map_err(|_| WHOLE), |at| fields.u64(at, "").map_err(|_| WHOLE));
        let it = Self {
            endianness,
            version: word(4)?,
            total_size: word(8)?,
            elf_mach: word(12)?,
            pid: word(20)?,
            timestamp: long(24)?,
            flags: long(32)?,
        };
        if it.version != 1 {
            return Err(JitdumpError::Header { field: "version", must: "1" });
        }
        if it.total_size < LEAST { Err(WHOLE) } else { Ok(it) }
    }

    /// Returns whether times are those of a clock of the processor, such as x86's time stamp counter, and not of
    /// `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn has_arch_times(&self) -> bool {
        self.flags & ARCH_TIMESTAMP != 0
    }
}
