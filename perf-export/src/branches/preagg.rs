//! The pre-aggregated profile that `perf2bolt -pa` reads, in lines that all its versions know:
//!
//! - `B FROM TO COUNT MISPREDICTED`: how often a branch was taken;
//! - `F BEGIN END COUNT`: how often the code from a branch's target up to the next branch ran;
//! - `f BEGIN END COUNT`: the same, after a branch from another function.
//!
//! Addresses are hexadecimal, as the file's symbols have them. `X:0` is an address outside of the file.
//!
//! BOLT: `DataAggregator::parseAggregatedLBREntry`, `bolt/lib/Profile/DataAggregator.cpp`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use perf_profile::branches::{BranchCount, BranchEdge, BranchProfile, BranchRange};

/// Options of a pre-aggregated profile. There are none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {}

/// Writes the branches of one file, added up over all profiles and ordered by address.
///
/// After a branch from another function to the code after a call, BOLT counts the call, too.
///
/// # Errors
///
/// Those of `out`.
pub fn write(profiles: &[BranchProfile], _options: &Options, out: &mut dyn Write) -> io::Result<()> {
    let mut branches: BTreeMap<(Option<u64>, Option<u64>), BranchCount> = BTreeMap::new();
    let mut ranges: BTreeMap<(u64, u64, bool), u64> = BTreeMap::new();
    for profile in profiles {
        for BranchEdge { from, to, count } in &profile.branches {
            let sum = branches.entry((*from, *to)).or_default();
            sum.count += count.count;
            sum.mispredicted += count.mispredicted;
        }
        for &BranchRange { begin, end, is_external, count } in &profile.ranges {
            *ranges.entry((begin, end, is_external)).or_default() += count;
        }
    }
    for ((from, to), BranchCount { count, mispredicted }) in branches {
        out.write_all(b"B ")?;
        write_end(from, out)?;
        write_end(to, out)?;
        writeln!(out, "{count} {mispredicted}")?;
    }
    for ((begin, end, is_external), count) in ranges {
        let kind = if is_external { 'f' } else { 'F' };
        writeln!(out, "{kind} {begin:x} {end:x} {count}")?;
    }
    Ok(())
}

fn write_end(address: Option<u64>, out: &mut dyn Write) -> io::Result<()> {
    match address {
        Some(address) => write!(out, "{address:x} "),
        None => out.write_all(b"X:0 "),
    }
}
