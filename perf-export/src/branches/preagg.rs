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

use super::{BranchFile, Code, Taken, Trace};

/// Writes the branches of a file, ordered by address. Places in no segment of the file count as outside of it.
///
/// `function_of` returns the start of the function at an offset in the file, `None` if none is known. It tells the branches
/// within a function from the others: after a branch from another function to the code after a call, BOLT counts the call,
/// too.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    file: &BranchFile,
    code: Code<'_>,
    function_of: &mut dyn FnMut(u64) -> Option<u64>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut branches: BTreeMap<(Option<u64>, Option<u64>), Taken> = BTreeMap::new();
    let mut ranges: BTreeMap<(u64, u64, bool), u64> = BTreeMap::new();
    let address = |offset: Option<u64>| offset.and_then(|offset| code.address(offset));
    for (&Trace { from, to, end }, taken) in &file.traces {
        let ends = (address(from), address(to));
        if ends != (None, None) {
            let sum = branches.entry(ends).or_default();
            sum.count += taken.count;
            sum.mispredicted += taken.mispredicted;
        }
        if let Some(((begin, until), to)) = address(to).zip(address(end)).zip(to) {
            let is_external = from.is_none_or(|from| function_of(from) != function_of(to));
            *ranges.entry((begin, until, is_external)).or_default() += taken.count;
        }
    }
    for ((from, to), Taken { count, mispredicted }) in branches {
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
