//! The text that `create_llvm_prof --profiler=text` and `create_gcov --profiler=text` read. Three lists, each with its length
//! on a line before it:
//!
//! - `BEGIN-END:COUNT`: how often the code from a branch's target up to the next branch ran;
//! - `ADDRESS:COUNT`: number of samples;
//! - `FROM->TO:COUNT`: how often a branch was taken.
//!
//! Addresses are hexadecimal, and count from that of the file's first segment.
//!
//! AutoFDO: `TextSampleReaderWriter`, `sample_reader.cc`, and `Profile::AggregatePerFunctionProfile`, `profile.cc`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{BranchFile, Code, Trace};

/// The longest code between two branches. What is longer, `create_llvm_prof` takes as an error of the hardware when it reads
/// captures.
const MAX_RANGE: u64 = 1 << 20;

/// Writes the branches of a file, ordered by address. Only branches within the file can be written.
///
/// # Errors
///
/// Those of `out`.
pub fn write(file: &BranchFile, code: Code<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut branches: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut ranges: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let relative = |offset: u64| Some(code.address(offset)?.wrapping_sub(code.first_address()));
    let address = |offset: Option<u64>| offset.and_then(relative);
    for (&Trace { from, to, end }, taken) in &file.traces {
        if let Some(ends) = address(from).zip(address(to)) {
            *branches.entry(ends).or_default() += taken.count;
        }
        if let Some((begin, end)) = address(to).zip(address(end))
            && end.wrapping_sub(begin) <= MAX_RANGE
        {
            *ranges.entry((begin, end)).or_default() += taken.count;
        }
    }
    let samples: Vec<_> =
        file.samples.iter().filter_map(|(&offset, &count)| Some((relative(offset)?, count))).collect();
    writeln!(out, "{}", ranges.len())?;
    for ((begin, end), count) in ranges {
        writeln!(out, "{begin:x}-{end:x}:{count}")?;
    }
    writeln!(out, "{}", samples.len())?;
    for (address, count) in samples {
        writeln!(out, "{address:x}:{count}")?;
    }
    writeln!(out, "{}", branches.len())?;
    for ((from, to), count) in branches {
        writeln!(out, "{from:x}->{to:x}:{count}")?;
    }
    Ok(())
}
