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

use perf_profile::branches::{BranchEdge, BranchProfile, BranchRange};

/// Options of a text profile of AutoFDO.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The longest code between two branches, in bytes. Longer ranges are left out: `create_llvm_prof` takes them as errors of
    /// the hardware when it reads captures.
    pub max_range: u64,
}

impl Default for Options {
    /// Ranges of at most 1 MiB, as `create_llvm_prof` has it.
    fn default() -> Self {
        Self { max_range: 1 << 20 }
    }
}

/// Writes the branches of one file, added up over all profiles and ordered by address. Branches that begin or end outside of the
/// file have no place in this format.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[BranchProfile], options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut branches: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut ranges: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut samples: BTreeMap<u64, u64> = BTreeMap::new();
    for profile in profiles {
        let relative = |address: u64| address.wrapping_sub(profile.first_address);
        for BranchEdge { from, to, count } in &profile.branches {
            if let Some((from, to)) = from.zip(*to) {
                *branches.entry((relative(from), relative(to))).or_default() += count.count;
            }
        }
        for &BranchRange { begin, end, count, .. } in &profile.ranges {
            if end.wrapping_sub(begin) <= options.max_range {
                *ranges.entry((relative(begin), relative(end))).or_default() += count;
            }
        }
        for (&address, &count) in &profile.samples {
            *samples.entry(relative(address)).or_default() += count;
        }
    }
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
