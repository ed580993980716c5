//! The text that `llvm-profgen --perfscript` reads: that of `perf script -F ip,brstack --show-mmap-events`, with one mapping,
//! that of the file at its own addresses. So it does not matter where the file was mapped, and in how many processes, which
//! `llvm-profgen` cannot tell apart.
//!
//! LLVM: `PerfScriptReader::extractLBRStack` and `extractCallstack`, `llvm/tools/llvm-profgen/PerfReader.cpp`.

use std::io::{self, Write};

use perf_abi::branch::BranchFlags;
use perf_parse::list::Branch;
use perf_parse::sample::BranchStack;
use perf_profile::{branches::FileAddresses, text::OneLine};

/// The size of the pages that files are mapped by.
const PAGE: u64 = 4096;

/// Writes the mapping of the file's code. `path` is the file; `llvm-profgen` compares its name without folders to that of
/// its program.
///
/// # Errors
///
/// Those of `out`.
pub fn write_mapping(path: &[u8], addresses: FileAddresses<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(segment) = addresses.executable() else { return Ok(()) };
    // A segment's address and offset are equal within a page.
    let before = segment.address.checked_rem(PAGE).unwrap_or(0);
    let (address, offset) = (segment.address.wrapping_sub(before), segment.offset.wrapping_sub(before));
    let size = segment.size.saturating_add(before);
    let path = OneLine(path);
    writeln!(out, "PERF_RECORD_MMAP2 0/0: [{address:#x}({size:#x}) @ {offset:#x} 00:00 0 0]: r-xp {path}")
}

/// Writes a sample, or nothing if none of its branches begins or ends in the file.
///
/// `chain` has the frames of its call chain, innermost first; empty if it has none. `address_of` returns the address that the
/// file's symbols have for an address of the process, `None` outside of the file; `ip` and `chain` are such addresses too. `None`
/// is written as 0, where no file has code.
///
/// # Errors
///
/// Those of `out`.
pub fn write_sample(
    ip: Option<u64>,
    chain: &[Option<u64>],
    stack: &BranchStack<'_>,
    address_of: &mut dyn FnMut(u64) -> Option<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut entries = Vec::new();
    for Branch { from, to, flags, .. } in stack.entries.iter() {
        let (from, to) = (address_of(from), address_of(to));
        if (from, to) == (None, None) {
            continue;
        }
        let outcome = if flags.contains(BranchFlags::PREDICTED) {
            'P'
        } else if flags.contains(BranchFlags::MISPRED) {
            'M'
        } else {
            '-'
        };
        let in_tx = if flags.contains(BranchFlags::IN_TX) { 'X' } else { '-' };
        let abort = if flags.contains(BranchFlags::ABORT) { 'A' } else { '-' };
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(0));
        write!(entries, " {from:#x}/{to:#x}/{outcome}/{in_tx}/{abort}/{} ", flags.cycles())?;
    }
    if entries.is_empty() {
        return Ok(());
    }
    if chain.is_empty() {
        write!(out, "{:16x}", ip.unwrap_or(0))?;
    } else {
        for frame in chain {
            writeln!(out, "\t{:16x}", frame.unwrap_or(0))?;
        }
    }
    out.write_all(&entries)?;
    out.write_all(b"\n")
}
